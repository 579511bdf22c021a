// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * load.c - reads and unpacks the sections of debug information
 *
 * Sections are read, not mapped, as in symbols/elf.c. There are three ways of compression:
 * SHF_COMPRESSED with zlib or with zstd (ELF gABI, "Section Compression"), and the older .zdebug_*
 * of GNU: "ZLIB", the size in 8 big-endian bytes, a zlib stream. The size that a section claims is
 * not allocated before the budget allows it. The unpacked data must have exactly that size.
 */
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "dwarf.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* the best ratio that zlib's format allows; zstd has practically no limit */
#define MAX_RATIO	1032

static const char *const section_names[DW_NR_SECTIONS] = {
	[DW_INFO] = ".debug_info", [DW_ABBREV] = ".debug_abbrev", [DW_STR] = ".debug_str",
	[DW_LINE] = ".debug_line", [DW_LINE_STR] = ".debug_line_str",
	[DW_RANGES] = ".debug_ranges", [DW_RNGLISTS] = ".debug_rnglists",
	[DW_ADDR] = ".debug_addr", [DW_STR_OFFSETS] = ".debug_str_offsets",
};

static int inflate_all(uint8_t *to, size_t size, const uint8_t *from, size_t len)
{
	z_stream z = { .next_in = (Bytef *)from, .next_out = to };
	size_t in_left = len, out_left = size;
	int ret;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	/* zlib counts in 32 bits */
	do {
		uInt in = in_left < UINT32_MAX ? in_left : UINT32_MAX;
		uInt out = out_left < UINT32_MAX ? out_left : UINT32_MAX;

		z.avail_in = in;
		z.avail_out = out;
		ret = inflate(&z, Z_NO_FLUSH);
		in_left -= in - z.avail_in;
		out_left -= out - z.avail_out;
		if (in == z.avail_in && out == z.avail_out)
			break;
	} while (ret == Z_OK);
	inflateEnd(&z);
	return ret == Z_STREAM_END && !out_left ? 0 : ret == Z_MEM_ERROR ? -ENOMEM : -ENOEXEC;
}

/* Unpack @packed to exactly @size bytes. */
static int unpack_section(struct dw *dw, enum dw_section i, int type, struct dw_data packed,
			  uint64_t size, size_t *room)
{
	uint8_t *to;
	int ret;

	if (size > *room)
		return -EFBIG;
	if (type != ELFCOMPRESS_ZLIB && type != ELFCOMPRESS_ZSTD)
		return -EOPNOTSUPP;
	if (type == ELFCOMPRESS_ZLIB && size / MAX_RATIO > packed.size)
		return -ENOEXEC;
	to = malloc(size ? size : 1);
	if (!to)
		return -ENOMEM;
	if (type == ELFCOMPRESS_ZLIB)
		ret = inflate_all(to, size, packed.p, packed.size);
	else
		ret = ZSTD_decompress(to, size, packed.p, packed.size) == size ? 0 : -ENOEXEC;
	if (ret) {
		free(to);
		return ret;
	}
	*room -= size;
	dw->owned[i] = to;
	dw->sec[i].p = to;
	dw->sec[i].size = size;
	return 0;
}

static int copy_section(struct dw *dw, enum dw_section i, const void *from, size_t size,
			size_t *room)
{
	if (size > *room)
		return -EFBIG;
	dw->owned[i] = malloc(size ? size : 1);
	if (!dw->owned[i])
		return -ENOMEM;
	memcpy(dw->owned[i], from, size);
	*room -= size;
	dw->sec[i].p = dw->owned[i];
	dw->sec[i].size = size;
	return 0;
}

static int load_section(struct dw *dw, enum dw_section i, Elf *elf, Elf_Scn *scn, bool zdebug,
			size_t *room)
{
	GElf_Shdr shdr;
	GElf_Chdr chdr;
	Elf_Data *data;
	struct dw_data packed;
	size_t skip;

	/* the first of two sections with the same name counts */
	if (dw->owned[i] || !gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
		return 0;
	/* the packed bytes count until they are unpacked */
	if (shdr.sh_size > *room)
		return -EFBIG;
	data = elf_rawdata(scn, NULL);
	if (!data || (!data->d_buf && data->d_size))
		return -ENOEXEC;
	if (zdebug) {
		const uint8_t *p = data->d_buf;
		uint64_t size = 0;
		int k;

		if (data->d_size < 12 || memcmp(p, "ZLIB", 4))
			return -ENOEXEC;
		for (k = 4; k < 12; k++)
			size = size << 8 | p[k];
		packed = (struct dw_data){ p + 12, data->d_size - 12 };
		return unpack_section(dw, i, ELFCOMPRESS_ZLIB, packed, size, room);
	}
	if (!(shdr.sh_flags & SHF_COMPRESSED))
		return copy_section(dw, i, data->d_buf, data->d_size, room);
	skip = gelf_getclass(elf) == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	if (!gelf_getchdr(scn, &chdr) || data->d_size < skip)
		return -ENOEXEC;
	packed = (struct dw_data){ (uint8_t *)data->d_buf + skip, data->d_size - skip };
	return unpack_section(dw, i, chdr.ch_type, packed, chdr.ch_size, room);
}

int dw_load(struct dw *dw, struct Elf *elf, bool alt, size_t *room)
{
	const char *ident = elf_getident(elf, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Ehdr ehdr;
	size_t strings;
	int ret = 0;

	dw->big_endian = ident && ident[EI_DATA] == ELFDATA2MSB;
	/* an object file would have to be relocated first; files of dwz are ET_REL, too */
	if (elf_getshdrstrndx(elf, &strings) || !gelf_getehdr(elf, &ehdr) ||
	    (!alt && ehdr.e_type == ET_REL))
		return -ENOENT;
	while (!ret && (scn = elf_nextscn(elf, scn))) {
		const char *name;
		bool z;
		int i;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = elf_strptr(elf, strings, shdr.sh_name);
		z = name && !strncmp(name, ".zdebug_", 8);
		if (!name || (!z && strncmp(name, ".debug_", 7)))
			continue;
		for (i = 0; i < DW_NR_SECTIONS; i++)
			if (!strcmp(name + z + 1, section_names[i] + 1))
				break;
		if (i == DW_NR_SECTIONS || (alt && i > DW_STR))
			continue;
		ret = load_section(dw, i, elf, scn, z, room);
	}
	if (!ret && (!dw->sec[DW_INFO].size || !dw->sec[DW_ABBREV].size))
		ret = -ENOENT;
	if (!ret)
		dw_set_budgets(dw);
	return ret;
}

void dw_set_budgets(struct dw *dw)
{
	size_t sum = 0;
	int i;

	for (i = 0; i < DW_NR_SECTIONS; i++)
		sum += dw->sec[i].size;
	/* in files of compilers, one unit or a few use each byte of a section */
	dw->budget = 65536 + 8 * (int64_t)sum;
	dw->text_budget = dw->budget;
	dw->abbrev_budget = 4096 + (int64_t)dw->sec[DW_ABBREV].size;
}

void dw_free(struct dw *dw)
{
	struct dw_abbrevs *t, *next;
	size_t i;

	for (i = 0; i < dw->nr_units; i++) {
		free(dw->units[i].funcs);
		free(dw->units[i].cover.v);
		dw_free_lines(&dw->units[i].lines);
	}
	free(dw->units);
	free(dw->cover.v);
	for (i = 0; i < DW_ABBREV_BUCKETS; i++) {
		for (t = dw->abbrevs[i]; t; t = next) {
			next = t->next;
			free(t->v);
			free(t->specs);
			free(t);
		}
	}
	for (i = 0; i < DW_NR_SECTIONS; i++)
		free(dw->owned[i]);
	if (dw->alt) {
		dw_free(dw->alt);
		free(dw->alt);
	}
	memset(dw, 0, sizeof(*dw));
}
