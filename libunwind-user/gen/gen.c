// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen.c - makes a table from the .eh_frame of a file or an image
 *
 * impl.h lists the steps, and the files that do them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/flow/flow.h"

/* Read .eh_frame, as far as the file has it: a file can be shorter than its headers say. */
static int read_eh_frame(struct image *img, uint8_t **data, size_t *size)
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

static int read_rows(struct image *img, const struct arch *arch, struct rows *rows,
		     struct stats *stats)
{
	struct cfi_section sec = image_describe_eh_frame(img, arch);
	struct stats before = *stats;
	struct cfi_stats cfi;
	uint8_t *data;
	unsigned int i;
	int ret;

	if (img->flags & ROWS_NO_CFI)
		return 0;
	ret = read_eh_frame(img, &data, &sec.size);
	if (ret)
		return ret;
	sec.data = data;
	ret = cfi_parse(&sec, &rows_cfi_ops, rows, &cfi);
	if (!ret && rows->needs_kept_reg) {
		/* repeat with this register: few files need to know where it is kept */
		*stats = before;
		rows_free(rows);
		sec.reg_kept = arch->abi->reg_kept;
		ret = rows_init(rows, img, arch, stats);
		rows->writes_kept_reg = true;
		if (!ret)
			ret = cfi_parse(&sec, &rows_cfi_ops, rows, &cfi);
	}
	stats->eh_frame_size = sec.size;
	stats->eh_frame_hdr_size = img->eh_hdr.end - img->eh_hdr.start;
	stats->nr_fdes = cfi.nr_fdes;
	for (i = 0; i < CFI_NR_CAUSES; i++)
		stats->hole[i].nr += cfi.bad_fdes[i];
	free(data);
	return ret;
}

static void count_text(const struct image *img, struct stats *stats)
{
	unsigned int i;

	for (i = 0; i < img->nr_code; i++)
		stats->text_bytes += img->code[i].end - img->code[i].start;
}

/* Add rows for code that .eh_frame leaves out, then put all rows in one list. */
static int finish_rows(struct rows *rows)
{
	uint32_t nr_fdes;
	int ret;

	ret = rows_sort(rows);
	if (!ret)
		ret = rows_add_plts(rows);
	if (!ret)
		ret = rows_add_pc_thunks(rows);
	if (!ret)
		ret = gen_make_wrong_rows_holes(rows);
	if (!ret)
		ret = rows_add_go(rows);
	if (!ret)
		ret = flow_add_v8(rows);
	nr_fdes = rows->nr_fdes;
	if (!ret)
		ret = flow_add(rows);
	if (!ret && nr_fdes != rows->nr_fdes)
		ret = rows_sort(rows);
	return ret ? ret : gen_merge_rows(rows);
}

static int generate_table(struct image *img, struct gen_table *table)
{
	const struct arch *arch;
	struct rows rows;
	int ret;

	memset(table, 0, sizeof(*table));
	ret = image_open(img);
	if (ret)
		goto out;
	arch = arch_find(img->machine, img->big_endian);
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
		ret = finish_rows(&rows);
	/* stubs alone are not worth a table */
	if (!ret && !table->stats.nr_fdes && !(img->flags & ROWS_NO_CFI) &&
	    !table->stats.go_bytes &&
	    (!rows.nr_fdes || !arch->flow || !arch->flow->without_eh_frame))
		ret = -ENODATA;
	if (!ret)
		ret = gen_pack_rows(&rows, table);
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
	struct image img = { .fd = fd, .flags = flags };

	memset(table, 0, sizeof(*table));
	if (fd < 0)
		return -EBADF;
	return generate_table(&img, table);
}

int gen_from_memory(gen_read_fn read, void *ctx, uint64_t addr, struct gen_table *table,
		    uint64_t *bias)
{
	struct image img = { .fd = -1, .read = read, .ctx = ctx, .addr = addr };
	int ret;

	ret = generate_table(&img, table);
	if (bias)
		*bias = img.bias;
	return ret;
}

static int read_own_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	memcpy(to, (const void *)(uintptr_t)addr, len);
	return 0;
}

int gen_from_own_memory(uint64_t addr, struct gen_table *table, uint64_t *bias)
{
	return gen_from_memory(read_own_memory, NULL, addr, table, bias);
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
