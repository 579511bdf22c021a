// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plt.c - stubs of an arm64 PLT
 *
 * Some linkers write no .eh_frame for the stubs (GNU ld before 2.45, lld). So this file recognizes
 * stubs by their instructions, and only within sections named .plt*.
 *
 * A call, or a jump in place of a call, enters a stub. So RA is in x30, and the CFA is SP. The stub
 * uses x16 and x17 only. The first stub pushes x16 and RA before it goes on, and the stub for TLS
 * descriptors pushes x2 and x3.
 *
 * Each stub may start with bti, and may have autia1716 before its jump. Sources: Procedure Call
 * Standard for the Arm 64-bit Architecture; binutils, bfd/elfnn-aarch64.c; lld,
 * ELF/Arch/AArch64.cpp.
 */
#include "arm64.h"
#include "libunwind-user/base/base.h"

#define MAX_INSNS	8

struct insn_mask {
	uint32_t bits, mask;
};

/* Masks: registers and operations, without the addresses */
#define STP_X16_X30	{ 0xa9bf7bf0, 0xffffffff }	/* stp x16, x30, [sp, #-16]! */
#define STP_X2_X3	{ 0xa9bf0fe2, 0xffffffff }	/* stp x2, x3, [sp, #-16]! */
#define ADRP(to)	{ 0x90000000 | (to), 0x9f00001f }
#define LDR(to, from)	{ 0xf9400000 | (from) << 5 | (to), 0xffc003ff }
#define ADD(to)		{ 0x91000000 | (to) << 5 | (to), 0xffc003ff }
#define BR(to)		{ 0xd61f0000 | (to) << 5, 0xffffffff }

#define BTI_C		0xd503245f
#define AUTIA1716	0xd503219f
#define NOP		0xd503201f

struct arm64_stub {
	struct insn_mask insn[MAX_INSNS];	/* up to the jump, without bti and autia1716 */
	uint8_t nr;
	uint8_t pushed;			/* bytes that its first instruction pushes, or 0 */
	bool pushes_ra;
};

static const struct arm64_stub stubs[] = {
	{ { ADRP(16), LDR(17, 16), ADD(16), BR(17) }, 4, 0, false },
	{ { STP_X16_X30, ADRP(16), LDR(17, 16), ADD(16), BR(17) }, 5, 16, true },
	{ { STP_X2_X3, ADRP(2), ADRP(3), LDR(2, 2), ADD(3), BR(2) }, 6, 16, false },
};

/* The length of the stub at @p without padding; 0: not a stub. @body: after bti */
static size_t match_stub(const struct arm64_stub *s, const uint8_t *p, size_t len, size_t *body)
{
	size_t at = 0, i;

	if (len >= 4 && arch_read_le32(p) == BTI_C)
		at += 4;
	*body = at;
	for (i = 0; i < s->nr; i++, at += 4) {
		if (i == s->nr - 1u && len - at >= 4 && arch_read_le32(p + at) == AUTIA1716)
			at += 4;
		if (len - at < 4 || (arch_read_le32(p + at) & s->insn[i].mask) != s->insn[i].bits)
			return 0;
	}
	return at;
}

static const struct arm64_stub *find_stub(const struct arch_plt *to, uint64_t addr, uint64_t end,
					  size_t *size, size_t *body)
{
	size_t len = end - addr < 4 * (MAX_INSNS + 2) ? end - addr : 4 * (MAX_INSNS + 2), i;
	const uint8_t *p = to->code(to->ctx, addr, len);

	for (i = 0; p && i < ARRAY_SIZE(stubs); i++) {
		*size = match_stub(&stubs[i], p, len, body);
		if (!*size)
			continue;
		while (len - *size >= 4 && arch_read_le32(p + *size) == NOP)
			*size += 4;
		return &stubs[i];
	}
	return NULL;
}

/* Rows of the stub at @start of the FDE that was added last */
static int add_rows(const struct arch_plt *to, uint64_t start, const struct arm64_stub *s,
		    size_t body)
{
	struct cfi_row rules = { .cfa = { .how = CFI_REG, .reg = arch_arm64.abi->reg_sp } };
	int ret = to->row(to->ctx, start, &rules);

	if (ret || !s->pushed)
		return ret;
	rules.cfa.off = s->pushed;
	if (s->pushes_ra)
		rules.ra = (struct cfi_rule){ .how = CFI_AT_CFA, .off = -8 };
	return to->row(to->ctx, start + body + 4, &rules);
}

int arm64_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end)
{
	uint64_t addr = (start + 3) & ~3ull, fde = addr;
	const struct arm64_stub *s, *last = NULL;
	size_t size = 4, body;
	int ret = 0;

	for (; addr < end && !ret; addr += size) {
		s = find_stub(to, addr, end, &size, &body);
		if (!s) {
			size = 4;
			last = NULL;
			continue;
		}
		if (!last) {
			fde = addr;
			ret = to->fde(to->ctx, addr, addr);
		}
		/* stubs that push nothing follow one another: one row for all of them */
		if (!ret && (!last || last->pushed || s->pushed))
			ret = add_rows(to, addr - fde, s, body);
		if (!ret)
			to->extend(to->ctx, addr + size);
		last = s;
	}
	return ret;
}
