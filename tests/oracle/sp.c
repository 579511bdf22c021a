// SPDX-License-Identifier: GPL-2.0
/*
 * sp.c - finds SP where .eh_frame counts from FP, and FP where .eh_frame counts from SP
 *
 * In code that counts from FP, .eh_frame does not say where SP is, but rows from following code
 * may count from SP. So sp.c follows SP as well, in its own way. Unlike the generator, sp.c knows
 * the start and the end of functions, and the rows. It starts wherever a row counts from SP,
 * follows instructions and jumps that stay in the function, and gives no answer where two paths
 * disagree. After a call it goes on only where no other path leads. In functions with jumps to
 * unknown targets, another path may lead there and contradict the path after the call.
 *
 * sp.c follows FP where SP is known, from the instruction that sets FP to an address in the frame.
 */
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/arch/arch.h"
#include "libunwind-user/flow/impl.h"
#include "oracle.h"
#include "sp.h"

/* How a place of SP is known; a better way replaces the others */
enum how { NOTHING, AFTER_CALL, BY_PATH, BY_ROW, DISPUTED };

enum fp_how { FP_NOTHING, FP_FRAME, FP_OTHER };

struct insn {
	uint64_t pc, target;
	int32_t n;
	int32_t sp;		/* CFA - SP */
	int32_t fp;		/* CFA - FP, if fp_how is FP_FRAME */
	uint32_t func;
	uint8_t effect, next, how, fp_how;
	uint8_t disputed;	/* how the disagreeing paths were known, if DISPUTED */
	bool by_fp, loads_sp, loads_fp;
};

struct range {
	uint64_t start, end;
	bool jumps;		/* to an unknown place */
};

struct sp_map {
	const struct sframe_table *rows;
	const struct arch_flow *arch;
	void *decoder;
	struct range *func;
	uint32_t nr_funcs, room_funcs;
	struct insn *insn;
	uint32_t nr, room;
	uint32_t *todo, *calls;
	uint32_t nr_todo, room_todo, nr_calls, room_calls;
};

static int add_func(void *arg, uint64_t start, uint64_t end)
{
	struct sp_map *m = arg;

	if (vec_grow32(&m->func, &m->room_funcs, m->nr_funcs, sizeof(*m->func)))
		return -1;
	m->func[m->nr_funcs++] = (struct range){ .start = start, .end = end };
	return CFI_SKIP;
}

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

static struct insn *insn_at(const struct sp_map *m, uint64_t pc)
{
	uint32_t i;

	bisect(i, m->nr, m->insn[i].pc >= pc);
	return i < m->nr && m->insn[i].pc == pc ? &m->insn[i] : NULL;
}

static void push(struct sp_map *m, uint32_t i)
{
	if (!vec_grow32(&m->todo, &m->room_todo, m->nr_todo, sizeof(*m->todo)))
		m->todo[m->nr_todo++] = i;
}

static void add_insn(struct sp_map *m, uint64_t pc, uint32_t func, const struct arch_op *op,
		     bool nop)
{
	struct insn *i;
	struct sframe_row row;

	if (vec_grow32(&m->insn, &m->room, m->nr, sizeof(*m->insn)))
		return;
	i = &m->insn[m->nr];
	*i = (struct insn){
		.pc = pc, .target = op->target, .n = op->n, .func = func, .effect = op->effect,
		.next = op->next, .loads_sp = op->flags & ARCH_LOADS_SP,
		.loads_fp = op->flags & ARCH_LOADS_FP,
	};
	m->nr++;
	if (op->next == ARCH_JUMP_INDIRECT)
		m->func[func].jumps = true;
	if (sframe_find(m->rows, pc, &row) || row.flags & SFRAME_ROW_SIGNAL || row.cfa.deref)
		return;
	i->by_fp = row.cfa.base == SFRAME_FP;
	if (i->by_fp) {
		i->fp_how = FP_FRAME;
		i->fp = row.cfa.off;
	}
	/* padding has the row of the code before or after it */
	if (row.cfa.base != SFRAME_SP || nop)
		return;
	i->how = BY_ROW;
	i->sp = row.cfa.off;
	push(m, m->nr - 1);
}

static void decode(struct sp_map *m, Elf *elf, uint32_t func)
{
	uint64_t pc = m->func[func].start, end = m->func[func].end, left;
	const uint8_t *code = code_at(elf, pc, &left);
	struct arch_op op;

	for (; code && pc < end; pc += op.len, code += op.len) {
		m->arch->decode(m->decoder, code, end - pc, pc, &op);
		add_insn(m, pc, func, &op, machine->nop(code, end - pc));
	}
}

/* Two paths disagree: drop what either of them said. */
static void dispute(struct sp_map *m, struct insn *i, enum how how)
{
	if (!i || i->how == BY_ROW || i->how == DISPUTED || i->how > how)
		return;
	i->how = DISPUTED;
	i->disputed = how;
	push(m, i - m->insn);
}

static void reach(struct sp_map *m, struct insn *i, int32_t sp, enum how how)
{
	if (!i || i->how == BY_ROW || i->how == DISPUTED || i->how > how ||
	    (i->how == how && i->sp == sp))
		return;
	if (i->how == how) {
		dispute(m, i, how);
		return;
	}
	i->how = how;
	i->sp = sp;
	push(m, i - m->insn);
}

/* Does SP after the instruction not depend on SP before it? Or is it unknown? */
static bool sets_sp(const struct insn *i)
{
	return i->loads_sp || i->effect == ARCH_SP_IS_FP || i->effect == ARCH_LEAVE ||
	       i->effect == ARCH_LOSE_SP || i->effect == ARCH_LOSE_BOTH;
}

/* False if it is no longer known. */
static bool step(const struct insn *i, int32_t *sp)
{
	if (i->loads_sp)
		return false;
	switch (i->effect) {
	case ARCH_PUSH:
	case ARCH_PUSH_FP:
		*sp += 8;
		return true;
	case ARCH_POP:
	case ARCH_POP_FP:
		*sp -= 8;
		return true;
	case ARCH_ADD_SP:
		*sp -= i->n;
		return true;
	case ARCH_SP_IS_FP:
		*sp = i->fp - i->n;
		return i->by_fp;
	case ARCH_LEAVE:
		*sp = i->fp - 8;
		return i->by_fp;
	case ARCH_LOSE_SP:
	case ARCH_LOSE_BOTH:
		return false;
	default:
		return true;
	}
}

/* A path leads to @to with @sp; if @sp is disputed, with an unknown SP. */
static void lead(struct sp_map *m, struct insn *to, bool disputed, int32_t sp, enum how how)
{
	if (disputed)
		dispute(m, to, how);
	else
		reach(m, to, sp, how);
}

static void walk(struct sp_map *m, uint32_t n, bool after_calls)
{
	struct insn *i = &m->insn[n], *next = n + 1 < m->nr ? i + 1 : NULL;
	bool disputed = i->how == DISPUTED;
	enum how how = disputed ? i->disputed : i->how == BY_ROW ? BY_PATH : i->how;
	int32_t sp = i->sp;

	/* a dispute ends where SP gets a value that does not depend on what it was */
	if (!step(i, &sp) || (disputed && sets_sp(i)))
		return;
	if (next && next->func != i->func)
		next = NULL;
	switch (i->next) {
	case ARCH_CALL:
	case ARCH_CALL_UNKNOWN:
	case ARCH_CALL_POINTER:
		if (after_calls)
			lead(m, next, disputed, sp, AFTER_CALL);
		else if (!disputed &&
			 !vec_grow32(&m->calls, &m->room_calls, m->nr_calls, sizeof(*m->calls)))
			m->calls[m->nr_calls++] = n;
		return;
	case ARCH_BRANCH:
		lead(m, next, disputed, sp, how);
		/* fallthrough */
	case ARCH_JUMP:
		lead(m, insn_at(m, i->target), disputed, sp, how);
		return;
	case ARCH_FALLTHROUGH:
	case ARCH_MAYBE_RETURN:
		lead(m, next, disputed, sp, how);
	}
}

static void follow(struct sp_map *m)
{
	uint32_t i;

	while (m->nr_todo)
		walk(m, m->todo[--m->nr_todo], false);
	for (i = 0; i < m->nr_calls; i++) {
		push(m, m->calls[i]);
		while (m->nr_todo)
			walk(m, m->todo[--m->nr_todo], true);
	}
}

static void reach_fp(struct sp_map *m, struct insn *i, enum fp_how how, int32_t fp)
{
	if (!i || i->by_fp || i->fp_how == FP_OTHER ||
	    (i->fp_how == FP_FRAME && how == FP_FRAME && i->fp == fp))
		return;
	i->fp_how = i->fp_how == FP_FRAME ? FP_OTHER : how;
	i->fp = fp;
	push(m, i - m->insn);
}

static void walk_fp(struct sp_map *m, uint32_t n)
{
	struct insn *i = &m->insn[n], *next = n + 1 < m->nr ? i + 1 : NULL;
	enum fp_how how = i->fp_how;
	int32_t fp = i->fp;

	if (next && next->func != i->func)
		next = NULL;
	switch (i->effect) {
	case ARCH_FP_IS_SP:
		if (i->how == NOTHING || i->how == DISPUTED)
			return;
		how = FP_FRAME;
		fp = i->sp - i->n;
		break;
	case ARCH_FP_IS_FP:
		fp -= i->n;
		break;
	case ARCH_POP_FP:
	case ARCH_LEAVE:
	case ARCH_LOSE_FP:
	case ARCH_LOSE_BOTH:
		how = FP_OTHER;
	}
	if (i->loads_fp)
		how = FP_OTHER;
	if (i->next == ARCH_JUMP || i->next == ARCH_BRANCH)
		reach_fp(m, insn_at(m, i->target), how, fp);
	switch (i->next) {
	case ARCH_FALLTHROUGH:
	case ARCH_BRANCH:
	case ARCH_MAYBE_RETURN:
	case ARCH_CALL:
	case ARCH_CALL_UNKNOWN:
	case ARCH_CALL_POINTER:
		reach_fp(m, next, how, fp);
	}
}

static void follow_fp(struct sp_map *m)
{
	uint32_t i;

	for (i = 0; i < m->nr; i++) {
		if (m->insn[i].by_fp || m->insn[i].effect == ARCH_FP_IS_SP)
			push(m, i);
		else if (!i || m->insn[i].func != m->insn[i - 1].func)
			reach_fp(m, &m->insn[i], FP_OTHER, 0);
	}
	while (m->nr_todo)
		walk_fp(m, m->todo[--m->nr_todo]);
}

struct sp_map *sp_open(Elf *elf, const struct sframe_table *rows)
{
	const struct cfi_ops ops = { .fde = add_func };
	struct sp_map *m = calloc(1, sizeof(*m));
	const struct arch *arch = arch_find_by_abi(rows->arch->abi);
	struct cfi_section sec = { .big_endian = arch && arch->abi->big_endian, .addr_size = 8 };
	struct cfi_stats stats;
	uint64_t reach = 0;
	Elf_Data data;
	GElf_Shdr sh;
	uint32_t i;

	if (!m || !arch || !arch->flow || !eh_frame_of(elf, &sh, &data))
		return m;
	m->rows = rows;
	m->arch = arch->flow;
	m->decoder = m->arch->open ? m->arch->open() : NULL;
	sec.data = data.d_buf;
	sec.size = data.d_size;
	sec.vaddr = sh.sh_addr;
	cfi_parse(&sec, &ops, m, &stats);
	if (m->nr_funcs)
		qsort(m->func, m->nr_funcs, sizeof(*m->func), compare);
	for (i = 0; i < m->nr_funcs; i++) {
		if (m->func[i].start >= reach)
			decode(m, elf, i);
		if (m->func[i].end > reach)
			reach = m->func[i].end;
	}
	if (m->decoder)
		m->arch->close(m->decoder);
	follow(m);
	follow_fp(m);
	return m;
}

enum sp_known sp_at(const struct sp_map *m, uint64_t pc, int32_t *off)
{
	const struct insn *i = m ? insn_at(m, pc) : NULL;

	if (!i || i->how == NOTHING || i->how == DISPUTED)
		return SP_UNKNOWN;
	*off = i->sp;
	return i->how == AFTER_CALL && m->func[i->func].jumps ? SP_PERHAPS : SP_KNOWN;
}

bool sp_fp_at(const struct sp_map *m, uint64_t pc, int32_t *off)
{
	const struct insn *i = m ? insn_at(m, pc) : NULL;

	if (!i || i->fp_how == FP_NOTHING)
		return false;
	*off = i->fp_how == FP_FRAME ? i->fp : INT32_MIN;
	return true;
}

bool sp_keeps_fp(const struct sp_map *m, uint64_t pc)
{
	const struct insn *at = m ? insn_at(m, pc) : NULL, *i;

	for (i = at; i && i > m->insn && i[-1].func == at->func; i--) {
		switch (i[-1].effect) {
		case ARCH_FP_IS_SP:
		case ARCH_FP_IS_FP:
		case ARCH_POP_FP:
		case ARCH_LEAVE:
		case ARCH_LOSE_FP:
		case ARCH_LOSE_BOTH:
			return false;
		}
		if (i[-1].loads_fp)
			return false;
	}
	return at;
}

int32_t sp_moved(const struct sp_map *m, uint64_t start, uint64_t pc)
{
	const struct insn *i = m ? insn_at(m, start) : NULL;
	int32_t sp = 0;

	for (; i && i < m->insn + m->nr && i->pc < pc; i++) {
		if (!step(i, &sp))
			return 0;
	}
	return sp;
}

bool sp_stays(const struct sp_map *m, uint64_t pc, uint64_t end)
{
	const struct insn *i = m ? insn_at(m, pc) : NULL;
	int32_t sp = 0;

	for (; i && i < m->insn + m->nr && i->pc < end; i++) {
		if (!step(i, &sp) || sp || (i->next != ARCH_FALLTHROUGH && i->next != ARCH_BRANCH))
			return false;
	}
	return i && i < m->insn + m->nr && i->pc == end;
}

void sp_close(struct sp_map *m)
{
	if (!m)
		return;
	free(m->func);
	free(m->insn);
	free(m->todo);
	free(m->calls);
	free(m);
}
