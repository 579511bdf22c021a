// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_gen - hostile .eh_frame and hostile ELF files for the table generator
 *
 * Input: a byte, then the rest. If the byte is 0, 2 or 3 (amd64, arm64, s390x), the rest is the
 * length of some code (u16), the code, and .eh_frame. The fuzzer makes a file around them, whose
 * entry point is the start of the code. With any other byte, the rest is a whole ELF file.
 *
 * For any input, the generator's output must be a readable table with at most 32 rows a function.
 * Each row that cfi_parse() reports must be in the table unchanged, or not at all. Where FDEs
 * overlap, the earlier FDE becomes a hole from the overlap on, so the rule holds for all rows.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/rows/rows.h"
#include "libunwind-user/sframe/sframe.h"

#define CODE		0x1000
#define CODE_SIZE	0x1000
#define HDR		0x21f0
#define EH		0x3000
#define EH_MAX		0x8000
#define IMAGE_SIZE	(EH + EH_MAX)

static uint8_t image[IMAGE_SIZE];
static size_t eh_size;
static const struct arch *arch;

struct check {
	const struct sframe_table *t;
	struct cfi_row rules;
	uint64_t start, end;
};

static int read_image(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	if (addr > IMAGE_SIZE || len > IMAGE_SIZE - addr)
		return -EFAULT;
	memcpy(to, image + addr, len);
	return 0;
}

/* A number in the file's byte order */
static void put(void *to, uint64_t v, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		((uint8_t *)to)[arch->abi->big_endian ? size - 1 - i : i] = v >> 8 * i;
}

static void put_phdr(unsigned int nr, uint32_t type, uint32_t flags, uint64_t at, uint64_t size)
{
	Elf64_Phdr *ph = (Elf64_Phdr *)(image + sizeof(Elf64_Ehdr)) + nr;

	put(&ph->p_type, type, 4);
	put(&ph->p_flags, flags, 4);
	put(&ph->p_offset, at, 8);
	put(&ph->p_vaddr, at, 8);
	put(&ph->p_filesz, size, 8);
}

static void make_image(const uint8_t *data, size_t size)
{
	Elf64_Ehdr *eh = (Elf64_Ehdr *)image;
	size_t code = 0;

	if (size >= 2) {
		code = (data[0] | data[1] << 8) % (CODE_SIZE + 1);
		data += 2;
		size -= 2;
	}
	if (code > size)
		code = size;
	memset(image + CODE, 0xc3, CODE_SIZE);
	memcpy(image + CODE, data, code);
	data += code;
	size -= code;
	if (size > EH_MAX)
		size = EH_MAX;
	memset(image, 0, CODE);
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = arch->abi->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	put(&eh->e_type, ET_EXEC, 2);
	put(&eh->e_machine, arch->machine, 2);
	put(&eh->e_entry, CODE, 8);
	put(&eh->e_phoff, sizeof(*eh), 8);
	put(&eh->e_phentsize, sizeof(Elf64_Phdr), 2);
	put(&eh->e_phnum, 3, 2);
	put_phdr(0, PT_LOAD, PF_R | PF_X, 0, CODE + CODE_SIZE);
	put_phdr(1, PT_LOAD, PF_R, HDR, EH + size - HDR);
	put_phdr(2, PT_GNU_EH_FRAME, PF_R, HDR, 8);
	memcpy(image + HDR, "\1\33\0\0", 4);
	put(image + HDR + 4, EH - (HDR + 4), 4);
	memcpy(image + EH, data, size);
	eh_size = size;
}

static bool same_rule(const struct cfi_rule *a, const struct sframe_rule *b, uint64_t pc)
{
	bool deref = a->how == CFI_AT_REG || a->how == CFI_AT_CFA;
	int32_t off = a->off;
	uint8_t base = SFRAME_REG;

	if (a->how == CFI_SAME || a->how == CFI_UNDEF)
		return b->base == (a->how == CFI_SAME ? SFRAME_SAME : SFRAME_UNDEFINED);
	if (a->how == CFI_CFA || a->how == CFI_AT_CFA)
		base = SFRAME_CFA;
	else if (a->reg == arch->abi->reg_sp)
		base = SFRAME_SP;
	else if (a->reg == arch->abi->reg_fp)
		base = SFRAME_FP;
	if (a->how == CFI_PLT && (pc & 15) >= a->limit)
		off -= arch->abi->ra_off;
	return a->how != CFI_BAD && b->base == base && b->off == off && !!b->deref == deref &&
	       b->add == a->add &&
	       (base != SFRAME_REG || b->reg == a->reg);
}

static void check_pc(const struct check *c, uint64_t pc)
{
	struct sframe_row row;
	int ret = sframe_find(c->t, pc, &row);

	/* a hole, which is stated: code with .eh_frame is never unknown to the table */
	if (ret == -ENOENT)
		return;
	if (ret)
		abort();
	if (!(row.flags & SFRAME_ROW_SIGNAL) != !(c->rules.flags & CFI_SIGNAL))
		abort();
	if (c->rules.ra.how == CFI_UNDEF) {
		if (row.ra.base != SFRAME_UNDEFINED)
			abort();
		return;
	}
	if (!(row.flags & SFRAME_ROW_MANGLED) != !(c->rules.flags & CFI_MANGLED))
		abort();
	if (!same_rule(&c->rules.cfa, &row.cfa, pc) || !same_rule(&c->rules.ra, &row.ra, pc) ||
	    !same_rule(&c->rules.fp, &row.fp, pc))
		abort();
}

static void check_row(struct check *c, uint64_t end)
{
	if (c->start < end && c->start >= CODE && end <= CODE + CODE_SIZE) {
		check_pc(c, c->start);
		check_pc(c, c->start + (end - c->start) / 2);
		check_pc(c, end - 1);
	}
	c->start = UINT64_MAX;
}

static int on_fde(void *arg, uint64_t start, uint64_t end)
{
	struct check *c = arg;

	check_row(c, c->end);
	c->end = end;
	/* as in the generator: all of it is code, or there is no row */
	return end <= CODE + CODE_SIZE && end > start ? 0 : CFI_SKIP;
}

static int on_row(void *arg, uint64_t start, const struct cfi_row *rules)
{
	struct check *c = arg;

	if (start >= c->end)
		abort();
	check_row(c, start);
	c->start = start;
	c->rules = *rules;
	return 0;
}

static void check_table(const struct gen_table *table, struct sframe_table *t)
{
	struct sframe_func f;
	struct sframe_row row;
	uint64_t end = 0;
	uint32_t i;
	int ret;

	if (gen_open(table, t))
		abort();
	for (i = 0; i < t->nr_fdes; i++) {
		if (sframe_get_func(t, i, &f) || f.nr_fres > 32 || !f.size || f.start < end)
			abort();
		/* between two functions the table says nothing */
		if (f.start > end && sframe_find(t, f.start - 1, &row) != -ESRCH)
			abort();
		end = f.start + f.size;
		/* without rows it is a hole that the table states */
		ret = f.nr_fres ? 0 : -ENOENT;
		if (sframe_find(t, f.start, &row) != ret || sframe_find(t, end - 1, &row) != ret)
			abort();
	}
}

static void try_eh_frame(const uint8_t *data, size_t size)
{
	struct image img = {
		.addr_size = 8, .eh_frame = { .start = EH }, .eh_ends_at_zero = true,
	};
	struct cfi_section sec;
	const struct cfi_ops ops = { on_fde, on_row };
	struct check c = { .start = UINT64_MAX };
	struct gen_table table;
	struct cfi_stats stats;
	struct sframe_table t;

	make_image(data, size);
	if (gen_from_memory(read_image, NULL, 0, &table, NULL))
		return;
	check_table(&table, &t);
	c.t = &t;
	img.big_endian = arch->abi->big_endian;
	sec = image_describe_eh_frame(&img, arch);
	sec.data = image + EH;
	sec.size = eh_size;
	if (!cfi_parse(&sec, &ops, &c, &stats))
		check_row(&c, c.end);
	gen_free(&table);
}

static void try_file(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct gen_table table;
	struct sframe_table t;

	if (fd < 0)
		fd = memfd_create("file", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (gen_from_fd(fd, &table))
		return;
	check_table(&table, &t);
	gen_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	arch = data[0] == 2 ? &arch_arm64 : data[0] == 3 ? &arch_s390x : &arch_amd64;
	if (data[0] && arch == &arch_amd64)
		try_file(data + 1, size - 1);
	else
		try_eh_frame(data + 1, size - 1);
	return 0;
}
