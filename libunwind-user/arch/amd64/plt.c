// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plt.c - stubs of an amd64 PLT
 *
 * Some linkers write no .eh_frame for the stubs: lld; GNU ld for .plt.got and with
 * --no-ld-generated-unwind-info. So this file recognizes stubs by their bytes, and only within
 * sections named .plt*: elsewhere the same bytes could be the middle of something else.
 *
 * A call enters a stub, so CFA = rsp + 8. The lazy kind of stub pushes a number before it goes on
 * to the first stub, PLT0. So PLT0 starts with CFA = rsp + 16, and pushes once more. Sources: the
 * psABI of amd64; binutils, bfd/elfxx-x86.c and elf64-x86-64.c; lld, ELF/Arch/X86_64.cpp.
 */
#include "amd64.h"
#include "libunwind-user/base/base.h"

/* Bytes of a stub: -1 is any byte. */
#define ANY4	-1, -1, -1, -1

struct amd64_stub {
	uint8_t size;
	uint8_t pushed;		/* offset from which on the CFA is 8 more; 0: nowhere */
	uint8_t cfa;		/* CFA - rsp at its start */
	bool is_plt0;		/* only in the first stub: two slots in a row */
	int16_t byte[16];
};

static const struct amd64_stub stubs[] = {
	/* push slot(%rip); jmp *slot + 8(%rip) */
	{ 16, 6, 16, true, { 0xff, 0x35, ANY4, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x40, 0x00 } },
	{ 16, 6, 16, true, { 0xff, 0x35, ANY4, 0xf2, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x00 } },
	/* jmp *slot(%rip); push n; jmp PLT0 */
	{ 16, 11, 8, false, { 0xff, 0x25, ANY4, 0x68, ANY4, 0xe9, ANY4 } },
	/* [endbr64;] push n; [bnd] jmp PLT0 */
	{ 16, 9, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY4, 0xf2, 0xe9, ANY4, 0x90 } },
	{ 16, 9, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY4, 0xe9, ANY4, 0x66, 0x90 } },
	{ 16, 5, 8, false, { 0x68, ANY4, 0xf2, 0xe9, ANY4, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	/* [endbr64;] [bnd] jmp *slot(%rip) */
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ANY4,
			     0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4,
			     0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4,
			     0x66, 0x66, 0x66, 0x66, 0x66, 0x90 } },
	{ 8, 0, 8, false, { 0xf2, 0xff, 0x25, ANY4, 0x90 } },
	{ 8, 0, 8, false, { 0xff, 0x25, ANY4, 0x66, 0x90 } },
};

static bool matches_stub(const struct amd64_stub *s, const uint8_t *p)
{
	unsigned int i, jmp;
	int32_t slot;

	for (i = 0; i < s->size; i++) {
		if (s->byte[i] >= 0 && s->byte[i] != p[i])
			return false;
	}
	if (!s->is_plt0)
		return true;
	/* each slot counts from the end of its instruction; a stub for TLS descriptors differs */
	jmp = p[6] == 0xf2 ? 13 : 12;
	slot = arch_read_le32(p + jmp - 4);
	return (int32_t)arch_read_le32(p + 2) + 6LL + 8 == slot + (long long)jmp;
}

static const struct amd64_stub *find_stub(const struct arch_plt *to, uint64_t addr, uint64_t end)
{
	const struct amd64_stub *s;
	const uint8_t *p;
	size_t len = end - addr < 16 ? end - addr : 16;

	p = to->code(to->ctx, addr, len);
	for (s = stubs; p && s < stubs + ARRAY_SIZE(stubs); s++) {
		if (s->size <= len && matches_stub(s, p))
			return s;
	}
	return NULL;
}

static struct cfi_row make_rules(const struct sframe_arch *abi, uint8_t how, int32_t cfa,
				 uint8_t limit)
{
	return (struct cfi_row){
		.cfa = { .how = how, .reg = abi->reg_sp, .off = cfa, .limit = limit },
		.ra = { .how = CFI_AT_CFA, .off = abi->ra_off },
	};
}

/* Add the rows of @nr stubs of one kind, from @start on. */
static int add_run(const struct arch_plt *to, uint64_t start, uint64_t nr,
		   const struct amd64_stub *s)
{
	/* lazy stubs are a pattern of 16 bytes, if they start at multiples of 16 */
	bool pattern = s->pushed && s->cfa == 8 && !(start & 15);
	struct cfi_row rules = make_rules(arch_amd64.abi, pattern ? CFI_PLT : CFI_REG, s->cfa,
					  pattern ? s->pushed : 0);
	uint64_t i;
	int ret;

	ret = to->fde(to->ctx, start, start + nr * s->size);
	if (ret)
		return ret;
	if (!s->pushed || pattern)
		return to->row(to->ctx, 0, &rules);
	for (i = 0; i < nr && !ret; i++) {
		rules.cfa.off = s->cfa;
		ret = to->row(to->ctx, i * s->size, &rules);
		rules.cfa.off += 8;
		if (!ret)
			ret = to->row(to->ctx, i * s->size + s->pushed, &rules);
	}
	return ret;
}

int amd64_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end)
{
	const struct amd64_stub *s, *last = NULL;
	uint64_t addr, run = start;
	int ret = 0;

	for (addr = start; addr < end && !ret; addr += s ? s->size : 8) {
		s = find_stub(to, addr, end);
		if (s == last)
			continue;
		if (last)
			ret = add_run(to, run, (addr - run) / last->size, last);
		run = addr;
		last = s;
	}
	if (last && !ret)
		ret = add_run(to, run, (addr - run) / last->size, last);
	return ret;
}
