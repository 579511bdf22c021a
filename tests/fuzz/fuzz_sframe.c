// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_sframe - hostile tables and stacks against the reader and the stepper
 *
 * A libFuzzer target. The input is
 *
 *	u8 flags		1: the table has an index, 2: handlers return through known code
 *	u8 nr, nr times: u32	addresses to look up; a walk starts at the first address
 *	u8 nr, nr times: u64	the stack, which lies at STACK
 *	the rest		the section, deemed to be at BASE
 *
 * All numbers are little endian. The fuzzer reads the table as plain memory and through calls, and
 * both must give the same result. A rule that the reader finds must hold for its address. A walk
 * must end by itself or at its limit, and its stack pointer must go up except at signals.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/sframe/sframe_list.h"
#include "libunwind-user/sframe/step.h"

#define BASE	0x100000ull
#define STACK	0x7ff000ull
#define LIMIT	512

#define CHECK(cond)								\
	do {									\
		if (!(cond)) {							\
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond);	\
			abort();						\
		}								\
	} while (0)

struct input {
	const uint8_t *p, *end;
};

struct world {
	const uint8_t *sec;
	size_t size;
	const struct sframe_arch *arch;
	u64 stack[256];
	unsigned int nr_stack, nr_reads;
	struct sframe_index index;
	bool sigcode;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static u64 number(struct input *in, unsigned int size)
{
	u64 v = 0;

	if ((size_t)(in->end - in->p) < size) {
		in->p = in->end;
		return 0;
	}
	memcpy(&v, in->p, size);
	in->p += size;
	return v;
}

static int read_table(void *ctx, u64 addr, void *to, u32 size)
{
	struct world *w = ctx;

	CHECK(size && size <= SFRAME_READ_MAX);
	CHECK(addr <= w->size && size <= w->size - addr);
	CHECK(++w->nr_reads < 32 + SFRAME_MAX_FRES + 1000);
	memcpy(to, w->sec + addr, size);
	return 0;
}

static int read_stack(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	struct world *w = ctx;
	unsigned int word = w->arch->is_32bit ? 4 : 8;

	CHECK(addr % word == 0 && (nr == 1 || nr == 2) && (word == 8 || addr <= UINT32_MAX));
	if (addr < STACK || addr - STACK >= 8 * w->nr_stack ||
	    addr - STACK + nr * word > 8 * w->nr_stack)
		return -EFAULT;
	memset(words, 0, 8 * nr);
	memcpy(words, (u8 *)w->stack + (addr - STACK), word);
	if (nr == 2)
		memcpy(words + 1, (u8 *)w->stack + (addr - STACK) + word, word);
	return 0;
}

static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	const struct world *w = ctx;

	CHECK(reg != w->arch->reg_sp && reg != w->arch->reg_fp);
	*value = STACK + 8 * reg;
	return reg < 16 ? 0 : -EINVAL;
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	struct world *w = ctx;
	const struct sframe_arch *arch = sframe_arch(SFRAME_ABI_AMD64);

	CHECK(size <= 16);
	if (!w->sigcode || addr % 64)
		return -EFAULT;
	memcpy(to, arch->sigs->code, size);
	return 0;
}

static void check_row(const struct sframe_table *t, const struct sframe_row *row, u64 pc)
{
	const struct sframe_rule *r[] = { &row->cfa, &row->ra, &row->fp };
	int i;

	CHECK(row->size && sframe_row_holds(row, pc));
	CHECK(!(row->flags & ~(SFRAME_ROW_SIGNAL | SFRAME_ROW_MANGLED |
			       SFRAME_ROW_FLAGS_KEPT(t->kept ? 0xff : 0))));
	if (row->ra.base == SFRAME_UNDEFINED)
		return;
	CHECK(row->cfa.base >= SFRAME_SP);
	CHECK(!t->arch->ra_off || row->ra.base >= SFRAME_CFA);
	CHECK(row->fp.base != SFRAME_UNDEFINED);
	for (i = 0; i < 3; i++) {
		CHECK(r[i]->base <= SFRAME_REG && r[i]->deref <= 1);
		CHECK(!r[i]->add || (!i && r[i]->deref));
		CHECK(r[i]->base != SFRAME_CFA || r[i]->deref);
		CHECK(r[i]->base == SFRAME_REG || !r[i]->reg);
	}
}

static int lookup(const struct sframe_table *t, const struct sframe_table *called, u64 pc,
		  struct sframe_row *row)
{
	struct world *w = called->ctx;
	struct sframe_row other, again;
	int ret;

	memset(row, 0, sizeof(*row));
	memset(&other, 0, sizeof(other));
	w->nr_reads = 0;
	ret = sframe_find_indexed(t, &w->index, pc, row);
	CHECK(ret == sframe_find_indexed(called, &w->index, pc, &other));
	CHECK(!ret || ret == -ESRCH || ret == -ENOENT || ret == -EBADMSG);
	if (ret)
		return ret;
	CHECK(!memcmp(row, &other, sizeof(other)));
	check_row(t, row, pc);
	/* the last pc it claims to hold for finds it too, unless rows elsewhere are bad */
	ret = sframe_find_indexed(t, &w->index, row->start + row->size - 1, &again);
	CHECK(!ret || ret == -EBADMSG || ret == -ENOENT || ret == -ESRCH);
	return 0;
}

static void walk(const struct sframe_table *t, const struct sframe_table *called, u64 ip)
{
	struct ustep_env env = {
		.arch = t->arch, .read = read_stack, .get_reg = get_reg, .read_code = read_code,
		.ctx = called->ctx, .ra_mask = 0xffff000000000000,
	};
	struct ustep s, before;
	struct sframe_row row;
	int ret = 0;

	ustep_init(&s, ip, STACK, STACK + 64);
	while (!ret && s.frames < LIMIT) {
		before = s;
		ret = lookup(t, called, ustep_pc(&s), &row);
		if (ret == -ENOENT || ret == -ESRCH)
			ret = ustep_sigreturn(&s, &env, &row);
		if (!ret)
			ret = ustep_row(&s, &env, &row);
		if (ret) {
			CHECK(!memcmp(&s, &before, sizeof(s)));
			break;
		}
		CHECK(s.ip && s.frames == before.frames + 1);
		if (!(row.flags & SFRAME_ROW_SIGNAL))
			CHECK(s.sp > before.sp ||
			      (s.sp == before.sp && before.flags & USTEP_EXACT));
	}
	CHECK(ret <= USTEP_OUTERMOST);
	/* on a stack of 256 words, only signals allow that many steps */
	CHECK(s.frames < LIMIT || s.nr_sig);
}

static void functions(const struct sframe_table *t, const struct sframe_table *called)
{
	struct sframe_func f, g;
	struct sframe_row row;
	u32 i;
	int ret;

	for (i = 0; i < t->nr_fdes && i < 64; i++) {
		((struct world *)called->ctx)->nr_reads = 0;
		memset(&f, 0, sizeof(f));
		memset(&g, 0, sizeof(g));
		ret = sframe_get_func(t, i, &f);
		CHECK(ret == sframe_get_func(called, i, &g));
		if (ret)
			continue;
		CHECK(!memcmp(&f, &g, sizeof(f)));
		lookup(t, called, f.start, &row);
		lookup(t, called, f.start + f.size - 1, &row);
		ret = sframe_find_row(t, &f, f.start + f.size / 2, &row);
		CHECK(ret == sframe_find_row(called, &f, f.start + f.size / 2, &row));
		if (!ret)
			check_row(t, &row, f.start + f.size / 2);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct sframe_table t, called;
	struct sframe_row row;
	static struct world w;
	uint8_t *sec;
	u32 pcs[256], mem[64];
	unsigned int flags, nr, i;
	int ret;

	flags = number(&in, 1);
	nr = number(&in, 1);
	for (i = 0; i < nr; i++)
		pcs[i] = number(&in, 4);
	w.nr_stack = number(&in, 1);
	for (i = 0; i < w.nr_stack; i++)
		w.stack[i] = number(&in, 8);
	w.sigcode = flags & 2;

	/* in memory of exactly its size, so that the sanitizer sees a read past it */
	w.size = in.end - in.p;
	sec = malloc(w.size ? w.size : 1);
	memcpy(sec, in.p, w.size);
	w.sec = sec;
	t = (struct sframe_table) {
		.mem = sec, .size = w.size, .base = BASE, .text_size = flags & 4 ? ~0ull : BASE,
	};
	called = t;
	called.mem = NULL;
	called.read = read_table;
	called.ctx = &w;
	w.nr_reads = 0;
	ret = sframe_open(&t);
	CHECK(ret == sframe_open(&called));
	CHECK(!ret || ret == -EINVAL || ret == -EOPNOTSUPP || ret == -EBADMSG);
	if (!ret) {
		CHECK(t.size <= w.size);
		w.arch = t.arch;
		w.index = (struct sframe_index) { .parts = NULL };
		if (flags & 1 && t.nr_fdes < 1000)
			CHECK(!sframe_make_index(&t, &w.index, mem, 1 + flags / 4));
		functions(&t, &called);
		for (i = 0; i < nr; i++)
			lookup(&t, &called, pcs[i], &row);
		if (nr)
			walk(&t, &called, pcs[0]);
	}
	free(sec);
	return 0;
}
