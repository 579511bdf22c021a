// SPDX-License-Identifier: GPL-2.0
/* code.c - the code of a file, and which parts of it are padding */
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/*
 * The bytes that gas and LLVM pad with. The code shares nothing with the generator's, on purpose.
 */
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

static size_t arm64_nop(const uint8_t *p, uint64_t left)
{
	return left >= 4 && !memcmp(p, "\x1f\x20\x03\xd5", 4) ? 4 : 0;
}

/* nopr with any register; branches on no condition */
static size_t s390x_nop(const uint8_t *p, uint64_t left)
{
	if (left >= 2 && p[0] == 0x07 && p[1] < 0x10)
		return 2;
	if (left >= 4 && p[0] == 0x47 && p[1] < 0x10)
		return 4;
	return left >= 6 && p[0] == 0xc0 && p[1] == 0x04 ? 6 : 0;
}

/* nops of amd64; lea 0(%esi),%esi and lea 0(%esi,%eiz,1),%esi */
static size_t i386_nop(const uint8_t *p, uint64_t left)
{
	static const char *const lea[] = {
		"8d7600", "8d742600", "8db600000000", "8db42600000000", "2e8d742600",
		"2e8db600000000", "2e8db42600000000",
	};
	char hex[17] = "";
	size_t i, n;

	for (i = 0; i < 8 && i < left; i++)
		snprintf(hex + 2 * i, 3, "%02x", p[i]);
	for (i = 0; i < sizeof(lea) / sizeof(*lea); i++) {
		n = strlen(lea[i]);
		if (!strncmp(hex, lea[i], n))
			return n / 2;
	}
	return nop_at(p, left);
}

/* ret, rep ret */
static bool amd64_is_return(const uint8_t *p)
{
	return p[p[0] == 0xf3] == 0xc3;
}

static bool arm64_is_return(const uint8_t *p)
{
	return !memcmp(p, "\xc0\x03\x5f\xd6", 4);
}

/* br %r14, on any condition */
static bool s390x_is_return(const uint8_t *p)
{
	return p[0] == 0x07 && p[1] >= 0x10 && (p[1] & 15) == 14;
}

static const struct machine machines[] = {
	{ "x86-64", EM_X86_64, 7, 6, 16, false, 16, 8, 0, 1, nop_at, amd64_is_return, 3 },
	{ "arm64", EM_AARCH64, 31, 29, 30, true, 0, 0, 0, 4, arm64_nop, arm64_is_return, 0 },
	{ "i386", EM_386, 4, 5, 8, false, 8, 4, 0, 1, i386_nop, amd64_is_return, 0 },
	{ "s390x", EM_S390, 15, 11, 14, true, 0, 160, -160, 2, s390x_nop, s390x_is_return, 12 },
};

const struct machine *machine = machines;

bool set_machine(Elf *elf)
{
	GElf_Ehdr eh;
	size_t i;

	if (!gelf_getehdr(elf, &eh))
		return false;
	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		if (machines[i].elf != eh.e_machine)
			continue;
		machine = &machines[i];
		return true;
	}
	return false;
}

Elf *open_elf(int fd, uint8_t **image)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	off_t size = lseek(fd, 0, SEEK_END);

	if (!elf || !set_machine(elf))
		return NULL;
	if (machine->elf != EM_AARCH64)
		return elf;
	*image = malloc(size);
	if (!*image || pread(fd, *image, size, 0) != size)
		return NULL;
	signed_strip(elf, *image);
	elf_end(elf);
	return elf_memory((char *)*image, size);
}

bool eh_frame_of(Elf *elf, GElf_Shdr *sh, Elf_Data *data)
{
	Elf_Scn *scn = NULL;
	const char *name;
	Elf_Data *raw;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, sh))
			return false;
		name = elf_strptr(elf, names, sh->sh_name);
		if (!name || strcmp(name, ".eh_frame") || sh->sh_type == SHT_NOBITS)
			continue;
		raw = elf_rawdata(scn, NULL);
		if (raw)
			*data = *raw;
		return raw;
	}
	return false;
}

bool all_nops(const uint8_t *p, uint64_t left)
{
	size_t n;

	while (left) {
		n = *p ? machine->nop(p, left) : 1;
		if (!n)
			return false;
		p += n;
		left -= n;
	}
	return true;
}
