/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_build.h - makes small ELF files with code that .eh_frame does not cover
 *
 * The tests of libunwind-user/flow/ for x86-64 use these files.
 */
#ifndef FLOW_BUILD_H
#define FLOW_BUILD_H

#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/cfi/cfi_build.h"
#include "flow_rows.h"
#include "libunwind-user/gen/impl.h"
#include "libunwind-user/sframe/sframe.h"

#define TEXT		0x1000		/* addresses, and offsets in the file */
#define TEXT_SIZE	0x4000
#define DATA		0x8000
#define DATA_SIZE	0x1000
#define EH		0x10000
#define FAR		0x100000	/* a second block of code, which nothing leads to */
#define MAX_SYMS	64

static struct eh e;
static uint8_t text[TEXT_SIZE], data[DATA_SIZE];
static Elf64_Sym syms[MAX_SYMS];
static unsigned int nr_syms;
static Elf64_Rela relas[MAX_SYMS];
static unsigned int nr_relas;
static Elf64_Dyn dyns[MAX_SYMS];
static unsigned int nr_dyns;
static uint64_t entry;
static uint32_t far_size;		/* of the block at FAR; far_text has its first bytes */
static uint8_t far_text[TEXT_SIZE];
static char sym_names[0x800];		/* of symbols, after the names of sections */
static size_t sym_names_size;
static bool has_pads;			/* there is a .gcc_except_table */
static const char section_names[] = "\0.eh_frame\0.text\0.symtab\0.shstrtab\0.rela\0.dynamic\0"
				    ".gcc_except_table";
static struct gen_table table;
static struct sframe_table reader;
static struct sframe_row row;

static inline void start_file(void)
{
	eh_init(&e);
	e.vaddr = EH;
	eh_cie(&e, DW_EH_PE_sdata4 | DW_EH_PE_pcrel);
	/* code that nothing reaches or runs into */
	memset(text, 0x06, sizeof(text));
	memset(data, 0, sizeof(data));
	memset(syms, 0, sizeof(syms));
	nr_syms = 1;
	nr_relas = nr_dyns = 0;
	entry = 0;
	far_size = 0;
	memset(far_text, 0x06, sizeof(far_text));
	sym_names_size = 0;
	has_pads = false;
	gen_free(&table);
}

/* Hexadecimal digits, blanks between them; returns the address after them */
static inline uint64_t code(uint64_t addr, const char *hex)
{
	uint8_t *to = text + (addr - TEXT);
	unsigned int b;
	int n;

	while (sscanf(hex, " %2x%n", &b, &n) == 1) {
		*to++ = b;
		hex += n;
	}
	return TEXT + (to - text);
}

/* The four bytes at @addr are the distance from @end to @to */
static inline void rel32(uint64_t addr, uint64_t end, uint64_t to)
{
	int32_t d = to - end;

	memcpy(text + (addr - TEXT), &d, sizeof(d));
}

static inline void symbol(uint64_t addr, uint64_t size, unsigned int bind)
{
	syms[nr_syms++] = (Elf64_Sym){
		.st_info = ELF64_ST_INFO(bind, STT_FUNC), .st_value = addr, .st_size = size,
		.st_shndx = 2,
	};
}

/* Give the last symbol a name. */
static inline void name_symbol(const char *name)
{
	syms[nr_syms - 1].st_name = sizeof(section_names) + sym_names_size;
	strcpy(sym_names + sym_names_size, name);
	sym_names_size += strlen(name) + 1;
}

/* Code that is a function by a symbol that other files can see; its end is not in the file */
static inline uint64_t func(uint64_t addr, const char *hex)
{
	symbol(addr, 1u << 30, STB_GLOBAL);
	return code(addr, hex);
}

/* ... and by a local symbol without a size */
static inline uint64_t local(uint64_t addr, const char *hex)
{
	symbol(addr, 0, STB_LOCAL);
	return code(addr, hex);
}

/* A call or a jump at @addr, 5 bytes */
static inline void call(uint64_t addr, uint64_t to)
{
	text[addr - TEXT] = 0xe8;
	rel32(addr + 1, addr + 5, to);
}

static inline void jump(uint64_t addr, uint64_t to)
{
	text[addr - TEXT] = 0xe9;
	rel32(addr + 1, addr + 5, to);
}

static inline void relocation(uint64_t offset, unsigned int type, uint64_t addend)
{
	relas[nr_relas++] = (Elf64_Rela){
		.r_offset = offset, .r_info = ELF64_R_INFO(0, type), .r_addend = addend,
	};
}

static inline void dynamic(int64_t tag, uint64_t value)
{
	dyns[nr_dyns++] = (Elf64_Dyn){ .d_tag = tag, .d_un.d_val = value };
}

static inline void fde(uint64_t start, uint32_t size, const uint8_t *ops, size_t len)
{
	eh_fde(&e, start, size);
	eh_bytes(&e, ops, len);
	eh_end(&e);
}

#define covered(start, size, ...) do {					\
	const uint8_t o_[] = { __VA_ARGS__ };				\
									\
	fde(start, size, o_, sizeof(o_));				\
} while (0)

/* The generator refuses a file without rows, so the file has one FDE, at the end of the code. */
static inline int fresh_file(void **state)
{
	(void)state;
	start_file();
	covered(TEXT + TEXT_SIZE - 16, 16, DW_CFA_nop);
	return 0;
}

/* A test that starts with such a file */
#define flow_test(name)	cmocka_unit_test_setup(name, fresh_file)

static inline void put_file(int fd, uint64_t off, const void *p, size_t len)
{
	assert_int_equal(pwrite(fd, p, len, off), len);
}

static inline int open_file(void)
{
	uint64_t at = EH + e.n, sh_off = at + 0x4000;
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = far_size ? 5 : 4,
		.e_shoff = sh_off, .e_shentsize = sizeof(Elf64_Shdr), .e_entry = entry,
		.e_shnum = far_size ? 9 : 8, .e_shstrndx = 4, .e_ehsize = sizeof(eh),
	};
	Elf64_Phdr ph[5] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT, .p_vaddr = TEXT,
		  .p_filesz = TEXT_SIZE, .p_memsz = TEXT_SIZE },
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_offset = EH, .p_vaddr = EH,
		  .p_filesz = e.n + 0x4000, .p_memsz = e.n + 0x4000 },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = DATA, .p_vaddr = DATA,
		  .p_filesz = DATA_SIZE, .p_memsz = DATA_SIZE },
		{ .p_type = PT_DYNAMIC, .p_flags = PF_R, .p_offset = at + 0x2000,
		  .p_vaddr = at + 0x2000, .p_filesz = nr_dyns * sizeof(*dyns) },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = FAR, .p_vaddr = FAR,
		  .p_filesz = far_size, .p_memsz = far_size },
	};
	Elf64_Shdr sh[9] = {
		[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addr = EH,
			.sh_offset = EH, .sh_size = e.n },
		[2] = { .sh_name = 11, .sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = TEXT, .sh_offset = TEXT,
			.sh_size = TEXT_SIZE },
		[3] = { .sh_name = 17, .sh_type = SHT_SYMTAB, .sh_offset = at, .sh_link = 4,
			.sh_size = nr_syms * sizeof(*syms), .sh_entsize = sizeof(*syms) },
		[4] = { .sh_name = 25, .sh_type = SHT_STRTAB, .sh_offset = at + 0x3000,
			.sh_size = sizeof(section_names) + sym_names_size },
		[5] = { .sh_name = 35, .sh_type = SHT_RELA, .sh_flags = SHF_ALLOC,
			.sh_addr = at + 0x1000, .sh_offset = at + 0x1000,
			.sh_size = nr_relas * sizeof(*relas), .sh_entsize = sizeof(*relas) },
		[6] = { .sh_name = 41, .sh_type = SHT_DYNAMIC, .sh_flags = SHF_ALLOC,
			.sh_addr = at + 0x2000, .sh_offset = at + 0x2000,
			.sh_size = nr_dyns * sizeof(*dyns), .sh_entsize = sizeof(*dyns) },
		[7] = { .sh_name = 50, .sh_type = SHT_PROGBITS,
			.sh_flags = has_pads ? SHF_ALLOC : 0, .sh_addr = DATA, .sh_offset = DATA,
			.sh_size = 8 },
		[8] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			.sh_addr = FAR, .sh_offset = FAR, .sh_size = far_size },
	};
	int fd = memfd_create("file", 0);
	uint8_t no_code[4096];

	assert_true(fd >= 0);
	put_file(fd, 0, &eh, sizeof(eh));
	put_file(fd, sizeof(eh), ph, sizeof(ph));
	put_file(fd, TEXT, text, sizeof(text));
	put_file(fd, DATA, data, sizeof(data));
	put_file(fd, EH, e.b, e.n);
	put_file(fd, at, syms, nr_syms * sizeof(*syms));
	put_file(fd, at + 0x1000, relas, nr_relas * sizeof(*relas));
	put_file(fd, at + 0x2000, dyns, nr_dyns * sizeof(*dyns));
	put_file(fd, at + 0x3000, section_names, sizeof(section_names));
	put_file(fd, at + 0x3000 + sizeof(section_names), sym_names, sym_names_size);
	put_file(fd, sh_off, sh, sizeof(sh));
	for (at = 0; at < far_size; at += sizeof(no_code)) {
		memset(no_code, 0x06, sizeof(no_code));
		put_file(fd, FAR + at, no_code, sizeof(no_code));
	}
	if (far_size)
		put_file(fd, FAR, far_text, sizeof(far_text));
	return fd;
}

static inline void make_flags(unsigned int flags)
{
	int fd = open_file();

	gen_free(&table);
	assert_int_equal(gen_from_fd_flags(fd, flags, &table), 0);
	close(fd);
	assert_int_equal(gen_open(&table, &reader), 0);
}

static inline void make_table(void)
{
	make_flags(0);
}

/* CFA = SP or FP + @off; FP at CFA + @fp, or in its register if 0 */
#define assert_row(pc, reg, cfa_off, fp_off) do {			\
	assert_int_equal(sframe_find(&reader, pc, &row), 0);		\
	assert_int_equal(row.cfa.base, reg);				\
	assert_int_equal(row.cfa.off, cfa_off);				\
	assert_int_equal(row.ra.base, SFRAME_CFA);			\
	assert_int_equal(row.ra.off, -8);				\
	assert_int_equal(row.fp.base, fp_off ? SFRAME_CFA : SFRAME_SAME); \
	if (fp_off)							\
		assert_int_equal(row.fp.off, fp_off);			\
} while (0)

#define assert_sp(pc, off)	assert_row(pc, SFRAME_SP, off, 0)

#endif
