/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rows.h - a file's code, and the rows that are known for it
 *
 *	image.c	the ELF file or image: code, .eh_frame, PLT sections
 *	rows.c	FDEs and their rows: from .eh_frame, from stubs, and those that others add
 *	encode.c the rules of a row, as bytes of an FRE
 *	go.c	rows of Go programs, from Go's own tables
 *	sig.c	code that returns from signal handlers
 *
 * Rows come from .eh_frame (rows_cfi_ops), then from .gopclntab (rows_add_go()), then from flow/,
 * which follows code. gen/ makes a table from the rows.
 */
#ifndef ROWS_H
#define ROWS_H

#include "libunwind-user/arch/arch.h"
#include "libunwind-user/base/base.h"
#include "stats.h"

/* ------------------------------ image.c ------------------------------ */

struct image_range {
	uint64_t start, end;
};

struct image_load {
	uint64_t vaddr, off, size;	/* the part in the file; the rest is zero and no code */
	bool exec;
};

/* Small enough for malloc()'s heap: a mapping would need new pages each time */
#define IMAGE_WINDOW	(112u << 10)
#define IMAGE_MAX_CODE	4096
#define IMAGE_MAX_LOADS	64
#define IMAGE_MAX_RANGES	64
#define IMAGE_MAX_PLTS	8
#define IMAGE_MAX_LISTS	16

/* A section that names code: symbols, relocations, or functions to run at start and end */
struct image_list {
	uint32_t type;			/* SHT_ */
	uint64_t vaddr;			/* 0: not mapped */
	uint64_t off, size;		/* in the file */
	uint64_t strings, strings_size;	/* of symbols: their names, in the file */
};

/* Flags for tests */
#define ROWS_NO_FLOW	0x1		/* no rows by following code */
#define ROWS_NO_CFI	0x2		/* as if there were no .eh_frame */
#define ROWS_BY_FP	0x4		/* CFA from FP, FP and RA from their registers, if known */
#define ROWS_NO_GO	0x8		/* as if there were no .gopclntab */
/* Drop @percent of the FDEs by chance; the same @seed (16 bits) drops the same FDEs. */
#define ROWS_DROP(percent, seed)	((uint32_t)(percent) << 8 | (uint32_t)(seed) << 16)
#define ROWS_DROPS	(ROWS_NO_CFI | ROWS_DROP(0xff, 0))

struct image {
	unsigned int flags;		/* ROWS_NO_FLOW ... */
	int fd;				/* the file, or -1: read() is used */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);	/* a gen_read_fn */
	void *ctx;
	uint64_t addr;			/* where the header is mapped */
	uint64_t bias;			/* in memory: added to an address of the file */

	uint16_t machine;
	uint8_t addr_size;		/* 4 or 8 */
	bool big_endian;
	uint64_t entry;			/* e_entry */
	bool has_interp;		/* PT_INTERP: a program, so that e_entry means something */
	uint64_t text_section;		/* start of .text, if known */
	bool fixed;			/* ET_EXEC: code may have addresses as numbers */
	struct image_load load[IMAGE_MAX_LOADS];
	unsigned int nr_loads;
	struct image_range text;	/* all code, and everything between */
	/*
	 * The code in executable segments: ascending and, in a file that a linker made, without
	 * overlaps. It comes from sections, if these are believed, see image.c.
	 */
	struct image_range code[IMAGE_MAX_RANGES];
	unsigned int nr_code;
	bool by_sections;
	struct image_range eh_frame, eh_hdr;
	bool eh_ends_at_zero;		/* the end of eh_frame is only an upper limit */
	struct image_range plt[IMAGE_MAX_PLTS];	/* sections of stubs, if known */
	unsigned int nr_plts;
	struct image_list list[IMAGE_MAX_LISTS];
	unsigned int nr_lists;
	struct image_range dynamic;	/* PT_DYNAMIC */
	struct image_range go;		/* .gopclntab, if known */
	struct image_range relro;	/* .data.rel.ro, to which linkers of C add it */
	bool is_go, no_sections;	/* the file has sections of Go; has no section headers */
	bool has_pads;			/* landing pads: code that only .eh_frame leads to */

	uint8_t *window;		/* code around the last address asked for */
	uint64_t window_start;
	size_t window_size, window_room;
};

/* Numbers in the byte order of the file */
static inline uint16_t image_to_host16(const struct image *img, uint16_t v)
{
	return img->big_endian ? be16toh(v) : le16toh(v);
}

static inline uint32_t image_to_host32(const struct image *img, uint32_t v)
{
	return img->big_endian ? be32toh(v) : le32toh(v);
}

static inline uint64_t image_to_host64(const struct image *img, uint64_t v)
{
	return img->big_endian ? be64toh(v) : le64toh(v);
}

int image_open(struct image *img);
void image_close(struct image *img);

/* Copy bytes of a list, by offset in the file. Returns as image_read(). */
int image_read_list(struct image *img, uint64_t off, void *to, size_t len);

/* Copy bytes of the file by address. Returns 0, -EFAULT outside the file, or a read error. */
int image_read(struct image *img, uint64_t vaddr, void *to, size_t len);

/* image_get_code() for bytes outside the window: moves the window */
const uint8_t *image_move_window(struct image *img, uint64_t vaddr, size_t len);

/*
 * Returns @len (up to IMAGE_MAX_CODE) bytes of code, valid until the next call. NULL if the bytes
 * are not code or cannot be read. Cheap for ascending addresses.
 */
static inline const uint8_t *image_get_code(struct image *img, uint64_t vaddr, size_t len)
{
	uint64_t at = vaddr - img->window_start;

	if (at <= img->window_size && len <= img->window_size - at)
		return img->window + at;
	return image_move_window(img, vaddr, len);
}

/* Are all of these bytes in one executable segment? */
bool image_is_in_exec_segment(const struct image *img, uint64_t start, uint64_t end);

/* Are all of these bytes in one of img.code? */
bool image_is_in_code_range(const struct image *img, uint64_t start, uint64_t end);

/* An FDE is for code outside of all code sections: take whole segments for code from now on. */
void image_distrust_sections(struct image *img);

/* The description of the image's .eh_frame for cfi_parse(), without the bytes. */
struct cfi_section image_describe_eh_frame(const struct image *img, const struct arch *arch);

/* ----------------------------- encode.c ------------------------------ */

/* The rules of a row as bytes: the part of an FRE after its start (the info byte and the words) */
struct rows_fre {
	uint8_t cause;		/* not 0: a hole, and no other field is valid */
	uint8_t kept;		/* CFI_KEPT() */
	bool flex_only;
	bool adds;		/* SFRAME_CTRL_ADD */
	bool signal;
	/* a function of its own, PC type MASK: @bytes from 0, @flex (default) from @limit on */
	bool plt;
	uint8_t limit;
	uint8_t len, flex_len;	/* bytes; len 0 if flex_only */
	uint8_t bytes[1 + 3 * 4];
	uint8_t flex[1 + SFRAME_FRE_MAX_WORDS * 4];
};

void rows_encode(const struct arch *arch, const struct cfi_row *rules, struct rows_fre *fre);

/* ------------------------------ rows.c ------------------------------- */

/* Numbers that stand for no rules */
#define ROWS_NONE	0	/* nothing is known: not in the table, a walk uses frame pointers */
#define ROWS_HOLE	1	/* known to have no rule: the table says so, and a walk ends */
#define ROWS_FIRST	2	/* the first number that stands for rules */

/* A row holds from start (counted from text.start) to the start of the next row. */
struct rows_row {
	uint32_t start;
	uint32_t rules_idx;	/* index in rows.rules and rows.fre, or ROWS_NONE, ROWS_HOLE */
};

struct rows_fde {
	uint32_t start, end;
	uint32_t padding_start;	/* padding goes from here to start; start if not checked */
	uint32_t row, nr_rows;	/* in rows.fde_row */
};

struct rows {
	struct image *img;
	const struct arch *arch;
	struct stats *stats;

	struct cfi_row *rules;		/* each set of rules once: its index is its number */
	struct rows_fre *fre;		/* rules[], encoded */
	uint32_t nr_rules, room_rules;
	struct hidx numbers;		/* of rules */

	struct rows_fde *fde;		/* in the order of .eh_frame; then sorted */
	uint32_t nr_fdes, room_fdes;
	uint32_t nr_sorted;		/* nr_fdes before flow_add(), which appends FDEs */
	struct rows_row *fde_row;	/* rows of the FDEs, as they were added */
	uint32_t nr_fde_rows, room_fde_rows;
	/* About the FDE added last, see arch.plt_pushes */
	bool pushed, after_pushed;
	/* The block that flow_add_v8() has followed: flow_add() skips it, also without rows */
	struct image_range followed;
	bool needs_kept_reg;		/* a rule counts from the register abi->reg_kept */
	bool writes_kept_reg;		/* the table is to say where functions keep it */

	/*
	 * The result, which gen/list.c makes: ascending rows without gaps. Neighbours are equal
	 * only where a function starts. The last row is ROWS_NONE, at the end of the last function.
	 */
	struct rows_row *merged;
	uint8_t *is_start;		/* for each of them: does a function start there? */
	uint32_t nr_merged, room_merged;
};

int rows_init(struct rows *r, struct image *img, const struct arch *arch, struct stats *stats);
void rows_free(struct rows *r);

extern const struct cfi_ops rows_cfi_ops;	/* arg: struct rows */

/*
 * Add an FDE [start, end) for code without .eh_frame, then its rows. Addresses are those of the
 * file; @start of a row counts from the start of the FDE.
 */
int rows_add_fde(struct rows *r, uint64_t start, uint64_t end);
int rows_add_row(struct rows *r, uint64_t start, const struct cfi_row *rules);

/* Add a row at @start (counted from text.start) to @fde, which is not yet part of @r. */
int rows_add_fde_row(struct rows *r, struct rows_fde *fde, uint32_t start,
		     const struct cfi_row *rules);

/*
 * The number of these rules; 0 if there is not enough memory (0 is ROWS_NONE, which never stands
 * for rules).
 */
uint32_t rows_intern_rules(struct rows *r, const struct cfi_row *rules);

/* Sort FDEs by start. FDEs with equal starts keep their order in .eh_frame. */
int rows_sort(struct rows *r);

/*
 * Add FDEs for functions that only read their return address (arch.is_pc_thunk), if nothing but
 * padding is between them and the FDE before. Keeps the FDEs sorted.
 */
int rows_add_pc_thunks(struct rows *r);

/* Add FDEs for the stubs of PLTs that the sorted FDEs do not cover; keeps the FDEs sorted. */
int rows_add_plts(struct rows *r);

/* Do both FDEs say the same about the same code? */
bool rows_is_same_fde(const struct rows *r, const struct rows_fde *a, const struct rows_fde *b);

/* The rules for a pc (counted from text.start), from .eh_frame or of a stub; NULL: no row. */
const struct cfi_row *rows_find_rules(const struct rows *r, uint64_t pc);

/* Are the bytes [start, end) between two functions padding? They count from text.start. */
bool rows_is_padding(struct rows *r, uint32_t start, uint32_t end);

/* -------------------------------- go.c ------------------------------- */

/* Add FDEs for the functions of a Go program, from its .gopclntab; keeps the FDEs sorted. */
int rows_add_go(struct rows *r);

/* ------------------------------- sig.c ------------------------------- */

/* Is this code that returns from a signal handler, and does its FDE not know that? */
bool rows_is_unknown_sigreturn(struct rows *r, const struct rows_fde *fde);

/* Add FDEs for such code in the gap [start, end), which counts from text.start. */
int rows_add_sigreturns(struct rows *r, uint32_t start, uint32_t end);

#endif
