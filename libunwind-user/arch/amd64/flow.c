// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow.c - instructions of amd64 in the form of arch/arch.h, decoded by Capstone
 *
 * This file relies on Capstone for the length and the operands of an instruction. It does not rely
 * on Capstone for implicit registers, or for which operands are written: these answers can only add
 * to the registers that are lost. An operand that is SP or FP counts as written unless the
 * instruction is known not to write it. When an instruction that is not listed here names SP or FP,
 * that register is lost.
 */
#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

#define MAX_INSN	15
#define NR_SIGRETURN	15		/* rt_sigreturn */

void *amd64_open_mode(cs_mode mode)
{
	struct amd64_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	if (cs_open(CS_ARCH_X86, mode, &d->cs) != CS_ERR_OK) {
		free(d);
		return NULL;
	}
	cs_option(d->cs, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->cs);
	if (!d->insn) {
		cs_close(&d->cs);
		free(d);
		return NULL;
	}
	return d;
}

void amd64_close(void *decoder)
{
	struct amd64_decoder *d = decoder;

	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->cs);
	free(d);
}

static void *amd64_open(void)
{
	return amd64_open_mode(CS_MODE_64);
}

const cs_insn *amd64_disassemble(struct amd64_decoder *d, const uint8_t *p, size_t len,
				 uint64_t addr)
{
	if (len > MAX_INSN)
		len = MAX_INSN;
	if (!cs_disasm_iter(d->cs, &p, &len, &addr, d->insn))
		return NULL;
	return d->insn;
}

static bool is_sp(x86_reg reg)
{
	return reg == X86_REG_RSP || reg == X86_REG_ESP || reg == X86_REG_SP || reg == X86_REG_SPL;
}

static bool is_fp(x86_reg reg)
{
	return reg == X86_REG_RBP || reg == X86_REG_EBP || reg == X86_REG_BP || reg == X86_REG_BPL;
}

static bool is_reg(const cs_x86_op *op, x86_reg reg)
{
	return op->type == X86_OP_REG && op->reg == reg;
}

/* only a register and a displacement */
static bool is_mem(const cs_x86_op *op, x86_reg base)
{
	return op->type == X86_OP_MEM && op->mem.base == base && op->mem.index == X86_REG_INVALID &&
	       op->mem.segment == X86_REG_INVALID && op->mem.disp == (int32_t)op->mem.disp;
}

static bool is_branch(unsigned int id)
{
	switch (id) {
	case X86_INS_JAE: case X86_INS_JA: case X86_INS_JBE: case X86_INS_JB:
	case X86_INS_JE: case X86_INS_JGE: case X86_INS_JG: case X86_INS_JLE:
	case X86_INS_JL: case X86_INS_JNE: case X86_INS_JNO: case X86_INS_JNP:
	case X86_INS_JNS: case X86_INS_JO: case X86_INS_JP: case X86_INS_JS:
	case X86_INS_JRCXZ: case X86_INS_JECXZ:
	case X86_INS_LOOP: case X86_INS_LOOPE: case X86_INS_LOOPNE:
	case X86_INS_XBEGIN:		/* restart it with its registers */
		return true;
	default:
		return false;
	}
}

/* Is the first operand only read? */
bool amd64_reads_first(unsigned int id)
{
	switch (id) {
	case X86_INS_CMP: case X86_INS_TEST: case X86_INS_BT: case X86_INS_PUSH:
	case X86_INS_CALL: case X86_INS_JMP: case X86_INS_NOP:
	case X86_INS_MUL: case X86_INS_DIV: case X86_INS_IDIV:
		return true;
	default:
		return false;
	}
}

/* Are the operands after the first one only read? */
static bool reads_rest(unsigned int id)
{
	switch (id) {
	case X86_INS_MOV: case X86_INS_MOVABS: case X86_INS_MOVZX: case X86_INS_MOVSX:
	case X86_INS_MOVSXD:
	case X86_INS_ADD: case X86_INS_SUB: case X86_INS_ADC: case X86_INS_SBB:
	case X86_INS_AND: case X86_INS_OR: case X86_INS_XOR: case X86_INS_IMUL:
	case X86_INS_CMP: case X86_INS_TEST: case X86_INS_BT: case X86_INS_BTS:
	case X86_INS_BTR: case X86_INS_BTC: case X86_INS_LEA:
	case X86_INS_CMOVA: case X86_INS_CMOVAE: case X86_INS_CMOVB: case X86_INS_CMOVBE:
	case X86_INS_CMOVE: case X86_INS_CMOVNE: case X86_INS_CMOVG: case X86_INS_CMOVGE:
	case X86_INS_CMOVL: case X86_INS_CMOVLE: case X86_INS_CMOVO: case X86_INS_CMOVNO:
	case X86_INS_CMOVP: case X86_INS_CMOVNP: case X86_INS_CMOVS: case X86_INS_CMOVNS:
	case X86_INS_BSF: case X86_INS_BSR: case X86_INS_TZCNT: case X86_INS_LZCNT:
	case X86_INS_POPCNT: case X86_INS_SHLD: case X86_INS_SHRD:
	case X86_INS_MOVD: case X86_INS_MOVQ: case X86_INS_VMOVD: case X86_INS_VMOVQ:
	case X86_INS_PINSRB: case X86_INS_PINSRW: case X86_INS_PINSRD: case X86_INS_PINSRQ:
	case X86_INS_VPINSRB: case X86_INS_VPINSRW: case X86_INS_VPINSRD: case X86_INS_VPINSRQ:
	case X86_INS_CVTSI2SD: case X86_INS_CVTSI2SS:
	case X86_INS_VCVTSI2SD: case X86_INS_VCVTSI2SS:
	case X86_INS_ANDN: case X86_INS_BEXTR: case X86_INS_SHLX: case X86_INS_SHRX:
	case X86_INS_SARX: case X86_INS_RORX:
		return true;
	default:
		return false;
	}
}

/* Possible effects of any instruction on SP and FP */
static void lose_written(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86 *x = &insn->detail->x86;
	bool sp = false, fp = false;
	unsigned int i;

	for (i = 0; i < x->op_count; i++) {
		if (x->operands[i].type != X86_OP_REG ||
		    (i ? reads_rest(insn->id) : amd64_reads_first(insn->id)))
			continue;
		sp |= is_sp(x->operands[i].reg);
		fp |= is_fp(x->operands[i].reg);
	}
	for (i = 0; i < insn->detail->regs_write_count; i++) {
		sp |= is_sp(insn->detail->regs_write[i]);
		fp |= is_fp(insn->detail->regs_write[i]);
	}
	if (sp || fp)
		op->effect = sp && fp ? ARCH_LOSE_BOTH : sp ? ARCH_LOSE_SP : ARCH_LOSE_FP;
}

/* Memory operands count as written, except in the few instructions that matter. */
static void find_store(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86_op *to = &insn->detail->x86.operands[0];

	if (!insn->detail->x86.op_count || amd64_reads_first(insn->id))
		return;
	/* a barrier or a stack probe writes back the value that it read */
	if (insn->id == X86_INS_OR && to[1].type == X86_OP_IMM && !to[1].imm)
		return;
	op->by_fp = is_mem(to, X86_REG_RBP);
	if (!op->by_fp && !is_mem(to, X86_REG_RSP))
		return;
	op->off = to->mem.disp;
	op->size = to->size ? to->size : 64;
}

static void decode_stack_operands(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86_op *o = insn->detail->x86.operands;
	/* compilers never push or pop two bytes */
	bool narrow = insn->detail->x86.prefix[2] == 0x66;

	switch (insn->id) {
	case X86_INS_PUSH:
		op->reg = o->type == X86_OP_REG ? o->reg : 0;
		op->effect = is_reg(o, X86_REG_RBP) ? ARCH_PUSH_FP : ARCH_PUSH;
		break;
	case X86_INS_PUSHFQ:
		op->effect = ARCH_PUSH;
		break;
	case X86_INS_POP:
		op->reg = o->type == X86_OP_REG ? o->reg : 0;
		/* an operand in memory would count from SP after the pop */
		op->effect = is_reg(o, X86_REG_RBP) ? ARCH_POP_FP :
			     o->type != X86_OP_REG || is_sp(o->reg) || is_fp(o->reg) ?
			     ARCH_LOSE_BOTH : ARCH_POP;
		op->size = 0;
		break;
	case X86_INS_POPFQ:
		op->effect = ARCH_POP;
		break;
	case X86_INS_LEAVE:
		op->effect = ARCH_LEAVE;
		break;
	}
	if (narrow)
		op->effect = ARCH_LOSE_BOTH;
}

static void decode_mov(const cs_x86_op *to, const cs_x86_op *from, struct arch_op *op)
{
	bool sp = is_reg(to, X86_REG_RSP), fp = is_reg(to, X86_REG_RBP);

	if (sp && is_reg(from, X86_REG_RBP)) {
		op->effect = ARCH_SP_IS_FP;
	} else if (sp && is_mem(from, X86_REG_RBP)) {
		op->flags |= ARCH_LOADS_SP;
		op->by_fp = true;
		op->off = from->mem.disp;
	} else if (fp && is_reg(from, X86_REG_RSP)) {
		op->effect = ARCH_FP_IS_SP;
	} else if (op->size && is_reg(from, X86_REG_RBP)) {
		op->flags |= ARCH_STORES_FP;
	} else if (fp && (is_mem(from, X86_REG_RSP) || is_mem(from, X86_REG_RBP))) {
		op->effect = ARCH_NONE;
		op->flags |= ARCH_LOADS_FP;
		op->size = 0;
		op->by_fp = is_mem(from, X86_REG_RBP);
		op->off = from->mem.disp;
	}
	if (from->type != X86_OP_IMM)
		return;
	op->target = from->imm;
	op->flags |= ARCH_TAKES_NUMBER;
	if (from->imm == NR_SIGRETURN && (is_reg(to, X86_REG_EAX) || is_reg(to, X86_REG_RAX)))
		op->flags |= ARCH_IS_SIGRETURN;
}

static void decode_arithmetic(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86_op *to = insn->detail->x86.operands, *from = to + 1;
	bool sp, fp;
	int64_t n;

	if (insn->detail->x86.op_count != 2)
		return;
	sp = is_reg(to, X86_REG_RSP);
	fp = is_reg(to, X86_REG_RBP);
	switch (insn->id) {
	case X86_INS_ADD:
	case X86_INS_SUB:
		if ((!sp && !fp) || from->type != X86_OP_IMM)
			return;
		n = from->imm;
		if (n != (int32_t)n || n == INT32_MIN)
			return;
		op->n = insn->id == X86_INS_ADD ? n : -n;
		op->effect = sp ? ARCH_ADD_SP : ARCH_FP_IS_FP;
		return;
	case X86_INS_LEA:
		if (from->mem.base == X86_REG_RIP && from->mem.index == X86_REG_INVALID) {
			op->target = insn->address + insn->size + from->mem.disp;
			op->flags |= ARCH_TAKES_ADDRESS;
		}
		if (!sp && !fp)
			return;
		op->n = from->mem.disp;
		if (is_mem(from, X86_REG_RSP))
			op->effect = sp ? ARCH_ADD_SP : ARCH_FP_IS_SP;
		else if (is_mem(from, X86_REG_RBP))
			op->effect = sp ? ARCH_SP_IS_FP : ARCH_FP_IS_FP;
		return;
	case X86_INS_MOV:
		decode_mov(to, from, op);
		return;
	case X86_INS_XOR:
		if (is_reg(to, from->reg) && from->type == X86_OP_REG &&
		    (fp || is_reg(to, X86_REG_EBP)))
			op->flags |= ARCH_ZEROES_FP;
		return;
	}
}

bool amd64_is_in_group(const cs_insn *insn, unsigned int group)
{
	unsigned int i;

	for (i = 0; i < insn->detail->groups_count; i++) {
		if (insn->detail->groups[i] == group)
			return true;
	}
	return false;
}

static void find_next(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86 *x = &insn->detail->x86;
	bool direct = x->op_count == 1 && x->operands[0].type == X86_OP_IMM;

	op->next = ARCH_FALLTHROUGH;
	switch (insn->id) {
	case X86_INS_JMP:
		op->next = direct ? ARCH_JUMP : ARCH_JUMP_INDIRECT;
		break;
	case X86_INS_CALL:
		op->next = direct ? ARCH_CALL : ARCH_CALL_POINTER;
		if (x->operands[0].type == X86_OP_MEM && x->operands[0].mem.base == X86_REG_RIP)
			op->next = ARCH_CALL_UNKNOWN;
		break;
	case X86_INS_RET:
		op->next = x->op_count ? ARCH_RETURN_POP : ARCH_RETURN;
		return;
	case X86_INS_HLT:
	case X86_INS_UD2:
	case X86_INS_UD2B:
	case X86_INS_INT3:
		op->next = ARCH_STOP;
		return;
	case X86_INS_SYSCALL:
		op->flags |= ARCH_ENTERS_KERNEL;
		return;
	case X86_INS_INT:
		return;
	default:
		if (insn->id == X86_INS_JA || insn->id == X86_INS_JAE)
			op->flags |= ARCH_IF_ABOVE;
		if (is_branch(insn->id))
			op->next = ARCH_BRANCH;
		else if (amd64_is_in_group(insn, CS_GRP_JUMP) ||
			 amd64_is_in_group(insn, CS_GRP_CALL) ||
			 amd64_is_in_group(insn, CS_GRP_RET) ||
			 amd64_is_in_group(insn, CS_GRP_IRET) ||
			 amd64_is_in_group(insn, CS_GRP_PRIVILEGE))
			op->next = ARCH_BAD;
		else
			return;
	}
	/* With an operand size prefix, Intel and AMD read different lengths */
	if (op->next == ARCH_BRANCH || direct) {
		if (x->prefix[2] == 0x66 && !(x->rex & 8))
			op->next = ARCH_BAD;
		else if (direct)
			op->target = x->operands[0].imm;
		else
			op->next = ARCH_BAD;
	}
}

static void amd64_decode(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
			 struct arch_op *op)
{
	const cs_insn *insn = amd64_disassemble(decoder, p, len, addr);

	memset(op, 0, sizeof(*op));
	op->len = 1;
	op->next = ARCH_BAD;
	/* zeros fill free space, although they are an instruction, too */
	if (!insn || !insn->size || insn->size > len || (len >= 2 && !p[0] && !p[1]))
		return;
	op->len = insn->size;
	find_next(insn, op);
	switch (insn->id) {
	case X86_INS_CALL:
	case X86_INS_JMP:
	case X86_INS_RET:
	case X86_INS_SYSCALL:
	case X86_INS_NOP:
		break;
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
	case X86_INS_POP:
	case X86_INS_POPFQ:
	case X86_INS_LEAVE:
		decode_stack_operands(insn, op);
		break;
	case X86_INS_ENTER:
		op->effect = ARCH_LOSE_BOTH;
		break;
	default:
		lose_written(insn, op);
		find_store(insn, op);
		decode_arithmetic(insn, op);
	}
}

static size_t amd64_find_reference(const uint8_t *p, size_t len, uint64_t addr,
				   uint64_t start, uint64_t size, uint64_t *target)
{
	/* call, jmp, and ModRM of an operand relative to RIP, mostly of lea */
	static const bool may_be[256] = {
		[0xe8] = true, [0xe9] = true,
		[0x05] = true, [0x0d] = true, [0x15] = true, [0x1d] = true,
		[0x25] = true, [0x2d] = true, [0x35] = true, [0x3d] = true,
	};
	int32_t rel;
	size_t i;

	for (i = 0; i + ARCH_REFERENCE <= len; i++) {
		if (!may_be[p[i]])
			continue;
		rel = arch_read_le32(p + i + 1);
		*target = addr + i + 1 + sizeof(rel) + (int64_t)rel;
		if (*target - start < size)
			return i;
	}
	return len;
}

/* jmp and jcc with 32 bits */
static bool amd64_may_jump(const uint8_t *p, uint64_t addr, uint64_t *target)
{
	bool jcc = p[0] == 0x0f && (p[1] & 0xf0) == 0x80;
	int32_t rel;

	if (p[0] != 0xe9 && !jcc)
		return false;
	rel = arch_read_le32(p + 1 + jcc);
	*target = addr + 1 + jcc + sizeof(rel) + (int64_t)rel;
	return true;
}

/* jmp and jcc with 8 bits */
static bool amd64_is_short_jump(const uint8_t *p, int32_t distance)
{
	return (p[0] == 0xeb || (p[0] & 0xf0) == 0x70) && (int8_t)p[1] == distance - 2;
}

const struct arch_flow amd64_flow = {
	.entered = { .sp_depth = 8, .sp_known = true, .ra_saved = true, .ra_slot = -8 },
	.align = 16,
	.syscall_len = 2,
	.without_eh_frame = true,
	.insn = 1,
	.relative = R_X86_64_RELATIVE,
	.irelative = R_X86_64_IRELATIVE,
	.open = amd64_open,
	.close = amd64_close,
	.decode = amd64_decode,
	.find_reference = amd64_find_reference,
	.may_jump = amd64_may_jump,
	.is_short_jump = amd64_is_short_jump,
	.find_jump_table = amd64_find_jump_table,
};
