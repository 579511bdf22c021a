/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * go.h - reads .gopclntab, the tables that Go's runtime walks stacks and names functions by
 *
 * Internal to the library. Each Go program has this section, even if it is stripped. For each
 * function the section has a name and flags. For each pc it has the file, the line, and the
 * distance of SP from its value at the function's entry. rows/go.c makes rows from the distances,
 * symbols/golang.c takes names and lines.
 *
 * Sources of the format: Go's src/runtime/symtab.go (struct pcHeader, pcvalue()),
 * src/runtime/runtime2.go (struct _func), src/debug/gosym/pclntab.go, and
 * src/cmd/link/internal/ld/pcln.go, which writes the section. Supported are the tables of Go 1.16
 * (0xfffffffa), 1.18 (0xfffffff0) and 1.20 (0xfffffff1) and later ones that look the same. Older
 * tables are not read.
 *
 * The section is hostile input: no read goes outside of it, and the work for a function is in
 * proportion to the bytes of its code. Nothing is allocated. Thread safe: an opened table is only
 * read.
 */
#ifndef GO_H
#define GO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/base/base.h"

/* Bytes; a file of 90 MB, as Go's own programs, has 30 MB of table */
#define GO_MAX_TABLE	(256u << 20)

#define GO_HEADER	(8 + 8 * 8)	/* bytes of the header that go_open() reads */

enum go_version { GO_116, GO_118, GO_120 };

struct go_table {
	/* The caller sets these, and keeps the bytes. */

	const uint8_t *data;
	size_t size;
	/*
	 * The address of runtime.text, as the file counts addresses. 0: go_open() takes it from the
	 * header. In a position-independent file a relocation sets that field of the header, and
	 * since Go 1.26 nothing sets it: the caller then finds the address, see
	 * go_find_text_field().
	 */
	uint64_t text_start;

	/* go_open() sets these. */

	bool big_endian;
	enum go_version version;
	uint8_t quantum;		/* instructions are at multiples of this */
	uint32_t nr_funcs;
	uint64_t names, cus, files, pcs, funcs;	/* parts of the table, as offsets in it */
};

/* Flags of a function, from Go 1.17 on; in Go 1.16 all are 0. Source: runtime/symtab.go. */
#define GO_TOPFRAME	0x1		/* nothing calls it, says the runtime */
#define GO_SPWRITE	0x2		/* sets SP to an arbitrary value somewhere */
#define GO_ASM		0x4		/* written in assembler */

struct go_func {
	uint64_t start, end;		/* addresses; @end is where the next function starts */
	uint32_t name;			/* for go_get_name() */
	uint32_t pcsp, pcfile, pcln;	/* for go_pcs_start() */
	uint32_t cu;			/* where the function's files start in the list of files */
	uint32_t start_line;		/* Go 1.20 and later, else 0 */
	uint32_t nr_pcdata, nr_funcdata;
	uint64_t pcdata;		/* offset of its first pcdata in the table */
	uint8_t id, flags;
};

/* May a table start with the 8 bytes at @p? */
bool go_may_open(const uint8_t *p);

/*
 * Check the header and find the parts; of @data only GO_HEADER bytes are read. Returns 0 or
 * -EINVAL: no such table, a version that is not known, or sizes that contradict each other.
 * text_start may be 0 afterwards.
 */
int go_open(struct go_table *t);

/* The offset in the table of the 8 bytes that hold text_start, or 0 if the table has none. */
size_t go_find_text_field(const struct go_table *t);

/*
 * Function number @i, below t->nr_funcs, in the order of addresses. Returns 0, or -EINVAL if what
 * is there contradicts the table: the function before does not end before it, say.
 */
int go_get_func(const struct go_table *t, uint32_t i, struct go_func *f);

/* The function whose range has @pc: 0, -ENOENT if there is none, -EINVAL as go_get_func(). */
int go_find_func(const struct go_table *t, uint64_t pc, struct go_func *f);

/* A name, terminated, in the table; NULL if it is not there. */
const char *go_get_name(const struct go_table *t, uint32_t name);

/*
 * text_start of a program whose entry is a Go function, which has a known name: a program without C
 * code. 0 if the table has no such function.
 */
uint64_t go_find_text_by_entry(const struct go_table *t, uint64_t entry);

/*
 * The file and the line of @pc in @f. False if the table does not say, or if a function is inlined
 * there: file and line are those of the inlined function then, whose name is not in the table.
 */
bool go_find_line(const struct go_table *t, const struct go_func *f, uint64_t pc, const char **file,
		  uint32_t *line);

/* A value for each pc: @value holds for [start, end), addresses. */
struct go_pcs {
	const struct go_table *t;
	uint64_t at;			/* offset in the table */
	uint64_t start, end, limit;
	int32_t value;
	bool first;
};

/* The list at @off (go_func.pcsp and others) of @f. go_pcs_next() is false after the last. */
void go_pcs_start(struct go_pcs *p, const struct go_table *t, const struct go_func *f,
		  uint32_t off);
bool go_pcs_next(struct go_pcs *p);

/* The value for @pc; false if the list has none. */
bool go_pcs_find(const struct go_table *t, const struct go_func *f, uint32_t off, uint64_t pc,
		 int32_t *value);

#endif
