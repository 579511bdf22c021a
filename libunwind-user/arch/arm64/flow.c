// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow.c - instructions of arm64 in the form of arch/arch.h
 *
 * All instructions have four bytes. The group of an instruction says which of its bits name the
 * registers that it writes. This file decodes the instructions that go on elsewhere, that move SP,
 * that store or load FP (x29) and RA (x30) by SP or FP, and that sign RA. For all other
 * instructions it decodes only whether they may write SP, FP or RA. An instruction of a group that
 * is not known here counts as no instruction (ARCH_BAD).
 *
 * Source: Arm Architecture Reference Manual, A-profile, "A64 Instruction Set Encoding". The groups
 * below have the names of that section.
 */
#include <elf.h>
#include <string.h>

#include "arm64.h"

#define FP		29
#define RA		30
#define SP		31		/* SP or zero, depending on the instruction */

#define X8		8		/* the number of the system call */
#define NR_SIGRETURN	139		/* rt_sigreturn */

/* @nr bits from bit @low on */
static uint32_t bits(uint32_t w, unsigned int low, unsigned int nr)
{
	return w >> low & ((1u << nr) - 1);
}

static int64_t signed_bits(uint32_t w, unsigned int low, unsigned int nr)
{
	return (int64_t)((uint64_t)bits(w, low, nr) << (64 - nr)) >> (64 - nr);
}

/* A general register gets a value that is not followed; 31 is not SP. */
static void mark_written(struct arch_op *op, unsigned int reg)
{
	if (reg == FP)
		op->effect = op->effect == ARCH_LOSE_SP || op->effect == ARCH_LOSE_BOTH ?
			     ARCH_LOSE_BOTH : ARCH_LOSE_FP;
	else if (reg == RA)
		op->flags |= ARCH_LOSES_RA;
}

static void mark_written_or_sp(struct arch_op *op, unsigned int reg)
{
	if (reg == SP)
		op->effect = ARCH_LOSE_SP;
	else
		mark_written(op, reg);
}

/* ---------------------------- loads and stores --------------------------- */

/* The instruction loads or stores @size bytes of a register at @at; only whole registers count. */
static void access_reg(struct arch_op *op, unsigned int reg, unsigned int at, unsigned int size,
		       bool load)
{
	if (size != 8) {
		if (load)
			mark_written(op, reg);
		return;
	}
	if (reg == FP) {
		op->flags |= load ? ARCH_LOADS_FP : ARCH_STORES_FP;
		op->fp_at = at;
	} else if (reg == RA) {
		op->flags |= load ? ARCH_LOADS_RA : ARCH_STORES_RA;
		op->ra_at = at;
	}
}

/* The instruction stores, or may store, at @base + @n. */
static void stores_at(struct arch_op *op, unsigned int base, int32_t n, unsigned int size)
{
	if (base != SP && base != FP)
		return;
	op->by_fp = base == FP;
	op->off = n;
	op->size = size;
}

/* A load or store of one register, or of two, at @base + @n */
struct access {
	unsigned int base;
	int64_t n;
	enum { OFFSET, POST, PRE } mode;	/* of the address */
	unsigned int reg[2], nr;
	unsigned int size;			/* bytes of each register */
	bool load, vector;
};

static void decode_access(const struct access *a, struct arch_op *op)
{
	bool known = a->base == SP || a->base == FP, fp_too = false;
	unsigned int i;

	for (i = 0; i < a->nr && !a->vector; i++) {
		if (known)
			access_reg(op, a->reg[i], i * a->size, a->size, a->load);
		else if (a->load)
			mark_written(op, a->reg[i]);
		fp_too |= a->load && a->reg[i] == FP;
	}
	if (known) {
		op->by_fp = a->base == FP;
		op->off = a->mode == POST ? 0 : a->n;
		op->size = a->load ? 0 : a->nr * a->size;
	}
	if (a->mode == OFFSET)
		return;
	/* the base is written, too; loading it in the same instruction is undefined */
	op->n = a->n;
	if (a->base == SP)
		op->effect = op->effect == ARCH_NONE ? ARCH_ADD_SP : ARCH_LOSE_BOTH;
	else if (a->base == FP && fp_too)
		op->next = ARCH_BAD;
	else if (a->base == FP)
		op->effect = ARCH_FP_IS_FP;
	else
		mark_written(op, a->base);
}

/* Load/store register pair, and no-allocate pair */
static void decode_pair(uint32_t w, struct arch_op *op)
{
	static const uint8_t modes[] = { OFFSET, POST, OFFSET, PRE };
	unsigned int opc = bits(w, 30, 2);
	struct access a = {
		.base = bits(w, 5, 5), .mode = modes[bits(w, 23, 2)],
		.reg = { bits(w, 0, 5), bits(w, 10, 5) }, .nr = 2,
		.load = bits(w, 22, 1), .vector = bits(w, 26, 1),
	};

	/* stgp also stores a tag; 3 is not an instruction */
	if (opc == 3 || (!a.vector && opc == 1 && !a.load)) {
		op->next = ARCH_BAD;
		return;
	}
	/* ldpsw loads 4 bytes into each register */
	a.size = 1 << (a.vector ? 2 + opc : opc == 2 ? 3 : 2);
	a.n = signed_bits(w, 15, 7) * (int)a.size;
	decode_access(&a, op);
}

/* Load/store register, with an immediate or a register as offset */
static void decode_single(uint32_t w, struct arch_op *op)
{
	unsigned int size = bits(w, 30, 2), opc = bits(w, 22, 2), kind = bits(w, 10, 2);
	bool vector = bits(w, 26, 1);
	unsigned int shift = vector && opc & 2 ? 4 : size;
	struct access a = {
		.base = bits(w, 5, 5), .mode = OFFSET, .reg = { bits(w, 0, 5) }, .nr = 1,
		/* sign-extending loads have other sizes, and do not load a saved register */
		.size = !vector && opc > 1 ? 4 : 1u << shift,
		.load = vector ? opc & 1 : opc, .vector = vector,
	};

	/* prfm has no register; some atomic instructions have the same opcode */
	if (!vector && size == 3 && opc == 2 &&
	    (bits(w, 24, 1) || !bits(w, 21, 1) || kind == 2))
		return;
	if (bits(w, 24, 1)) {
		a.n = (int64_t)bits(w, 10, 12) << shift;
	} else if (bits(w, 21, 1)) {
		/* atomic, offset in a register, or signed address */
		if (kind != 2 && (vector || kind & 1)) {
			op->next = ARCH_BAD;
			return;
		}
		if (!vector && (kind == 0 || a.load))
			mark_written(op, a.reg[0]);
		if (kind == 0)
			stores_at(op, a.base, 0, 8);
		return;
	} else {
		a.n = signed_bits(w, 12, 9);
		a.mode = kind == 1 ? POST : kind == 3 ? PRE : OFFSET;
	}
	decode_access(&a, op);
}

/* Advanced SIMD load/store structures; the base grows by the accessed size or by a register */
static void decode_structures(uint32_t w, struct arch_op *op)
{
	static const uint8_t nr_regs[16] = {
		[0] = 4, [2] = 4, [4] = 3, [6] = 3, [7] = 1, [8] = 2, [10] = 2,
	};
	unsigned int base = bits(w, 5, 5), size;
	bool single = bits(w, 24, 1), load = bits(w, 22, 1), post = bits(w, 23, 1);

	size = nr_regs[bits(w, 12, 4)] * (bits(w, 30, 1) ? 16 : 8);
	if (!single && !size) {
		op->next = ARCH_BAD;
		return;
	}
	/* a single structure has one element a register: at most 32 bytes */
	if (!load)
		stores_at(op, base, 0, single ? 32 : size);
	if (!post)
		return;
	op->n = size;
	if (base == SP)
		op->effect = single || bits(w, 16, 5) != 31 ? ARCH_LOSE_SP : ARCH_ADD_SP;
	else
		mark_written(op, base);
}

static void decode_memory(uint32_t w, struct arch_op *op)
{
	unsigned int reg = bits(w, 0, 5);

	if ((w & 0x3a000000) == 0x28000000) {
		decode_pair(w, op);
	} else if ((w & 0x3a000000) == 0x38000000) {
		decode_single(w, op);
	} else if ((w & 0x3b000000) == 0x18000000) {
		/* literal; prfm has no register */
		if (!bits(w, 26, 1) && bits(w, 30, 2) != 3)
			mark_written(op, reg);
	} else if ((w & 0x3f000000) == 0x08000000) {
		/* exclusive, ordered, compare and swap: up to two registers and a status */
		mark_written(op, reg);
		mark_written(op, bits(w, 10, 5));
		mark_written(op, bits(w, 16, 5));
		mark_written(op, bits(w, 16, 5) | 1);
		stores_at(op, bits(w, 5, 5), 0, 16);
	} else if ((w & 0xbfbf0000) == 0x0c000000 || (w & 0xbfa00000) == 0x0c800000 ||
		   (w & 0xbf9f0000) == 0x0d000000 || (w & 0xbf800000) == 0x0d800000) {
		decode_structures(w, op);
	} else if ((w & 0x3f200c00) == 0x19000000) {
		/* ordered, with an offset: it may overwrite a saved register */
		mark_written(op, reg);
		if (bits(w, 22, 2) == 0)
			stores_at(op, bits(w, 5, 5), signed_bits(w, 12, 9), 8);
	} else {
		op->next = ARCH_BAD;
	}
}

/* ----------------------------- data processing --------------------------- */

/* Add/subtract (immediate); mov between SP and a register is an add */
static void decode_add(uint32_t w, struct arch_op *op)
{
	unsigned int to = bits(w, 0, 5), from = bits(w, 5, 5);
	int32_t n = bits(w, 10, 12) << (bits(w, 22, 1) ? 12 : 0);
	bool flags = bits(w, 29, 1), wide = bits(w, 31, 1);

	if (bits(w, 30, 1))
		n = -n;
	if (flags) {
		mark_written(op, to);		/* 31: cmp */
		return;
	}
	if (wide && (to == SP || to == FP) && (from == SP || from == FP)) {
		op->n = n;
		op->effect = to == SP ? (from == SP ? ARCH_ADD_SP : ARCH_SP_IS_FP) :
			     from == SP ? ARCH_FP_IS_SP : ARCH_FP_IS_FP;
		return;
	}
	mark_written_or_sp(op, to);
}

/* The address that adr, or adrp and the add after it, compute; false if there is none. */
static bool compute_address(uint32_t w, uint32_t next, uint64_t addr, uint64_t *target)
{
	int64_t n = (int64_t)((uint64_t)signed_bits(w, 5, 19) << 2 | bits(w, 29, 2));

	if ((w & 0x9f000000) == 0x10000000) {
		*target = addr + n;
		return true;
	}
	/* a 64-bit add to the same register */
	if ((w & 0x9f000000) != 0x90000000 || (next & 0xffc00000) != 0x91000000 ||
	    bits(next, 5, 5) != bits(w, 0, 5))
		return false;
	*target = (addr & ~0xfffull) + ((uint64_t)n << 12) + bits(next, 10, 12);
	return true;
}

static void decode_immediate(uint32_t w, uint32_t next, uint64_t addr, struct arch_op *op)
{
	unsigned int to = bits(w, 0, 5), opc = bits(w, 29, 2);

	switch (bits(w, 23, 3)) {
	case 0:
	case 1:
		mark_written(op, to);
		if (compute_address(w, next, addr, &op->target))
			op->flags |= ARCH_TAKES_ADDRESS;
		break;
	case 2:
		decode_add(w, op);
		break;
	case 3:					/* with tags; and minimum, maximum */
		mark_written_or_sp(op, to);
		break;
	case 4:					/* logical: ands writes no SP */
		if (opc == 3)
			mark_written(op, to);
		else
			mark_written_or_sp(op, to);
		break;
	case 5:
		mark_written(op, to);
		if (opc == 2 && to == X8 && bits(w, 5, 18) == NR_SIGRETURN)
			op->flags |= ARCH_IS_SIGRETURN;
		break;
	default:
		mark_written(op, to);
	}
}

static void decode_registers(uint32_t w, struct arch_op *op)
{
	/* add/subtract (extended register) without flags; irg */
	if ((w & 0x3fe00000) == 0x0b200000 || (w & 0xffe0fc00) == 0x9ac01000)
		mark_written_or_sp(op, bits(w, 0, 5));
	else
		mark_written(op, bits(w, 0, 5));
}

/* Advanced SIMD and floating point: smov, umov, and conversions to integers write others */
static void decode_vectors(uint32_t w, struct arch_op *op)
{
	unsigned int opcode = bits(w, 16, 3);
	/* scvtf, ucvtf, fmov from a general register */
	bool from = opcode == 2 || opcode == 3 || opcode == 7;

	if ((w & 0xbfe0ec00) == 0x0e002c00 ||
	    (!from && ((w & 0x7f20fc00) == 0x1e200000 || (w & 0x7f200000) == 0x1e000000)))
		mark_written(op, bits(w, 0, 5));
}

/* SVE: few instructions write general registers. This also matches some that do not. */
static void decode_sve(uint32_t w, struct arch_op *op)
{
	bool general = false;

	switch (w >> 24) {
	case 0x04:				/* addvl, rdvl; cntb ...; incb ... */
		general = bits(w, 21, 1) && (bits(w, 12, 4) == 5 || bits(w, 12, 4) >= 14);
		break;
	case 0x05:				/* lasta, lastb, clasta, clastb */
		general = bits(w, 21, 1) && bits(w, 13, 3) == 5 && !bits(w, 17, 3);
		break;
	case 0x25:				/* cntp, incp ... */
		general = bits(w, 21, 1) && bits(w, 14, 2) == 2;
		break;
	case 0xe4:				/* stores, of a length that is not known */
	case 0xe5:
		if (bits(w, 5, 5) == SP || bits(w, 5, 5) == FP)
			op->next = ARCH_BAD;
		break;
	}
	if (general)
		mark_written_or_sp(op, bits(w, 0, 5));
}

/* ------------------------- branches, exceptions, system ------------------ */

static void decode_hint(uint32_t w, struct arch_op *op)
{
	switch (bits(w, 5, 7)) {
	case 24:				/* paciaz, paciasp, pacibz, pacibsp */
	case 25:
	case 26:
	case 27:
		op->flags |= ARCH_SIGNS_RA | ARCH_STARTS_FUNC;
		break;
	case 28:				/* autiaz, autiasp, autibz, autibsp */
	case 29:
	case 30:
	case 31:
		op->flags |= ARCH_STRIPS_RA;
		break;
	case 34:				/* bti c; setjmp() returns to bti j */
		op->flags |= ARCH_STARTS_FUNC;
		break;
	case 7:					/* xpaclri */
		op->flags |= ARCH_LOSES_RA;
		break;
	}
}

static void decode_branch(uint32_t w, uint64_t addr, struct arch_op *op)
{
	if ((w & 0x7c000000) == 0x14000000) {
		op->next = w >> 31 ? ARCH_CALL : ARCH_JUMP;
		op->target = addr + signed_bits(w, 0, 26) * 4;
	} else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
		op->next = ARCH_BRANCH;
		op->target = addr + signed_bits(w, 5, 19) * 4;
		/* b.hs, b.hi */
		if (w >> 24 == 0x54 && ((w & 15) == 2 || (w & 15) == 8))
			op->flags |= ARCH_IF_ABOVE;
	} else if ((w & 0x7e000000) == 0x36000000) {
		op->next = ARCH_BRANCH;
		op->target = addr + signed_bits(w, 5, 14) * 4;
	} else if ((w & 0xfffffc1f) == 0xd61f0000) {
		op->next = ARCH_JUMP_INDIRECT;
	} else if ((w & 0xfffffc1f) == 0xd63f0000) {
		op->next = ARCH_CALL_POINTER;
	} else if ((w & 0xfffffc1f) == 0xd65f0000) {
		op->next = bits(w, 5, 5) == RA ? ARCH_RETURN : ARCH_JUMP_INDIRECT;
	} else if ((w & 0xffe0001f) == 0xd4000001) {
		op->flags |= ARCH_ENTERS_KERNEL;
	} else if ((w & 0xffe0001f) == 0xd4200000) {
		op->next = ARCH_STOP;
	} else if ((w & 0xfffff01f) == 0xd503201f) {
		decode_hint(w, op);
	} else if ((w & 0xffc00000) == 0xd5000000) {
		/* barriers, msr and sys read a register; mrs and sysl write one */
		if (bits(w, 21, 1))
			mark_written(op, bits(w, 0, 5));
	} else {
		/*
		 * Also branches that check a signed address, which code for all processors does not
		 * have
		 */
		op->next = ARCH_BAD;
	}
}

static void arm64_decode(void *decoder, const uint8_t *p, size_t len, uint64_t addr,
			 struct arch_op *op)
{
	uint32_t w, next;

	(void)decoder;
	memset(op, 0, sizeof(*op));
	op->len = 4;
	op->next = ARCH_FALLTHROUGH;
	if (len < 4 || addr % 4) {
		op->len = 1;
		op->next = ARCH_BAD;
		return;
	}
	w = arch_read_le32(p);
	next = len >= 8 ? arch_read_le32(p + 4) : 0;
	switch (bits(w, 25, 4)) {
	case 0x2:
		decode_sve(w, op);
		break;
	case 0x8:
	case 0x9:
		decode_immediate(w, next, addr, op);
		break;
	case 0xa:
	case 0xb:
		decode_branch(w, addr, op);
		break;
	case 0x4:
	case 0x6:
	case 0xc:
	case 0xe:
		decode_memory(w, op);
		break;
	case 0x5:
	case 0xd:
		decode_registers(w, op);
		break;
	case 0x7:
	case 0xf:
		decode_vectors(w, op);
		break;
	default:
		/* also zeros, which fill free space, and SME */
		op->next = ARCH_BAD;
	}
}

static size_t arm64_find_reference(const uint8_t *p, size_t len, uint64_t addr,
				   uint64_t start, uint64_t size, uint64_t *target)
{
	uint32_t w;
	size_t i;

	for (i = 0; i + ARCH_REFERENCE <= len; i += 4) {
		w = arch_read_le32(p + i);
		if ((w & 0x7c000000) == 0x14000000)
			*target = addr + i + signed_bits(w, 0, 26) * 4;
		else if ((w & 0x1f000000) != 0x10000000 ||
			 !compute_address(w, arch_read_le32(p + i + 4), addr + i, target))
			continue;
		if (*target - start < size)
			return i;
	}
	return len;
}

const struct arch_flow arm64_flow = {
	.entered = { .sp_known = true, .ra_in_reg = true },
	.align = 16,
	.syscall_len = 4,
	.calls_leave_ra_in_reg = true,
	.insn = 4,
	.relative = R_AARCH64_RELATIVE,
	.irelative = R_AARCH64_IRELATIVE,
	.decode = arm64_decode,
	.find_reference = arm64_find_reference,
};
