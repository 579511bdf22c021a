// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pclntab.c - functions and lists of values by pc
 *
 *	header		magic, two zeros, pc quantum, size of a pointer; then words
 *	functab		pairs (address, offset of the function's struct), and the end of the code
 *	_func		name, lists, flags
 *	pctab		lists of values by pc: pairs of varints (change of value, of pc)
 *
 * Source of all offsets: Go's src/runtime/runtime2.go and src/cmd/link/internal/ld/pcln.go.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "go.h"

#define MAGIC_116	0xfffffffau
#define MAGIC_118	0xfffffff0u
#define MAGIC_120	0xfffffff1u

#define WORD		8		/* 64-bit programs only */
#define HEADER		8		/* before the first word */
/* The size of a function without its entry. Go 1.20 added start_line before funcID. */
#define FUNC_SIZE	36
#define MAX_NAME	(64u << 10)
#define PCDATA_INLINE	2		/* inlined functions; src/runtime/symtab.go */

static uint32_t get32(const struct go_table *t, uint64_t off)
{
	uint32_t v;

	memcpy(&v, t->data + off, sizeof(v));
	return t->big_endian ? be32toh(v) : le32toh(v);
}

static uint64_t get64(const struct go_table *t, uint64_t off)
{
	uint64_t v;

	memcpy(&v, t->data + off, sizeof(v));
	return t->big_endian ? be64toh(v) : le64toh(v);
}

static bool table_has_bytes(const struct go_table *t, uint64_t off, uint64_t len)
{
	return off <= t->size && len <= t->size - off;
}

static bool find_version(uint32_t magic, enum go_version *version)
{
	switch (magic) {
	case MAGIC_116:
		*version = GO_116;
		return true;
	case MAGIC_118:
		*version = GO_118;
		return true;
	case MAGIC_120:
		*version = GO_120;
		return true;
	default:
		return false;
	}
}

bool go_may_open(const uint8_t *p)
{
	enum go_version version;
	uint32_t magic;

	memcpy(&magic, p, sizeof(magic));
	return !p[4] && !p[5] && (p[6] == 1 || p[6] == 2 || p[6] == 4) && p[7] == WORD &&
	       (find_version(le32toh(magic), &version) || find_version(be32toh(magic), &version));
}

/* Bytes of a field of functab: pointers before 1.18, offsets since */
static unsigned int get_field_size(const struct go_table *t)
{
	return t->version == GO_116 ? 8 : 4;
}

int go_open(struct go_table *t)
{
	/* words: functions, files, (text start,) then names, units, files, pcs, functab */
	unsigned int first, i;
	uint64_t nr, part[5];

	if (t->size < GO_HEADER || !go_may_open(t->data))
		return -EINVAL;
	t->big_endian = false;
	t->big_endian = !find_version(get32(t, 0), &t->version);
	if (t->big_endian)
		find_version(get32(t, 0), &t->version);
	t->quantum = t->data[6];
	first = t->version == GO_116 ? 2 : 3;
	nr = get64(t, HEADER);
	for (i = 0; i < 5; i++) {
		part[i] = get64(t, HEADER + (first + i) * WORD);
		if (!table_has_bytes(t, part[i], 0))
			return -EINVAL;
	}
	t->names = part[0];
	t->cus = part[1];
	t->files = part[2];
	t->pcs = part[3];
	t->funcs = part[4];
	if (nr > UINT32_MAX / 2 || !table_has_bytes(t, t->funcs, (2 * nr + 1) * get_field_size(t)))
		return -EINVAL;
	t->nr_funcs = nr;
	if (!t->text_start && t->version != GO_116)
		t->text_start = get64(t, go_find_text_field(t));
	return 0;
}

size_t go_find_text_field(const struct go_table *t)
{
	return t->version == GO_116 ? 0 : HEADER + 2 * WORD;
}

static uint64_t read_start(const struct go_table *t, uint32_t i)
{
	uint64_t at = t->funcs + 2ull * i * get_field_size(t);

	return t->version == GO_116 ? get64(t, at) : t->text_start + get32(t, at);
}

int go_get_func(const struct go_table *t, uint32_t i, struct go_func *f)
{
	uint64_t at, size = get_field_size(t);

	f->start = read_start(t, i);
	f->end = read_start(t, i + 1);
	if (f->end < f->start)
		return -EINVAL;
	at = t->funcs + (2ull * i + 1) * size;
	at = size == 8 ? get64(t, at) : get32(t, at);
	if (at > t->size || !table_has_bytes(t, t->funcs + at, 8 + FUNC_SIZE + 4))
		return -EINVAL;
	at += t->funcs;
	if (t->version == GO_116 ? get64(t, at) != f->start :
				   t->text_start + get32(t, at) != f->start)
		return -EINVAL;
	at += size;
	f->name = get32(t, at);
	f->pcsp = get32(t, at + 12);
	f->pcfile = get32(t, at + 16);
	f->pcln = get32(t, at + 20);
	f->nr_pcdata = get32(t, at + 24);
	f->cu = get32(t, at + 28);
	f->start_line = 0;
	at += 32;
	if (t->version == GO_120) {
		f->start_line = get32(t, at);
		at += 4;
	}
	f->id = t->data[at];
	f->flags = t->data[at + 1];
	f->nr_funcdata = t->data[at + 3];
	f->pcdata = at + 4;
	if (!table_has_bytes(t, f->pcdata, 4ull * f->nr_pcdata + 4 * f->nr_funcdata))
		return -EINVAL;
	return 0;
}

int go_find_func(const struct go_table *t, uint64_t pc, struct go_func *f)
{
	uint32_t i;
	int ret;

	bisect(i, t->nr_funcs, read_start(t, i) > pc);
	if (!i)
		return -ENOENT;
	ret = go_get_func(t, i - 1, f);
	return ret ? ret : pc < f->end ? 0 : -ENOENT;
}

static const char *get_string(const struct go_table *t, uint64_t off)
{
	size_t max;

	if (off >= t->size)
		return NULL;
	max = t->size - off;
	if (max > MAX_NAME)
		max = MAX_NAME;
	return memchr(t->data + off, 0, max) ? (const char *)t->data + off : NULL;
}

const char *go_get_name(const struct go_table *t, uint32_t name)
{
	return get_string(t, t->names + name);
}

/* ------------------------------ values by pc ----------------------------- */

void go_pcs_start(struct go_pcs *p, const struct go_table *t, const struct go_func *f,
		  uint32_t off)
{
	*p = (struct go_pcs){
		.t = t, .at = t->pcs + off, .start = f->start, .end = f->start, .limit = f->end,
		.value = -1, .first = true,
	};
	/* an offset of 0 stands for no list */
	if (!off)
		p->limit = p->end;
}

static bool read_varint(struct go_pcs *p, uint32_t *v)
{
	unsigned int shift;
	uint8_t b;

	*v = 0;
	for (shift = 0; shift < 32; shift += 7) {
		if (p->at >= p->t->size)
			return false;
		b = p->t->data[p->at++];
		*v |= (uint32_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

/* A change of pc of 0 would go on for as long as there are bytes, and no linker writes it. */
bool go_pcs_next(struct go_pcs *p)
{
	uint32_t change, pcs;

	p->start = p->end;
	if (p->start >= p->limit || !read_varint(p, &change) || (!change && !p->first) ||
	    !read_varint(p, &pcs) || !pcs) {
		p->limit = p->end;
		return false;
	}
	p->first = false;
	p->value += (change >> 1) ^ -(change & 1);
	p->end += (uint64_t)pcs * p->t->quantum;
	if (p->end > p->limit)
		p->end = p->limit;
	return true;
}

bool go_pcs_find(const struct go_table *t, const struct go_func *f, uint32_t off, uint64_t pc,
		 int32_t *value)
{
	struct go_pcs p;

	go_pcs_start(&p, t, f, off);
	while (go_pcs_next(&p)) {
		if (pc < p.end) {
			*value = p.value;
			return pc >= p.start;
		}
	}
	return false;
}

/* ---------------------------- files and lines ---------------------------- */

bool go_find_line(const struct go_table *t, const struct go_func *f, uint64_t pc, const char **file,
		  uint32_t *line)
{
	int32_t value;
	uint64_t at;

	if (f->nr_pcdata > PCDATA_INLINE &&
	    go_pcs_find(t, f, get32(t, f->pcdata + 4 * PCDATA_INLINE), pc, &value) && value >= 0)
		return false;
	if (!go_pcs_find(t, f, f->pcln, pc, &value) || value <= 0)
		return false;
	*line = value;
	if (f->cu == UINT32_MAX || !go_pcs_find(t, f, f->pcfile, pc, &value) || value < 0)
		return false;
	at = t->cus + 4 * ((uint64_t)f->cu + value);
	if (!table_has_bytes(t, at, 4) || get32(t, at) == UINT32_MAX)
		return false;
	*file = get_string(t, t->files + get32(t, at));
	return *file;
}

/* The names end in the name of the system: _rt0_amd64_linux, but also _rt0_amd64_linux_lib. */
uint64_t go_find_text_by_entry(const struct go_table *t, uint64_t entry)
{
	static const char start[] = "_rt0_", end[] = "_linux";
	struct go_table from_0 = *t;
	struct go_func f;
	const char *name;
	uint32_t i;
	size_t len;

	from_0.text_start = 0;
	for (i = 0; i < t->nr_funcs && !go_get_func(&from_0, i, &f); i++) {
		name = go_get_name(&from_0, f.name);
		if (!name || strncmp(name, start, strlen(start)))
			continue;
		len = strlen(name);
		if (len > strlen(end) && !strcmp(name + len - strlen(end), end) &&
		    entry > f.start)
			return entry - f.start;
	}
	return 0;
}
