/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gen_build.h - makes a large ELF image in memory, and reads it, for tests of libunwind-user/gen/
 */
#ifndef GEN_BUILD_H
#define GEN_BUILD_H

#include <elf.h>
#include <errno.h>

#include "tests/unit/unit.h"

#define TEXT		0x1000		/* addresses, and offsets in the file */

/* An image in a buffer: header, 3 segments, @nr functions of 16 bytes that all have one row */
static uint8_t *many;
static size_t many_size;

static int read_many(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	if (addr > many_size || len > many_size - addr)
		return -EFAULT;
	memcpy(to, many + addr, len);
	return 0;
}

static void make_many(uint32_t nr)
{
	uint32_t eh = TEXT + nr * 16 + 8, i, at;
	uint8_t *many_eh;
	Elf64_Ehdr ehdr = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_phoff = sizeof(ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 3,
	};
	Elf64_Phdr ph[3] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = TEXT + nr * 16 },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = eh - 8, .p_vaddr = eh - 8,
		  .p_filesz = 8 + 24 + nr * 24 + 4 },
		{ .p_type = PT_GNU_EH_FRAME, .p_vaddr = eh - 8, .p_filesz = 8 },
	};
	struct { uint32_t len, id; int32_t pc; uint32_t size; uint8_t rest[8]; } fde = {
		.len = 20
	};

	many_size = eh + 24 + nr * 24 + 4;
	many = calloc(1, many_size);
	assert_non_null(many);
	memcpy(many, &ehdr, sizeof(ehdr));
	memcpy(many + sizeof(ehdr), ph, sizeof(ph));
	memcpy(many + eh - 8, "\1\33\377\377\4\0\0", 8);
	many_eh = many + eh;
	memcpy(many_eh, "\24\0\0\0\0\0\0\0\1zR\0\1\170\20\1\33\14\7\10\220\1", 22);
	for (i = 0; i < nr; i++) {
		at = 24 + i * 24;
		fde.id = at + 4;
		fde.pc = TEXT + i * 16 - (eh + at + 8);
		fde.size = 16;
		memcpy(many_eh + at, &fde, sizeof(fde));
	}
}

#endif
