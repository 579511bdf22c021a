/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rows.h - a file's code, and the rows that are known of it
 *
 *	image.c	the ELF file or image: code, .eh_frame, PLT sections
 *	rows.c	FDEs and their rows: of .eh_frame, of stubs, and those that others add
 *	code.c	what a row says, as bytes of an FRE
 *	sig.c	code that returns from signal handlers
 *
 * Rows come from .eh_frame (rows_cfi_ops), then from what follows code (flow/). gen/ makes a table
 * of them.
 */
#ifndef ROWS_H
#define ROWS_H

#include "libunwind-user/arch/arch.h"
#include "libunwind-user/base/base.h"
#include "libunwind-user/stats/stats.h"

/* ------------------------------ image.c ------------------------------ */

struct gen_range {
	uint64_t start, end;
};

struct gen_load {
	uint64_t vaddr, off, size;	/* what is in the file; the rest is zero and no code */
	bool exec;
};

/* Less than malloc() maps anew each time: its pages are there already */
#define IMAGE_WINDOW	(112u << 10)
#define IMAGE_MAX_CODE	4096
#define IMAGE_MAX_LOADS	64
#define IMAGE_MAX_RANGES	64
#define IMAGE_MAX_PLTS	8
#define IMAGE_MAX_LISTS	16

/* Sections that name code: symbols, relocations, and arrays of functions to run at start and end */
struct gen_list {
	uint32_t type;			/* SHT_ */
	uint64_t vaddr;			/* 0: not mapped */
	uint64_t off, size;		/* in the file */
};

/* What tests leave out, or ask for */
#define GEN_NO_FLOW	0x1		/* no rows by following code */
#define GEN_NO_CFI	0x2		/* as if there were no .eh_frame */
#define GEN_BY_FP	0x4	/* CFA from FP, FP and RA from their registers, where known */
/* Overlook so many of a hundred FDEs, by chance; the same @seed (16 bits) takes the same ones. */
#define GEN_DROP(percent, seed)	((uint32_t)(percent) << 8 | (uint32_t)(seed) << 16)
#define GEN_DROPS	(GEN_NO_CFI | GEN_DROP(0xff, 0))

struct gen_image {
	unsigned int flags;		/* GEN_NO_FLOW ... */
	int fd;				/* or -1 and */
	int (*read)(void *ctx, uint64_t addr, void *to, size_t len);	/* a gen_read_fn */
	void *ctx;
	uint64_t addr;			/* where the header is mapped */
	uint64_t bias;			/* memory: what to add to an address of the file */

	uint16_t machine;
	bool big_endian;
	uint64_t entry;			/* e_entry */
	bool has_interp;		/* PT_INTERP: a program, so that e_entry means something */
	uint64_t text_section;		/* where .text begins, if known */
	bool fixed;			/* ET_EXEC: code may have addresses as numbers */
	struct gen_load load[IMAGE_MAX_LOADS];
	unsigned int nr_loads;
	struct gen_range text;		/* all code, with what lies between */
	/*
	 * What is code of the segments that can be executed: ascending, and if the file is what a
	 * linker makes, without overlaps. By sections, if they are believed, see image.c.
	 */
	struct gen_range code[IMAGE_MAX_RANGES];
	unsigned int nr_code;
	bool by_sections;
	struct gen_range eh_frame, eh_hdr;
	bool eh_ends_at_zero;		/* the end of eh_frame is only an upper limit */
	struct gen_range plt[IMAGE_MAX_PLTS];	/* sections of stubs, if known */
	unsigned int nr_plts;
	struct gen_list list[IMAGE_MAX_LISTS];
	unsigned int nr_lists;
	struct gen_range dynamic;	/* PT_DYNAMIC */
	bool has_pads;			/* landing pads: code that only .eh_frame leads to */

	uint8_t *window;		/* code around the last address asked for */
	uint64_t window_start;
	size_t window_size, window_room;
};

/* Numbers of the file, as they lie in it */
static inline uint16_t image_u16(const struct gen_image *img, uint16_t v)
{
	return img->big_endian ? be16toh(v) : le16toh(v);
}

static inline uint32_t image_u32(const struct gen_image *img, uint32_t v)
{
	return img->big_endian ? be32toh(v) : le32toh(v);
}

static inline uint64_t image_u64(const struct gen_image *img, uint64_t v)
{
	return img->big_endian ? be64toh(v) : le64toh(v);
}

int image_open(struct gen_image *img);
void image_close(struct gen_image *img);

/* Copy bytes of the file by offset: of a list. Returns as image_read(). */
int image_read_list(struct gen_image *img, uint64_t off, void *to, size_t len);

/* Copy bytes of the file by address. Returns 0, -EFAULT if they are not in it, or a read error. */
int image_read(struct gen_image *img, uint64_t vaddr, void *to, size_t len);

/* image_code(), by another window */
const uint8_t *image_move(struct gen_image *img, uint64_t vaddr, size_t len);

/*
 * @len (up to IMAGE_MAX_CODE) bytes of code, valid until the next call; NULL if they are no code or
 * cannot be read. Cheap for ascending addresses.
 */
static inline const uint8_t *image_code(struct gen_image *img, uint64_t vaddr, size_t len)
{
	uint64_t at = vaddr - img->window_start;

	if (at <= img->window_size && len <= img->window_size - at)
		return img->window + at;
	return image_move(img, vaddr, len);
}

/* Are all of these bytes in one segment that can be executed? */
bool image_is_code(const struct gen_image *img, uint64_t start, uint64_t end);

/* Are they in one of img.code? */
bool image_in_code(const struct gen_image *img, uint64_t start, uint64_t end);

/* There is code in no section that says so: all of the segments may be code then. */
void image_distrust_sections(struct gen_image *img);

/* What cfi_parse() is told of its .eh_frame, without the bytes. */
struct cfi_section image_cfi(const struct gen_image *img, const struct arch *arch);

/* ------------------------------ code.c ------------------------------- */

/* A state as the part of an FRE after its start: the info byte and the words. */
struct gen_code {
	uint8_t cause;		/* not 0: a hole, and nothing else is valid */
	bool flex_only;
	bool signal;
	/* a function of its own, PC type MASK: @bytes from 0, @flex (default) from @limit on */
	bool plt;
	uint8_t limit;
	uint8_t len, flex_len;	/* bytes; len 0 if flex_only */
	uint8_t bytes[1 + 3 * 4];
	uint8_t flex[1 + SFRAME_FRE_MAX_WORDS * 4];
};

void gen_encode(const struct arch *arch, const struct cfi_state *state,
		struct gen_code *code);

/* ------------------------------ rows.c ------------------------------- */

/* States that are no rules */
#define GEN_NONE	0	/* nothing is known: not in the table, so other ways are tried */
#define GEN_HOLE	1	/* known to have no rule: stated, and a walk ends there */
#define GEN_FIRST	2	/* the first that is one */

/* Holds from start (from text.start on) to the start of the next one. */
struct gen_row {
	uint32_t start;
	uint32_t state;		/* number in gen_rows.code */
};

struct gen_fde {
	uint32_t start, end;
	uint32_t padded;	/* from here to start is padding, if that was looked at; or start */
	uint32_t row, nr_rows;	/* in gen_rows.raw */
};

struct gen_rows {
	struct gen_image *img;
	const struct arch *arch;
	struct gen_stats *stats;

	struct gen_code *code;		/* by state */
	struct cfi_state *state;
	uint32_t nr_codes, room_codes;
	uint32_t *intern, intern_size;	/* hash of states to their numbers */

	struct gen_fde *fde;		/* in the order of .eh_frame; then sorted */
	uint32_t nr_fdes, room_fdes;
	uint32_t nr_sorted;		/* of them, when flow_add() began: it puts others behind */
	struct gen_row *raw;		/* rows of the FDEs */
	uint32_t nr_raw, room_raw;
	/* Of the FDE that was added last: see arch.plt_pushes */
	bool pushed, behind_pushed;

	/*
	 * The result: ascending, without gaps, equal neighbours only where a function begins; the
	 * last one is GEN_NONE, at the end of the last function.
	 */
	struct gen_row *row;
	uint8_t *is_start;		/* of each row: does a function begin there? */
	uint32_t nr_rows, room_rows;
};

int rows_init(struct gen_rows *r, struct gen_image *img, const struct arch *arch,
	      struct gen_stats *stats);
void rows_free(struct gen_rows *r);

extern const struct cfi_ops rows_cfi_ops;	/* arg: struct gen_rows */

/*
 * Code without .eh_frame: the FDE [start, end), then its rows. Addresses are those of
 * the file, @start of a row counts from the start of the FDE.
 */
int rows_add_fde(struct gen_rows *r, uint64_t start, uint64_t end);
int rows_add_row(struct gen_rows *r, uint64_t start, const struct cfi_state *state);

/* A row of @fde, which is no part of @r yet, at @start (from text.start on). */
int rows_put_raw(struct gen_rows *r, struct gen_fde *fde, uint32_t start,
		 const struct cfi_state *state);

/* The number of a state; 0 (which is GEN_NONE, hence no answer) without memory. */
uint32_t rows_number(struct gen_rows *r, const struct cfi_state *state);

/* FDEs by their starts; of equal starts the first in .eh_frame stays the first. */
int rows_sort(struct gen_rows *r);

/* FDEs for the stubs of PLTs that the sorted FDEs leave free; all are sorted then. */
int rows_add_plts(struct gen_rows *r);

/* Do both say the same of the same code? */
bool rows_same_fde(const struct gen_rows *r, const struct gen_fde *a, const struct gen_fde *b);

/* The state of the row of .eh_frame or of a stub for a pc (from text.start on); NULL: none. */
const struct cfi_state *rows_at(const struct gen_rows *r, uint64_t pc);

/* ------------------------------ gen_list.c ------------------------------- */

/* Do both say the same of the same code? */
bool rows_same_fde(const struct gen_rows *r, const struct gen_fde *a, const struct gen_fde *b);

/* Is this between two functions, and padding? Counts from text.start on. */
bool rows_is_padding(struct gen_rows *r, uint32_t start, uint32_t end);

/* ------------------------------- sig.c ------------------------------- */

/* Is this code that returns from a signal handler, and does its FDE not know that? */
bool sig_is_unknown(struct gen_rows *r, const struct gen_fde *fde);

/* FDEs for such code in a gap, which counts from text.start on. */
int sig_add(struct gen_rows *r, uint32_t start, uint32_t end);

/*
 * How far hash tables are searched: who makes the input can make hashes collide. What is not found
 * is then taken for new, which costs some bytes and is right all the same.
 */
#define MAX_PROBES	64

#endif
