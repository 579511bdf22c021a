// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * file.c - finds the files that hold another file's debug information
 *
 * The search follows GDB and elfutils ("Debugging Information in Separate Files" of GDB's manual).
 * A file is taken only if its build ID, or the CRC of .gnu_debuglink, shows that it is the right
 * file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "debug.h"

/* Computing the CRC reads the whole file: a sparse file must not take for ever. */
#define MAX_LINKED	(8ll << 30)

Elf_Scn *debugfile_find_section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t strings;
	const char *s;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(elf, strings, shdr.sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

/* Look in the sections: the program headers of debug files describe another file. */
static size_t read_build_id(Elf *elf, uint8_t id[UU_BUILD_ID_MAX])
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t n;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		n = symtab_find_build_id(elf_getdata(scn, NULL), id);
		if (n)
			return n;
	}
	return 0;
}

/* Does the ELF file at @fd have the build ID @id? @or_none: files without a build ID count, too. */
static bool has_build_id(int fd, const uint8_t *id, size_t size, bool or_none)
{
	uint8_t own[UU_BUILD_ID_MAX];
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	size_t n;

	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return false;
	}
	n = read_build_id(elf, own);
	elf_end(elf);
	return n ? n == size && !memcmp(own, id, n) : or_none;
}

static int open_checked(const char *root, const char *path, const uint8_t *id, size_t size,
			bool or_none, struct place *place)
{
	int fd = symbols_open(root, path, 0);

	if (fd < 0)
		return -1;
	if (has_build_id(fd, id, size, or_none) && (!place || !place_set(place, root, path)))
		return fd;
	close(fd);
	return -1;
}

/* Try the directory in the root of the symbols first, then in @root. */
static int find_by_build_id(const struct uu_symbols *syms, const char *root, const uint8_t *id,
			    size_t size, struct place *place)
{
	char hex[2 * UU_BUILD_ID_MAX + 1], *path;
	size_t i;
	int fd;

	if (size < 2 || size > UU_BUILD_ID_MAX)
		return -1;
	for (i = 0; i < size; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	if (asprintf(&path, "%s/.build-id/%.2s/%s.debug", syms->debug_dir, hex, hex + 2) < 0)
		return -1;
	fd = open_checked(syms->sysroot, path, id, size, false, place);
	if (fd < 0 && strcmp(root, syms->sysroot))
		fd = open_checked(root, path, id, size, false, place);
	free(path);
	return fd;
}

static bool has_crc(int fd, uint32_t want)
{
	uLong crc = crc32(0, NULL, 0);
	char *buf = malloc(1 << 16);
	off_t at = 0;
	ssize_t n = 1;

	if (!buf)
		return false;
	while (at <= MAX_LINKED && (n = pread(fd, buf, 1 << 16, at)) > 0) {
		crc = crc32(crc, (Bytef *)buf, n);
		at += n;
	}
	free(buf);
	return !n && crc == want;
}

/* Open @path below @root if it has the CRC. Frees @path. */
static int try_link(const struct file *f, const char *root, uint32_t crc, char *path,
		    struct place *place)
{
	const struct symtab *tab = &f->tab;
	int fd;

	fd = path ? open_checked(root, path, tab->build_id, tab->build_id_size, true, place) : -1;
	free(path);
	if (fd >= 0 && !has_crc(fd, crc)) {
		place_free(place);
		close(fd);
		fd = -1;
	}
	return fd;
}

static char *join_path(const char *a, const char *b, size_t dir_len, const char *c,
		       const char *name)
{
	char *path;

	return asprintf(&path, "%s%.*s%s%s", a, (int)dir_len, b, c, name) < 0 ? NULL : path;
}

/* The section is a file's name, zeros up to a multiple of 4, a CRC in the byte order of @elf. */
static int find_by_link(const struct uu_symbols *syms, const struct file *f, Elf *elf,
			struct place *place)
{
	Elf_Scn *scn = debugfile_find_section(elf, ".gnu_debuglink");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *ident = elf_getident(elf, NULL), *path = f->place.path, *dir;
	const char *root = f->place.root;
	const uint8_t *p;
	size_t len, at, n;
	uint32_t crc = 0;
	int fd, i;

	if (!data || !data->d_buf || !ident)
		return -1;
	p = data->d_buf;
	len = strnlen((char *)p, data->d_size);
	at = (len + 4) & ~3ul;
	if (!len || len == data->d_size || at + 4 > data->d_size || memchr(p, '/', len))
		return -1;
	for (i = 0; i < 4; i++)
		crc |= (uint32_t)p[at + i] << 8 * (ident[EI_DATA] == ELFDATA2MSB ? 3 - i : i);
	dir = strrchr(path, '/');
	n = dir ? dir - path : 0;
	fd = try_link(f, root, crc, join_path("", path, n, "/", (char *)p), place);
	if (fd < 0)
		fd = try_link(f, root, crc, join_path("", path, n, "/.debug/", (char *)p), place);
	if (fd < 0)
		fd = try_link(f, syms->sysroot, crc,
			      join_path(syms->debug_dir, path, n, "/", (char *)p), place);
	/* for packages from before /lib became a link to /usr/lib */
	if (fd < 0 && !strncmp(path, "/usr/", 5) && n > 4)
		fd = try_link(f, syms->sysroot, crc,
			      join_path(syms->debug_dir, path + 4, n - 4, "/", (char *)p), place);
	return fd;
}

int debugfile_find(struct uu_symbols *syms, const struct file *f, Elf *elf, struct place *place,
		   enum uu_debug_kind *kind)
{
	const struct symtab *tab = &f->tab;
	int fd;

	*kind = UU_DEBUG_BUILD_ID;
	fd = find_by_build_id(syms, f->place.root, tab->build_id, tab->build_id_size, place);
	if (fd >= 0)
		return fd;
	*kind = UU_DEBUG_LINK;
	fd = find_by_link(syms, f, elf, place);
	if (fd >= 0)
		return fd;
	*kind = UU_DEBUG_SERVER;
	fd = debuginfod_fetch(syms, tab->build_id, tab->build_id_size, false, place);
	if (fd >= 0 && has_build_id(fd, tab->build_id, tab->build_id_size, false))
		return fd;
	if (fd >= 0)
		close(fd);
	place_free(place);
	*kind = UU_DEBUG_NONE;
	return -1;
}

/* The section is a file's name, which may be relative to the directory of @from, and a build ID. */
int debugfile_open_alt(const struct uu_symbols *syms, const struct place *from, Elf *elf,
		       bool *named)
{
	Elf_Scn *scn = debugfile_find_section(elf, ".gnu_debugaltlink");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	const char *name, *dir;
	const uint8_t *id;
	size_t len, size;
	char *path;
	int fd = -1;

	*named = scn;
	if (!data || !data->d_buf)
		return -1;
	name = data->d_buf;
	len = strnlen(name, data->d_size);
	if (!len || len + 1 >= data->d_size)
		return -1;
	id = (uint8_t *)name + len + 1;
	size = data->d_size - len - 1;
	if (size > UU_BUILD_ID_MAX)
		return -1;
	dir = strrchr(from->path, '/');
	if (*name == '/')
		path = strdup(name);
	else
		path = join_path("", from->path, dir ? dir - from->path : 0, "/", name);
	if (path)
		fd = open_checked(from->root, path, id, size, false, NULL);
	free(path);
	return fd >= 0 ? fd : find_by_build_id(syms, from->root, id, size, NULL);
}
