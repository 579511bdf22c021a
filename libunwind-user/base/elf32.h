/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * elf32.h - headers of 32-bit ELF files, in the form of those of 64-bit files
 *
 * The files are little-endian, as those of i386, and the result has that byte order too. If a
 * header has an unusual size, the field with that size becomes 0.
 */
#ifndef UU_ELF32_H
#define UU_ELF32_H

#include <elf.h>
#include <endian.h>

static inline uint64_t elf32_wide(uint32_t v)
{
	return htole64(le32toh(v));
}

static inline uint16_t elf32_size(uint16_t size, uint16_t usual, uint16_t wide)
{
	return le16toh(size) == usual ? htole16(wide) : 0;
}

static inline void elf32_ehdr(const Elf32_Ehdr *from, Elf64_Ehdr *to)
{
	*to = (Elf64_Ehdr) {
		.e_type = from->e_type, .e_machine = from->e_machine,
		.e_version = from->e_version, .e_flags = from->e_flags,
		.e_entry = elf32_wide(from->e_entry), .e_phoff = elf32_wide(from->e_phoff),
		.e_shoff = elf32_wide(from->e_shoff), .e_phnum = from->e_phnum,
		.e_shnum = from->e_shnum, .e_shstrndx = from->e_shstrndx,
		.e_ehsize = elf32_size(from->e_ehsize, sizeof(Elf32_Ehdr), sizeof(Elf64_Ehdr)),
		.e_phentsize = elf32_size(from->e_phentsize, sizeof(Elf32_Phdr),
					  sizeof(Elf64_Phdr)),
		.e_shentsize = elf32_size(from->e_shentsize, sizeof(Elf32_Shdr),
					  sizeof(Elf64_Shdr)),
	};
	__builtin_memcpy(to->e_ident, from->e_ident, sizeof(to->e_ident));
}

static inline void elf32_phdr(const Elf32_Phdr *from, Elf64_Phdr *to)
{
	*to = (Elf64_Phdr) {
		.p_type = from->p_type, .p_flags = from->p_flags,
		.p_offset = elf32_wide(from->p_offset), .p_vaddr = elf32_wide(from->p_vaddr),
		.p_paddr = elf32_wide(from->p_paddr), .p_filesz = elf32_wide(from->p_filesz),
		.p_memsz = elf32_wide(from->p_memsz), .p_align = elf32_wide(from->p_align),
	};
}

static inline void elf32_shdr(const Elf32_Shdr *from, Elf64_Shdr *to)
{
	*to = (Elf64_Shdr) {
		.sh_name = from->sh_name, .sh_type = from->sh_type, .sh_link = from->sh_link,
		.sh_info = from->sh_info, .sh_flags = elf32_wide(from->sh_flags),
		.sh_addr = elf32_wide(from->sh_addr), .sh_offset = elf32_wide(from->sh_offset),
		.sh_size = elf32_wide(from->sh_size),
		.sh_addralign = elf32_wide(from->sh_addralign),
		.sh_entsize = elf32_wide(from->sh_entsize),
	};
}

#endif
