/* SPDX-License-Identifier: GPL-2.0 */
/* oracle.h - the made-up machine, and the result of unwinding one frame on it; see oracle.c */
#ifndef ORACLE_H
#define ORACLE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * What the oracle must know of an architecture, apart from what the library knows. DWARF numbers;
 * a call leaves RA in its register, or, if that is 0, at CFA - 8.
 */
struct machine {
	const char *name;
	unsigned int elf;		/* EM_ */
	unsigned int sp, fp, ra;
	bool link;			/* a call leaves RA in ra; else at CFA - 8 */
	unsigned int pc;		/* register that is the pc, if not 0 */
	int cfa_off;			/* the CFA is SP + it when a function is entered */
	int sp_off;			/* the caller's SP is CFA + it */
	size_t insn;			/* instructions start at multiples of it; 1: anywhere */
	size_t (*nop)(const uint8_t *p, uint64_t left);	/* length of the nop at p, or 0 */
	bool (*is_return)(const uint8_t *p);	/* at the 4 bytes at p */
	unsigned int kept;		/* tables can say where this register is kept; 0: none */
};

/* That of the file that is looked at; amd64 at first. */
extern const struct machine *machine;

/* False if the file is of an architecture not known here. */
bool set_machine(Elf *elf);

/* What unwinding one frame comes to. */
struct answer {
	bool hole, outermost, signal;
	bool nothing;			/* a hole that the table does not state */
	bool no_row;			/* libdw: SP or FP undefined */
	bool is_signed;			/* RA is */
	bool moved;			/* libdw: its CFA is not the caller's SP, which cfa is */
	uint64_t cfa, ra, fp;		/* cfa: the caller's SP */
	unsigned int cfa_reg;		/* libdw: CFA is this register + n, or ~0 */
	uint64_t fp_at;			/* libdw: where it lies, or 0 */
	bool knows_kept;
	uint64_t kept;			/* the caller's value of machine->kept, if known */
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
	return machine->pc && reg == machine->pc ? pc : mix(reg + 1) & ~7ULL;
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

/*
 * Is [start, end) the FDE of glibc's _dl_runtime_resolve of arm64? A PLT has pushed PLT_PUSHES
 * bytes for it, RA above, which the FDE says is so and does not add to the CFA.
 */
bool pushed_by_plt(Dwarf_CFI *cfi, uint64_t start, uint64_t end);

/* What libdw says at @pc of it, made right. */
#define PLT_PUSHES	16
void count_pushed(struct answer *a, uint64_t pc);

/* Are all rows of the function of the kind that assemblers can write? RA at CFA - 8. */
bool is_plain(Dwarf_CFI *cfi, uint64_t start, uint64_t end);

/*
 * The file as libdw gets it, and its machine is set; NULL if that cannot be. arm64: not as it is,
 * see signed.c, but @image, which is to be freed.
 */
Elf *open_elf(int fd, uint8_t **image);

/* .eh_frame as it is in the file; false if there is none. */
bool eh_frame_of(Elf *elf, GElf_Shdr *sh, Elf_Data *data);

/*
 * arm64: note where RA is signed, and make nops in @image, the bytes of @elf, of what says so.
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
