/* SPDX-License-Identifier: GPL-2.0 */
/* go_build.h - makes a .gopclntab, as Go's linker writes it */
#ifndef GO_BUILD_H
#define GO_BUILD_H

#include <stdarg.h>

#include "libunwind-user/go/go.h"
#include "tests/unit/unit.h"

#define MAX_FUNCS	32
#define MAX_TABLE	16384

struct go_built_list {
	uint8_t bytes[128];
	unsigned int nr;
	uint32_t off;
};

struct go_built {
	const char *name;
	uint64_t start;
	uint8_t flags;
	struct go_built_list sp, file, line, inlined;
};

static struct go_built funcs[MAX_FUNCS];
static unsigned int nr_funcs;
static uint32_t magic;
static uint64_t text_start;
static uint8_t quantum;
static const char *go_file;
static uint8_t tab[MAX_TABLE];
static size_t tab_size;

static inline void start_table(void)
{
	memset(funcs, 0, sizeof(funcs));
	nr_funcs = 0;
	magic = 0xfffffff0;
	text_start = 0;
	quantum = 1;
	go_file = "/src/a.go";
}

static inline struct go_built *go_add(const char *name, uint64_t start, unsigned int flags)
{
	funcs[nr_funcs] = (struct go_built){ .name = name, .start = start, .flags = flags };
	return &funcs[nr_funcs++];
}

static inline void put_varint(struct go_built_list *l, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		l->bytes[l->nr++] = v | 0x80;
	l->bytes[l->nr++] = v;
}

/* Pairs of a value and the number of units of code that it holds for, up to a number of 0 */
static inline void put_list(struct go_built_list *l, ...)
{
	int32_t value = -1, next, change;
	va_list args;
	uint32_t pcs;

	va_start(args, l);
	for (;;) {
		next = va_arg(args, int);
		pcs = va_arg(args, unsigned int);
		if (!pcs)
			break;
		change = next - value;
		put_varint(l, (uint32_t)change << 1 ^ (uint32_t)(change >> 31));
		put_varint(l, pcs);
		value = next;
	}
	l->bytes[l->nr++] = 0;
	va_end(args);
}

static inline void put(size_t at, uint64_t v, unsigned int size)
{
	assert_true(at + size <= sizeof(tab));
	memcpy(tab + at, &v, size);
}

static inline uint32_t add_bytes(const void *bytes, size_t len)
{
	uint32_t at = tab_size;

	assert_true(tab_size + len <= sizeof(tab));
	memcpy(tab + tab_size, bytes, len);
	tab_size += len;
	return at;
}

/* Put a list into the table; @pcs: where lists start. */
static inline void add_list(struct go_built_list *l, uint32_t pcs)
{
	l->off = l->nr ? add_bytes(l->bytes, l->nr) - pcs : 0;
}

/* The table of the functions that were added, of which the last ends at @end */
static inline void make_tab(uint64_t end)
{
	bool old = magic == 0xfffffffa;
	unsigned int word = old ? 2 : 3, size = old ? 8 : 4, i;
	uint32_t names[MAX_FUNCS], parts[5], functab, at;
	struct go_built *f;

	memset(tab, 0, sizeof(tab));
	put(0, magic, 4);
	tab[6] = quantum;
	tab[7] = 8;
	put(8, nr_funcs, 8);
	put(16, 1, 8);
	if (!old)
		put(24, text_start, 8);
	tab_size = GO_HEADER;
	parts[0] = tab_size;
	for (i = 0; i < nr_funcs; i++)
		names[i] = add_bytes(funcs[i].name, strlen(funcs[i].name) + 1) - parts[0];
	tab_size = (tab_size + 3) & ~3;
	parts[1] = add_bytes("\0\0\0", 4);
	parts[2] = add_bytes(go_file, strlen(go_file) + 1);
	parts[3] = add_bytes("", 1);
	for (f = funcs; f < funcs + nr_funcs; f++) {
		add_list(&f->sp, parts[3]);
		add_list(&f->file, parts[3]);
		add_list(&f->line, parts[3]);
		add_list(&f->inlined, parts[3]);
	}
	tab_size = (tab_size + 7) & ~7;
	parts[4] = functab = tab_size;
	for (i = 0; i < 5; i++)
		put(8 + 8 * (word + i), parts[i], 8);
	tab_size += (2 * nr_funcs + 1) * size;
	for (i = 0; i < nr_funcs; i++) {
		f = &funcs[i];
		tab_size = (tab_size + 7) & ~7;
		put(functab + 2 * i * size, f->start - text_start, size);
		put(functab + (2 * i + 1) * size, tab_size - functab, size);
		at = tab_size;
		put(at, f->start - text_start, size);
		at += size;
		put(at, names[i], 4);
		put(at + 12, f->sp.off, 4);
		put(at + 16, f->file.off, 4);
		put(at + 20, f->line.off, 4);
		put(at + 24, 3, 4);
		at += 32 + 4 * (magic == 0xfffffff1);
		tab[at + 1] = f->flags;
		put(at + 12, f->inlined.off, 4);
		tab_size = at + 16;
	}
	put(functab + 2 * nr_funcs * size, end - text_start, size);
	/* a function's struct has room for what later versions have in it */
	tab_size += 8;
}

#endif
