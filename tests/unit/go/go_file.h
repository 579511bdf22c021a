/* SPDX-License-Identifier: GPL-2.0 */
/* go_file.h - makes a small ELF file with code and a .gopclntab, without symbols */
#ifndef GO_FILE_H
#define GO_FILE_H

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "go_build.h"

#define TEXT		0x1000		/* addresses, and offsets in the file */
#define TEXT_SIZE	0x1000
#define TABLE		0x4000
#define RELA		0x9000
#define SECTIONS	0xa000

static uint8_t text[TEXT_SIZE];
/* How the file has the table */
static enum { BY_NAME, IN_RELRO, NO_SECTIONS } how;
static uint16_t machine;
static uint64_t entry, relocated_text;
static uint32_t relocation;

static inline void start_file(void)
{
	memset(text, 0xcc, sizeof(text));
	start_table();
	text_start = TEXT;
	how = BY_NAME;
	machine = EM_X86_64;
	entry = relocated_text = 0;
	relocation = R_X86_64_RELATIVE;
}

/* Hexadecimal digits at @addr, blanks between them */
static inline void code(uint64_t addr, const char *hex)
{
	uint8_t *to = text + (addr - TEXT);
	unsigned int b;
	int n;

	for (; sscanf(hex, " %2x%n", &b, &n) == 1; hex += n)
		*to++ = b;
}

static inline struct go_built *func(const char *name, uint64_t start, unsigned int flags,
				    const char *hex)
{
	code(start, hex);
	return go_add(name, start, flags);
}

static inline void put_file(int fd, uint64_t off, const void *p, size_t len)
{
	assert_int_equal(pwrite(fd, p, len, off), len);
}

/* The file, open, in memory */
static inline int make_file(void)
{
	static const char names[] = "\0.text\0.gopclntab\0.data.rel.ro\0.go.buildinfo\0.rela.dyn"
				    "\0.shstrtab";
	Elf64_Rela rela[2] = {
		{ .r_offset = TABLE, .r_info = R_X86_64_RELATIVE, .r_addend = 1 },
		{ .r_offset = TABLE + 24, .r_info = relocation, .r_addend = relocated_text },
	};
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT, .e_entry = entry,
		.e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		.e_shoff = how == NO_SECTIONS ? 0 : SECTIONS, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = how == NO_SECTIONS ? 0 : 6, .e_shstrndx = how == NO_SECTIONS ? 0 : 5,
	};
	Elf64_Phdr ph[2] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT,
		  .p_filesz = TEXT_SIZE },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = TABLE - 0x20,
		  .p_vaddr = TABLE - 0x20, .p_filesz = RELA + sizeof(rela) - TABLE + 0x20 },
	};
	Elf64_Shdr sh[6] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = TEXT, .sh_offset = TEXT,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_size = TEXT_SIZE },
		[2] = { .sh_name = 7, .sh_type = SHT_PROGBITS, .sh_addr = TABLE,
			.sh_offset = TABLE, .sh_flags = SHF_ALLOC, .sh_size = tab_size },
		[3] = { .sh_name = 31, .sh_type = SHT_PROGBITS, .sh_addr = RELA, .sh_offset = RELA,
			.sh_flags = SHF_ALLOC, .sh_size = 8 },
		[4] = { .sh_name = 45, .sh_type = SHT_RELA, .sh_addr = RELA, .sh_offset = RELA,
			.sh_flags = SHF_ALLOC, .sh_size = sizeof(rela),
			.sh_entsize = sizeof(*rela) },
		[5] = { .sh_name = 55, .sh_type = SHT_STRTAB, .sh_offset = SECTIONS + sizeof(sh),
			.sh_size = sizeof(names) },
	};
	int fd = memfd_create("go", 0);

	assert_true(fd >= 0);
	if (how == IN_RELRO) {
		sh[2].sh_name = 18;
		sh[2].sh_addr = sh[2].sh_offset = TABLE - 0x20;
		sh[2].sh_size += 0x20;
	}
	put_file(fd, 0, &eh, sizeof(eh));
	put_file(fd, sizeof(eh), ph, sizeof(ph));
	put_file(fd, TEXT, text, sizeof(text));
	put_file(fd, TABLE, tab, tab_size);
	put_file(fd, RELA, rela, sizeof(rela));
	put_file(fd, SECTIONS, sh, sizeof(sh));
	put_file(fd, SECTIONS + sizeof(sh), names, sizeof(names));
	return fd;
}

#endif
