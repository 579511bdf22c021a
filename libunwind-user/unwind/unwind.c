// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unwind.c - walks stacks in user space, with the tables of a process's mappings and a row cache
 *
 * A walk sees the same code again and again, so most steps need no table. The unwinder keeps each
 * row that it found, by a hash of the pc that asked for the row, and uses the row again if it holds
 * for the pc. A row itself says for which pcs it holds (sframe/sframe_read.h), so there is no key
 * that could be wrong. An empty slot holds for no pc. All rows are dropped whenever a table comes
 * or goes.
 *
 * Code that returns from signal handlers may have no row where calls leave the return address in a
 * register (the vDSOs of arm64 and s390x). The unwinder checks the bytes of that code, which takes
 * a system call, and only where a walk would otherwise end. On amd64 that code always has a row.
 *
 * The rest of the time goes into the search: each table gets an index of its text
 * (sframe/sframe_list.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"
#include "libunwind-user/unwind-user.h"

/*
 * arm64: the bits of a return address that a signature may use: those above an address of 48 bits,
 * except bit 55. Code has higher addresses only if a program asks for them.
 */
#define RA_MASK	(~0ull << 48)

/* 20 KiB: a first-level cache holds the rows of a stack or two of very different code */
#define ROWS	512

struct uu_table {
	struct sframe_table t;
	struct gen_table gen;
	struct sframe_index index;
	u32 *parts;			/* of the index */
};

struct uu_unwinder {
	const struct sframe_arch *arch;
	struct uu_table *table;		/* sorted by text_start; the ranges of two do not overlap */
	unsigned int nr_tables;
	struct sframe_row row[ROWS];
};

/* -------------------------------- tables -------------------------------- */

struct uu_unwinder *uu_unwinder_new(void)
{
	return calloc(1, sizeof(struct uu_unwinder));
}

static void free_table(struct uu_table *t)
{
	gen_free(&t->gen);
	free(t->parts);
}

void uu_unwinder_free(struct uu_unwinder *u)
{
	unsigned int i;

	if (!u)
		return;
	for (i = 0; i < u->nr_tables; i++)
		free_table(&u->table[i]);
	free(u->table);
	free(u);
}

static bool tables_overlap(const struct sframe_table *a, const struct sframe_table *b)
{
	return a->text_start - b->text_start < b->text_size ||
	       b->text_start - a->text_start < a->text_size;
}

/* Takes over @new, also if it fails. */
static int insert_table(struct uu_unwinder *u, struct uu_table *new)
{
	struct uu_table *table;
	unsigned int i, nr;

	table = realloc(u->table, (u->nr_tables + 1) * sizeof(*table));
	if (!table) {
		free_table(new);
		return -ENOMEM;
	}
	u->table = table;
	memset(u->row, 0, sizeof(u->row));
	for (i = nr = 0; i < u->nr_tables; i++) {
		if (tables_overlap(&table[i].t, &new->t))
			free_table(&table[i]);
		else
			table[nr++] = table[i];
	}
	for (i = nr; i && table[i - 1].t.text_start > new->t.text_start; i--)
		table[i] = table[i - 1];
	table[i] = *new;
	u->nr_tables = nr + 1;
	return 0;
}

static int add_table(struct uu_unwinder *u, struct gen_table *gen, uint64_t bias)
{
	struct uu_table new = {
		.gen = *gen,
		.t = {
			.mem = gen->data, .size = gen->size, .base = gen->base + bias,
			.text_start = gen->text_start + bias, .text_size = gen->text_size,
		},
	};
	int ret;

	ret = sframe_open(&new.t);
	if (!ret && (new.t.arch->is_32bit || (u->arch && u->arch != new.t.arch)))
		ret = -EOPNOTSUPP;
	if (!ret) {
		/* without an index, only the search is slower */
		new.parts = calloc(new.t.nr_fdes, sizeof(*new.parts));
		if (new.parts)
			sframe_make_index(&new.t, &new.index, new.parts, new.t.nr_fdes);
	}
	if (ret) {
		free_table(&new);
		return ret;
	}
	u->arch = new.t.arch;
	return insert_table(u, &new);
}

int uu_unwinder_add(struct uu_unwinder *u, int fd, uint64_t bias)
{
	struct gen_table gen;
	int ret = gen_from_fd(fd, &gen);

	return ret ? ret : add_table(u, &gen, bias);
}

struct loaded {
	struct uu_unwinder *u;
	int nr;
	bool first;
};

static int add_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded *l = arg;
	struct gen_table gen;
	uint64_t bias;
	int fd, ret;

	(void)size;
	/* s390x: linux-vdso64.so.1 */
	if (!strncmp(info->dlpi_name, "linux-vdso", 10)) {
		ret = gen_from_own_memory(getauxval(AT_SYSINFO_EHDR), &gen, &bias);
		if (!ret)
			ret = add_table(l->u, &gen, bias);
	} else {
		fd = open(l->first ? "/proc/self/exe" : info->dlpi_name,
			  O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		ret = fd < 0 ? -errno : uu_unwinder_add(l->u, fd, info->dlpi_addr);
		if (fd >= 0)
			close(fd);
	}
	l->first = false;
	l->nr += !ret;
	return ret == -ENOMEM ? ret : 0;
}

int uu_unwinder_add_loaded(struct uu_unwinder *u)
{
	struct loaded l = { .u = u, .first = true };
	int ret = dl_iterate_phdr(add_loaded, &l);

	return ret ? ret : l.nr;
}

/* -------------------------------- walking ------------------------------- */

static const struct uu_table *find_table(const struct uu_unwinder *u, u64 pc)
{
	unsigned int low = 0, n = u->nr_tables, half;

	while (n > 1) {
		half = n / 2;
		if (u->table[low + half].t.text_start <= pc)
			low += half;
		n -= half;
	}
	/* sframe_find_indexed() checks that pc is inside */
	return n ? &u->table[low] : NULL;
}

/* The argument of the callbacks */
struct uu_walk {
	struct uu_start start;		/* first: most callbacks need only this */
	const struct sframe_arch *arch;
};

static int read_range(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	const struct uu_start *s = ctx;

	if (addr < s->low || addr >= s->high || nr * sizeof(u64) > s->high - addr)
		return -EFAULT;
	words[0] = *(const u64 *)(uintptr_t)addr;
	if (nr > 1)
		words[1] = *((const u64 *)(uintptr_t)addr + 1);
	return 0;
}

static int read_by_callback(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	const struct uu_start *s = ctx;

	return s->read(s->ctx, addr, words, nr);
}

/*
 * Read the code of another process word by word. Read this process by a system call, so that
 * unmapped memory is only an error.
 */
static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	const struct uu_walk *w = ctx;
	const struct uu_start *s = &w->start;
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)addr, size };
	u64 word = 0;
	unsigned int i;
	int ret;

	if (!s->read)
		return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size ?
		       0 : -EFAULT;
	for (i = 0; i < size; i++, addr++) {
		if (!i || !(addr % sizeof(word))) {
			ret = s->read(s->ctx, addr & -sizeof(word), &word, 1);
			if (ret)
				return ret;
		}
		((u8 *)to)[i] = word >> 8 * (w->arch->big_endian ? 7 - addr % 8 : addr % 8);
	}
	return 0;
}

static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	const struct uu_start *s = ctx;

	return s->get_reg ? s->get_reg(s->ctx, reg, value) : -ENODATA;
}

static inline int find_row(struct uu_unwinder *u, u64 pc, struct sframe_row **row)
{
	const struct uu_table *t;
	int ret;

	*row = &u->row[(pc ^ pc >> 9) % ROWS];
	if (sframe_row_holds(*row, pc))
		return 0;
	t = find_table(u, pc);
	ret = t ? sframe_find_indexed(&t->t, &t->index, pc, *row) : -ESRCH;
	/* this unwinder does not follow frame pointers, so both errors mean an unknown pc */
	if (ret == -ESRCH)
		ret = -ENOENT;
	/* a failed search leaves no valid row there */
	if (ret)
		(*row)->size = 0;
	return ret;
}

int uu_unwind(struct uu_unwinder *u, const struct uu_start *start, uint64_t *to, unsigned int max,
	      unsigned int *nr)
{
	struct uu_walk w = { .start = *start, .arch = u->arch };
	struct ustep_env env = {
		.arch = u->arch, .read = start->read ? read_by_callback : read_range,
		.get_reg = get_reg, .read_code = read_code, .ctx = &w, .ra_mask = RA_MASK,
	};
	struct sframe_row *row, sigreturn;
	struct ustep s;
	int ret;

	*nr = 0;
	if (!max)
		return -ENOBUFS;
	ustep_init(&s, start->ip, start->sp, start->fp);
	for (;;) {
		to[(*nr)++] = s.ip;
		ret = find_row(u, ustep_pc(&s), &row);
		if (unlikely(ret == -ENOENT) && u->arch && !u->arch->ra_off) {
			row = &sigreturn;
			ret = ustep_sigreturn(&s, &env, row);
		}
		if (!ret)
			ret = ustep_row(&s, &env, row);
		if (ret)
			return ret == USTEP_OUTERMOST ? 0 : ret;
		if (*nr == max)
			return -ENOBUFS;
	}
}
