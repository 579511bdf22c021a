// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * sig.c - code that returns from a signal handler and that .eh_frame does not describe as such
 *
 * This file recognizes such code by its bytes. Kernels and C libraries keep these bytes as they
 * are, because debuggers look for them. struct sframe_sig has the bytes. There are two cases:
 *
 *	- An FDE covers the code but says nothing about a signal (the vDSO of s390x has such an
 *	  FDE). By its rules the interrupted code called the trampoline. The FDE is left out, and
 *	  the unwinder recognizes the code by its bytes.
 *	- No FDE covers the code (the vDSO of arm64, musl). It gets a row, if tables can express the
 *	  row and if the bytes are enough to be nothing else. Handlers return to the start of this
 *	  code, and an unwinder looks up a return address one byte before it. So the row starts one
 *	  instruction early: the vDSO has a nop there for that.
 */
#include <string.h>

#include "rows.h"

#define MIN_CODE	8		/* fewer bytes may be other code */
#define MAX_SIZE	32		/* bytes of such code */
#define ALIGN		4

bool rows_is_unknown_sigreturn(struct rows *r, const struct rows_fde *fde)
{
	const struct sframe_arch *abi = r->arch->abi;
	const uint8_t *code;
	unsigned int i;

	if (fde->end - fde->start > MAX_SIZE || fde->nr_rows != 1 ||
	    r->rules[r->fde_row[fde->row].rules_idx].flags & CFI_SIGNAL)
		return false;
	for (i = 0; i < abi->nr_sigs; i++) {
		if (fde->end - fde->start < abi->sigs[i].code_len)
			continue;
		code = image_get_code(r->img, r->img->text.start + fde->start,
				      abi->sigs[i].code_len);
		if (code && !memcmp(code, abi->sigs[i].code, abi->sigs[i].code_len))
			return true;
	}
	return false;
}

static int add_sigreturn(struct rows *r, const struct sframe_sig *sig, uint32_t start, uint32_t pc)
{
	uint8_t sp = r->arch->abi->reg_sp;
	struct cfi_row rules = {
		.cfa = { .how = CFI_AT_REG, .reg = sp, .off = sig->sp },
		.ra = { .how = CFI_AT_REG, .reg = sp, .off = sig->ip },
		.fp = { .how = CFI_AT_REG, .reg = sp, .off = sig->fp },
		.flags = CFI_SIGNAL,
	};
	uint64_t base = r->img->text.start;
	int ret;

	if (pc - start >= ALIGN)
		start = pc - ALIGN;
	else
		start = pc;
	ret = rows_add_fde(r, base + start, base + pc + sig->code_len);
	return ret ? ret : rows_add_row(r, 0, &rules);
}

/* Add rows where the code in [start, end) is that of @sig. */
static int add_sigreturns_of(struct rows *r, const struct sframe_sig *sig, uint32_t start,
			     uint32_t end)
{
	uint64_t base = r->img->text.start;
	uint32_t pc = start + (-(base + start) & (ALIGN - 1)), i, len;
	const uint8_t *code;
	int ret = 0;

	while (pc < end && end - pc >= sig->code_len && !ret) {
		len = end - pc < IMAGE_MAX_CODE ? end - pc : IMAGE_MAX_CODE;
		code = image_get_code(r->img, base + pc, len);
		for (i = 0; code && i + sig->code_len <= len && !ret; i += ALIGN) {
			if (!memcmp(code + i, sig->code, sig->code_len))
				ret = add_sigreturn(r, sig, start, pc + i);
		}
		/* the next round finds code that starts in the last bytes */
		pc += len - (len > sig->code_len ? sig->code_len - 1 : 0);
		pc += -(base + pc) & (ALIGN - 1);
	}
	return ret;
}

int rows_add_sigreturns(struct rows *r, uint32_t start, uint32_t end)
{
	const struct sframe_arch *abi = r->arch->abi;
	unsigned int i;
	int ret = 0;

	/* the CFA of a row would have to be SP and a constant more */
	if (abi->sp_off)
		return 0;
	for (i = 0; i < abi->nr_sigs && !ret; i++) {
		if (abi->sigs[i].code_len >= MIN_CODE)
			ret = add_sigreturns_of(r, &abi->sigs[i], start, end);
	}
	return ret;
}
