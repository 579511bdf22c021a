// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow.c - what instructions of i386 do to ESP, decoded by Capstone
 *
 * Only gen/check.c uses this, to find rows that the code contradicts. So this file says nothing of
 * EBP and of memory. As in amd64/flow.c, ESP is lost if an instruction that is not listed here
 * writes its operands and names ESP.
 */
#include <capstone/capstone.h>
#include <stdlib.h>
#include <string.h>

#include "i386.h"
#include "libunwind-user/arch/amd64/flow.h"

static void *open_decoder(void)
{
	return amd64_open_mode(CS_MODE_32);
}

static bool is_sp(x86_reg reg)
{
	return reg == X86_REG_ESP || reg == X86_REG_SP;
}

static bool is_esp(const cs_x86_op *op)
{
	return op->type == X86_OP_REG && op->reg == X86_REG_ESP;
}

static bool writes_sp(const cs_insn *insn)
{
	const cs_x86 *x = &insn->detail->x86;
	unsigned int i;

	for (i = 0; i < x->op_count; i++) {
		if (x->operands[i].type != X86_OP_REG || !is_sp(x->operands[i].reg))
			continue;
		if (i ? insn->id == X86_INS_XCHG || insn->id == X86_INS_XADD :
			insn->id != X86_INS_CMP && insn->id != X86_INS_TEST)
			return true;
	}
	for (i = 0; i < insn->detail->regs_write_count; i++) {
		if (is_sp(insn->detail->regs_write[i]))
			return true;
	}
	return false;
}

static void decode_arithmetic(const cs_insn *insn, struct arch_op *op)
{
	const cs_x86_op *to = insn->detail->x86.operands, *from = to + 1;
	int64_t n;

	if (insn->detail->x86.op_count != 2 || !is_esp(to))
		return;
	switch (insn->id) {
	case X86_INS_ADD:
	case X86_INS_SUB:
		/* of 32 bits, with or without a sign */
		n = (int32_t)from->imm;
		if (from->type != X86_OP_IMM || n == INT32_MIN)
			return;
		op->n = insn->id == X86_INS_ADD ? n : -n;
		op->effect = ARCH_ADD_SP;
		return;
	case X86_INS_LEA:
		if (from->mem.base != X86_REG_ESP || from->mem.index != X86_REG_INVALID)
			return;
		op->n = from->mem.disp;
		op->effect = ARCH_ADD_SP;
		return;
	}
}

static void find_effect(const cs_insn *insn, struct arch_op *op)
{
	bool narrow = insn->detail->x86.prefix[2] == 0x66;

	switch (insn->id) {
	case X86_INS_CALL: case X86_INS_JMP: case X86_INS_RET: case X86_INS_NOP:
	case X86_INS_SYSENTER: case X86_INS_SYSCALL: case X86_INS_INT:
		return;
	case X86_INS_PUSH: case X86_INS_PUSHFD:
		op->effect = ARCH_PUSH;
		break;
	case X86_INS_POP: case X86_INS_POPFD:
		op->effect = insn->id == X86_INS_POP && is_esp(insn->detail->x86.operands) ?
			     ARCH_LOSE_SP : ARCH_POP;
		break;
	case X86_INS_PUSHAL:
		op->effect = ARCH_ADD_SP;
		op->n = -32;
		break;
	case X86_INS_POPAL:
		op->effect = ARCH_ADD_SP;
		op->n = 32;
		break;
	default:
		if (!writes_sp(insn))
			return;
		op->effect = ARCH_LOSE_SP;
		decode_arithmetic(insn, op);
	}
	if (narrow)
		op->effect = ARCH_LOSE_SP;
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
		break;
	case X86_INS_RET:
		op->next = x->op_count ? ARCH_RETURN_POP : ARCH_RETURN;
		return;
	case X86_INS_HLT: case X86_INS_UD2: case X86_INS_UD2B: case X86_INS_INT3:
		op->next = ARCH_STOP;
		return;
	case X86_INS_SYSENTER: case X86_INS_SYSCALL: case X86_INS_INT:
		return;
	default:
		if (amd64_is_in_group(insn, CS_GRP_CALL) ||
		    amd64_is_in_group(insn, CS_GRP_RET) ||
		    amd64_is_in_group(insn, CS_GRP_IRET) ||
		    amd64_is_in_group(insn, CS_GRP_PRIVILEGE))
			op->next = ARCH_BAD;
		else if (amd64_is_in_group(insn, CS_GRP_JUMP))
			op->next = direct ? ARCH_BRANCH : ARCH_BAD;
		else
			return;
	}
	if (!direct)
		return;
	op->target = (uint32_t)x->operands[0].imm;
	/* to an address of 16 bits */
	if (x->prefix[2] == 0x66)
		op->next = ARCH_BAD;
}

static void decode_insn(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
			struct arch_op *op)
{
	const cs_insn *insn;

	memset(op, 0, sizeof(*op));
	op->len = 1;
	op->next = ARCH_BAD;
	/* zeros fill free space, although they are an instruction, too */
	if (len >= 2 && !p[0] && !p[1])
		return;
	insn = amd64_disassemble(decoder, p, len, addr);
	if (!insn || !insn->size)
		return;
	op->len = insn->size;
	find_next(insn, op);
	find_effect(insn, op);
}

const struct arch_flow i386_flow = {
	.entered = { .sp_depth = 4, .sp_known = true, .ra_saved = true, .ra_slot = -4 },
	.callee_pops = true,
	.insn = 1,
	.open = open_decoder,
	.close = amd64_close,
	.decode = decode_insn,
};
