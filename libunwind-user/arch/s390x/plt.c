// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plt.c - stubs of an s390x PLT
 *
 * Some linkers write no .eh_frame for the stubs (GNU ld before 2.44, lld). So this file recognizes
 * stubs by their bytes, 32 in each, and only within sections named .plt*. A call, or a jump in
 * place of a call, enters a stub, so RA is in r14. The stub stores to the register save area of its
 * caller, and leaves SP alone. Sources: ELF Application Binary Interface s390x Supplement;
 * binutils, bfd/elf64-s390.c; lld, ELF/Arch/SystemZ.cpp.
 */
#include "s390x.h"
#include "libunwind-user/base/base.h"

#define STUB_SIZE	32

/* Bytes of a stub: -1 is any byte. */
#define ANY4		-1, -1, -1, -1

static const int16_t stubs[][STUB_SIZE] = {
	{	0xc0, 0x10, ANY4,			/* larl %r1,slot */
		0xe3, 0x10, 0x10, 0x00, 0x00, 0x04,	/* lg %r1,0(%r1) */
		0x07, 0xf1,				/* br %r1 */
		0x0d, 0x10,				/* basr %r1,%r0 */
		0xe3, 0x10, 0x10, 0x0c, 0x00, 0x14,	/* lgf %r1,12(%r1) */
		0xc0, 0xf4, ANY4,			/* jg first stub */
		ANY4 },					/* number of the relocation */
	{	0xe3, 0x10, 0xf0, 0x38, 0x00, 0x24,	/* stg %r1,56(%r15) */
		0xc0, 0x10, ANY4,			/* larl %r1,_GLOBAL_OFFSET_TABLE_ */
		0xd2, 0x07, 0xf0, 0x30, 0x10, 0x08,	/* mvc 48(8,%r15),8(%r1) */
		0xe3, 0x10, 0x10, 0x10, 0x00, 0x04,	/* lg %r1,16(%r1) */
		0x07, 0xf1,				/* br %r1 */
		0x07, 0x00, 0x07, 0x00, 0x07, 0x00 },
};

static bool is_stub(const struct arch_plt *to, uint64_t addr)
{
	const uint8_t *p = to->code(to->ctx, addr, STUB_SIZE);
	unsigned int i, n;

	for (i = 0; p && i < ARRAY_SIZE(stubs); i++) {
		for (n = 0; n < STUB_SIZE && (stubs[i][n] < 0 || stubs[i][n] == p[n]); n++)
			;
		if (n == STUB_SIZE)
			return true;
	}
	return false;
}

/* Add the row of [start, end), which is nothing but stubs. */
static int add_run(const struct arch_plt *to, uint64_t start, uint64_t end)
{
	const struct sframe_arch *abi = arch_s390x.abi;
	struct cfi_row rules = {
		.cfa = { .how = CFI_REG, .reg = abi->reg_sp, .off = -abi->sp_off },
	};
	int ret = to->fde(to->ctx, start, end);

	return ret ? ret : to->row(to->ctx, 0, &rules);
}

int s390x_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end)
{
	uint64_t addr = start, run = start;
	int ret = 0;

	while (end - addr >= STUB_SIZE && !ret) {
		if (is_stub(to, addr)) {
			addr += STUB_SIZE;
			continue;
		}
		if (addr > run)
			ret = add_run(to, run, addr);
		addr += 2;
		run = addr;
	}
	if (addr > run && !ret)
		ret = add_run(to, run, addr);
	return ret;
}
