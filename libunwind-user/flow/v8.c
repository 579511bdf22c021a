// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * v8.c - rows for the builtins of V8, which are in the text of node without .eh_frame
 *
 * V8 (node, Electron, Chromium) compiles its builtins when it is built, and links them as one block
 * of code. They follow an ABI of their own: a called function pops its arguments, and often shifts
 * them by popping the return address and pushing it again. So the assumptions of walk.c do not hold
 * here, and this file follows the block instead. V8's ABI says:
 *
 *  - A builtin is entered with its return address at SP, by a call or by a jump in place of a call.
 *    This file lists by name the builtins that are entered in another way; they get no rows.
 *  - A called function leaves FP as it was, but SP may be higher. And it may have moved its return
 *    address meanwhile, so that its CFA is not the SP of its caller. Only the write barriers, which
 *    take no arguments, do neither. So the rows of a frame go by FP. Code without a frame calls
 *    little but write barriers, and has no rows where it calls other functions.
 *  - An exception continues in a handler of the function that catches it, with the FP of its frame.
 *    So code that no path reaches runs with the frame of the builtin, if the builtin makes one.
 *    Jump tables may also lead there. A builtin that has a table takes its address.
 *
 * Where these rules do not lead to one state of the frame, code is not covered: a walk follows FP
 * there, and is marked. Only symbols say where the block and its builtins are. A file without them
 * gets no rows for this code.
 *
 * Source: V8, src/builtins/x64/builtins-x64.cc, src/codegen/x64/macro-assembler-x64.cc,
 * src/snapshot/embedded/, src/execution/frame-constants.h.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define BLOCK		"v8_Default_embedded_blob_code_"
#define BUILTIN		"Builtins_"
#define MIN_BLOCK	(256u << 10)	/* the smallest block that was seen has 1 MB */
#define MAX_BUILTIN	(256u << 10)
#define MAX_BUILTINS	(1u << 16)
#define MAX_STRINGS	(256u << 20)
#define FRAME		16		/* CFA - FP in a frame: FP and the return address */

struct builtin {
	uint64_t start, end;
	bool called;		/* entered with the return address at SP */
	bool barrier;		/* a write barrier */
};

/* The state before the instruction at this byte. */
struct insn_state {
	struct arch_state s;
	/*
	 * Register of the return address while that is not on the stack: SP does not matter until
	 * it is pushed again, and FP is the caller's. 0: it is on the stack
	 */
	uint16_t popped;
	uint8_t len;		/* of the instruction; 0: not reached */
	bool cfa_unknown;	/* a call by code without a frame: the CFA is not known here */
	bool assumed;		/* no path leads here: it has the frame of the builtin */
	bool queued;
};

struct v8 {
	struct rows *r;
	const struct arch_flow *arch;
	void *decoder;
	VEC(struct builtin) builtins;
	const struct builtin *at;	/* the builtin that is followed; below, its bytes: */
	uint8_t *code;
	struct insn_state *insn;	/* for each byte */
	VEC(uint32_t) todo;
	bool conflict;			/* assumed code leads to code with another FP */
	bool may_have_table;		/* a jump table: the builtin takes an address in itself */
};

/* --------------------------------- symbols ------------------------------- */

/*
 * Builtins that are entered, by a return or a jump, in a frame that exists already, or with another
 * word at SP.
 */
static bool is_called(const char *name)
{
	static const char *const others[] = {
		"InterpreterEnterAt", "BaselineOrInterpreterEnterAt", "ContinueTo",
		"RestartFrameTrampoline", "BaselineLeaveFrame", "WasmCompileLazy",
		"BaselineOutOfLinePrologueDeopt", "WasmOnStackReplace",
		"WasmTrapHandlerLandingPad", "WasmLiftoffFrameSetup", "MaglevOutOfLinePrologue",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		if (!strncmp(name, others[i], strlen(others[i])))
			return false;
	}
	return true;
}

static bool is_barrier(const char *name)
{
	return !strncmp(name, "RecordWrite", strlen("RecordWrite")) ||
	       !strncmp(name, "EphemeronKeyBarrier", strlen("EphemeronKeyBarrier"));
}

static int add_builtin(struct v8 *v, const struct image *img, const Elf64_Sym *sym,
		       const char *name)
{
	struct builtin *b;

	if (ELF64_ST_TYPE(sym->st_info) != STT_FUNC || v->builtins.nr >= MAX_BUILTINS)
		return 0;
	b = vec_add(&v->builtins);
	if (!b)
		return -ENOMEM;
	*b = (struct builtin){
		.start = image_to_host64(img, sym->st_value),
		.end = image_to_host64(img, sym->st_value) + image_to_host64(img, sym->st_size),
		.called = is_called(name), .barrier = is_barrier(name),
	};
	return 0;
}

/* Find the builtins, and where the block starts; *@start is 0 if the list does not say. */
static int read_symbols(struct v8 *v, const struct image_list *l, uint64_t *start)
{
	struct image *img = v->r->img;
	uint64_t nr = l->size / sizeof(Elf64_Sym), i;
	Elf64_Sym *sym = malloc(l->size + 1);
	char *str = malloc(l->strings_size + 1);
	const char *name;
	int ret = -ENOMEM;

	if (!sym || !str)
		goto out;
	ret = image_read_list(img, l->off, sym, l->size);
	if (!ret)
		ret = image_read_list(img, l->strings, str, l->strings_size);
	/* a list that is cut short says nothing */
	if (ret) {
		ret = ret == -ENOMEM ? ret : 0;
		goto out;
	}
	str[l->strings_size] = '\0';
	for (i = 0; i < nr && !ret; i++) {
		if (image_to_host32(img, sym[i].st_name) >= l->strings_size)
			continue;
		name = str + image_to_host32(img, sym[i].st_name);
		if (!strcmp(name, BLOCK))
			*start = image_to_host64(img, sym[i].st_value);
		else if (!strncmp(name, BUILTIN, strlen(BUILTIN)))
			ret = add_builtin(v, img, &sym[i], name + strlen(BUILTIN));
	}
out:
	free(sym);
	free(str);
	return ret;
}

static int compare_starts(const void *a, const void *b)
{
	const struct builtin *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

/* Drop symbols of other code, and symbols that overlap. */
static void sort_builtins(struct v8 *v, const struct image_range *block)
{
	struct builtin *b = v->builtins.v;
	size_t i, nr = 0;
	uint64_t reach = block->start;

	if (b)				/* qsort() takes no NULL */
		qsort(b, v->builtins.nr, sizeof(*b), compare_starts);
	for (i = 0; i < v->builtins.nr; i++) {
		if (b[i].start < reach || b[i].end <= b[i].start || b[i].end > block->end ||
		    b[i].end - b[i].start > MAX_BUILTIN)
			continue;
		reach = b[i].end;
		b[nr++] = b[i];
	}
	v->builtins.nr = nr;
}

static void note_larger(struct image_range *largest, uint64_t start, uint64_t end)
{
	if (start < end && end - start > largest->end - largest->start)
		*largest = (struct image_range){ start, end };
}

/* The largest range of code without FDEs, if it is large enough; else it is empty. */
static struct image_range find_block(const struct rows *r)
{
	uint64_t base = r->img->text.start, reach, end;
	struct image_range block = {};
	unsigned int c;
	uint32_t i = 0;

	for (c = 0; c < r->img->nr_code; c++) {
		reach = r->img->code[c].start;
		end = r->img->code[c].end;
		for (; i < r->nr_fdes && base + r->fde[i].start < end; i++) {
			note_larger(&block, reach, base + r->fde[i].start);
			if (base + r->fde[i].end > reach)
				reach = base + r->fde[i].end;
		}
		note_larger(&block, reach, end);
	}
	if (block.end - block.start < MIN_BLOCK)
		block.end = block.start;
	return block;
}

static int find_builtins(struct v8 *v)
{
	struct image_range block = find_block(v->r);
	const struct image *img = v->r->img;
	const struct image_list *l;
	uint64_t start = 0;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < img->nr_lists && !ret && block.start < block.end; i++) {
		l = &img->list[i];
		if (l->type == SHT_SYMTAB && l->size <= MAX_STRINGS &&
		    l->strings_size <= MAX_STRINGS)
			ret = read_symbols(v, l, &start);
	}
	/* the block starts after the padding of the code before it */
	if (ret || start < block.start || start >= block.end) {
		v->builtins.nr = 0;
		return ret;
	}
	block.start = start;
	sort_builtins(v, &block);
	if (v->builtins.nr)
		v->r->followed = (struct image_range){
			start, v->builtins.v[v->builtins.nr - 1].end
		};
	return 0;
}

/* ---------------------------------- code --------------------------------- */

static const struct builtin *find_builtin(const struct v8 *v, uint64_t addr)
{
	const struct builtin *b = v->builtins.v;
	size_t i;

	bisect(i, v->builtins.nr, b[i].start > addr);
	return i && addr < b[i - 1].end ? &b[i - 1] : NULL;
}

static bool is_call(const struct arch_op *op)
{
	return op->next == ARCH_CALL || op->next == ARCH_CALL_UNKNOWN ||
	       op->next == ARCH_CALL_POINTER;
}

static bool keeps_sp(const struct v8 *v, const struct arch_op *op)
{
	const struct builtin *b = op->next == ARCH_CALL ? find_builtin(v, op->target) : NULL;

	return b && b->barrier;
}

static bool is_entered(const struct v8 *v, const struct arch_state *s)
{
	return flow_is_entered(v->arch, s) && !s->fp_saved;
}

/* Change the state @insn to that after the instruction. */
static void step_state(const struct v8 *v, struct insn_state *insn, const struct arch_op *op)
{
	struct arch_op lose = { .effect = ARCH_LOSE_SP };

	if (insn->popped && op->effect == ARCH_PUSH && op->reg == insn->popped) {
		insn->popped = 0;
	} else if (insn->popped) {
		if (is_call(op) || op->flags & ARCH_LOADS_FP || op->effect == ARCH_PUSH_FP ||
		    op->effect == ARCH_POP_FP || op->effect == ARCH_LEAVE ||
		    op->effect == ARCH_FP_IS_SP || op->effect == ARCH_FP_IS_FP ||
		    op->effect == ARCH_LOSE_FP || op->effect == ARCH_LOSE_BOTH) {
			insn->popped = 0;
			insn->s = (struct arch_state){ .unknown = true };
		}
	} else if (op->effect == ARCH_POP && op->reg && is_entered(v, &insn->s)) {
		insn->popped = op->reg;
	} else {
		flow_step(v->arch, &insn->s, op);
		if (is_call(op) && !keeps_sp(v, op))
			flow_step(v->arch, &insn->s, &lose);
	}
}

static int queue_code(struct v8 *v, uint64_t addr, const struct insn_state *from)
{
	struct insn_state *to;
	uint32_t *todo;
	bool changed;

	if (addr < v->at->start || addr >= v->at->end)
		return 0;
	to = &v->insn[addr - v->at->start];
	if (!to->len) {
		*to = *from;
		to->len = 1;
		to->queued = false;
		changed = true;
	} else if (from->assumed && !to->assumed) {
		v->conflict |= from->s.unknown != to->s.unknown || from->popped != to->popped ||
			       from->s.fp_is != to->s.fp_is;
		return 0;
	} else if (from->popped != to->popped) {
		changed = !to->s.unknown;
		to->popped = 0;
		to->s = (struct arch_state){ .unknown = true };
	} else {
		changed = flow_merge_state(&to->s, &from->s);
	}
	if (!changed || to->queued)
		return 0;
	todo = vec_add(&v->todo);
	if (!todo)
		return -ENOMEM;
	*todo = addr - v->at->start;
	to->queued = true;
	return 0;
}

static int follow_code(struct v8 *v)
{
	struct insn_state after;
	struct arch_op op;
	uint64_t addr;
	uint32_t at;
	int ret = 0;

	while (v->todo.nr && !ret) {
		at = v->todo.v[--v->todo.nr];
		addr = v->at->start + at;
		v->insn[at].queued = false;
		v->arch->decode(v->decoder, v->code + at, v->at->end - addr, addr, &op);
		if (op.next == ARCH_BAD)
			v->insn[at].s.unknown = true;
		v->insn[at].len = op.len ? op.len : 1;
		v->insn[at].cfa_unknown = is_call(&op) && !keeps_sp(v, &op) &&
					  v->insn[at].s.fp_is != ARCH_FP_FRAME;
		if (op.flags & ARCH_TAKES_ADDRESS && op.target >= v->at->start &&
		    op.target < v->at->end)
			v->may_have_table = true;
		after = v->insn[at];
		step_state(v, &after, &op);
		if (op.next == ARCH_JUMP || op.next == ARCH_BRANCH)
			ret = queue_code(v, op.target, &after);
		if (!ret && (op.next == ARCH_FALLTHROUGH || op.next == ARCH_BRANCH || is_call(&op)))
			ret = queue_code(v, addr + op.len, &after);
	}
	return ret;
}

/* Follow the code that no path reaches, which handles exceptions. */
static int follow_rest(struct v8 *v)
{
	struct insn_state frame = { .s = v->arch->entered, .assumed = true };
	uint32_t size = v->at->end - v->at->start, at;
	bool has_frame = false;
	int ret = 0;

	frame.s.sp_known = false;
	frame.s.sp_depth = 0;
	frame.s.fp_is = ARCH_FP_FRAME;
	frame.s.fp_depth = FRAME;
	frame.s.fp_saved = true;
	frame.s.fp_slot = -FRAME;
	for (at = 0; at < size && !has_frame; at++)
		has_frame = v->insn[at].len && !v->insn[at].s.unknown &&
			    v->insn[at].s.fp_is == ARCH_FP_FRAME && v->insn[at].s.fp_depth == FRAME;
	for (at = 0; at < size && has_frame && !ret; at += v->insn[at].len) {
		if (v->insn[at].len)
			continue;
		ret = queue_code(v, v->at->start + at, &frame);
		if (!ret)
			ret = follow_code(v);
	}
	return ret;
}

/* ---------------------------------- rows --------------------------------- */

static bool make_row(const struct v8 *v, const struct insn_state *insn, struct cfi_row *row)
{
	return insn->len && !insn->popped && !insn->cfa_unknown &&
	       !(insn->assumed && v->conflict) && flow_make_row(v->r->arch, &insn->s, true, row);
}

/* Add an FDE for each run of instructions that have rows. */
static int add_rows(struct v8 *v)
{
	uint32_t size = v->at->end - v->at->start, at, start = 0, end = 0;
	struct stats *stats = v->r->stats;
	struct rows_fde *fde = NULL;
	struct cfi_row row;
	int ret;

	for (at = 0; at < size; at += v->insn[at].len ? v->insn[at].len : 1) {
		if (!make_row(v, &v->insn[at], &row))
			continue;
		if (!fde || at != end) {
			start = at;
			ret = rows_add_fde(v->r, v->at->start + at, v->at->start + at);
			if (ret)
				return ret;
			fde = &v->r->fde[v->r->nr_fdes - 1];
		}
		ret = rows_add_row(v->r, at - start, &row);
		if (ret)
			return ret;
		end = at + v->insn[at].len;
		fde->end += v->insn[at].len;
		stats->flow_bytes += v->insn[at].len;
	}
	stats->gap_bytes += size;
	return 0;
}

static int add_builtin_rows(struct v8 *v, const struct builtin *b)
{
	struct insn_state entry = { .s = v->arch->entered };
	uint32_t size = b->end - b->start;
	int ret;

	v->at = b;
	v->todo.nr = 0;
	v->conflict = false;
	v->may_have_table = false;
	memset(v->insn, 0, size * sizeof(*v->insn));
	if (!b->called || image_read(v->r->img, b->start, v->code, size))
		return 0;
	ret = queue_code(v, b->start, &entry);
	if (!ret)
		ret = follow_code(v);
	if (!ret && !v->may_have_table)
		ret = follow_rest(v);
	return ret ? ret : add_rows(v);
}

int flow_add_v8(struct rows *r)
{
	struct v8 v = { .r = r, .arch = r->arch->flow };
	uint32_t nr_fdes = r->nr_fdes;
	size_t i;
	int ret;

	if (!v.arch || v.arch->calls_leave_ra_in_reg || r->img->flags & ROWS_NO_FLOW)
		return 0;
	ret = find_builtins(&v);
	if (ret || !v.builtins.nr)
		goto out;
	v.code = malloc(MAX_BUILTIN);
	v.insn = malloc(MAX_BUILTIN * sizeof(*v.insn));
	v.decoder = v.arch->open ? v.arch->open() : NULL;
	if (!v.code || !v.insn || (v.arch->open && !v.decoder))
		ret = -ENOMEM;
	for (i = 0; i < v.builtins.nr && !ret; i++)
		ret = add_builtin_rows(&v, &v.builtins.v[i]);
	if (v.arch->close)
		v.arch->close(v.decoder);
out:
	free(v.code);
	free(v.insn);
	vec_free(&v.todo);
	vec_free(&v.builtins);
	return ret || nr_fdes == r->nr_fdes ? ret : rows_sort(r);
}
