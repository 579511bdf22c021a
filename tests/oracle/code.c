// SPDX-License-Identifier: GPL-2.0
/* Code of a file, and what of it is padding. */
#include <gelf.h>
#include <string.h>

#include "oracle.h"

const uint8_t *code_at(Elf *elf, uint64_t pc, uint64_t *left)
{
	const uint8_t *raw;
	GElf_Phdr ph;
	size_t nr, i, size;

	raw = (const uint8_t *)elf_rawfile(elf, &size);
	if (!raw || elf_getphdrnum(elf, &nr))
		return NULL;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || pc < ph.p_vaddr + 15 ||
		    pc - ph.p_vaddr >= ph.p_filesz || ph.p_offset + ph.p_filesz > size)
			continue;
		*left = ph.p_filesz - (pc - ph.p_vaddr);
		return raw + ph.p_offset + (pc - ph.p_vaddr);
	}
	return NULL;
}

/* What gas and LLVM pad with. Kept apart from the generator's way to tell it, on purpose. */
static const char *const nops[] = {
	"\x90", "\xcc", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00",
	"\x0f\x1f\x84\x00\x00\x00\x00\x00", "\x66\x0f\x1f\x84\x00\x00\x00\x00\x00",
	"\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00",
};

static const uint8_t nop_size[] = { 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10 };

size_t nop_at(const uint8_t *p, uint64_t left)
{
	size_t n = 0, i;

	while (n + 1 < left && p[n] == 0x66)		/* one more prefix */
		n++;
	for (i = sizeof(nop_size); i--; ) {
		if (nop_size[i] <= left - n && !memcmp(p + n, nops[i], nop_size[i]))
			return n + nop_size[i];
	}
	return 0;
}

bool all_nops(const uint8_t *p, uint64_t left)
{
	size_t n;

	while (left) {
		n = *p ? nop_at(p, left) : 1;
		if (!n)
			return false;
		p += n;
		left -= n;
	}
	return true;
}
