// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow_table.c - the table that an indirect jump of amd64 uses
 *
 * GCC and clang write a switch like this. Other instructions can come in between, and the compiler
 * chooses the registers. Sometimes the first line comes after a copy of the index, or has a mask in
 * its place:
 *
 *	cmp $LAST,%index; ja default		and $LAST,%index
 *	[movzbl or mov %index,%index]
 *	lea table(%rip),%base
 *	movslq (%base,%index,4),%to; add %base,%to; jmp *%to		distances from the table
 *	jmp *table(,%index,8)						addresses, not in PIEs
 *	mov table(,%index,8),%to; jmp *%to
 *	lea function(%rip),%to; jmp *%to
 *
 * The search reads backward from the jump. The value it looks for is in a register, and no other
 * instruction on the way may write that register.
 */
#include <string.h>

#include "flow.h"

/* A general register of any width by its number, 0 to 15, or -1. */
static int get_number(x86_reg reg)
{
	static const x86_reg names[16][4] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
	};
	unsigned int i, j;

	if (reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH || reg == X86_REG_DH)
		return reg == X86_REG_AH ? 0 : reg == X86_REG_CH ? 1 : reg == X86_REG_DH ? 2 : 3;
	for (i = 0; i < 16; i++) {
		for (j = 0; j < 4; j++) {
			if (names[i][j] == reg)
				return i;
		}
	}
	return -1;
}

/* May the instruction change one of these registers, a bit for each number? */
static bool may_write(const cs_insn *insn, unsigned int regs)
{
	const cs_detail *d = insn->detail;
	unsigned int i;
	int n;

	for (i = 0; i < d->groups_count; i++) {
		if (d->groups[i] == CS_GRP_CALL || d->groups[i] == CS_GRP_INT)
			return true;
	}
	for (i = 0; i < d->regs_write_count; i++) {
		n = get_number(d->regs_write[i]);
		if (n >= 0 && regs & 1u << n)
			return true;
	}
	for (i = 0; i < d->x86.op_count; i++) {
		/* with two operands, the first is written; otherwise any may be */
		if (d->x86.operands[i].type != X86_OP_REG ||
		    (!i && amd64_reads_first(insn->id)) || (i == 1 && d->x86.op_count == 2 &&
		     insn->id != X86_INS_XCHG && insn->id != X86_INS_XADD))
			continue;
		n = get_number(d->x86.operands[i].reg);
		if (n >= 0 && regs & 1u << n)
			return true;
	}
	return false;
}

/* The state of the search, from the jump backward */
struct search {
	int to, base, index;		/* registers; -1: unknown */
	bool added;			/* base was added to the entry */
	bool have_table, have_nr;
	bool above;			/* the guard is ja: nr is LAST + 1; else it is jae */
	bool guard;			/* a ja or jae comes after this */
	struct arch_jump_table *t;
};

static bool is_two_regs(const cs_x86 *x)
{
	return x->op_count == 2 && x->operands[0].type == X86_OP_REG &&
	       x->operands[1].type == X86_OP_REG;
}

/* A table of absolute addresses, 8 bytes each */
static bool use_address_table(struct search *s, const cs_x86_op *mem)
{
	if (mem->type != X86_OP_MEM || mem->mem.base != X86_REG_INVALID || mem->mem.scale != 8 ||
	    mem->mem.segment != X86_REG_INVALID || mem->mem.disp <= 0)
		return false;
	s->index = get_number(mem->mem.index);
	s->to = -1;
	s->t->addr = mem->mem.disp;
	s->t->size = 8;
	s->have_table = true;
	return s->index >= 0;
}

/* A tail call of a function whose address is in a register */
static bool use_function_address(struct search *s, const cs_insn *insn)
{
	const cs_x86_op *from = &insn->detail->x86.operands[1];

	if (insn->id != X86_INS_LEA || from->mem.base != X86_REG_RIP ||
	    from->mem.index != X86_REG_INVALID)
		return false;
	s->t->addr = insn->address + insn->size + from->mem.disp;
	s->t->nr = 1;
	s->to = -1;
	s->have_table = s->have_nr = true;
	return true;
}

/* Find where the jump's register comes from. Returns false if that is not a table. */
static bool find_entry(struct search *s, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	const cs_x86_op *from = &x->operands[1];

	if (x->op_count != 2 || x->operands[0].type != X86_OP_REG ||
	    get_number(x->operands[0].reg) != s->to)
		return false;
	if (!s->added && use_function_address(s, insn))
		return true;
	if (insn->id == X86_INS_ADD && !s->added && is_two_regs(x)) {
		s->base = get_number(from->reg);
		s->added = true;
		return s->base >= 0 && s->base != s->to;
	}
	if (insn->id == X86_INS_MOV && !s->added)
		return use_address_table(s, from);
	if (insn->id != X86_INS_MOVSXD || !s->added || from->type != X86_OP_MEM ||
	    from->mem.scale != 4 || from->mem.disp || from->mem.segment != X86_REG_INVALID)
		return false;
	/* either register may hold the sum */
	if (get_number(from->mem.base) != s->base)
		return false;
	s->index = get_number(from->mem.index);
	s->to = -1;
	s->t->size = 4;
	return s->index >= 0 && s->index != s->base;
}

/* The instruction writes the index. Returns false if the bound is no longer that of the table. */
static bool find_index(struct search *s, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	int64_t imm = x->operands[1].imm;

	if (insn->id == X86_INS_AND && x->operands[1].type == X86_OP_IMM && !s->guard) {
		if (imm <= 0 || imm >= ARCH_MAX_TABLE || x->operands[0].size < 4)
			return false;
		s->t->nr = imm + 1;
		s->t->masked = true;
		s->have_nr = true;
		return true;
	}
	/* only copies that clear the upper half */
	if ((insn->id != X86_INS_MOV && insn->id != X86_INS_MOVZX) || !is_two_regs(x) ||
	    x->operands[0].size < 4 || s->guard)
		return false;
	s->index = get_number(x->operands[1].reg);
	return s->index >= 0;
}

/* Does the instruction keep the flags? Only such instructions lie between comparison and branch. */
static bool keeps_flags(unsigned int id)
{
	switch (id) {
	case X86_INS_MOV: case X86_INS_MOVZX: case X86_INS_MOVSX: case X86_INS_MOVSXD:
	case X86_INS_MOVABS: case X86_INS_LEA: case X86_INS_NOP:
		return true;
	default:
		return false;
	}
}

static bool step_back(struct search *s, const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	unsigned int regs = 0;

	switch (insn->id) {
	case X86_INS_JA:
	case X86_INS_JAE:
		if (!s->guard && s->index >= 0) {
			s->guard = true;
			s->above = insn->id == X86_INS_JA;
		}
		return true;
	case X86_INS_CMP:
		if (s->guard && x->operands[0].type == X86_OP_REG &&
		    x->operands[1].type == X86_OP_IMM &&
		    get_number(x->operands[0].reg) == s->index && s->index >= 0) {
			int64_t imm = x->operands[1].imm;

			if (imm <= 0 || imm >= ARCH_MAX_TABLE)
				return false;
			s->t->nr = imm + s->above;
			s->have_nr = true;
			return true;
		}
		/* the comparison is of another register */
		return !s->guard;
	}
	if (s->guard && !s->have_nr && !keeps_flags(insn->id))
		return false;
	if (s->to >= 0 && may_write(insn, 1u << s->to))
		return find_entry(s, insn);
	if (s->base >= 0 && may_write(insn, 1u << s->base)) {
		const cs_x86_op *from = &x->operands[1];

		if (insn->id != X86_INS_LEA || from->mem.base != X86_REG_RIP ||
		    from->mem.index != X86_REG_INVALID || x->operands[0].size != 8)
			return false;
		s->t->addr = s->t->base = insn->address + insn->size + from->mem.disp;
		s->have_table = true;
		s->base = -1;
		return true;
	}
	if (s->index >= 0)
		regs |= 1u << s->index;
	if (s->index >= 0 && !s->have_nr && may_write(insn, regs))
		return find_index(s, insn);
	return true;
}

bool amd64_find_jump_table(void *decoder, const uint8_t *const *code, const uint8_t *len,
			   const uint64_t *addr, unsigned int nr, struct arch_jump_table *table)
{
	struct search s = { .to = -1, .base = -1, .index = -1, .t = table };
	const cs_insn *insn;
	const cs_x86_op *op;

	memset(table, 0, sizeof(*table));
	insn = nr ? amd64_disassemble(decoder, code[nr - 1], len[nr - 1], addr[nr - 1]) : NULL;
	if (!insn || insn->id != X86_INS_JMP || insn->detail->x86.op_count != 1)
		return false;
	op = &insn->detail->x86.operands[0];
	if (op->type == X86_OP_REG)
		s.to = get_number(op->reg);
	else if (!use_address_table(&s, op))
		return false;
	for (nr--; nr-- && !(s.have_table && s.have_nr); ) {
		insn = amd64_disassemble(decoder, code[nr], len[nr], addr[nr]);
		if (!insn || !step_back(&s, insn))
			return false;
	}
	return s.have_table && s.have_nr && s.to < 0;
}
