// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * symbols - from (file, offset) to a function
 *
 * Files are looked up by path and expected build-id in a hash; each is opened
 * once, at the first question, and its answer -- an index or the reason why
 * there is none -- is kept. Names are demangled when first asked for.
 *
 * The path comes from a trace, which may be anyone's: only regular files are
 * opened for reading, and without waiting for the writer of a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <libiberty/demangle.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"
#include "unwind-user.h"

#define NR_BUCKETS 1024

struct file {
	struct file *next;
	char *path;
	uint8_t build_id[64];
	size_t build_id_size;
	int error;		/* 0, or what every lookup returns */
	struct symtab tab;
	char **names;		/* demangled, by symbol; NULL: not asked yet */
};

struct uu_symbols {
	char *sysroot;
	bool no_demangle;
	struct file *buckets[NR_BUCKETS];
};

struct uu_symbols *uu_symbols_new(const struct uu_symbols_opts *opts)
{
	struct uu_symbols_opts o = { .size = 0 };
	struct uu_symbols *syms = calloc(1, sizeof(*syms));

	if (!syms)
		return NULL;
	if (opts)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	syms->no_demangle = o.no_demangle;
	syms->sysroot = strdup(o.sysroot ? o.sysroot : "");
	if (!syms->sysroot) {
		free(syms);
		return NULL;
	}
	return syms;
}

static void file_free(struct file *f)
{
	size_t i;

	for (i = 0; f->names && i < f->tab.nr_syms; i++)
		if (f->names[i] && f->names[i] != f->tab.pool + f->tab.syms[i].name)
			free(f->names[i]);
	free(f->names);
	symtab_free(&f->tab);
	free(f->path);
	free(f);
}

void uu_symbols_free(struct uu_symbols *syms)
{
	struct file *f, *next;
	size_t i;

	if (!syms)
		return;
	for (i = 0; i < NR_BUCKETS; i++) {
		for (f = syms->buckets[i]; f; f = next) {
			next = f->next;
			file_free(f);
		}
	}
	free(syms->sysroot);
	free(syms);
}

static int open_regular(const char *path)
{
	struct stat st;
	int fd;

	/* looked at first: opening a device can have effects of its own */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int file_open(const struct uu_symbols *syms, const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path);
	char *full;
	int fd;

	if (*path != '/')
		return -1;
	if (asprintf(&full, "%s%s", syms->sysroot, path) < 0)
		return -1;
	fd = open_regular(full);
	/* as /proc/PID/maps marks it; another file by the name is told by its build-id */
	if (fd < 0 && len > strlen(deleted) && !strcmp(path + len - strlen(deleted), deleted)) {
		full[strlen(full) - strlen(deleted)] = '\0';
		fd = open_regular(full);
	}
	free(full);
	return fd;
}

static void file_load(const struct uu_symbols *syms, struct file *f)
{
	int fd = file_open(syms, f->path);

	if (fd < 0) {
		f->error = -ENODEV;
		return;
	}
	f->error = symtab_read(&f->tab, fd);
	close(fd);
	if (!f->error && f->build_id_size &&
	    (f->tab.build_id_size != f->build_id_size ||
	     memcmp(f->tab.build_id, f->build_id, f->build_id_size)))
		f->error = -ESTALE;
	if (!f->error && f->tab.nr_syms) {
		f->names = calloc(f->tab.nr_syms, sizeof(*f->names));
		if (!f->names)
			f->error = -ENOMEM;
	}
	if (f->error)
		symtab_free(&f->tab);
}

static struct file *file_get(struct uu_symbols *syms, const struct uu_file *want)
{
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t id_size = want->build_id ? want->build_id_size : 0;
	struct file *f, **bucket;
	const char *p;

	if (id_size > sizeof(f->build_id))
		return NULL;
	for (p = want->path; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3ull;
	bucket = &syms->buckets[(hash ^ hash >> 32) % NR_BUCKETS];
	for (f = *bucket; f; f = f->next)
		if (f->build_id_size == id_size && !strcmp(f->path, want->path) &&
		    (!id_size || !memcmp(f->build_id, want->build_id, id_size)))
			return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(want->path);
	if (!f->path) {
		free(f);
		return NULL;
	}
	f->build_id_size = id_size;
	if (id_size)
		memcpy(f->build_id, want->build_id, id_size);
	f->next = *bucket;
	*bucket = f;
	file_load(syms, f);
	return f;
}

static const char *name_of(const struct uu_symbols *syms, struct file *f, const struct sym *s)
{
	char **name = &f->names[s - f->tab.syms];
	char *plain = f->tab.pool + s->name;

	if (*name)
		return *name;
	if (!syms->no_demangle)
		*name = cplus_demangle(plain, DMGL_AUTO);
	if (!*name)
		*name = plain;
	return *name;
}

int uu_symbols_find(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		    struct uu_symbol *sym)
{
	struct file *f = file_get(syms, file);
	const struct sym *s;
	uint64_t addr;

	memset(sym, 0, sizeof(*sym));
	if (!f)
		return -ENOMEM;
	if (f->error)
		return f->error;
	if (symtab_to_addr(&f->tab, offset, &addr))
		return -ENOENT;
	s = symtab_find(&f->tab, addr);
	if (!s || symtab_to_offset(&f->tab, s->addr, &sym->start))
		return -ENOENT;
	sym->name = name_of(syms, f, s);
	return 0;
}

/*
 * The kernel returns from a signal handler to these instructions, in the C
 * library or the vDSO. mov $__NR_rt_sigreturn,%rax; syscall: the two encodings
 * in use. Unwinders and debuggers know the frame by them, and so do we. The
 * file is read again only where no symbol tells that it is something else.
 */
bool uu_symbols_is_signal_return(struct uu_symbols *syms, const struct uu_file *file,
				 uint64_t offset)
{
	static const uint8_t imm32[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t mov32[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	struct file *f = file_get(syms, file);
	uint8_t buf[sizeof(imm32)];
	struct uu_symbol sym;
	ssize_t n;
	int fd;

	if (!f || f->error || f->tab.machine != EM_X86_64 || offset > INT64_MAX)
		return false;
	if (!uu_symbols_find(syms, file, offset, &sym) && strncmp(sym.name, "__restore", 9))
		return false;
	fd = file_open(syms, f->path);
	if (fd < 0)
		return false;
	n = pread(fd, buf, sizeof(buf), offset);
	close(fd);
	return (n >= (ssize_t)sizeof(imm32) && !memcmp(buf, imm32, sizeof(imm32))) ||
	       (n >= (ssize_t)sizeof(mov32) && !memcmp(buf, mov32, sizeof(mov32)));
}
