// SPDX-License-Identifier: GPL-2.0
/*
 * libdw.c - asks libdw for a rule and computes the rule on the made-up machine
 *
 * libdw gives its rules as DWARF expressions.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

/* Compute an expression of libdw; false if it has an operation that this file does not know. */
static bool eval(const Dwarf_Op *op, size_t nr, uint64_t pc, uint64_t cfa, bool *is_value,
		 uint64_t *result)
{
	uint64_t s[32];
	unsigned int n = 0;
	size_t i;

	*is_value = false;
	for (i = 0; i < nr; i++) {
		if (n > 28)
			return false;
		switch (op[i].atom) {
		case DW_OP_call_frame_cfa:
			s[n++] = cfa;
			break;
		case DW_OP_breg0 ... DW_OP_breg31:
			s[n++] = reg_value(op[i].atom - DW_OP_breg0, pc) + op[i].number;
			break;
		case DW_OP_bregx:
			s[n++] = reg_value(op[i].number, pc) + op[i].number2;
			break;
		case DW_OP_reg0 ... DW_OP_reg31:
			s[n++] = reg_value(op[i].atom - DW_OP_reg0, pc);
			*is_value = true;
			break;
		case DW_OP_regx:
			s[n++] = reg_value(op[i].number, pc);
			*is_value = true;
			break;
		case DW_OP_lit0 ... DW_OP_lit31:
			s[n++] = op[i].atom - DW_OP_lit0;
			break;
		case DW_OP_const1u: case DW_OP_const2u: case DW_OP_const4u: case DW_OP_const8u:
		case DW_OP_const1s: case DW_OP_const2s: case DW_OP_const4s: case DW_OP_const8s:
		case DW_OP_constu: case DW_OP_consts:
			s[n++] = op[i].number;
			break;
		case DW_OP_plus_uconst:
			if (!n)
				return false;
			s[n - 1] += op[i].number;
			break;
		case DW_OP_deref:
			if (!n)
				return false;
			s[n - 1] = memory(s[n - 1]);
			break;
		case DW_OP_dup:
			if (!n)
				return false;
			s[n] = s[n - 1];
			n++;
			break;
		case DW_OP_drop:
			if (!n)
				return false;
			n--;
			break;
		case DW_OP_stack_value:
			*is_value = true;
			break;
		case DW_OP_nop:
			break;
		default:
			if (n < 2)
				return false;
			n--;
			switch (op[i].atom) {
			case DW_OP_plus:
				s[n - 1] += s[n];
				break;
			case DW_OP_minus:
				s[n - 1] -= s[n];
				break;
			case DW_OP_and:
				s[n - 1] &= s[n];
				break;
			case DW_OP_shl:
				s[n - 1] <<= s[n] & 63;
				break;
			case DW_OP_ge:
				s[n - 1] = (int64_t)s[n - 1] >= (int64_t)s[n];
				break;
			default:
				return false;
			}
		}
	}
	if (!n)
		return false;
	*result = s[n - 1];
	return true;
}

/* Returns 0 same value, 1 @value (it lies at @at, if not NULL), 2 undefined, -1 unknown. */
static int ask_register(Dwarf_Frame *frame, unsigned int reg, uint64_t pc, uint64_t cfa,
			uint64_t *value, uint64_t *at)
{
	Dwarf_Op mem[3], *ops;
	bool is_value;
	size_t nr;

	if (dwarf_frame_register(frame, reg, mem, &ops, &nr))
		return -1;
	if (!nr)
		return ops ? 2 : 0;
	if (!eval(ops, nr, pc, cfa, &is_value, value))
		return -1;
	if (at)
		*at = is_value ? 0 : *value;
	if (!is_value)
		*value = memory(*value);
	return 1;
}

/*
 * The caller's SP; false if there is no rule for it. Where the CFA is not SP at the call (s390x),
 * functions that only subtract from SP have no rule for it, so libdw finds SP unchanged. Other
 * functions save SP like other registers, in the area below the CFA that their caller keeps for
 * that, or in a floating point register. There, the made-up memory differs from a program's.
 */
static bool ask_sp(Dwarf_Frame *frame, uint64_t pc, uint64_t cfa, uint64_t *sp)
{
	int ret, off = machine->sp_off;
	unsigned int reg;
	uint64_t at = 0;

	ret = ask_register(frame, machine->sp, pc, cfa, sp, &at);
	if (!off || ret < 0 || ret == 2)
		return ret == 1;
	if (!ret || (at >= cfa + off && at < cfa))
		*sp = cfa + off;
	for (reg = machine->sp + 1; !at && reg < machine->sp + 17; reg++) {
		if (*sp == reg_value(reg, pc))
			*sp = cfa + off;
	}
	return true;
}

int ask_libdw(Dwarf_CFI *cfi, uint64_t pc, struct answer *a, uint64_t *start, uint64_t *end)
{
	Dwarf_Frame *frame;
	bool is_value, signal;
	Dwarf_Op *ops;
	uint64_t sp, kept_at;
	size_t nr, i;
	int ret = -1, ra;

	memset(a, 0, sizeof(*a));
	*start = *end = pc;
	if (dwarf_cfi_addrframe(cfi, pc, &frame))
		return 1;
	ra = dwarf_frame_info(frame, start, end, &signal);
	if (!machine->link)
		ra = machine->ra;
	a->signal = signal;
	a->is_signed = machine->elf == EM_AARCH64 && signed_at(pc);
	/* calls destroy any other register: without a rule it is undefined */
	if (ask_register(frame, ra, pc, 0, &a->ra, NULL) == 2 && ra == (int)machine->ra) {
		a->outermost = true;
		ret = 0;
		goto out;
	}
	if (dwarf_frame_cfa(frame, &ops, &nr) || !nr || !eval(ops, nr, pc, 0, &is_value, &a->cfa))
		goto out;
	a->cfa_reg = ~0u;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31)
		a->cfa_reg = ops[0].atom - DW_OP_breg0;
	else if (ops[0].atom == DW_OP_bregx)
		a->cfa_reg = ops[0].number;
	for (i = 1; i < nr; i++) {
		if (ops[i].atom != DW_OP_plus_uconst && ops[i].atom != DW_OP_stack_value)
			a->cfa_reg = ~0u;
	}
	switch (ask_register(frame, ra, pc, a->cfa, &a->ra, NULL)) {
	case 0:
	case 2:
		if (!machine->link)
			goto out;
		a->ra = reg_value(ra, pc);
		break;
	case 1:
		break;
	default:
		goto out;
	}
	if (!ask_sp(frame, pc, a->cfa, &sp))
		a->no_row = true;
	switch (ask_register(frame, machine->fp, pc, a->cfa, &a->fp, &a->fp_at)) {
	case 0:
		a->fp = reg_value(machine->fp, pc);
		break;
	case 1:
		break;
	case 2:
		a->no_row = true;
		break;
	default:
		goto out;
	}
	if (machine->kept && !signal) {
		switch (ask_register(frame, machine->kept, pc, a->cfa, &a->kept, &kept_at)) {
		case 0:
		case 2:		/* libdw takes rax for the rbx that calls preserve */
			a->kept = reg_value(machine->kept, pc);
			a->knows_kept = true;
			break;
		case 1:		/* s390 saves it in f0 or others, which no table says */
			a->knows_kept = kept_at;
			break;
		}
	}
	/* a row's CFA is the caller's SP, from which the other rules were computed here or not */
	if (!a->no_row) {
		a->moved = sp != a->cfa + machine->sp_off;
		a->cfa = sp;
	}
	ret = 0;
out:
	free(frame);
	return ret;
}

bool pushed_by_plt(Dwarf_CFI *cfi, uint64_t start, uint64_t end)
{
	uint64_t pc, row_start, row_end;
	struct answer a;

	for (pc = start; machine->elf == EM_AARCH64 && pc < end; pc = row_end) {
		if (ask_libdw(cfi, pc, &a, &row_start, &row_end) || row_end <= pc ||
		    a.cfa != reg_value(machine->sp, pc))
			return false;
		if (a.ra == memory(a.cfa + 8))
			return true;
	}
	return false;
}

void count_pushed(struct answer *a, uint64_t pc)
{
	a->cfa += PLT_PUSHES;
	/* popped */
	if (a->cfa == reg_value(machine->sp, pc))
		a->ra = reg_value(machine->ra, pc);
}

static bool is_near(uint64_t a, uint64_t b)
{
	return a - b + (1ull << 31) < 1ull << 32;
}

bool is_plain(Dwarf_CFI *cfi, uint64_t start, uint64_t end)
{
	uint64_t pc, row_start, row_end;
	struct answer a;

	for (pc = start; pc < end; pc = row_end) {
		if (ask_libdw(cfi, pc, &a, &row_start, &row_end) || row_end <= pc ||
		    a.outermost || a.signal || a.no_row || a.ra != memory(a.cfa - 8) ||
		    (!is_near(a.cfa, reg_value(machine->sp, pc)) &&
		     !is_near(a.cfa, reg_value(machine->fp, pc))))
			return false;
	}
	return true;
}
