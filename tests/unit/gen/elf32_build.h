/* SPDX-License-Identifier: GPL-2.0 */
/* elf32_build.h - makes a small ELF file of i386 */
#ifndef ELF32_BUILD_H
#define ELF32_BUILD_H

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/cfi/cfi_build.h"

#define TEXT		0x1000		/* addresses, and offsets in the file */
#define TEXT_SIZE	0x1000
#define EH_HDR		0x3000
#define EH		0x3008
#define SHDRS		0x3f00
#define NAMES		0x3e00

static struct eh e;

static struct {
	Elf32_Ehdr eh;
	Elf32_Phdr ph[3];
	uint8_t rest[0x4000 - sizeof(Elf32_Ehdr) - 3 * sizeof(Elf32_Phdr)];
} file;

/* CFA = esp + 4, RA at CFA - 4 */
static inline void start_file(void)
{
	static const uint8_t enc = DW_EH_PE_sdata4 | DW_EH_PE_pcrel;

	memset(&file, 0, sizeof(file));
	file.eh = (Elf32_Ehdr) {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_386,
		.e_phoff = sizeof(Elf32_Ehdr), .e_phnum = 3, .e_phentsize = sizeof(Elf32_Phdr),
		.e_shoff = SHDRS, .e_shnum = 3, .e_shentsize = sizeof(Elf32_Shdr),
		.e_shstrndx = 2,
	};
	/* code, and no padding */
	memset((uint8_t *)&file + TEXT, 0x81, TEXT_SIZE);
	eh_init(&e);
	e.vaddr = EH;
	e.data_align = -4;
	e.ra = 8;
	eh_cie_raw(&e, 1, "zR", &enc, 1);
	eh_ops(&e, DW_CFA_def_cfa, 4, 4, DW_CFA_offset | 8, 1);
	eh_end(&e);
}

/* The next functions are frames of signals. */
static inline void start_signals(void)
{
	static const uint8_t enc = DW_EH_PE_sdata4 | DW_EH_PE_pcrel;

	eh_cie_raw(&e, 1, "zRS", &enc, 1);
	eh_end(&e);
}

static inline void end_file(void)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	Elf32_Shdr sh[3] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
			.sh_addr = EH, .sh_offset = EH, .sh_size = e.n },
		[2] = { .sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = NAMES,
			.sh_size = sizeof(names) },
	};

	file.ph[0] = (Elf32_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT,
		.p_filesz = TEXT_SIZE, .p_memsz = TEXT_SIZE,
	};
	file.ph[1] = (Elf32_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R, .p_offset = EH_HDR, .p_vaddr = EH_HDR,
		.p_filesz = 8 + e.n + 4, .p_memsz = 8 + e.n + 4,
	};
	file.ph[2] = (Elf32_Phdr) {
		.p_type = PT_GNU_EH_FRAME, .p_vaddr = EH_HDR, .p_filesz = 8,
	};
	/* absolute, 4 bytes */
	memcpy((uint8_t *)&file + EH_HDR, "\1\3\377\377\10\60\0\0", 8);
	memcpy((uint8_t *)&file + EH, e.b, e.n);
	memcpy((uint8_t *)&file + SHDRS, sh, sizeof(sh));
	memcpy((uint8_t *)&file + NAMES, names, sizeof(names));
}

/* Put code at an address. */
static inline void put_code(uint32_t addr, const char *code, size_t len)
{
	memcpy((uint8_t *)&file + addr, code, len);
}

#define CODE(addr, code)	put_code(addr, code, sizeof(code) - 1)

/* The file as a descriptor */
static inline int open_file32(void)
{
	int fd = memfd_create("file", 0);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &file, sizeof(file), 0), sizeof(file));
	return fd;
}

#define func(start, size, ...) EH_FUNC(&e, start, size, __VA_ARGS__)

#endif
