/* SPDX-License-Identifier: GPL-2.0 */
/* oracle.h - the made-up machine, and what unwinding one frame on it comes to; see oracle.c */
#ifndef ORACLE_H
#define ORACLE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define REG_RBP		6
#define REG_RSP		7
#define REG_RA		16

/* What unwinding one frame comes to. */
struct answer {
	bool hole, outermost, signal;
	bool no_row;			/* libdw: SP or FP undefined */
	bool moved;			/* libdw: its CFA is not the caller's SP, which cfa is */
	uint64_t cfa, ra, fp;
	unsigned int cfa_reg;		/* libdw: CFA is this register + n, or ~0 */
	uint64_t fp_at;			/* libdw: where it lies, or 0 */
};

static inline uint64_t mix(uint64_t v)
{
	v ^= v >> 33;
	v *= 0xff51afd7ed558ccdULL;
	v ^= v >> 33;
	v *= 0xc4ceb9fe1a85ec53ULL;
	return v ^ v >> 33;
}

static inline uint64_t reg_value(unsigned int reg, uint64_t pc)
{
	return reg == REG_RA ? pc : mix(reg + 1) & ~7ULL;
}

static inline uint64_t memory(uint64_t addr)
{
	return mix(addr + 0x1234567);
}

/*
 * Ask libdw. Returns 0; 1 if it knows nothing there; -1 if what it knows cannot be computed here.
 * [start, end) is its row.
 */
int ask_libdw(Dwarf_CFI *cfi, uint64_t pc, struct answer *a, uint64_t *start, uint64_t *end);

/* The code from @pc on, and up to 15 bytes before it; sections may leave gaps. */
const uint8_t *code_at(Elf *elf, uint64_t pc, uint64_t *left);

/* The length of the nop or int3 at @p, or 0. */
size_t nop_at(const uint8_t *p, uint64_t left);

/* Nops, int3 or zero, all @left bytes? */
bool all_nops(const uint8_t *p, uint64_t left);

#endif
