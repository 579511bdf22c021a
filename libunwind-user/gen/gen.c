// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen - .eh_frame of a file or an image to a table
 *
 * The steps, and the files that know them, are listed in gen_impl.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/arch/arch.h"
#include "libunwind-user/flow/impl.h"

static const struct gen_arch *const archs[] = { &gen_amd64, &gen_arm64, &gen_s390x };

bool gen_grow(void *array, uint32_t nr, uint32_t *room, size_t elem)
{
	uint32_t want = *room ? *room : 64;
	void **p = array, *q;

	if (want > UINT32_MAX / 2)
		return false;
	if (want <= nr)
		want *= 2;
	q = realloc(*p, want * elem);
	if (!q)
		return false;
	*p = q;
	*room = want;
	return true;
}

const struct gen_arch *gen_arch_of(const struct gen_image *img)
{
	size_t i;

	for (i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
		if (archs[i]->machine == img->machine &&
		    archs[i]->abi->big_endian == img->big_endian)
			return archs[i];
	}
	return NULL;
}

const struct gen_arch *gen_arch_of_abi(uint8_t abi)
{
	size_t i;

	for (i = 0; i < sizeof(archs) / sizeof(*archs); i++) {
		if (archs[i]->abi->abi == abi)
			return archs[i];
	}
	return NULL;
}

struct cfi_section gen_section(const struct gen_image *img, const struct gen_arch *arch)
{
	const struct sframe_arch *abi = arch->abi;

	return (struct cfi_section){
		.vaddr = img->eh_frame.start, .big_endian = img->big_endian, .addr_size = 8,
		.reg_sp = abi->reg_sp, .reg_fp = abi->reg_fp, .reg_ra = abi->reg_ra,
		.reg_pc = arch->reg_pc, .sp_off = abi->sp_off, .arm64 = abi->mangles_ra,
		.ends_at_zero = img->eh_ends_at_zero,
	};
}

/* As much of .eh_frame as there is; a file can be shorter than its headers say. */
static int read_eh_frame(struct gen_image *img, uint8_t **data, size_t *size)
{
	uint64_t len = img->eh_frame.end - img->eh_frame.start;
	int ret;

	*data = NULL;
	*size = 0;
	if (!len)
		return 0;
	if (len >= UINT32_MAX)
		return -EFBIG;
	*data = malloc(len);
	if (!*data)
		return -ENOMEM;
	ret = image_read(img, img->eh_frame.start, *data, len);
	if (ret) {
		free(*data);
		*data = NULL;
		return ret == -EFAULT ? -ENOEXEC : ret;
	}
	*size = len;
	return 0;
}

static int read_rows(struct gen_image *img, const struct gen_arch *arch, struct gen_rows *rows,
		     struct gen_stats *stats)
{
	struct cfi_section sec = gen_section(img, arch);
	struct cfi_stats cfi;
	uint8_t *data;
	unsigned int i;
	int ret;

	if (img->flags & GEN_NO_CFI)
		return 0;
	ret = read_eh_frame(img, &data, &sec.size);
	if (ret)
		return ret;
	sec.data = data;
	ret = cfi_parse(&sec, &rows_cfi_ops, rows, &cfi);
	stats->eh_frame_size = sec.size;
	stats->eh_frame_hdr_size = img->eh_hdr.end - img->eh_hdr.start;
	stats->nr_fdes = cfi.nr_fdes;
	for (i = 0; i < CFI_NR_CAUSES; i++)
		stats->hole[i].nr += cfi.bad_fdes[i];
	free(data);
	return ret;
}

static void count_text(const struct gen_image *img, struct gen_stats *stats)
{
	unsigned int i;

	for (i = 0; i < img->nr_code; i++)
		stats->text_bytes += img->code[i].end - img->code[i].start;
}

static int generate(struct gen_image *img, struct gen_table *table)
{
	const struct gen_arch *arch;
	struct gen_rows rows;
	int ret;

	memset(table, 0, sizeof(*table));
	ret = image_open(img);
	if (ret)
		goto out;
	arch = gen_arch_of(img);
	ret = -EOPNOTSUPP;
	if (!arch)
		goto out;
	ret = -ENODATA;
	if (img->text.start == img->text.end)
		goto out;
	ret = -EFBIG;
	if (img->text.end - img->text.start >= UINT32_MAX)
		goto out;
	table->text_start = img->text.start;
	table->text_size = img->text.end - img->text.start;
	ret = rows_init(&rows, img, arch, &table->stats);
	if (!ret)
		ret = read_rows(img, arch, &rows, &table->stats);
	count_text(img, &table->stats);
	if (!ret)
		ret = rows_finish(&rows);
	/* stubs alone are not worth a table */
	if (!ret && !table->stats.nr_fdes && !(img->flags & GEN_NO_CFI) &&
	    (!rows.nr_fdes || !arch->flow || !arch->flow->alone))
		ret = -ENODATA;
	if (!ret)
		ret = pack(&rows, table);
	rows_free(&rows);
out:
	image_close(img);
	if (ret)
		gen_free(table);
	return ret;
}

int gen_from_fd(int fd, struct gen_table *table)
{
	return gen_from_fd_flags(fd, 0, table);
}

int gen_from_fd_flags(int fd, unsigned int flags, struct gen_table *table)
{
	struct gen_image img = { .fd = fd, .flags = flags };

	memset(table, 0, sizeof(*table));
	if (fd < 0)
		return -EBADF;
	return generate(&img, table);
}

int gen_from_memory(gen_read_fn read, void *ctx, uint64_t addr, struct gen_table *table,
		    uint64_t *bias)
{
	struct gen_image img = { .fd = -1, .read = read, .ctx = ctx, .addr = addr };
	int ret;

	ret = generate(&img, table);
	if (bias)
		*bias = img.bias;
	return ret;
}

int gen_open(const struct gen_table *table, struct sframe_table *reader)
{
	*reader = (struct sframe_table){
		.mem = table->data, .size = table->size, .base = table->base,
		.text_start = table->text_start, .text_size = table->text_size,
	};
	return sframe_open(reader);
}

void gen_free(struct gen_table *table)
{
	free(table->data);
	table->data = NULL;
	table->size = 0;
}

const char *gen_cause_name(unsigned int cause)
{
	switch (cause) {
	case GEN_CAUSE_CFA:
		return "CFA rule";
	case GEN_CAUSE_RA:
		return "return address rule";
	case GEN_CAUSE_FP:
		return "frame pointer rule";
	case GEN_CAUSE_OVERLAP:
		return "overlapping FDEs";
	case GEN_CAUSE_OUTSIDE:
		return "FDE outside of code";
	case GEN_CAUSE_PLT:
		return "PLT rule at an odd address";
	case GEN_CAUSE_SIGNAL:
		return "return from signal handlers";
	case GEN_CAUSE_FLOW:
		return "too much code without .eh_frame";
	case GEN_CAUSE_CODE:
		return ".eh_frame contradicts the code";
	default:
		return cfi_cause_name(cause);
	}
}
