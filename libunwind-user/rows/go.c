// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * go.c - rows of Go programs, from .gopclntab
 *
 * Go's linker writes no .eh_frame. Its own tables say for each pc how far SP is below its value at
 * the function's entry: that value is the CFA. The return address is next to it. The tables say
 * nothing of FP. The assembler saves FP in each frame in one way. So this file looks for these
 * instructions where SP moves first, and has a rule for FP only if they are there.
 *
 * Functions in assembler are decoded, because they may do anything with FP. The runtime marks some
 * functions, and a few have a meaning that only their names say:
 *
 *	TOPFRAME	has no caller: goexit() is the outermost frame of each goroutine, rt0_go()
 *			that of the first thread. But the kernel calls sigtramp(), and clone() or
 *			C code calls mstart(). The code of clone() for the new thread has no caller.
 *	SPWRITE		goes to another stack. Up to that instruction the rows are right. After it,
 *			there are rows by FP if the function keeps FP in its frame: the runtime's
 *			calls of the vDSO, and cgocallback(). The callee of mcall() never returns,
 *			and its goroutine may run on elsewhere: there is no caller.
 *			systemstack() and asmcgocall() have no frame, and FP is that of their
 *			caller. This code is not covered: a walk goes on by FP, is marked, and lacks
 *			the caller. Other functions are a hole.
 *	newstack()	makes the stack of a goroutine larger, or stops the goroutine by a call that
 *			never returns. The goroutine may run on elsewhere, so at such a call
 *			newstack() has no caller, as the callee of mcall().
 *	injected	A signal handler made the interrupted code call asyncPreempt() or
 *			sigpanic(). The code made no call, which is what a signal frame says.
 *	sigreturn()	is known by its bytes, see sig.c, and gets no row.
 *
 * Source: Go's src/runtime/{symtab.go,traceback.go,asm_amd64.s,sys_linux_amd64.s,preempt.go}.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/base/base.h"
#include "libunwind-user/go/go.h"
#include "rows.h"

/* Decoding takes time: the crypto packages of a large program have 0.5 MB of assembler. */
#define MAX_DECODED	(4u << 20)
#define MAX_FRAME	(INT32_MAX - 64)
#define AROUND		24		/* bytes of code that arch_go looks at */
#define MAX_INSN	16
#define NO_SLOT		0		/* no function saves FP at its CFA */
/* The search for the table without section headers: bytes read at once, and in all */
#define SEARCH_CHUNK	(64u << 10)
#define SEARCH_BUDGET	(256u << 20)
#define TABLE_ALIGN	32ull

enum go_role {
	GO_PLAIN,
	GO_OUTERMOST,			/* no caller */
	GO_THREAD,			/* mstart() */
	GO_UNKNOWN,			/* a hole, perhaps only from where FP is lost */
	GO_NO_RETURN,			/* no caller after the switch to another stack */
	GO_CALLERS_FP,			/* code after the switch is not covered */
	GO_INJECTED,
	GO_SIGRETURN,
	GO_STOPS,			/* newstack() */
};

struct go_rows {
	struct rows *r;
	const struct arch_go *arch;
	struct go_table t;
	uint8_t *bytes;			/* of the table */
	void *decoder;
	uint32_t left;			/* bytes that may still be decoded */
	bool clone_ends;		/* clone()'s code for a new thread has no caller */
};

/* A function that rows are made for */
struct go_body {
	struct go_func f;
	enum go_role role;
	uint64_t end;			/* of the function's code: padding may follow */
	/* If it saves FP in a known way: where, and from which pc on it has a frame */
	struct arch_go_frame frame;
	uint64_t frame_at;
	bool saved;
	/* If it is in assembler: */
	uint64_t sp_lost_from;		/* from here on, SP is not known; end: never */
	uint64_t fp_lost_from;		/* from here on, FP has another value; end: never */
	/* after sp_lost_from, FP is the caller's again from here on; 0: never */
	uint64_t reload;
	bool keeps_fp;			/* before reload, FP is that of the frame */
};

static enum go_role find_role(const struct go_func *f, const char *name)
{
	static const struct {
		const char *name;
		enum go_role role;
	} known[] = {
		{ "asmcgocall", GO_CALLERS_FP },
		{ "asyncPreempt", GO_INJECTED },
		{ "clone", GO_NO_RETURN },
		{ "debugCallV1", GO_INJECTED },
		{ "debugCallV2", GO_INJECTED },
		{ "mcall", GO_NO_RETURN },
		{ "mstart", GO_THREAD },
		{ "newstack", GO_STOPS },
		{ "sigpanic", GO_INJECTED },
		{ "sigpanic0", GO_INJECTED },
		{ "sigreturn", GO_SIGRETURN },
		{ "sigreturn__sigaction", GO_SIGRETURN },
		{ "sigtramp", GO_PLAIN },
		{ "systemstack", GO_CALLERS_FP },
	};
	static const char runtime[] = "runtime.";
	unsigned int i;

	if (name && !strncmp(name, runtime, strlen(runtime))) {
		for (i = 0; i < ARRAY_SIZE(known); i++) {
			if (!strcmp(name + strlen(runtime), known[i].name))
				return known[i].role;
		}
	}
	/* the start of a program, but not a function of a Go library that C code calls */
	if (name && !strncmp(name, "_rt0_", 5) && !strstr(name, "_lib"))
		return GO_OUTERMOST;
	return f->flags & GO_TOPFRAME ? GO_OUTERMOST : GO_PLAIN;
}

/* ------------------------------- the table ------------------------------- */

/* Find a table in [start, end), where it starts at a multiple of 32. */
static bool search_range(struct image *img, uint64_t start, uint64_t end, uint64_t *budget)
{
	uint8_t buf[SEARCH_CHUNK], head[GO_HEADER];
	struct go_table t = { .data = head };
	uint64_t at, len, i;

	for (at = (start + TABLE_ALIGN - 1) & -TABLE_ALIGN; at < end && *budget >= SEARCH_CHUNK;
	     at += SEARCH_CHUNK) {
		len = end - at < SEARCH_CHUNK ? end - at : SEARCH_CHUNK;
		*budget -= SEARCH_CHUNK;
		if (image_read(img, at, buf, len))
			return false;
		for (i = 0; i + 8 <= len; i += TABLE_ALIGN) {
			if (!go_may_open(buf + i) || image_read(img, at + i, head, sizeof(head)))
				continue;
			t.size = end - at - i;
			t.text_start = 0;
			if (go_open(&t))
				continue;
			img->go = (struct image_range){ at + i, end };
			return true;
		}
	}
	return false;
}

/*
 * Find a table without a section of its own. In a file without section headers the table can be in
 * any segment of data. In a position-independent program that a linker of C made, it is a part of
 * .data.rel.ro.
 */
static void find_unnamed_table(struct image *img)
{
	uint64_t budget = SEARCH_BUDGET;
	const struct image_load *l;

	if (img->is_go)
		search_range(img, img->relro.start, img->relro.end, &budget);
	for (l = img->load; img->no_sections && l < img->load + img->nr_loads; l++) {
		if (!l->exec && search_range(img, l->vaddr, l->vaddr + l->size, &budget))
			return;
	}
}

/* The word that the dynamic loader writes to @addr by a relocation; 0: not known */
static uint64_t find_relocation(struct image *img, uint64_t addr, uint32_t type)
{
	Elf64_Rela rela[256];
	uint64_t off, nr;
	unsigned int i, j;

	for (i = 0; i < img->nr_lists; i++) {
		if (img->list[i].type != SHT_RELA || !img->list[i].vaddr)
			continue;
		for (off = 0; off + sizeof(*rela) <= img->list[i].size; off += nr * sizeof(*rela)) {
			nr = (img->list[i].size - off) / sizeof(*rela);
			if (nr > ARRAY_SIZE(rela))
				nr = ARRAY_SIZE(rela);
			if (image_read_list(img, img->list[i].off + off, rela, nr * sizeof(*rela)))
				break;
			for (j = 0; j < nr; j++) {
				if (image_to_host64(img, rela[j].r_offset) == addr &&
				    ELF64_R_TYPE(image_to_host64(img, rela[j].r_info)) == type)
					return image_to_host64(img, rela[j].r_addend);
			}
		}
	}
	return 0;
}

/* Returns 0, 1 if there is no table that can be used, or -ENOMEM. */
static int open_table(struct go_rows *g)
{
	struct image *img = g->r->img;
	uint64_t size;
	struct go_func first, last;

	if (img->go.start == img->go.end)
		find_unnamed_table(img);
	size = img->go.end - img->go.start;
	if (!size || size > GO_MAX_TABLE)
		return 1;
	g->bytes = malloc(size);
	if (!g->bytes)
		return -ENOMEM;
	if (image_read(img, img->go.start, g->bytes, size))
		return 1;
	g->t = (struct go_table){ .data = g->bytes, .size = size };
	if (go_open(&g->t) || !g->t.nr_funcs || g->t.big_endian != img->big_endian)
		return 1;
	if (!g->t.text_start && g->t.version != GO_116)
		g->t.text_start = find_relocation(img, img->go.start + go_find_text_field(&g->t),
						  g->r->arch->flow->relative);
	if (!g->t.text_start && g->t.version != GO_116)
		g->t.text_start = go_find_text_by_entry(&g->t, img->entry);
	if (go_get_func(&g->t, 0, &first) || go_get_func(&g->t, g->t.nr_funcs - 1, &last))
		return 1;
	return !image_is_in_exec_segment(img, first.start, last.end);
}

/* ---------------------------------- code --------------------------------- */

/* The code around @at, as far as it is in the function */
static bool read_code_around(struct go_rows *g, const struct go_func *f, uint64_t at,
			     struct arch_go_code *code)
{
	code->before = at - f->start < AROUND ? at - f->start : AROUND;
	code->after = f->end - at < AROUND ? f->end - at : AROUND;
	code->p = image_get_code(g->r->img, at - code->before, code->before + code->after);
	if (!code->p)
		return false;
	code->p += code->before;
	return true;
}

static bool writes_fp(const struct arch_op *op)
{
	if (op->flags & ARCH_LOADS_FP)
		return true;
	switch (op->effect) {
	case ARCH_POP_FP: case ARCH_FP_IS_SP: case ARCH_FP_IS_FP: case ARCH_LEAVE:
	case ARCH_LOSE_FP: case ARCH_LOSE_BOTH:
		return true;
	default:
		return false;
	}
}

static bool writes_sp(const struct arch_op *op)
{
	switch (op->effect) {
	case ARCH_SP_IS_FP: case ARCH_LEAVE: case ARCH_LOSE_SP: case ARCH_LOSE_BOTH:
		return true;
	default:
		return false;
	}
}

/* Where does the function first have a frame, and does the code there save FP? */
static void find_frame(struct go_rows *g, struct go_body *b)
{
	struct arch_go_code code;
	struct go_pcs p;
	int32_t before = 0;

	go_pcs_start(&p, &g->t, &b->f, b->f.pcsp);
	while (go_pcs_next(&p)) {
		if (p.value > 0 && p.value < MAX_FRAME && !before && p.start > b->f.start &&
		    !b->frame_at) {
			b->frame_at = p.start;
			b->saved = read_code_around(g, &b->f, p.start, &code) &&
				   g->arch->is_frame_saved(&code, p.value, &b->frame);
		}
		before = p.value;
		b->end = p.end;
	}
}

/* Does the instruction load FP from CFA + @slot, by an address that counts from SP, CFA - @cfa? */
static bool reloads_fp(const struct arch_op *op, int64_t cfa, int64_t slot)
{
	if (op->effect == ARCH_POP_FP)
		return -cfa == slot;
	return op->flags & ARCH_LOADS_FP && !op->by_fp && op->off + op->fp_at - cfa == slot;
}

/* Decode the instruction at @pc, within the budget. Returns whether it is understood. */
static bool decode_insn(struct go_rows *g, uint64_t pc, uint64_t end, struct arch_op *op)
{
	size_t len = end - pc < MAX_INSN ? end - pc : MAX_INSN;
	const uint8_t *code = image_get_code(g->r->img, pc, len);

	if (!code || g->left < len)
		return false;
	g->left -= len;
	g->r->arch->flow->decode(g->decoder, code, len, pc, op);
	return op->len;
}

/* A register is not known from @pc on, if it was not lost before. */
static void lose_from(uint64_t *lost_from, uint64_t pc)
{
	if (*lost_from > pc)
		*lost_from = pc;
}

/* What does the instruction at @pc do to FP? SP is CFA - @cfa, and FP is saved at CFA + @slot. */
static void follow_fp(struct go_body *b, const struct arch_op *op, uint64_t pc, int64_t cfa,
		      int64_t *slot)
{
	/* the FP that is stored is the caller's */
	if (op->flags & ARCH_STORES_FP && b->fp_lost_from == b->end && *slot == NO_SLOT &&
	    !op->by_fp)
		*slot = op->off + op->fp_at - cfa;
	if (!writes_fp(op))
		return;
	if (*slot == NO_SLOT || !reloads_fp(op, cfa, *slot)) {
		lose_from(&b->fp_lost_from, pc + op->len);
		b->keeps_fp &= op->effect == ARCH_FP_IS_SP && op->n - cfa == *slot;
	} else if (pc >= b->sp_lost_from) {
		b->keeps_fp &= !b->reload;	/* there are rows for one reload only */
		b->reload = pc + op->len;
	}
}

/* A branch from where a register is lost to where it is not: then it is lost everywhere. */
static void follow_branch(const struct go_body *b, uint64_t pc, uint64_t to, uint64_t *lost_from)
{
	if (pc >= *lost_from && to >= b->f.start && to < *lost_from)
		*lost_from = b->f.start;
}

/*
 * Decode a function in assembler, from its start to its end. If a branch leads back, later
 * instructions may run before earlier ones: then nothing is known from the start on.
 */
static void decode_asm(struct go_rows *g, struct go_body *b)
{
	const struct arch_flow *flow = g->r->arch->flow;
	int64_t slot = b->saved ? b->frame.fp : NO_SLOT, cfa;
	struct arch_op op;
	struct go_pcs p;
	uint64_t pc;

	b->keeps_fp = b->saved;
	go_pcs_start(&p, &g->t, &b->f, b->f.pcsp);
	go_pcs_next(&p);
	for (pc = b->f.start; pc < b->end; pc += op.len) {
		/* amd64: instructions that user programs rarely have are known, too */
		if (!decode_insn(g, pc, b->end, &op) ||
		    (op.next == ARCH_BAD && (op.len == 1 || flow->insn > 1)))
			break;
		while (pc >= p.end && go_pcs_next(&p))
			;
		cfa = (int64_t)p.value + g->arch->pushed;
		if (writes_sp(&op))
			lose_from(&b->sp_lost_from, pc + op.len);
		follow_fp(b, &op, pc, cfa, &slot);
		if (op.next == ARCH_JUMP || op.next == ARCH_BRANCH) {
			follow_branch(b, pc, op.target, &b->sp_lost_from);
			follow_branch(b, pc, op.target, &b->fp_lost_from);
		}
	}
	if (pc >= b->end)
		return;
	/* some of it is not understood */
	b->keeps_fp = false;
	lose_from(&b->sp_lost_from, pc);
	lose_from(&b->fp_lost_from, pc);
}

/* ---------------------------------- rows --------------------------------- */

static const struct cfi_row outermost = { .ra = { .how = CFI_UNDEF } };

static int add_rules_row(struct go_rows *g, const struct go_body *b, uint64_t start,
			 const struct cfi_row *rules)
{
	return rows_add_row(g->r, start - b->f.start, rules);
}

static int add_hole(struct go_rows *g, const struct go_body *b, uint64_t start)
{
	static const struct cfi_row hole = { .cfa = { .how = CFI_BAD, .off = STATS_CAUSE_GO } };

	return add_rules_row(g, b, start, &hole);
}

/* SP is @size below its place at entry. @ra, @fp: RA, FP is saved where frames have it. */
static int add_plain_row(struct go_rows *g, const struct go_body *b, uint64_t start, int32_t size,
			 bool ra, bool fp)
{
	struct cfi_row s = {
		.cfa = { .how = CFI_REG, .reg = g->r->arch->abi->reg_sp,
			 .off = size + g->arch->pushed },
		.flags = b->role == GO_INJECTED ? CFI_SIGNAL : 0,
	};

	if (g->arch->pushed)
		s.ra = (struct cfi_rule){ .how = CFI_AT_CFA, .off = -8 };
	if (ra)
		s.ra = (struct cfi_rule){ .how = CFI_AT_CFA, .off = b->frame.ra };
	if (fp)
		s.fp = (struct cfi_rule){ .how = CFI_AT_CFA, .off = b->frame.fp };
	return add_rules_row(g, b, start, &s);
}

static int add_row_by_fp(struct go_rows *g, const struct go_body *b, uint64_t start)
{
	const struct cfi_row s = {
		.cfa = { .how = CFI_REG, .reg = g->r->arch->abi->reg_fp, .off = -b->frame.fp },
		.ra = { .how = CFI_AT_CFA, .off = b->frame.ra },
		.fp = { .how = CFI_AT_CFA, .off = b->frame.fp },
	};

	return add_rules_row(g, b, start, &s);
}

/* SP is as at entry at @at. Has the code before @at lost RA and FP of the frame? */
static bool loses_frame(struct go_rows *g, const struct go_body *b, uint64_t at, int32_t size)
{
	struct arch_go_code code;

	return !read_code_around(g, &b->f, at, &code) ||
	       g->arch->classify_end(&code, size) == ARCH_GO_LOST;
}

/* RA has been popped: add a row if RA is known to be in a register up to the end of @p */
static int add_popped_row(struct go_rows *g, const struct go_body *b, const struct go_pcs *p)
{
	struct cfi_row s = { .cfa = { .how = CFI_REG, .reg = g->r->arch->abi->reg_sp } };
	struct arch_go_code code;

	if (g->arch->find_popped_ra && p->value == -g->arch->pushed && p->end - p->start <= 4 &&
	    read_code_around(g, &b->f, p->start, &code))
		s.ra = (struct cfi_rule){ .how = CFI_REG, .reg = g->arch->find_popped_ra(&code) };
	return s.ra.reg ? add_rules_row(g, b, p->start, &s) : add_hole(g, b, p->start);
}

/* Is this the start of a function that stops a goroutine, and never returns? */
static bool stops_goroutine(struct go_rows *g, uint64_t addr)
{
	static const char *const names[] = {
		"runtime.goschedImpl", "runtime.gopreempt_m", "runtime.preemptPark",
	};
	struct go_func f;
	const char *name;
	size_t i;

	if (go_find_func(&g->t, addr, &f) || f.start != addr)
		return false;
	name = go_get_name(&g->t, f.name);
	for (i = 0; name && i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return false;
}

/* Add rows for the calls that stop a goroutine, in the code of @p up to @end. */
static int add_stop_rows(struct go_rows *g, const struct go_body *b, const struct go_pcs *p,
			 uint64_t end, int32_t size)
{
	struct arch_op op;
	int ret = 0;
	uint64_t pc;

	if (p->end < end)
		end = p->end;
	for (pc = p->start; pc < end && !ret; pc += op.len) {
		if (!decode_insn(g, pc, end, &op))
			break;
		if (op.next != ARCH_CALL || !stops_goroutine(g, op.target))
			continue;
		ret = add_rules_row(g, b, pc, &outermost);
		if (!ret && pc + op.len < end)
			ret = add_plain_row(g, b, pc + op.len, size, b->saved, b->saved);
	}
	return ret;
}

/* Add the rows of [start of @p, @end), where SP moves as the table says. */
static int add_pcs_rows(struct go_rows *g, const struct go_body *b, const struct go_pcs *p,
			uint64_t end, int32_t before)
{
	bool is_asm = b->f.flags & GO_ASM, saved, hole;
	uint64_t from = p->start;
	int32_t size = p->value;
	int ret = 0;

	if (size < 0)
		return add_popped_row(g, b, p);
	saved = b->saved && from >= b->frame_at && size > 0;
	hole = size > MAX_FRAME || size % 8;
	/* in assembler, SP may move where nothing is saved */
	if (size && !saved)
		hole |= !is_asm || !g->arch->pushed;
	if (!size && before && b->saved)
		hole |= loses_frame(g, b, from, before);
	if (hole)
		return add_hole(g, b, from);
	if (saved && from == b->frame_at && b->frame.from) {
		/* SP has moved, and the next instruction saves FP */
		ret = add_plain_row(g, b, from, size, true, false);
		from += b->frame.from;
	}
	if (ret || from >= end)
		return ret;
	ret = add_plain_row(g, b, from, size, saved, saved);
	return !ret && saved && b->role == GO_STOPS ? add_stop_rows(g, b, p, end, size) : ret;
}

/* Add rows for code after the instruction that gave SP the value of another stack. */
static int add_after_switch(struct go_rows *g, const struct go_body *b, const struct go_pcs *p)
{
	uint64_t from = p->start > b->sp_lost_from ? p->start : b->sp_lost_from;
	int ret;

	if (b->role == GO_NO_RETURN)
		return add_rules_row(g, b, from, &outermost);
	if (!b->keeps_fp)
		return add_hole(g, b, from);
	if (!p->value)
		return add_plain_row(g, b, from, 0, false, false);
	ret = add_row_by_fp(g, b, from);
	if (!ret && b->reload > from && b->reload < p->end)
		ret = add_hole(g, b, b->reload);
	return ret;
}

static int add_body_rows(struct go_rows *g, const struct go_body *b)
{
	int32_t before = 0;
	struct go_pcs p;
	int ret = 0;

	go_pcs_start(&p, &g->t, &b->f, b->f.pcsp);
	while (!ret && go_pcs_next(&p)) {
		if (p.start < b->sp_lost_from)
			ret = add_pcs_rows(g, b, &p, b->sp_lost_from, before);
		if (!ret && p.end > b->sp_lost_from && b->role != GO_CALLERS_FP)
			ret = add_after_switch(g, b, &p);
		before = p.value;
	}
	return ret;
}

/* Which rows does the function get, and which of its pcs have them? */
static void classify_body(struct go_rows *g, struct go_body *b)
{
	if (b->role == GO_THREAD)
		b->role = g->clone_ends ? GO_PLAIN : GO_OUTERMOST;
	if (b->role == GO_INJECTED && !g->arch->injects_calls)
		b->role = GO_UNKNOWN;
	b->end = b->f.start;
	find_frame(g, b);
	b->sp_lost_from = b->fp_lost_from = b->end;
	/* code without the flag moves SP by constants only; code that saved FP may change FP */
	if (b->f.flags & GO_SPWRITE || (b->f.flags & GO_ASM && !b->saved))
		decode_asm(g, b);
	if (!(b->f.flags & GO_SPWRITE))
		b->sp_lost_from = b->end;
	if ((b->f.flags & GO_SPWRITE && b->sp_lost_from == b->end) || b->role == GO_UNKNOWN) {
		b->sp_lost_from = b->f.start;
		b->keeps_fp = false;
	}
	/* a frame has FP saved; without a frame, FP is not known from there on */
	if (!b->saved && b->fp_lost_from < b->sp_lost_from) {
		b->sp_lost_from = b->fp_lost_from;
		b->keeps_fp = false;
		b->role = GO_UNKNOWN;
	}
}

static int add_func(struct go_rows *g, const struct go_func *f)
{
	struct go_body b = { .f = *f, .role = find_role(f, go_get_name(&g->t, f->name)) };
	uint64_t end;
	int ret;

	classify_body(g, &b);
	end = b.role == GO_CALLERS_FP ? b.sp_lost_from : b.role == GO_OUTERMOST ? f->end : b.end;
	if (b.role == GO_SIGRETURN || end == f->start)
		return 0;
	if (!image_is_in_code_range(g->r->img, f->start, end))
		return 0;
	ret = rows_add_fde(g->r, f->start, end);
	if (ret)
		return ret;
	g->r->stats->go_bytes += end - f->start;
	if (b.role == GO_OUTERMOST)
		return add_rules_row(g, &b, f->start, &outermost);
	return add_body_rows(g, &b);
}

/*
 * Functions have flags since Go 1.17, and goexit() has one there. Without flags, nothing says which
 * functions switch stacks.
 */
static bool has_flags(struct go_rows *g)
{
	bool flags = false;
	struct go_func f;
	const char *name;
	uint32_t i;

	for (i = 0; i < g->t.nr_funcs; i++) {
		if (go_get_func(&g->t, i, &f) || !f.flags)
			continue;
		name = go_get_name(&g->t, f.name);
		if (name && !strcmp(name, "runtime.goexit"))
			flags = f.flags & GO_TOPFRAME;
		else if (name && !strcmp(name, "runtime.clone"))
			g->clone_ends = f.flags & GO_SPWRITE;
	}
	return flags;
}

static int add_funcs(struct go_rows *g)
{
	const struct arch_flow *flow = g->r->arch->flow;
	struct go_func f;
	uint32_t i;
	int ret = 0;

	if (flow->open) {
		g->decoder = flow->open();
		if (!g->decoder)
			return -ENOMEM;
	}
	for (i = 0; i < g->t.nr_funcs && !ret; i++) {
		if (!go_get_func(&g->t, i, &f))
			ret = add_func(g, &f);
	}
	if (flow->close)
		flow->close(g->decoder);
	return ret;
}

int rows_add_go(struct rows *r)
{
	struct go_rows g = { .r = r, .arch = r->arch->go, .left = MAX_DECODED };
	uint32_t nr_fdes = r->nr_fdes;
	int ret;

	if (!g.arch || !r->arch->flow || r->img->fd < 0 || r->img->flags & ROWS_NO_GO)
		return 0;
	ret = open_table(&g);
	if (!ret && has_flags(&g))
		ret = add_funcs(&g);
	free(g.bytes);
	if (ret < 0)
		return ret;
	return nr_fdes == r->nr_fdes ? 0 : rows_sort(r);
}
