// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow.c - instructions of s390x in the form of arch/arch.h
 *
 * SP is r15 and RA is r14. FP, where tables have an FP, is r11: a register like others, saved among
 * them. A caller keeps 160 bytes at its SP. The called function saves there the registers that it
 * uses, SP included, mostly by one instruction, and reads them back the same way.
 *
 * This file decodes the instructions that go on elsewhere, that move SP, and that store or load
 * these registers by SP or FP. flow_table.c says what all other instructions may write; an opcode
 * that it lacks counts as no instruction. Two kinds of instructions are not followed: those that
 * another instruction executes (ex, exrl), and branches that save in a register other than RA. Code
 * that is meant to be debugged has no such branches.
 *
 * Sources: z/Architecture Principles of Operation; ELF Application Binary Interface, s390x
 * Supplement.
 */
#include <elf.h>
#include <string.h>

#include "flow.h"
#include "s390x.h"

#define FP		11
#define RA		14
#define SP		15

#define SAVE_AREA	160		/* the caller keeps this area above its SP */

static uint16_t get_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static int32_t get_be32(const uint8_t *p)
{
	return (int32_t)((uint32_t)get_be16(p) << 16 | get_be16(p + 2));
}

/* ------------------------------- registers ------------------------------- */

static void mark_written(struct arch_op *op, unsigned int reg)
{
	bool fp = op->effect == ARCH_LOSE_FP || op->effect == ARCH_LOSE_BOTH;
	bool sp = op->effect == ARCH_LOSE_SP || op->effect == ARCH_LOSE_BOTH;

	if (reg == RA)
		op->flags |= ARCH_LOSES_RA;
	fp |= reg == FP;
	sp |= reg == SP;
	if (fp || sp)
		op->effect = fp && sp ? ARCH_LOSE_BOTH : sp ? ARCH_LOSE_SP : ARCH_LOSE_FP;
}

/* @to = @from + @n */
static void set_sum(struct arch_op *op, unsigned int to, unsigned int from, int64_t n)
{
	bool known = (from == SP || from == FP) && n == (int32_t)n && n != INT32_MIN;

	if (!known || (to != SP && to != FP)) {
		mark_written(op, to);
		return;
	}
	op->n = n;
	op->effect = to == SP ? (from == SP ? ARCH_ADD_SP : ARCH_SP_IS_FP) :
		     from == SP ? ARCH_FP_IS_SP : ARCH_FP_IS_FP;
}

/* --------------------------------- memory -------------------------------- */

/* D(X,B) */
struct operand {
	unsigned int base, index;	/* registers, or 0 */
	int32_t disp;
};

static struct operand decode_place(const uint8_t *p, unsigned int format)
{
	const uint8_t *b = p + 2;
	struct operand m = { .base = b[0] >> 4, .disp = get_be16(b) & 0xfff };

	if (format == FORMAT_RX || format == FORMAT_RXY || format == FORMAT_RXE)
		m.index = p[1] & 15;
	if (format == FORMAT_RXY)
		m.disp |= (int32_t)(int8_t)p[4] * 4096;
	return m;
}

static bool is_frame(const struct operand *m)
{
	return !m->index && (m->base == SP || m->base == FP);
}

static void set_store(struct arch_op *op, const struct operand *m, unsigned int size)
{
	if (!is_frame(m))
		return;
	op->by_fp = m->base == FP;
	op->off = m->disp;
	op->size = size;
}

/* Registers from @reg to @last by one instruction; r0 follows r15 */
static void decode_multiple(struct arch_op *op, const struct operand *m, unsigned int reg,
			    unsigned int last, bool load)
{
	unsigned int at;

	if (!load)
		set_store(op, m, 8 * (((last - reg) & 15) + 1));
	if (load && is_frame(m)) {
		op->by_fp = m->base == FP;
		op->off = m->disp;
	}
	for (at = 0; ; at += 8, reg = (reg + 1) & 15) {
		if (!is_frame(m)) {
			if (load)
				mark_written(op, reg);
		} else if (reg == FP) {
			op->flags |= load ? ARCH_LOADS_FP : ARCH_STORES_FP;
			op->fp_at = at;
		} else if (reg == RA) {
			op->flags |= load ? ARCH_LOADS_RA : ARCH_STORES_RA;
			op->ra_at = at;
		} else if (reg == SP) {
			op->flags |= load ? ARCH_LOADS_SP : ARCH_STORES_SP;
			op->sp_at = at;
		}
		if (reg == last)
			break;
	}
}

/* -------------------------------- branches ------------------------------- */

/* A branch on @mask, of four conditions */
static void set_branch(struct arch_op *op, unsigned int mask, uint64_t target)
{
	op->target = target;
	op->next = mask == 15 ? ARCH_JUMP : mask ? ARCH_BRANCH : ARCH_FALLTHROUGH;
	/* high, perhaps equal, not low; the same for signed numbers */
	if (op->next == ARCH_BRANCH && (mask & 6) == 2)
		op->flags |= ARCH_IF_ABOVE;
}

/* Branch and save */
static void set_call(struct arch_op *op, unsigned int reg, uint64_t target)
{
	op->target = target;
	op->next = reg == RA ? ARCH_CALL : ARCH_JUMP;
	if (reg != RA)
		mark_written(op, reg);
}

/* The instruction branches on @mask to the address in @reg. */
static void set_branch_to(struct arch_op *op, unsigned int mask, unsigned int reg)
{
	if (!mask || !reg)
		return;
	if (reg == RA)
		op->next = mask == 15 ? ARCH_RETURN : ARCH_MAYBE_RETURN;
	else
		op->next = mask == 15 ? ARCH_JUMP_INDIRECT : ARCH_BAD;
}

/* ------------------------- instructions by format ------------------------ */

static void decode_2_bytes(const uint8_t *p, struct arch_op *op)
{
	unsigned int r1 = p[1] >> 4, r2 = p[1] & 15;

	switch (p[0]) {
	case 0x07:				/* bcr */
		set_branch_to(op, r1, r2);
		break;
	case 0x06:				/* bctr: without R2, no branch */
		mark_written(op, r1);
		if (r2)
			op->next = ARCH_BAD;
		break;
	case 0x0d:				/* basr */
		if (r2)
			op->next = r1 == RA ? ARCH_CALL_POINTER : ARCH_BAD;
		else
			mark_written(op, r1);
		break;
	case 0x0a:				/* svc, but not those that return from signals */
		op->flags |= ARCH_ENTERS_KERNEL;
		if (p[1] == 173 || p[1] == 119)
			op->next = ARCH_BAD;
		break;
	default:
		op->next = ARCH_BAD;
	}
}

static void decode_4_bytes(const uint8_t *p, uint64_t addr, struct arch_op *op)
{
	uint64_t target = addr + (int64_t)(int16_t)get_be16(p + 2) * 2;
	unsigned int r1 = p[1] >> 4;
	struct operand m;

	switch (p[0]) {
	case 0x41:				/* la */
		m = decode_place(p, FORMAT_RX);
		set_sum(op, r1, m.index ? (m.base ? 0 : m.index) : m.base, m.disp);
		return;
	case 0x47:				/* bc: as a nop */
		if (r1)
			op->next = ARCH_BAD;
		return;
	case 0x84:				/* brxh, brxle */
	case 0x85:
		mark_written(op, r1);
		set_branch(op, 1, target);
		return;
	case 0xb9:
		r1 = p[3] >> 4;
		if (p[1] == 0x04)		/* lgr */
			set_sum(op, r1, p[3] & 15, 0);
		else if (p[3] & 15)		/* bctgr */
			op->next = ARCH_BAD;
		else
			mark_written(op, r1);
		return;
	}
	switch (p[1] & 15) {			/* a7 */
	case 4:
		set_branch(op, r1, target);
		break;
	case 5:
		set_call(op, r1, target);
		break;
	case 6:
	case 7:
		mark_written(op, r1);
		set_branch(op, 1, target);
		break;
	default:				/* aghi */
		set_sum(op, r1, r1, (int16_t)get_be16(p + 2));
	}
}

/* The instruction compares, and branches to an address in a register. */
static void set_compare_branch(const uint8_t *p, struct arch_op *op)
{
	if (get_be16(p + 2) == RA << 12)
		op->next = ARCH_MAYBE_RETURN;
	else
		op->next = ARCH_BAD;
}

/*
 * stmg to the stack of a range of registers that wraps from r15 to r0. No call preserves r0, and
 * compilers do not save it. Code that saves r0 may have its return address there, see
 * returns_to_r0().
 */
static bool saves_r0(const uint8_t *p, unsigned int base)
{
	return p[5] == 0x24 && base == SP && (p[1] & 15) < p[1] >> 4;
}

static void decode_6_bytes(const uint8_t *p, uint64_t addr, struct arch_op *op)
{
	uint64_t target = addr + (int64_t)get_be32(p + 2) * 2;
	unsigned int r1 = p[1] >> 4;
	struct operand m = decode_place(p, FORMAT_RXY);

	switch (p[0]) {
	case 0xc0:
		if ((p[1] & 15) == 4) {
			set_branch(op, r1, target);
		} else if ((p[1] & 15) == 5) {
			set_call(op, r1, target);
		} else {
			mark_written(op, r1);
			op->target = target;
			op->flags |= ARCH_TAKES_ADDRESS;
		}
		break;
	case 0xc2:				/* agfi */
		set_sum(op, r1, r1, get_be32(p + 2));
		break;
	case 0xcc:				/* brcth */
		mark_written(op, r1);
		set_branch(op, 1, target);
		break;
	case 0xe3:
		if (p[5] == 0x71)
			set_sum(op, r1, m.index ? (m.base ? 0 : m.index) : m.base, m.disp);
		else				/* lg, stg */
			decode_multiple(op, &m, r1, r1, p[5] == 0x04);
		break;
	case 0xeb:				/* lmg, stmg: R3 where others have an index */
		m.index = 0;
		decode_multiple(op, &m, r1, p[1] & 15, p[5] == 0x04);
		if (saves_r0(p, m.base))
			op->next = ARCH_BAD;
		break;
	case 0xec:
		if (p[5] >= 0xe0) {
			set_compare_branch(p, op);
			break;
		}
		if (p[5] < 0x60)		/* brxhg, brxlg */
			mark_written(op, r1);
		set_branch(op, 1, addr + (int64_t)(int16_t)get_be16(p + 2) * 2);
		break;
	default:
		op->next = ARCH_BAD;
	}
}

/* ---------------------------- all instructions --------------------------- */

static void mark_written_pair(struct arch_op *op, unsigned int reg)
{
	mark_written(op, reg);
	mark_written(op, (reg + 1) & 15);
}

static void decode_plain(const uint8_t *p, const struct insn *insn, struct arch_op *op)
{
	unsigned int r1 = insn->format == FORMAT_RRE ? p[3] >> 4 : p[1] >> 4, i;
	struct operand m = { 0 };

	if (insn->len > 2)
		m = decode_place(p, insn->format);
	/* lmg and stmg, and others, have R3 in place of an index */
	if (p[0] == 0xeb || p[0] == 0x90 || p[0] == 0x9b || p[0] == 0xbe ||
	    (p[0] == 0xe7 && p[5] == 0x3e))
		m.index = 0;
	switch (insn->kind) {
	case INSN_NONE:
		break;
	case INSN_R1:
		mark_written(op, r1);
		break;
	case INSN_PAIR:
		mark_written_pair(op, r1);
		break;
	case INSN_PAIRS:
		/* R1 and R2 (or R3) are in the second byte, or in the last two bytes */
		for (i = insn->format == FORMAT_RRE ? 2 : 1;
		     i < (insn->format == FORMAT_RRE ? 4 : 2); i++) {
			mark_written_pair(op, p[i] >> 4);
			mark_written_pair(op, p[i] & 15);
		}
		break;
	case INSN_RANGE:
		for (i = r1; ; i = (i + 1) & 15) {
			mark_written(op, i);
			if (i == (p[1] & 15u))
				break;
		}
		break;
	case INSN_STORES:
		set_store(op, &m, p[0] >= 0xd0 && p[0] <= 0xdf ? p[1] + 1 : 256);
		break;
	default:
		set_store(op, &m, 1 << (insn->kind - INSN_STORE1));
	}
}

/*
 * lgr %rN,%r0; br %rN: no instruction jumps to r0, so a function that returns there copies it
 * first. Such a function was called by brasl %r0, and r14 does not have its return address:
 * __fentry__ of glibc.
 */
static bool returns_to_r0(const uint8_t *p, size_t len)
{
	return len >= 6 && get_be16(p) == 0xb904 && !(p[3] & 15) && p[4] == 0x07 &&
	       p[5] == (0xf0 | p[3] >> 4);
}

static void s390x_decode(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
			 struct arch_op *op)
{
	struct insn insn;

	(void)decoder;
	memset(op, 0, sizeof(*op));
	op->len = 1;
	op->next = ARCH_BAD;
	if (addr % 2 || len < 2 || len < s390x_get_insn_len(p))
		return;
	insn = s390x_classify_insn(p);
	op->len = insn.len;
	if (insn.kind == INSN_BAD || returns_to_r0(p, len))
		return;
	op->next = ARCH_FALLTHROUGH;
	if (insn.kind != INSN_SPECIAL)
		decode_plain(p, &insn, op);
	else if (insn.len == 2)
		decode_2_bytes(p, op);
	else if (insn.len == 4)
		decode_4_bytes(p, addr, op);
	else
		decode_6_bytes(p, addr, op);
}

/* larl, jg and its conditions, brasl */
static size_t s390x_find_reference(const uint8_t *p, size_t len, uint64_t addr,
				   uint64_t start, uint64_t size, uint64_t *target)
{
	size_t i;

	for (i = 0; i + ARCH_REFERENCE <= len; i += 2) {
		if (p[i] != 0xc0 || (p[i + 1] & 15 && (p[i + 1] & 15) != 4 && (p[i + 1] & 15) != 5))
			continue;
		*target = addr + i + (int64_t)get_be32(p + i + 2) * 2;
		if (*target - start < size)
			return i;
	}
	return len;
}

const struct arch_flow s390x_flow = {
	.entered = { .sp_depth = SAVE_AREA, .sp_known = true, .ra_in_reg = true },
	.align = 8,
	.callee_area = SAVE_AREA,
	.abi_ra_slot = 8 * RA - SAVE_AREA,
	.syscall_len = 2,
	.calls_leave_ra_in_reg = true,
	.insn = 2,
	.relative = R_390_RELATIVE,
	.irelative = R_390_IRELATIVE,
	.decode = s390x_decode,
	.find_reference = s390x_find_reference,
};
