// SPDX-License-Identifier: GPL-2.0
/*
 * verdict - is the walk by the tables the same stack as the shadow stack?
 *
 * Every address of the walk must be that of the shadow stack. Then the walk is
 *
 *	complete	all frames, and the last step said that there are no more. If the program
 *			itself has overwritten a return address (the unwinder of exceptions does),
 *			the new address is the frame's: ret will go there
 *	at the end	all frames, but a hole in place of the end
 *	stopped		not all frames: a hole, or a step refused; listed by place and cause
 *	early		other frames than the shadow's, namely those that the next instructions
 *			make true: longjmp(), the unwinder of exceptions, vfork() and setcontext()
 *			load registers before they jump, and from then on their tables describe
 *			the target of the jump. The walk counts as early only if that jump comes
 *			before a call or a return of any other kind; else it is
 *	wrong
 *
 * Some walks lead through an address that the program wrote itself and that no call left (a landing
 * pad of an exception). The frames after such an address are not judged: its stack is not the stack
 * there, and it is looked up at the byte before it, like any return address. The same holds after a
 * saved frame pointer that the program has overwritten. These walks count as "made up".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "stacks.h"

#define MAX_AGE		64	/* instructions */
#define MAX_PRINTED	5
#define DWARF_RBX	3

struct counts counts;

struct walk {
	u64 ip[MAX_FRAMES], sp[MAX_FRAMES], fp[MAX_FRAMES];
	u64 fp_slot[MAX_FRAMES];	/* where fp was read, 0: unchanged or no memory */
	u32 flags[MAX_FRAMES];
	unsigned int nr;
	u64 pc;			/* the address where it ended */
	/* why it ended: USTEP_OUTERMOST; -ENOENT: a hole; -ESRCH: not covered */
	int ret;
	u8 reg;			/* -ENODATA: that the CFA counts from */
};

static struct walk walk;

/* -------------------------------- walking ------------------------------- */

static int read_stack(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	struct task *t = ctx;

	return space_read(t->space, addr, words, 8 * nr);
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	struct task *t = ctx;

	if (!space_map(t->space, addr))
		return -EFAULT;
	memcpy(to, space_code(t->space, addr), size);
	return 0;
}

static int get_reg(void *ctx, unsigned int reg, u64 *value)
{
	const struct user_regs_struct *r = &((struct task *)ctx)->regs;
	const unsigned long long regs[] = {
		r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
		r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15,
	};

	if (reg >= sizeof(regs) / sizeof(*regs))
		return -EINVAL;
	*value = regs[reg];
	return 0;
}

static int step(struct ustep *s, const struct ustep_env *env, struct space *sp, u64 *fp_slot)
{
	const struct map *m = space_map(sp, ustep_pc(s));
	struct sframe_row row;
	int ret;

	*fp_slot = 0;

	ret = m && m->has_table ? sframe_find(&m->t, ustep_pc(s), &row) : -ESRCH;
	if ((ret == -ENOENT || ret == -ESRCH) && !ustep_sigreturn(s, env, &row))
		ret = 0;
	if (!ret)
		ret = ustep_row(s, env, &row);
	/* the CFA is the caller's SP */
	if (ret == -ENODATA)
		walk.reg = row.cfa.reg;
	if (!ret && row.fp.base == SFRAME_CFA && row.fp.deref)
		*fp_slot = s->sp + (u64)(s64)row.fp.off;
	/* the kernel's rule: no frames above where the stack began */
	if (ret < 0 && s->sp >= sp->start_stack && s->sp < sp->arg_start)
		ret = USTEP_OUTERMOST;
	return ret;
}

static void take_walk(struct task *t)
{
	struct ustep_env env = {
		.arch = sframe_arch(SFRAME_ABI_AMD64), .read = read_stack,
		.get_reg = get_reg, .read_code = read_code, .ctx = t,
	};
	u64 fp_slot = 0;
	struct ustep s;

	/* one row, for an instruction that runs */
	if (space_shift && space_shift_row(t->space, t->regs.rip))
		space_shift = NULL;
	ustep_init(&s, t->regs.rip, t->regs.rsp, t->regs.rbp);
	walk.nr = 0;
	do {
		walk.ip[walk.nr] = s.ip;
		walk.flags[walk.nr] = s.flags;
		walk.fp[walk.nr] = s.fp;
		walk.fp_slot[walk.nr] = fp_slot;
		walk.sp[walk.nr++] = s.sp;
		/* as the kernel: tables are right for the thread that called clone() */
		if (t->stack_start && s.sp - t->stack_start <= 16)
			walk.ret = USTEP_OUTERMOST;
		else
			walk.ret = step(&s, &env, t->space, &fp_slot);
	} while (!walk.ret && walk.nr < MAX_FRAMES);
	walk.pc = ustep_pc(&s);
}

/* ----------------------------- where it stops ---------------------------- */

static struct place {
	char *what;
	u64 nr;
} *places;
static unsigned int nr_places;

static void count_place(struct task *t, const char *kind, u64 pc, int ret)
{
	char what[600];
	unsigned int i;

	snprintf(what, sizeof(what), "%s: %s%s%s", kind,
		 space_name(t->space, pc, ret && ret != -ENOENT && ret != -ESRCH),
		 ret ? ": " : "", !ret ? "" : ret == -ENOENT ? "hole" :
		 ret == -ESRCH ? "not covered" :
		 ret == -ENODATA && walk.reg == DWARF_RBX ? "register unknown (by rbx)" :
		 ret < 0 ? strerror(-ret) : "outermost");
	for (i = 0; i < nr_places && strcmp(places[i].what, what); i++)
		;
	if (i == nr_places) {
		if (!(i % 64))
			places = realloc(places, (i + 64) * sizeof(*places));
		places[nr_places++] = (struct place) { .what = strdup(what) };
	}
	places[i].nr++;
}

/* ------------------------------- comparing ------------------------------ */

static u64 shadow_ip(const struct task *t, unsigned int i)
{
	return i ? t->shadow.frame[t->shadow.nr - i].addr : t->regs.rip;
}

static void print_wrong(struct task *t, const u64 *ip, unsigned int nr, const char *why)
{
	unsigned int i, frames = t->shadow.nr + 1;
	u64 want;

	if (counts.wrong++ >= MAX_PRINTED)
		return;
	printf("wrong (%s), after %" PRIu64 " steps, walk and shadow:\n", why, counts.steps);
	for (i = 0; (i < nr || i < frames) && i < 40; i++) {
		want = i < frames ? shadow_ip(t, i) : 0;
		printf("  %2u %16" PRIx64 " %16" PRIx64 " %s", i, i < nr ? ip[i] : 0, want,
		       i < nr ? space_name(t->space, ip[i], true) : "-");
		if (i >= nr || ip[i] != want)
			printf(" | %s", want ? space_name(t->space, want, true) : "-");
		printf("\n");
	}
}

static void drop_early(struct task *t, unsigned int i)
{
	free(t->early[i].ip);
	t->early[i] = t->early[--t->nr_early];
}

/* How @ip goes with frame @i of the shadow */
enum match { DIFFERS, SAME, REWRITTEN };

static enum match match(const struct task *t, unsigned int i, u64 ip)
{
	const struct frame *f;

	if (ip == shadow_ip(t, i))
		return SAME;
	if (!i)
		return DIFFERS;
	f = &t->shadow.frame[t->shadow.nr - i];
	if (f->kind != FRAME_CALL || !ip || space_word(t->space, f->slot) != ip)
		return DIFFERS;
	return REWRITTEN;
}

enum verdict { WRONG, RIGHT, MADE_UP };

/* Compare the walk @ip with the shadow stack; @whole: the walk says that it reached the end. */
static enum verdict judge(struct task *t, const u64 *ip, unsigned int nr, bool whole)
{
	unsigned int i, frames = t->shadow.nr + 1;
	enum verdict differs = WRONG;
	enum match m;

	for (i = 0; i < nr && i < frames; i++) {
		m = match(t, i, ip[i]);
		if (m == DIFFERS)
			return differs;
		if (m == REWRITTEN)
			differs = MADE_UP;
	}
	return i < nr || (whole && nr < frames) ? differs : RIGHT;
}

/* Is the stack now as the walk @e said before? */
static enum verdict came_true(struct task *t, const struct early *e)
{
	enum verdict v = e->nr > 1 ? judge(t, e->ip + 1, e->nr - 1, e->whole) : WRONG;

	if (v == WRONG && e->nr > 1 && e->ip[1] == t->regs.rip)
		return MADE_UP;
	return v;
}

static void check_early(struct task *t, const struct change *c)
{
	bool too_late = c->call || c->signal || c->sigreturn || (c->ret && !c->odd);
	unsigned int i;

	for (i = t->nr_early; i--; ) {
		struct early *e = &t->early[i];
		enum verdict v = too_late ? WRONG : came_true(t, e);

		if (v != WRONG) {
			count_place(t, v == RIGHT ? "early" : "made up", e->ip[0], 0);
			*(v == RIGHT ? &counts.early : &counts.made_up) += 1;
			drop_early(t, i);
		} else if (too_late || ++e->age > MAX_AGE) {
			print_wrong(t, e->ip, e->nr, "and it did not become true");
			drop_early(t, i);
		}
	}
}

static void maybe_early(struct task *t)
{
	struct early *e = &t->early[t->nr_early];

	if (t->nr_early == MAX_EARLY || walk.nr < 2) {
		print_wrong(t, walk.ip, walk.nr, "now");
		return;
	}
	*e = (struct early) { .nr = walk.nr, .whole = walk.ret == USTEP_OUTERMOST };
	e->ip = malloc(walk.nr * sizeof(*e->ip));
	memcpy(e->ip, walk.ip, walk.nr * sizeof(*e->ip));
	t->nr_early++;
}

/* Remember where a right walk found the frame pointers. */
static void learn_fp(struct task *t)
{
	unsigned int i;
	struct frame *f;

	for (i = 1; i < walk.nr && i <= t->shadow.nr; i++) {
		f = &t->shadow.frame[t->shadow.nr - i];
		if (walk.fp[i] == f->fp)
			f->fp_slot = walk.fp_slot[i];
		else
			counts.other_fp++;
	}
}

/*
 * Has the program changed a saved frame pointer since it was read right from the same place? The
 * unwinder of exceptions does, before it leaves.
 */
static bool fp_rewritten(struct task *t)
{
	const struct frame *f;
	unsigned int i;

	for (i = 1; i < walk.nr && i <= t->shadow.nr; i++) {
		f = &t->shadow.frame[t->shadow.nr - i];
		if (match(t, i, walk.ip[i]) == DIFFERS)
			return false;
		if (walk.fp[i] != f->fp)
			return f->fp_slot && f->fp_slot == walk.fp_slot[i];
	}
	return false;
}

static void compare(struct task *t)
{
	unsigned int frames = t->shadow.nr + 1;
	enum verdict v = judge(t, walk.ip, walk.nr, walk.ret == USTEP_OUTERMOST);

	counts.walks++;
	if (v == RIGHT)
		learn_fp(t);
	if ((v == WRONG || (walk.ret < 0 && walk.ret != -ENOENT && walk.ret != -ESRCH)) &&
	    fp_rewritten(t))
		v = MADE_UP;
	if (v == WRONG) {
		maybe_early(t);
	} else if (v == MADE_UP) {
		counts.made_up++;
		count_place(t, "made up", t->regs.rip, 0);
	} else if (walk.nr < frames) {
		counts.stopped++;
		count_place(t, "stopped", walk.pc, walk.ret);
	} else if (walk.ret == USTEP_OUTERMOST) {
		counts.complete++;
	} else {
		counts.at_end++;
		count_place(t, "at the end", walk.pc, walk.ret);
	}
	if (frames > counts.deepest)
		counts.deepest = frames;
}

void verdict(struct task *t, const struct change *change)
{
	const struct user_regs_struct *r = &t->regs;

	counts.odd_rets += change->ret && change->odd;
	if (t->nr_early)
		check_early(t, change);
	/* one more round of a string instruction */
	if (r->rip == t->last_pc && r->rsp == t->last_sp && r->rbp == t->last_fp)
		return;
	t->last_pc = r->rip;
	t->last_sp = r->rsp;
	t->last_fp = r->rbp;
	take_walk(t);
	compare(t);
}

void verdict_end(struct task *t)
{
	while (t->nr_early) {
		print_wrong(t, t->early[0].ip, t->early[0].nr, "and it was the end");
		drop_early(t, 0);
	}
}

/* ------------------------------- first stack ---------------------------- */

/* Does a call end at @pc? */
static bool is_after_call(struct task *t, u64 pc)
{
	u8 b[8];

	memcpy(b, space_code(t->space, pc - 8), 8);
	if (b[3] == 0xe8)
		return true;
	/* call *REG, *(REG), *OFF8(REG) with and without SIB, *OFF32(REG) and *OFF32(%rip) */
	return (b[6] == 0xff && (b[7] & 0x38) == 0x10) || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[2] == 0xff && (b[3] & 0x38) == 0x10) ||
	       (b[1] == 0xff && (b[2] & 0x38) == 0x10);
}

bool verdict_seed(struct task *t)
{
	unsigned int i;

	take_walk(t);
	if (walk.ret != USTEP_OUTERMOST)
		return false;
	for (i = walk.nr; --i; ) {
		if (walk.flags[i] || !is_after_call(t, walk.ip[i]))
			return false;
		shadow_push(&t->shadow, walk.ip[i], walk.sp[i] - 8, walk.fp[i], FRAME_CALL);
	}
	return true;
}

/* -------------------------------- report -------------------------------- */

bool verdict_report(const char *name, bool all)
{
	u64 good = counts.complete + counts.early;
	unsigned int i;

	printf("%s: %" PRIu64 " steps, %" PRIu64 " walks of up to %" PRIu64 " frames: %" PRIu64
	       " complete, %" PRIu64 " early, %" PRIu64 " made up, %" PRIu64 " at the end, %" PRIu64
	       " stopped, %" PRIu64 " wrong (%" PRIu64 " other frame pointers); %.3f%%\n",
	       name, counts.steps, counts.walks, counts.deepest, counts.complete, counts.early,
	       counts.made_up, counts.at_end, counts.stopped, counts.wrong, counts.other_fp,
	       counts.walks ? 100. * good / counts.walks : 0.);
	for (i = 0; i < nr_places; i++) {
		if (all || strncmp(places[i].what, "early", 5))
			printf("  %8" PRIu64 " %s\n", places[i].nr, places[i].what);
	}
	return !counts.wrong;
}
