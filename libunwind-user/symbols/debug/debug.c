// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * debug.c - from a file to its debug information
 *
 * The library finds the debug information when it reads the file's functions, because it adds those
 * of a separate debug file to them. It reads the debug information at the first request for a line.
 * In between the debug file is closed, so that thousands of files need no descriptors. Device,
 * inode, size and time then show that it is the same file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug.h"

static void debug_free(struct debug *d)
{
	size_t i;

	for (i = 0; i < d->names_room; i++)
		free(d->names[i].demangled);
	free(d->names);
	free(d->exec);
	dw_free(&d->dw);
	place_free(&d->place);
	free(d);
}

static int remember_file(struct debug *d, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	d->stamp = get_stamp(&st);
	return 0;
}

static bool is_same_file(const struct debug *d, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_dev == d->dev && st.st_ino == d->ino &&
	       is_same_stamp(d->stamp, get_stamp(&st));
}

static int add_separate(struct uu_symbols *syms, struct file *f, struct debug *d,
			struct collect *c, Elf *elf)
{
	int fd = debugfile_find(syms, f, elf, &d->place, &d->kind), ret;
	Elf *other;

	if (fd < 0) {
		ret = debugdata_collect(c, elf, syms->debug_room);
		if (ret > 0)
			d->kind = UU_DEBUG_MINI;
		return ret < 0 ? ret : 0;
	}
	ret = remember_file(d, fd);
	other = ret ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (other)
		ret = symtab_collect(c, other);
	elf_end(other);
	close(fd);
	return ret;
}

static int add_debug_funcs(void *arg, struct collect *c, Elf *elf)
{
	struct debug_arg *a = arg;
	struct file *f = a->f;
	struct debug *d;
	int fd, ret = 0;

	/* not the file that the caller asked for */
	if (f->build_id_size && (f->build_id_size != f->tab.build_id_size ||
				 memcmp(f->build_id, f->tab.build_id, f->build_id_size)))
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	f->debug = d;
	if (!debugfile_find_section(elf, ".debug_info") &&
	    !debugfile_find_section(elf, ".zdebug_info"))
		return add_separate(a->syms, f, d, c, elf);
	d->kind = UU_DEBUG_IN_FILE;
	fd = symbols_open(f->place.root, f->place.path, 0);
	if (fd >= 0) {
		ret = remember_file(d, fd);
		close(fd);
	}
	return ret == -ENOMEM ? ret : 0;
}

static int set_exec(struct debug *d, const struct symtab *tab)
{
	size_t i;

	d->exec = calloc(tab->nr_segs + 1, sizeof(*d->exec));
	if (!d->exec)
		return -ENOMEM;
	for (i = 0; i < tab->nr_segs; i++) {
		if (!tab->segs[i].exec)
			continue;
		d->exec[d->dw.nr_exec].start = tab->segs[i].vaddr;
		d->exec[d->dw.nr_exec++].size = tab->segs[i].filesz;
	}
	d->dw.exec = d->exec;
	return 0;
}

static int load_alt(struct uu_symbols *syms, struct debug *d, const struct place *from, Elf *elf)
{
	bool named;
	int fd = debugfile_open_alt(syms, from, elf, &named), ret = -ENOENT;
	Elf *alt;

	if (!named)
		return 0;
	alt = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (alt) {
		d->dw.alt = calloc(1, sizeof(*d->dw.alt));
		if (d->dw.alt)
			ret = dw_load(d->dw.alt, alt, true, &syms->debug_room);
		else
			ret = -ENOMEM;
		if (ret && d->dw.alt) {
			dw_free(d->dw.alt);
			free(d->dw.alt);
			d->dw.alt = NULL;
		}
	}
	elf_end(alt);
	if (fd >= 0)
		close(fd);
	d->dw.alt_missing = ret;
	return ret == -ENOMEM ? ret : 0;
}

static int debug_read(struct uu_symbols *syms, struct file *f, struct debug *d)
{
	const struct place *from = d->kind == UU_DEBUG_IN_FILE ? &f->place : &d->place;
	int fd, ret = -ENOENT;
	Elf *elf;

	if (d->kind == UU_DEBUG_NONE || d->kind == UU_DEBUG_MINI)
		return -ENOENT;
	fd = symbols_open(from->root, from->path, 0);
	if (fd < 0 || !is_same_file(d, fd)) {
		if (fd >= 0)
			close(fd);
		return -ESTALE;
	}
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		ret = dw_load(&d->dw, elf, false, &syms->debug_room);
	if (!ret)
		ret = load_alt(syms, d, from, elf);
	elf_end(elf);
	close(fd);
	if (!ret)
		ret = set_exec(d, &f->tab);
	if (!ret)
		ret = dw_read_units(&d->dw);
	return ret;
}

int debug_open(struct uu_symbols *syms, struct file *f)
{
	struct debug *d = f->debug;
	size_t room = syms->debug_room;

	if (!d)
		return -ENOENT;
	if (!d->opened) {
		d->opened = true;
		d->error = debug_read(syms, f, d);
		if (d->error) {
			dw_free(&d->dw);
			syms->debug_room = room;
		}
	}
	return d->error;
}

int uu_symbols_debug_info(struct uu_symbols *syms, const struct uu_file *file,
			  struct uu_debug_info *info)
{
	struct debug *d;
	struct file *f;
	int ret = symbols_get_file(syms, file, &f);

	memset(info, 0, sizeof(*info));
	if (ret)
		return ret;
	d = f->debug;
	info->error = debug_open(syms, f);
	if (!d)
		return 0;
	info->kind = d->kind;
	info->path = d->place.path;
	info->split = d->dw.split;
	info->alt_missing = d->dw.alt_missing;
	return 0;
}

static int debug_fetch(struct uu_symbols *syms, struct file *f, struct place *place)
{
	return debuginfod_fetch(syms, f->build_id, f->build_id_size, true, place);
}

struct uu_symbols *uu_symbols_new_debug(const struct uu_symbols_opts *opts)
{
	static const struct debug_ops ops = {
		.collect = add_debug_funcs,
		.free = debug_free,
		.fetch = debug_fetch,
		.close = debuginfod_close,
	};
	struct uu_symbols *syms = uu_symbols_new(opts);

	if (syms)
		syms->ops = &ops;
	return syms;
}
