/* SPDX-License-Identifier: GPL-2.0 */
/* arch_build.h - makes a small ELF file of arm64 or s390x, and a stack in its byte order */
#ifndef ARCH_BUILD_H
#define ARCH_BUILD_H

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/cfi/cfi_build.h"

#define TEXT		0x1000		/* addresses, and offsets in the file */
#define TEXT_SIZE	0x1000
#define PLT		0x1800
#define DYN		0x2000
#define ARRAY		0x2100		/* of functions to run at start */
#define EH_HDR		0x3000
#define EH		0x3008
#define FILE_SIZE	0x4000

#define NEGATE_RA	0x2d

static struct eh e;
static uint8_t file[FILE_SIZE];
static uint64_t plt_size, entry;
static unsigned int nr_array;
static uint16_t machine;

static void put(size_t at, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		file[at + (e.big_endian ? size - 1 - i : i)] = v >> 8 * i;
}

static void start_file(uint16_t elf_machine)
{
	static const uint8_t enc = DW_EH_PE_sdata4 | DW_EH_PE_pcrel;

	memset(file, 0, sizeof(file));
	/* code, and no padding */
	memset(file + TEXT, 0x81, TEXT_SIZE);
	machine = elf_machine;
	plt_size = 0;
	entry = 0;
	nr_array = 0;
	eh_init(&e);
	e.vaddr = EH;
	e.big_endian = machine == EM_S390;
	e.code_align = machine == EM_AARCH64 ? 4 : 1;
	e.ra = machine == EM_AARCH64 ? 30 : 14;
	eh_cie_raw(&e, 1, "zR", &enc, 1);
	if (machine == EM_AARCH64)
		eh_ops(&e, DW_CFA_def_cfa, 31, 0);
	else
		eh_ops(&e, DW_CFA_def_cfa, 15, 0xa0, 1);
	eh_end(&e);
}

static void put_phdr(unsigned int i, uint32_t type, uint32_t flags, uint64_t at, uint64_t size)
{
	size_t ph = sizeof(Elf64_Ehdr) + i * sizeof(Elf64_Phdr);

	put(ph + offsetof(Elf64_Phdr, p_type), type, 4);
	put(ph + offsetof(Elf64_Phdr, p_flags), flags, 4);
	put(ph + offsetof(Elf64_Phdr, p_offset), at, 8);
	put(ph + offsetof(Elf64_Phdr, p_vaddr), at, 8);
	put(ph + offsetof(Elf64_Phdr, p_filesz), size, 8);
	put(ph + offsetof(Elf64_Phdr, p_memsz), size, 8);
}

static void put_shdr(unsigned int i, uint32_t name, uint32_t type, uint64_t at, uint64_t size)
{
	size_t sh = FILE_SIZE - (4 - i) * sizeof(Elf64_Shdr);

	put(sh + offsetof(Elf64_Shdr, sh_name), name, 4);
	put(sh + offsetof(Elf64_Shdr, sh_type), type, 4);
	put(sh + offsetof(Elf64_Shdr, sh_flags), type == SHT_STRTAB ? 0 : SHF_ALLOC, 8);
	put(sh + offsetof(Elf64_Shdr, sh_addr), at, 8);
	put(sh + offsetof(Elf64_Shdr, sh_offset), at, 8);
	put(sh + offsetof(Elf64_Shdr, sh_size), size, 8);
}

static void end_file(void)
{
	static const char names[] = "\0.eh_frame\0.plt\0.shstrtab";
	size_t str = FILE_SIZE - 4 * sizeof(Elf64_Shdr) - 64;

	memcpy(file, ELFMAG, SELFMAG);
	file[EI_CLASS] = ELFCLASS64;
	file[EI_DATA] = e.big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	file[EI_VERSION] = EV_CURRENT;
	put(offsetof(Elf64_Ehdr, e_type), ET_DYN, 2);
	put(offsetof(Elf64_Ehdr, e_machine), machine, 2);
	put(offsetof(Elf64_Ehdr, e_phoff), sizeof(Elf64_Ehdr), 8);
	put(offsetof(Elf64_Ehdr, e_phentsize), sizeof(Elf64_Phdr), 2);
	put(offsetof(Elf64_Ehdr, e_entry), entry, 8);
	put(offsetof(Elf64_Ehdr, e_phnum), 6, 2);
	put(offsetof(Elf64_Ehdr, e_shoff), FILE_SIZE - 4 * sizeof(Elf64_Shdr), 8);
	put(offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Shdr), 2);
	put(offsetof(Elf64_Ehdr, e_shnum), 4, 2);
	put(offsetof(Elf64_Ehdr, e_shstrndx), 3, 2);
	put_phdr(0, PT_LOAD, PF_R, 0, TEXT);
	put_phdr(1, PT_LOAD, PF_R | PF_X, TEXT, TEXT_SIZE);
	put_phdr(2, PT_LOAD, PF_R, EH_HDR, 8 + e.n + 4);
	put_phdr(3, PT_GNU_EH_FRAME, PF_R, EH_HDR, 8);
	put_phdr(4, PT_LOAD, PF_R | PF_W, DYN, EH_HDR - DYN);
	put_phdr(5, PT_DYNAMIC, PF_R | PF_W, DYN, 2 * sizeof(Elf64_Dyn));
	put(DYN, DT_INIT_ARRAY, 8);
	put(DYN + 8, ARRAY, 8);
	put(DYN + 16, DT_INIT_ARRAYSZ, 8);
	put(DYN + 24, nr_array * 8, 8);
	memcpy(file + EH_HDR, "\1\33\377\377", 4);
	put(EH_HDR + 4, EH - (EH_HDR + 4), 4);
	memcpy(file + EH, e.b, e.n);
	memcpy(file + str, names, sizeof(names));
	put_shdr(1, 1, SHT_PROGBITS, EH, e.n);
	put_shdr(2, 11, SHT_PROGBITS, PLT, plt_size);
	put_shdr(3, 16, SHT_STRTAB, str, sizeof(names));
}

/* The file as a descriptor */
static inline int open_file(void)
{
	int fd = memfd_create("file", 0);

	end_file();
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, file, sizeof(file), 0), sizeof(file));
	return fd;
}

/* A function that runs at start: it is called, and without .eh_frame it is followed. */
static inline void runs_at_start(uint64_t addr)
{
	put(ARRAY + nr_array++ * 8, addr, 8);
}

#define func(start, size, ...) EH_FUNC(&e, start, size, __VA_ARGS__)

/* A stack of bytes in the order of the program, at 0x5000 */
static uint8_t stack[0x400];

static inline int read_stack(void *ctx, uint64_t addr, uint64_t *words, unsigned int nr)
{
	unsigned int i, b;

	(void)ctx;
	for (i = 0; i < nr; i++, addr += 8) {
		if (addr < 0x5000 || addr + 8 > 0x5000 + sizeof(stack))
			return -EFAULT;
		for (b = 0, words[i] = 0; b < 8; b++)
			words[i] |= (uint64_t)stack[addr - 0x5000 + (e.big_endian ? 7 - b : b)] <<
				    8 * b;
	}
	return 0;
}

static inline void set_word(uint64_t addr, uint64_t v)
{
	unsigned int b;

	for (b = 0; b < 8; b++)
		stack[addr - 0x5000 + (e.big_endian ? 7 - b : b)] = v >> 8 * b;
}

#endif
