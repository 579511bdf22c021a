/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dwarf.h - DWARF 2 to 5 as far as addresses need it: functions, inlined calls, file:line
 *
 * This reader replaces libdw (0.188), because hostile files end a process that uses libdw:
 *
 *	- In 64-bit DWARF, libdw reads an offset in .debug_rnglists that wraps where it leads:
 *	  SIGSEGV.
 *	- dwarf_getsrclines() makes all paths of a line table at once. Many files in one directory
 *	  with a long name then take 2 GB for a file of 200 KB. If there is not enough memory,
 *	  libdw calls exit().
 *
 * A caller can see none of this before the call, unless the caller reads the headers itself. Half a
 * million runs of a fuzzer do not find these errors. libdw also opens files that a file names
 * (.gnu_debugaltlink, .dwo), whatever they are, and unpacks all sections.
 *
 * Speed is a smaller reason. With the same indices on top, 10,000 addresses of libc with inlines
 * take 0.12 s of CPU time by libdw (680 million instructions), and 0.08 s by this reader (375
 * million). The limit of `make bench-symbols` is 0.1 s.
 *
 * So libelf finds the sections, and zlib and libzstd unpack them. The rest is here, and fuzzed:
 *
 *	load.c	sections, unpacked, at most so many bytes
 *	form.c	abbreviations and attribute values
 *	unit.c	the units, and which of them holds an address
 *	range.c	address ranges of a DIE
 *	func.c	a unit's functions and inlined calls, and their names
 *	line.c	a unit's line table
 *
 * Section numbers in comments are those of the DWARF 5 standard. GNU has names of its own in
 * addition (gcc.gnu.org/wiki/DebugFission; the *_alt forms:
 * sourceware.org/elfutils/DwarfExtensions).
 *
 * Units are read when an address first needs them. A budget in proportion to the size of the
 * sections pays for all work. So sections that refer to one another in hostile ways end as
 * -ENOEXEC, and take neither time nor memory. Text that the reader makes (the path of each of a
 * thousand files in a directory with a long name) has a budget of its own. Beyond that budget, a
 * path is missing and a name stays as it is.
 */
#ifndef UU_DWARF_H
#define UU_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/base/base.h"

enum dw_section {
	DW_INFO, DW_ABBREV, DW_STR, DW_LINE, DW_LINE_STR, DW_RANGES, DW_RNGLISTS, DW_ADDR,
	DW_STR_OFFSETS, DW_NR_SECTIONS
};

struct dw_data {
	const uint8_t *p;	/* NULL: there is no such section */
	size_t size;
};

/* A range of addresses. */
struct dw_span {
	uint64_t start, size;
};

/* An abbreviation's attribute. */
struct dw_spec {
	uint16_t name, form;
	int64_t constant;	/* of DW_FORM_implicit_const */
};

struct dw_abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	/* the size of all values: fixed + nr_addr addresses + nr_off offsets, or varies */
	bool varies;
	uint16_t nr_addr, nr_off;
	uint32_t fixed;
	uint32_t first, nr;	/* in dw_abbrevs.specs */
};

struct dw_abbrevs {
	struct dw_abbrevs *next;	/* with the same hash */
	uint64_t off;
	struct dw_abbrev *v;		/* sorted by code */
	size_t nr;
	struct dw_spec *specs;
	size_t nr_specs;
};

/* The kind of an attribute's value. */
enum dw_class {
	DW_NONE, DW_ADDRESS, DW_ADDRESS_INDEX, DW_CONSTANT, DW_REF, DW_REF_ALT, DW_STRING,
	DW_STRING_INDEX, DW_STRING_ALT, DW_OFFSET, DW_RANGE_INDEX, DW_OTHER
};

struct dw_value {
	enum dw_class class;
	uint64_t u;		/* number, offset or index */
	const char *str;	/* of DW_STRING; ends within its section */
};

/* The attributes that give a DIE's addresses. */
struct dw_pc {
	struct dw_value low, high, ranges;
};

/* A function, or a call that was inlined. */
struct dw_func {
	uint64_t named;		/* the DIE that has its name, for dw_get_name() */
	uint64_t low;		/* address of its first range */
	uint32_t parent;	/* the function it was inlined into; DW_NO_FUNC: not inlined */
	uint32_t call_file, call_line;
};

#define DW_NO_FUNC	UINT32_MAX
/* Marks the offset of a DIE in dwz' common file, not in this file's .debug_info. */
#define DW_IN_ALT	(1ull << 63)

struct dw_row {
	uint64_t addr;
	uint32_t line, file;
};

/* A sequence: nr rows from first on, by rising address. One more row, not counted, ends it. */
struct dw_seq {
	size_t first, nr;
};

struct dw_line_file {
	const char *name;
	uint64_t dir;
	char *path;		/* made when first asked for */
};

struct dw_lines {
	uint16_t version;
	const char **dirs;
	size_t nr_dirs;
	struct dw_line_file *files;
	size_t nr_files;
	struct dw_row *rows;
	size_t nr_rows;
	struct dw_seq *seqs;
	size_t nr_seqs;
	struct cover cover;	/* of seqs */
};

struct dw_unit {
	uint64_t off, end;	/* in .debug_info: the header, and the end of the unit */
	uint64_t root;		/* offset of its first DIE */
	uint64_t abbrev_off;
	uint16_t version;
	uint8_t addr_size, off_size;
	bool skip;		/* a type unit */
	bool partial;		/* a unit that others import: no code */
	bool root_read;		/* the first DIE was read: it gives the fields below */
	bool split;		/* its DIEs are in a .dwo file */
	bool funcs_read, lines_read;
	int error;		/* 0, or why it cannot be read */
	int lines_error;
	const struct dw_abbrevs *abbrevs;
	uint64_t str_offsets_base, addr_base, rnglists_base;
	uint64_t low;		/* ranges count from here */
	bool has_lines;
	uint64_t stmt_list;
	const char *comp_dir;	/* or NULL */
	struct dw_pc pc;
	struct dw_func *funcs;
	size_t nr_funcs;
	struct cover cover;	/* of funcs */
	struct dw_lines lines;
};

struct dw_name {
	uint64_t key;
	const char *name;
};

#define DW_ABBREV_BUCKETS 4096

struct dw {
	struct dw_data sec[DW_NR_SECTIONS];
	void *owned[DW_NR_SECTIONS];	/* freed with it */
	bool big_endian;
	struct dw *alt;			/* dwz' common file, or NULL; owned */
	const struct dw_span *exec;	/* executable segments; the caller's */
	size_t nr_exec;
	int64_t budget, abbrev_budget;
	int64_t text_budget;		/* bytes of paths and names that may still be made */
	struct dw_unit *units;		/* by offset */
	size_t nr_units;
	struct cover cover;		/* of units */
	struct dw_abbrevs *abbrevs[DW_ABBREV_BUCKETS];
	bool units_read, alt_missing, split;
};

struct dw_ranges {
	struct cover_in *v;
	size_t nr, room;
};

/* ---- load.c ---- */

struct Elf;

/*
 * Read the sections of the ELF file that libelf has open; @alt: the sections of dwz' common file.
 * Takes at most *@room bytes, and subtracts them from *@room. Returns 0, -ENOENT (there is no
 * .debug_info), -EFBIG, -ENOEXEC, -ENOMEM, -EOPNOTSUPP (unknown compression).
 */
int dw_load(struct dw *dw, struct Elf *elf, bool alt, size_t *room);
/* Set the budgets from the sizes of the sections. Call it after dw_load(). */
void dw_set_budgets(struct dw *dw);
void dw_free(struct dw *dw);	/* the caller frees @dw itself */

/* ---- form.c ---- */

static inline bool dw_spend(struct dw *dw, int64_t n)
{
	dw->budget -= n;
	return dw->budget >= 0;
}

/* The bytes from @off of a section to @end. Reads never go beyond @end. */
struct byte_cursor dw_get_bytes(const struct dw *dw, enum dw_section sec, uint64_t off,
				uint64_t end);

/* The table at @off, parsed once; NULL with *@error. */
const struct dw_abbrevs *dw_get_abbrevs(struct dw *dw, uint64_t off, int *error);
static inline const struct dw_spec *dw_get_specs(const struct dw_unit *u,
						 const struct dw_abbrev *ab)
{
	return ab->nr ? u->abbrevs->specs + ab->first : NULL;
}

const struct dw_abbrev *dw_find_abbrev(const struct dw_abbrevs *tab, uint64_t code);
void dw_read_value(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		   uint16_t form, int64_t constant, struct dw_value *val);
/* Skip a value, or all values of a DIE. */
void dw_skip_value(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		   uint16_t form);
void dw_skip_die(const struct dw *dw, const struct dw_unit *u, struct byte_cursor *c,
		 const struct dw_abbrev *ab);
const char *dw_get_string(const struct dw *dw, const struct dw_unit *u, const struct dw_value *val);
int dw_get_address(const struct dw *dw, const struct dw_unit *u, const struct dw_value *val,
		   uint64_t *addr);
/* Entry number @index of .debug_addr */
int dw_read_indexed_address(const struct dw *dw, const struct dw_unit *u, uint64_t index,
			    uint64_t *addr);

/* ---- range.c ---- */

/* Store one attribute in @pc; false: it does not give addresses. */
bool dw_store_pc(struct dw_pc *pc, uint16_t name, const struct dw_value *val);
/*
 * Append the ranges of a DIE, with the owner and the rank of @like. Ranges outside the executable
 * segments are left out: linkers leave them for functions that they dropped. Sets *@low to the
 * start of the first range. Returns 0, -ENOENT if the DIE has no addresses, or another errno.
 */
int dw_add_ranges(struct dw *dw, const struct dw_unit *u, const struct dw_pc *pc,
		  struct dw_ranges *out, const struct cover_in *like, uint64_t *low);
bool dw_is_code(const struct dw *dw, uint64_t addr);

/* ---- unit.c ---- */

/* Read all units' headers and first DIEs, unless they were read before. */
int dw_read_units(struct dw *dw);
/* The unit that holds @off of .debug_info, or the address @addr; NULL: no unit does. */
struct dw_unit *dw_find_unit(struct dw *dw, uint64_t off);
struct dw_unit *dw_find_unit_at(struct dw *dw, uint64_t addr);

/* ---- func.c ---- */

int dw_read_funcs(struct dw *dw, struct dw_unit *u);
/* The name of a DIE, mangled if it has a mangled name; NULL: no name. */
const char *dw_get_name(struct dw *dw, uint64_t die);

/* ---- line.c ---- */

int dw_read_lines(struct dw *dw, struct dw_unit *u);
const struct dw_row *dw_find_row(const struct dw_lines *l, uint64_t addr);
/* The path of a file of the unit, as the compiler got it; NULL: no path, or no room for it. */
const char *dw_get_path(struct dw *dw, struct dw_unit *u, uint64_t file);
void dw_free_lines(struct dw_lines *l);

#endif
