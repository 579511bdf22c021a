// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * symbols.c - from (file, offset) to a function
 *
 * A hash finds files by path and expected build ID. Each file is opened once, at the first
 * question, and the answer -- an index, or the reason why there is no index -- is kept. Names are
 * demangled when first asked for.
 *
 * A file with a build ID is looked for
 *	- at its path;
 *	- in the root directory of a process that had it mapped, which is read again for the next
 *	such
 *	  process;
 *	- among the files that were read before;
 *	- by its build ID where debug files are kept;
 *	- from a server, if the caller asked for servers.
 * A file with another build ID is never taken.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/sframe/sframe.h"

#define NR_BUCKETS 1024
#define DEBUG_ROOM (1u << 30)
#define MAX_SIG_CODE 16			/* struct sframe_sig */

struct uu_symbols *uu_symbols_new(const struct uu_symbols_opts *opts)
{
	struct uu_symbols_opts o = { .size = 0 };
	struct uu_symbols *syms = calloc(1, sizeof(*syms));

	if (!syms)
		return NULL;
	if (opts)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	syms->no_demangle = o.no_demangle;
	syms->debuginfod_ms = o.debuginfod_ms;
	syms->debug_room = o.debug_bytes ? o.debug_bytes : DEBUG_ROOM;
	syms->sysroot = strdup(o.sysroot ? o.sysroot : "");
	syms->debug_dir = strdup(o.debug_dir ? o.debug_dir : "/usr/lib/debug");
	syms->buckets = calloc(NR_BUCKETS, sizeof(*syms->buckets));
	if (!syms->sysroot || !syms->debug_dir || !syms->buckets) {
		uu_symbols_free(syms);
		return NULL;
	}
	return syms;
}

static void clear_file(const struct uu_symbols *syms, struct file *f)
{
	size_t i;

	for (i = 0; f->names && i < f->tab.nr_syms; i++)
		if (f->names[i] && f->names[i] != f->tab.pool + f->tab.syms[i].name)
			free(f->names[i]);
	free(f->names);
	f->names = NULL;
	symtab_free(&f->tab);
	if (f->debug)
		syms->ops->free(f->debug);
	f->debug = NULL;
	place_free(&f->place);
}

void uu_symbols_free(struct uu_symbols *syms)
{
	struct file *f, *next;
	size_t i;

	if (!syms)
		return;
	for (i = 0; syms->buckets && i < NR_BUCKETS; i++) {
		for (f = syms->buckets[i]; f; f = next) {
			next = f->next;
			clear_file(syms, f);
			free(f->path);
			free(f);
		}
	}
	if (syms->ops)
		syms->ops->close(syms);
	perfmap_free_all(syms);
	free(syms->lines);
	free(syms->buckets);
	free(syms->sysroot);
	free(syms->debug_dir);
	free(syms);
}

/* Read the file that is open at @fd, and close it. 0, or why it is not the right file. */
static int read_candidate(struct uu_symbols *syms, struct file *f, int fd)
{
	struct debug_arg arg = { .syms = syms, .f = f };
	int ret;

	ret = symtab_read(&f->tab, fd, syms->ops ? syms->ops->collect : NULL, &arg);
	close(fd);
	if (!ret && f->build_id_size &&
	    (f->tab.build_id_size != f->build_id_size ||
	     memcmp(f->tab.build_id, f->build_id, f->build_id_size)))
		ret = -ESTALE;
	if (!ret && f->tab.nr_syms) {
		f->names = calloc(f->tab.nr_syms, sizeof(*f->names));
		if (!f->names)
			ret = -ENOMEM;
	}
	return ret;
}

/*
 * Read one candidate file. Keep the first error unless it is -ENODEV: a replaced file explains more
 * than a missing one.
 */
static int try_candidate(struct uu_symbols *syms, struct file *f, int fd)
{
	int ret;

	if (fd < 0)
		return -ENODEV;
	ret = read_candidate(syms, f, fd);
	if (ret)
		clear_file(syms, f);
	else
		f->error = 0;
	if (ret && (f->error == -ENODEV || !f->error))
		f->error = ret;
	return ret;
}

static int try_pid(struct uu_symbols *syms, struct file *f, int pid)
{
	char root[64];
	unsigned int i;

	/* without a build ID, the PID may have passed to another process unseen */
	if (pid <= 0 || !f->build_id_size || f->nr_pids == MAX_PIDS)
		return -ENODEV;
	for (i = 0; i < f->nr_pids; i++)
		if (f->pids[i] == pid)
			return -ENODEV;
	f->pids[f->nr_pids++] = pid;
	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return try_candidate(syms, f, symbols_open_mapped(root, f->path, &f->place));
}

static struct file *find_same(const struct uu_symbols *syms, const struct file *f)
{
	struct file *g;
	size_t i;

	for (i = 0; i < NR_BUCKETS; i++)
		for (g = syms->buckets[i]; g; g = g->next)
			if (g != f && !g->error && !g->same &&
			    g->tab.build_id_size == f->build_id_size &&
			    !memcmp(g->tab.build_id, f->build_id, f->build_id_size))
				return g;
	return NULL;
}

/* DIR/.build-id/xx/yy...: the file itself, as some distributions link it there. */
static int try_build_id(struct uu_symbols *syms, struct file *f)
{
	char path[4096 + 3 * UU_BUILD_ID_MAX];
	size_t i, n;
	int fd;

	if (f->build_id_size < 2)
		return -ENODEV;
	n = snprintf(path, 4096, "%s/.build-id/", syms->debug_dir);
	if (n >= 4096)
		return -ENODEV;
	for (i = 0; i < f->build_id_size; i++)
		n += sprintf(path + n, i == 1 ? "/%02x" : "%02x", f->build_id[i]);
	fd = symbols_open_mapped(syms->sysroot, path, &f->place);
	return try_candidate(syms, f, fd);
}

static void load_file(struct uu_symbols *syms, struct file *f, int pid)
{
	f->error = -ENODEV;
	if (!try_candidate(syms, f, symbols_open_mapped(syms->sysroot, f->path, &f->place)))
		return;
	if (!f->build_id_size || *f->path == '[' || !try_pid(syms, f, pid))
		return;
	f->same = find_same(syms, f);
	if (f->same || !try_build_id(syms, f))
		return;
	if (syms->ops)
		try_candidate(syms, f, syms->ops->fetch(syms, f, &f->place));
}

int symbols_get_file(struct uu_symbols *syms, const struct uu_file *want, struct file **file)
{
	size_t id_size = want->build_id ? want->build_id_size : 0;
	struct file *f, **bucket;

	if (id_size > sizeof(f->build_id))
		return -EINVAL;
	bucket = &syms->buckets[hash_str(want->path) % NR_BUCKETS];
	for (f = *bucket; f; f = f->next) {
		if (f->build_id_size != id_size || strcmp(f->path, want->path) ||
		    (id_size && memcmp(f->build_id, want->build_id, id_size)))
			continue;
		if (f->error && want->pid > 0 && !f->same)
			try_pid(syms, f, want->pid);
		goto out;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->path = strdup(want->path);
	if (!f->path) {
		free(f);
		return -ENOMEM;
	}
	f->build_id_size = id_size;
	if (id_size)
		memcpy(f->build_id, want->build_id, id_size);
	f->next = *bucket;
	*bucket = f;
	load_file(syms, f, want->pid);
out:
	*file = f->same ? f->same : f;
	return (*file)->error;
}

static const char *get_name(const struct uu_symbols *syms, struct file *f, const struct sym *s)
{
	char **name = &f->names[s - f->tab.syms];
	char *mangled = f->tab.pool + s->name;

	if (*name)
		return *name;
	if (!syms->no_demangle)
		*name = symbols_demangle(mangled);
	if (!*name)
		*name = mangled;
	return *name;
}

int uu_symbols_find(struct uu_symbols *syms, const struct uu_file *file, uint64_t offset,
		    struct uu_symbol *sym)
{
	const struct sym *s;
	struct file *f;
	uint64_t addr;
	int ret = symbols_get_file(syms, file, &f);

	memset(sym, 0, sizeof(*sym));
	if (ret)
		return ret;
	if (symtab_to_addr(&f->tab, offset, &addr))
		return -ENOENT;
	s = symtab_find(&f->tab, addr);
	if (!s || symtab_to_offset(&f->tab, s->addr, &sym->start))
		return -ENOENT;
	sym->name = get_name(syms, f, s);
	return 0;
}

/*
 * Returns the bytes of a file from @offset on, or NULL if the file cannot be opened. Sets @nr to
 * their number: at least @want, unless the file ends before. Reads the bytes around them too, for
 * later calls.
 */
static const uint8_t *peek_bytes(struct uu_symbols *syms, const struct file *f, uint64_t offset,
				 ssize_t want, ssize_t *nr)
{
	const uint64_t half = sizeof(syms->peek.bytes) / 2;
	uint64_t from = syms->peek.offset;
	int fd;

	if (syms->peek.f != f || offset < from || offset >= from + 2 * half - want) {
		from = offset & -half;
		fd = symbols_open(f->place.root, f->place.path, 0);
		syms->peek.f = NULL;
		*nr = 0;
		if (fd < 0)
			return NULL;
		syms->peek.nr = pread(fd, syms->peek.bytes, sizeof(syms->peek.bytes), from);
		close(fd);
		syms->peek.f = f;
		syms->peek.offset = from;
	}
	*nr = syms->peek.nr - (ssize_t)(offset - from);
	return syms->peek.bytes + (offset - from);
}

static bool has_code(const uint8_t *buf, ssize_t n, const uint8_t *code, size_t len)
{
	return n >= (ssize_t)len && !memcmp(buf, code, len);
}

static const struct sframe_arch *find_sframe_arch(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return &sframe_arch_amd64;
	case EM_AARCH64:
		return &sframe_arch_arm64;
	case EM_S390:
		return &sframe_arch_s390x;
	default:
		return NULL;
	}
}

/*
 * The kernel returns from a signal handler to code in the C library or the vDSO, which makes the
 * system call rt_sigreturn. Unwinders and debuggers recognize the frame by the bytes of this code,
 * as this function does. The stepper knows one encoding for amd64, but a second one exists. The
 * function reads the file again only if no symbol shows that this is other code.
 */
bool uu_symbols_is_signal_return(struct uu_symbols *syms, const struct uu_file *file,
				 uint64_t offset)
{
	static const uint8_t amd64_other[] = { 0xb8, 15, 0, 0, 0, 0x0f, 0x05 };
	const struct sframe_arch *arch;
	struct uu_symbol sym;
	const uint8_t *buf;
	struct file *f;
	ssize_t n;
	size_t i;

	if (symbols_get_file(syms, file, &f) || offset > INT64_MAX)
		return false;
	arch = find_sframe_arch(f->tab.machine);
	if (!arch ||
	    (!uu_symbols_find(syms, file, offset, &sym) && strncmp(sym.name, "__restore", 9)))
		return false;
	buf = peek_bytes(syms, f, offset, MAX_SIG_CODE, &n);
	for (i = 0; i < arch->nr_sigs; i++) {
		if (has_code(buf, n, arch->sigs[i].code, arch->sigs[i].code_len))
			return true;
	}
	return arch == &sframe_arch_amd64 && has_code(buf, n, amd64_other, sizeof(amd64_other));
}
