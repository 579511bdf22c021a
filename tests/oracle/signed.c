// SPDX-License-Identifier: GPL-2.0
/*
 * signed.c - finds where the return address of arm64 code is signed
 *
 * DW_CFA_AARCH64_negate_ra_state marks such places. libdw before 0.193 takes that instruction for
 * an instruction of SPARC with the same number, and then has wrong rules for 16 registers. So this
 * code finds each such instruction, notes it, and makes it a nop in the copy of the file that
 * libdw gets. The instruction has no operand, so nothing else moves.
 *
 * Like the rest of the oracle, this code is independent of the generator's reader. It skips all
 * instructions except those that advance the location, remember state or restore state.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"

#define NEGATE_RA_STATE	0x2d
#define MAX_DEPTH	16

struct range {
	uint64_t start, end;
};

static struct range *range;
static size_t nr_ranges;

static uint64_t uleb(const uint8_t **p, const uint8_t *end)
{
	unsigned int shift = 0;
	uint64_t v = 0;

	while (*p < end) {
		if (shift < 64)
			v |= (uint64_t)(**p & 0x7f) << shift;
		shift += 7;
		if (!(*(*p)++ & 0x80))
			break;
	}
	return v;
}

static void add(uint64_t start, uint64_t end)
{
	if (start >= end)
		return;
	range = realloc(range, (nr_ranges + 1) * sizeof(*range));
	if (!range)
		abort();
	range[nr_ranges++] = (struct range){ start, end };
}

/* Skip the operands of an instruction; false if it is not known. */
static bool skip(uint8_t op, const uint8_t **p, const uint8_t *end)
{
	/* numbers of LEB128 operands from 0x05 on; 9: one, and as many bytes as it says */
	static const uint8_t operands[] = { 2, 1, 1, 1, 2, 0, 0, 2, 1, 1, 9, 0, 2, 2, 1, 2, 2, 0 };
	uint64_t n;
	uint8_t i;

	if (op >> 6)
		i = op >> 6 == 2;
	else if (op >= 0x05 && op < 0x05 + sizeof(operands))
		i = operands[op - 0x05];
	else if (op == 0x2e)
		i = 1;
	else
		return !op || op == NEGATE_RA_STATE;
	/* DW_CFA_expression and DW_CFA_val_expression start with a register */
	if (op == 0x10 || op == 0x16) {
		uleb(p, end);
		i = 9;
	}
	for (; i && i != 9; i--)
		uleb(p, end);
	if (i == 9) {
		n = uleb(p, end);
		if (n > (uint64_t)(end - *p))
			return false;
		*p += n;
	}
	return true;
}

/* Instructions of a CIE or an FDE. Returns whether RA is signed at their end. */
static bool run(const uint8_t *p, const uint8_t *end, uint64_t pc, uint64_t pc_end,
		uint64_t code_align, bool is_signed, void (*found)(const uint8_t *p))
{
	bool initial = is_signed, remembered[MAX_DEPTH] = { false };
	unsigned int depth = 0;
	uint64_t to;
	uint8_t op, i;

	while (p < end) {
		op = *p++;
		to = pc;
		if (op >> 6 == 1) {
			to += (op & 0x3f) * code_align;
		} else if (op >= 2 && op <= 4) {
			uint64_t delta = 0;

			for (i = 0; i < 1 << (op - 2) && p < end; i++)
				delta |= (uint64_t)*p++ << 8 * i;
			to += delta * code_align;
		} else if (op == NEGATE_RA_STATE) {
			is_signed = !is_signed;
			found(p - 1);
		} else if (op == 0x0a && depth < MAX_DEPTH) {
			remembered[depth++] = is_signed;
		} else if (op == 0x0b && depth) {
			is_signed = remembered[--depth];
		} else if (!skip(op, &p, end)) {
			return initial;
		}
		if (is_signed && to > pc)
			add(pc, to < pc_end ? to : pc_end);
		pc = to;
	}
	if (is_signed)
		add(pc, pc_end);
	return is_signed;
}

static uint8_t *image_base;
static const uint8_t *data_base;

static void patch(const uint8_t *p)
{
	image_base[p - data_base] = 0;
}

static int compare_starts(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

void signed_strip(Elf *elf, uint8_t *image)
{
	const unsigned char *ident = (void *)elf_getident(elf, NULL);
	Dwarf_CFI_Entry entry, cie;
	Dwarf_Off off = 0, next, behind;
	const uint8_t *p;
	GElf_Shdr sh;
	Elf_Data data;
	int32_t rel;
	uint32_t size;
	uint64_t start;
	bool is_signed;

	free(range);
	range = NULL;
	nr_ranges = 0;
	if (!eh_frame_of(elf, &sh, &data))
		return;
	image_base = image + sh.sh_offset;
	data_base = data.d_buf;
	for (; !dwarf_next_cfi(ident, &data, true, off, &next, &entry); off = next) {
		if (dwarf_cfi_cie_p(&entry) ||
		    dwarf_next_cfi(ident, &data, true, entry.fde.CIE_pointer, &behind, &cie))
			continue;
		memcpy(&rel, entry.fde.start, sizeof(rel));
		memcpy(&size, entry.fde.start + 4, sizeof(size));
		start = sh.sh_addr + (entry.fde.start - data_base) + rel;
		p = entry.fde.start + 8;
		if (cie.cie.augmentation[0] == 'z') {
			uint64_t len = uleb(&p, entry.fde.end);

			p += len;
		}
		/* a CIE's instructions hold from the start of each function: they have no range */
		is_signed = run(cie.cie.initial_instructions, cie.cie.initial_instructions_end,
				0, 0, 1, false, patch);
		run(p, entry.fde.end, start, start + size, cie.cie.code_alignment_factor,
		    is_signed, patch);
	}
	qsort(range, nr_ranges, sizeof(*range), compare_starts);
}

bool signed_at(uint64_t pc)
{
	size_t i;

	bisect(i, nr_ranges, range[i].start > pc);
	return i && pc < range[i - 1].end;
}
