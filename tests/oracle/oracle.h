/* SPDX-License-Identifier: GPL-2.0 */
/* oracle.h - the made-up machine, and the result of unwinding one frame on it; see oracle.c */
#ifndef ORACLE_H
#define ORACLE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "libunwind-user/base/vec.h"

/*
 * The oracle's own description of an architecture, apart from the library's. DWARF numbers;
 * a call leaves RA in its register, or in the word below the CFA.
 */
struct machine {
	const char *name;
	unsigned int elf;		/* EM_ */
	unsigned int sp, fp, ra;
	bool link;			/* a call leaves RA in ra; false: below the CFA */
	unsigned int pc;		/* the register that is the pc, or 0 */
	int cfa_off;			/* the CFA is SP + this at the start of a function */
	int sp_off;			/* the caller's SP is CFA + this */
	size_t insn;			/* instructions start at multiples of this; 1: anywhere */
	size_t (*nop)(const uint8_t *p, uint64_t left);	/* length of the nop at p, or 0 */
	bool (*is_return)(const uint8_t *p);	/* at the 4 bytes at p */
	unsigned int kept;		/* tables can say where this register is kept; 0: none */
};

/* The machine of the file that is being checked; amd64 at first. */
extern const struct machine *machine;

/* False if the architecture of the file is not known. */
bool set_machine(Elf *elf);

/* The result of unwinding one frame. */
struct answer {
	bool hole, outermost, signal;
	bool nothing;			/* a hole that the table does not state */
	bool no_row;			/* libdw: SP or FP undefined */
	bool is_signed;			/* RA is */
	bool moved;			/* libdw: its CFA is not the caller's SP, but cfa is */
	uint64_t cfa, ra, fp;		/* cfa: the caller's SP */
	unsigned int cfa_reg;		/* libdw: CFA is this register + n, or ~0 */
	uint64_t fp_at;			/* libdw: its address in memory, or 0 */
	bool knows_kept;
	uint64_t kept;			/* the caller's value of machine->kept, if known */
};

static inline uint64_t reg_value(unsigned int reg, uint64_t pc)
{
	return machine->pc && reg == machine->pc ? pc : hash64(reg + 1) & ~7ULL;
}

static inline uint64_t memory(uint64_t addr)
{
	return hash64(addr + 0x1234567);
}

/*
 * Ask libdw. Returns 0; 1 if libdw has no rule there; -1 if the rule cannot be computed here.
 * [start, end) is libdw's row.
 */
int ask_libdw(Dwarf_CFI *cfi, uint64_t pc, struct answer *a, uint64_t *start, uint64_t *end);

/*
 * Is [start, end) the FDE of glibc's _dl_runtime_resolve of arm64? A PLT has pushed PLT_PUSHES
 * bytes for it, with RA in the upper word. The FDE knows RA's place, but does not add the bytes to
 * the CFA.
 */
bool pushed_by_plt(Dwarf_CFI *cfi, uint64_t start, uint64_t end);

/* The rule of libdw at @pc in this FDE, corrected. */
#define PLT_PUSHES	16
void count_pushed(struct answer *a, uint64_t pc);

/* Can an assembler write all rows of the function? RA at CFA - 8. */
bool is_plain(Dwarf_CFI *cfi, uint64_t start, uint64_t end);

/*
 * Set the machine, and open the file for libdw; NULL: an error. arm64: libdw gets a changed copy,
 * see signed.c: @image, which the caller frees.
 */
Elf *open_elf(int fd, uint8_t **image);

/* .eh_frame as it is in the file; false if the file has no .eh_frame. */
bool eh_frame_of(Elf *elf, GElf_Shdr *sh, Elf_Data *data);

/*
 * arm64: note where RA is signed, and replace the instructions that say so by nops in @image, the
 * bytes of @elf.
 */
void signed_strip(Elf *elf, uint8_t *image);
bool signed_at(uint64_t pc);

/* The code from @pc on, and up to 15 bytes before it; sections may leave gaps. */
const uint8_t *code_at(Elf *elf, uint64_t pc, uint64_t *left);

/* amd64: the length of the nop or int3 at @p, or 0. */
size_t nop_at(const uint8_t *p, uint64_t left);

/* Nops or zero, all @left bytes? */
bool all_nops(const uint8_t *p, uint64_t left);

#endif
