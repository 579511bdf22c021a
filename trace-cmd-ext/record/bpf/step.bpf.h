/* SPDX-License-Identifier: GPL-2.0 */
/*
 * step.bpf.h - from a frame to its caller, as libunwind-user/sframe/step.c
 *
 * Where programs can be 32-bit programs, each function that reads words of the program exists
 * twice, for words of 8 and of 4 bytes. @size is a constant in each of them. A walk chooses once
 * which of them it uses.
 *
 * Where calls leave RA in a register, only the rule of a frame says whether it is still there. It
 * is known in an innermost frame and in one that a signal interrupted. Calls do not move SP there,
 * and a frame record can be anywhere in its frame: after a step by FP, SP is not known.
 */
#ifndef TRACE_USTACK_RECORD_BPF_STEP_H
#define TRACE_USTACK_RECORD_BPF_STEP_H

#include "state.bpf.h"

/* The result of a step */
enum step {
	STEP_DONE,
	STEP_OUTERMOST,
	STEP_NOT_READABLE,
	STEP_WRONG,			/* the rule cannot be right here */
};

/* An end that step_by_rule() has noted */
#define STEP_ENDED	(STEP_WRONG + 1)
/* The rule is right, and what it needs is not known: there is no other way to go on */
#define STEP_STUCK	(STEP_WRONG + 2)

/* This walk cannot be compared with a later one. */
static __always_inline void forget_trail(struct walk *w)
{
	w->trail.nr = MAX_WORDS + 1;
}

/* Read a word of the stack into w->word. */
__noinline int read_word(struct walk *w, u64 addr)
{
	u64 start = addr & -(u64)WINDOW_SIZE;
	u32 n, i;

	if (!w || addr % WORD)
		return STEP_NOT_READABLE;
	n = w->trail.nr_windows;
	if (!n || start != w->window_start) {
		if (bpf_probe_read_user(w->window, WINDOW_SIZE, (void *)start)) {
			w->window_start = NO_WINDOW;
			return STEP_NOT_READABLE;
		}
		w->window_start = start;
		if (n >= MAX_WINDOWS)
			forget_trail(w);
		w->trail.window[n % MAX_WINDOWS] = start;
		w->trail.nr_windows = ++n;
	}
	i = addr / WORD % WINDOW;
	w->word = w->window[i];
	n = (n - 1) * WINDOW + i;
	i = w->trail.nr;
	if (i < MAX_WORDS) {
		w->trail.at[i % MAX_WORDS] = n;
		w->trail.value[i % MAX_WORDS] = w->word;
	}
	if (i <= MAX_WORDS)
		w->trail.nr = i + 1;
	return STEP_DONE;
}

/* A word of 4 bytes. The trail has the 8 bytes that it is in. */
static __always_inline int read_word32(struct walk *w, u64 addr)
{
	int ret;

	/* a 64-bit process can run 32-bit code, and has memory that this code cannot use */
	if (addr % WORD32 || addr >> 32)
		return STEP_NOT_READABLE;
	ret = read_word(w, addr & -(u64)WORD);
	w->word = addr & WORD32 ? w->word >> 32 : (u32)w->word;
	return ret;
}

static __always_inline int read_word_to(struct walk *w, u64 *to, u64 addr, const u32 size)
{
	int ret = size == WORD ? read_word(w, addr) : read_word32(w, addr);

	*to = w->word;
	return ret;
}

#if !HAS_32BIT
#define NR_REGS32		0
#define get_sig32_offset(reg)	0
#endif

static __always_inline int read_sized_reg(struct walk *w, u32 reg, const u32 size)
{
	u64 addr;

	if (reg >= (size == WORD ? NR_SIG_REGS : NR_REGS32))
		return STEP_WRONG;
	if (w->frame_flags & FRAME_INNERMOST) {
		if (reg >= NR_REGS)
			return STEP_WRONG;
		w->value = w->reg[reg & (REG_SLOTS - 1)];
		/* registers are not in the trail */
		forget_trail(w);
		return STEP_DONE;
	}
	if (w->frame_flags & FRAME_SIGNAL) {
		addr = w->signal_frame;
		addr += size == WORD ? get_sig_offset(reg) : get_sig32_offset(reg);
	} else if (w->frame_flags & (FRAME_KEPT | FRAME_KEPT_AT) && reg == REG_KEPT) {
		addr = w->kept;
		if (w->frame_flags & FRAME_KEPT) {
			w->value = addr;
			return STEP_DONE;
		}
	} else {
		return STEP_WRONG;
	}
	return addr % size ? STEP_WRONG : read_word_to(w, &w->value, addr, size);
}

/* A register other than SP and FP, into w->value */
__noinline int read_reg(struct walk *w, u32 reg)
{
	return w ? read_sized_reg(w, reg, WORD) : STEP_WRONG;
}

#if HAS_32BIT
__noinline int read_reg32(struct walk *w, u32 reg)
{
	return w ? read_sized_reg(w, reg, WORD32) : STEP_WRONG;
}
#else
#define read_reg32(w, reg)	STEP_WRONG
#endif

/* RA of a function that has not saved it */
static __always_inline int read_link(struct walk *w, u64 *ra)
{
#if HAS_LINK_REG
	int ret;

	/* the key of the walk has it, so it needs no place in the trail */
	if (w->frame_flags & FRAME_INNERMOST) {
		*ra = w->key.link;
		return STEP_DONE;
	}
	ret = read_reg(w, REG_LINK);
	*ra = w->value;
	return ret;
#else
	return STEP_WRONG;
#endif
}

/* RA without its signature */
static __always_inline u64 strip_ra(const struct walk *w, u64 ra)
{
#if HAS_SIGNED_RA
	return ra & ~w->signature;
#else
	return ra;
#endif
}

/* Find REG_KEPT in the caller's frame, as flags and @kept, as find_kept_reg() of step.c. */
static __always_inline u64 find_kept_reg(struct walk *w, u64 cfa, u64 *kept)
{
	u32 slot = w->rule.kept;
	u64 known = w->frame_flags & (FRAME_KEPT | FRAME_KEPT_AT);

	if (slot == KEPT_UNKNOWN)
		return 0;
	if (slot != KEPT_IN_REG) {
		*kept = cfa - (u64)slot * WORD;
		return FRAME_KEPT_AT;
	}
	if (known) {
		*kept = w->kept;
		return known;
	}
	if (read_reg(w, REG_KEPT))
		return 0;
	*kept = w->value;
	return FRAME_KEPT;
}

static __always_inline int read_value(struct walk *w, const struct full_value *v, u64 cfa, u64 *to,
				      const u32 size)
{
	u64 value = 0;
	int ret;

	if (v->base == BASE_CFA) {
		value = cfa;
	} else if (v->base == BASE_SP) {
		if (HAS_LINK_REG && w->frame_flags & FRAME_NO_SP)
			return STEP_STUCK;
		value = w->sp;
	} else if (v->base == BASE_FP) {
		value = w->fp;
	} else if (v->base == BASE_REG) {
		ret = size == WORD ? read_reg(w, v->reg) : read_reg32(w, v->reg);
		if (ret)
			return ret;
		value = w->value;
	} else {
		return STEP_WRONG;
	}
	value += (s64)v->off;
	if (v->deref) {
		if (value % size)
			return STEP_WRONG;
		return read_word_to(w, to, value, size);
	}
	*to = value;
	return STEP_DONE;
}

static __always_inline bool is_sp_at(const struct full_value *v, int off)
{
	return v->base == BASE_SP && v->deref && v->off == off && !v->add;
}

/* Set w->signal_frame. Returns whether the rule takes SP, RA and FP from that frame. */
static __always_inline bool find_signal_frame(struct walk *w, const struct full_rule *r,
					      const u32 size)
{
	int at = r->cfa.off - SIG_SP;

#if HAS_32BIT
	if (size == WORD32) {
		at = r->cfa.off - SIG32_SP;
		w->signal_frame = w->sp + at;
		return is_sp_at(&r->cfa, at + SIG32_SP) && is_sp_at(&r->ra, at + SIG32_IP) &&
		       is_sp_at(&r->fp, at + SIG32_FP);
	}
#endif
	w->signal_frame = w->sp + at;
	return is_sig_place(at) && (!SP_OFF || r->flags & FULL_SP) &&
	       is_sp_at(&r->cfa, at + SIG_SP) && is_sp_at(&r->ra, at + SIG_IP) &&
	       is_sp_at(&r->fp, at + SIG_FP);
}

static __always_inline int step_rule(struct walk *w, const u32 size)
{
	u64 cfa = 0, ra = 0, kept = 0, keeps, fp, sp;
	struct full_rule *r = &w->rule;
	bool in_link;
	int ret;

	if (r->ra.base == BASE_UNDEFINED)
		return STEP_OUTERMOST;
	in_link = HAS_LINK_REG && r->ra.base == BASE_SAME;
	if (r->cfa.base == BASE_CFA || r->cfa.base == BASE_SAME ||
	    (r->ra.base == BASE_SAME && !in_link))
		return STEP_WRONG;
	ret = read_value(w, &r->cfa, 0, &cfa, size);
	if (ret)
		return ret;
	cfa += r->cfa.add;
	sp = r->flags & FULL_SP ? cfa : cfa + SP_OFF;
	if (sp <= w->sp && !(r->flags & FULL_SIGNAL)) {
		/* The function has no frame yet: RA can only be saved in the caller's frame */
		if (sp < w->sp || !(w->frame_flags & FRAME_EXACT) ||
		    (r->ra.base == BASE_CFA && cfa + (s64)r->ra.off < w->sp))
			return STEP_WRONG;
	}
	if (sp % size)
		return STEP_WRONG;
	ret = in_link ? read_link(w, &ra) : read_value(w, &r->ra, cfa, &ra, size);
	if (ret)
		return ret;
	if (r->flags & FULL_SIGNED_RA)
		ra = strip_ra(w, ra);
	fp = w->fp;
	if (r->fp.base != BASE_SAME) {
		ret = read_value(w, &r->fp, cfa, &fp, size);
		if (ret)
			return ret;
	}
	if (!ra)
		return STEP_OUTERMOST;
	if (r->flags & FULL_SIGNAL) {
		if (w->nr_sig && ra == w->seen_ip && sp == w->seen_sp)
			return STEP_WRONG;
		w->nr_sig++;
		if (!(w->nr_sig & (w->nr_sig - 1))) {
			w->seen_ip = ra;
			w->seen_sp = sp;
		}
		w->frame_flags = FRAME_EXACT;
		if (find_signal_frame(w, r, size))
			w->frame_flags |= FRAME_SIGNAL;
	} else {
		keeps = size == WORD ? find_kept_reg(w, cfa, &kept) : 0;
		w->kept = kept;
		w->frame_flags = keeps;
	}
	w->ip = ra;
	w->sp = sp;
	w->fp = fp;
	return STEP_DONE;
}

/* A rule that does not fit 32 bits, in w->rule */
__noinline int step_full(struct walk *w)
{
	return w ? step_rule(w, WORD) : STEP_WRONG;
}

#if HAS_32BIT
__noinline int step_full32(struct walk *w)
{
	return w ? step_rule(w, WORD32) : STEP_WRONG;
}
#else
#define step_full32(w)		STEP_WRONG
#endif

#if !HAS_LINK_REG
static __always_inline int step_plain(struct walk *w, u32 rule, const u32 size)
{
	u64 cfa = RULE_KIND(rule) == RULE_SP ? w->sp : w->fp, fp_off, fp, ra = 0;
	int ret;

	cfa += (s64)((s32)rule >> 9) * size;
	if (cfa <= w->sp &&
	    (cfa < w->sp || !(w->frame_flags & FRAME_EXACT) || cfa - size < w->sp))
		return STEP_WRONG;
	if (cfa % size)
		return STEP_WRONG;
	fp_off = (rule >> 2 & RULE_MAX_FP) * size;
	fp = w->fp;
	ret = fp_off ? read_word_to(w, &fp, cfa - fp_off, size) : 0;
	if (!ret)
		ret = read_word_to(w, &ra, cfa - size, size);
	if (ret)
		return ret;
	if (!ra)
		return STEP_OUTERMOST;
	w->fp = fp;
	w->ip = ra;
	w->sp = cfa;
	w->frame_flags = 0;
	return STEP_DONE;
}
#endif

/* Make the rule of a signal frame that has SP, IP and FP at these offsets from SP. */
static __always_inline void set_signal_rule(struct walk *w, s64 sp, s64 ip, s64 fp)
{
	__builtin_memset(&w->rule, 0, sizeof(w->rule));
	w->rule.cfa.base = BASE_SP;
	w->rule.cfa.deref = 1;
	w->rule.cfa.off = sp;
	w->rule.ra.base = BASE_SP;
	w->rule.ra.deref = 1;
	w->rule.ra.off = ip;
	w->rule.fp.base = BASE_SP;
	w->rule.fp.deref = 1;
	w->rule.fp.off = fp;
	w->rule.flags = FULL_SIGNAL | FULL_SP;
}

/* Return to the code that a signal interrupted. @at: where its registers are, from SP on */
static __always_inline int leave_signal_frame(struct walk *w, s64 at)
{
	set_signal_rule(w, at + SIG_SP, at + SIG_IP, at + SIG_FP);
	return step_full(w);
}

#if !HAS_LINK_REG
/* Without a row, the instructions identify the code that returns from a signal handler. */
__noinline int step_sigreturn(struct walk *w)
{
	int found;

	if (!w)
		return STEP_WRONG;
	/* code is not in the trail */
	forget_trail(w);
	found = is_sigreturn(w->ip, w->frame_flags & FRAME_EXACT);
	return found > 0 ? leave_signal_frame(w, get_sig_place(found)) : STEP_WRONG;
}
#else
/*
 * Where RA is still in the link register, the rule can be that of other code, which is before the
 * code that returns from a signal handler. So the instructions say first what it is, as
 * is_doubtful() of step.c. They need no place in the trail: each rule of a file is for the code
 * that the file has.
 */
__noinline int step_sigreturn_in_file(struct walk *w)
{
	int ret;

	if (!w)
		return STEP_WRONG;
	ret = is_sigreturn(w->ip, w->frame_flags & FRAME_EXACT);
	if (ret <= 0)
		return ret ? STEP_NOT_READABLE : STEP_WRONG;
	ret = leave_signal_frame(w, get_sig_place(ret));
	/* it is no other code */
	return ret == STEP_WRONG ? STEP_STUCK : ret;
}

static __always_inline int step_sigreturn(struct walk *w)
{
	/* code is not in the trail */
	forget_trail(w);
	return step_sigreturn_in_file(w);
}

static __always_inline int step_plain(struct walk *w, u32 rule, const u32 size)
{
	u64 cfa = RULE_KIND(rule) == RULE_SP ? w->sp : w->fp, sp, fp = w->fp, ra = 0, at;
	u32 fp_off = (rule >> 2 & RULE_MAX_FP) * WORD;
	int ret;

	if (!fp_off) {
		ret = step_sigreturn_in_file(w);
		if (ret != STEP_WRONG)
			return ret;
	}
	if (RULE_KIND(rule) == RULE_SP && w->frame_flags & FRAME_NO_SP)
		return STEP_STUCK;
	cfa += (s64)((s32)rule >> 10) * WORD;
	at = cfa - fp_off;
	sp = cfa + SP_OFF;
	if (sp <= w->sp && (sp < w->sp || !(w->frame_flags & FRAME_EXACT) ||
			    (fp_off && at + RULE_RA_AFTER_FP < w->sp)))
		return STEP_WRONG;
	if (sp % WORD)
		return STEP_WRONG;
	if (fp_off) {
		ret = !HAS_SIGNED_RA && rule & RULE_RA_ONLY ? 0 : read_word_to(w, &fp, at, WORD);
		if (!ret)
			ret = read_word_to(w, &ra, at + RULE_RA_AFTER_FP, WORD);
	} else {
		ret = read_link(w, &ra);
	}
	if (ret)
		return ret;
	if (HAS_SIGNED_RA && rule & RULE_SIGNED_RA)
		ra = strip_ra(w, ra);
	if (!ra)
		return STEP_OUTERMOST;
	w->fp = fp;
	w->ip = ra;
	w->sp = sp;
	w->frame_flags = 0;
	return STEP_DONE;
}
#endif

#if HAS_32BIT
/* mov $173, %eax; int $0x80, and pop %eax; mov $119, %eax; int $0x80 */
#define RT_CODE32	0x80cd000000adb8ull
#define RT_MASK32	0xffffffffffffffull
#define RT_SC32		160
#define SIG_CODE32	0x80cd00000077b858ull

/* How far above SP is the sigcontext? Less than 0: this is other code */
static __always_inline int find_sigcontext(struct walk *w)
{
	u64 code[2] = {}, before, from;

	if (bpf_probe_read_user(code, sizeof(code), (void *)(w->ip - 8)) &&
	    bpf_probe_read_user(&code[1], 8, (void *)w->ip))
		return -1;
	before = code[0];
	from = code[1];
	if ((from & RT_MASK32) == RT_CODE32)
		return RT_SC32;
	if (from == SIG_CODE32)
		return WORD32;
	if (!(w->frame_flags & FRAME_EXACT))
		return -1;
	/* rt_sigreturn: at the system call, or after it */
	if (((before >> 24 | from << 40) & RT_MASK32) == RT_CODE32 || before >> 8 == RT_CODE32)
		return RT_SC32;
	/* sigreturn: at the system call, after it, or after the pop */
	if ((before >> 16 | from << 48) == SIG_CODE32 || before == SIG_CODE32 ||
	    (before >> 56 | from << 8) == SIG_CODE32)
		return 0;
	return -1;
}

__noinline int step_sigreturn32(struct walk *w)
{
	int at;

	if (!w)
		return STEP_WRONG;
	/* code is not in the trail */
	forget_trail(w);
	at = find_sigcontext(w);
	if (at < 0)
		return STEP_WRONG;
	set_signal_rule(w, at + SIG32_SP, at + SIG32_IP, at + SIG32_FP);
	return step_full32(w);
}
#else
#define step_sigreturn32(w)	STEP_WRONG
#endif

#if HAS_RUNTIMES
/* sub $n, %rsp; call *REG */
#define THUNK_BEFORE	0xd0ff00ec8348ull
#define THUNK_BEFORE_MASK	0xf8ff00ffffffull
/* add $n, %rsp; ret */
#define THUNK_AFTER	0xc300c48348ull
#define THUNK_AFTER_MASK	0xff00ffffffull
/* push %rbp; mov %rsp, %rbp; call *REG */
#define FP_THUNK_BEFORE	0xd0ffe5894855ull
#define FP_THUNK_BEFORE_MASK	0xf8ffffffffffull
/* pop %rbp; ret */
#define FP_THUNK_AFTER	0xc35dull

/*
 * Returns the bytes between SP and the return address of the function that returns to @ip; -1 if
 * the instructions there do not say it. Sets @frame_pointer if the first 8 bytes are a saved FP.
 */
static __always_inline int find_thunk(u64 ip, bool *frame_pointer)
{
	u64 before = 0, after = 0, n;

	/* the shorter form may end at the end of a page */
	if (bpf_probe_read_user(&before, 6, (void *)(ip - 6)) ||
	    bpf_probe_read_user(&after, 2, (void *)ip))
		return -1;
	*frame_pointer = (before & FP_THUNK_BEFORE_MASK) == FP_THUNK_BEFORE &&
			 after == FP_THUNK_AFTER;
	if (*frame_pointer)
		return WORD;
	if (bpf_probe_read_user(&after, 5, (void *)ip))
		return -1;
	n = after >> 24 & 0xff;
	if ((before & THUNK_BEFORE_MASK) != THUNK_BEFORE || (before >> 24 & 0xff) != n ||
	    (after & THUNK_AFTER_MASK) != THUNK_AFTER || n > 127 || n % WORD)
		return -1;
	return n;
}

/*
 * A function in memory that only calls another one: the perf trampoline of Python. Older ones keep
 * no frame pointer. @ip is a return address in it. The instructions around it say how far away the
 * next return address is.
 */
__noinline int step_thunk(struct walk *w)
{
	u64 cfa, fp, ra = 0;
	bool frame_pointer = false;
	int ret, n;

	if (!w || w->frame_flags & (FRAME_INNERMOST | FRAME_EXACT))
		return STEP_WRONG;
	/* code is not in the trail */
	forget_trail(w);
	n = find_thunk(w->ip, &frame_pointer);
	/* between JIT frames, code with a frame pointer may be JIT code too */
	if (n < 0 || (frame_pointer && w->maybe_jit))
		return STEP_WRONG;
	cfa = w->sp + n + WORD;
	fp = w->fp;
	ret = frame_pointer ? read_word_to(w, &fp, w->sp, WORD) : 0;
	if (!ret)
		ret = read_word_to(w, &ra, cfa - WORD, WORD);
	if (ret)
		return ret;
	if (!ra)
		return STEP_OUTERMOST;
	/* the thunk between JIT frames is not JIT code */
	if (w->maybe_jit)
		w->flags |= UNWIND_STACK_FRAME_POINTER;
	w->sp = cfa;
	w->fp = fp;
	w->ip = ra;
	w->frame_flags = 0;
	return STEP_DONE;
}
#endif

#define MAX_RETURNS	64		/* MAX_URETPROBE_DEPTH */

static __always_inline u64 find_trampoline(struct mm_struct *mm)
{
	struct mm_struct___uprobes *with = (void *)mm;
	u64 page = 0;

	if (bpf_core_field_exists(with->uprobes_state.xol_area) && with->uprobes_state.xol_area)
		page = BPF_CORE_READ(with, uprobes_state.xol_area, vaddr);
	return page;
}

struct return_list {
	struct return_instance *at;
	u64 stack;			/* of the one that is looked for */
	u64 to;
};

static long compare_instance(u32 i, struct return_list *l)
{
	struct return_instance *ri = l->at;

	if (!ri)
		return 1;
	if (BPF_CORE_READ(ri, stack) == l->stack) {
		l->to = BPF_CORE_READ(ri, orig_ret_vaddr);
		return 1;
	}
	l->at = BPF_CORE_READ(ri, next);
	return 0;
}

/*
 * uretprobes have put the address of their trampoline in the place of a return address. The kernel
 * keeps the return address, with the place. 0: w->ip is the return address now
 */
__noinline int find_return(struct walk *w)
{
	struct task_struct___uprobes *task = (void *)bpf_get_current_task();
	struct return_list l = {};

	if (!w || w->frame_flags & (FRAME_INNERMOST | FRAME_EXACT) || w->ip != w->trampoline)
		return 1;
	if (HAS_LINK_REG && w->frame_flags & FRAME_NO_SP)
		return 1;
	/* the word in the trail is the trampoline whatever the return address is */
	forget_trail(w);
	l.at = BPF_CORE_READ(task, utask, return_instances);
	/* SP at the start of the function: a call has pushed RA, or left it in a register */
	l.stack = w->sp;
	if (!HAS_LINK_REG)
		l.stack -= w->flags & UNWIND_STACK_COMPAT ? WORD32 : WORD;
	l.to = w->trampoline;
	bpf_loop(MAX_RETURNS, compare_instance, &l, 0);
	w->ip = strip_ra(w, l.to);
	return w->ip == w->trampoline;
}

static __always_inline int step_by_fp(struct walk *w, const u32 size, u32 compiled)
{
	u64 fp = 0, ra = 0, cfa;
	int ret;

	if (!w->fp) {
		w->flags |= UNWIND_STACK_FRAME_POINTER;
		return STEP_OUTERMOST;
	}
	if (w->fp < w->sp || w->fp % size)
		return STEP_WRONG;
	cfa = w->fp + 2 * size;
	ret = read_word_to(w, &fp, w->fp, size);
	if (!ret)
		ret = read_word_to(w, &ra, w->fp + size, size);
	if (ret)
		return ret;
	if (compiled)
		w->maybe_jit = 1;
	else
		w->flags |= UNWIND_STACK_FRAME_POINTER;
	/* no rule says whether it is signed */
	ra = strip_ra(w, ra);
	if (!ra)
		return STEP_OUTERMOST;
	w->fp = fp;
	w->ip = ra;
	w->sp = cfa;
	w->frame_flags = HAS_LINK_REG ? FRAME_NO_SP : 0;
	if (!w->fp_frame)
		w->fp_frame = w->nr + 1;
	return STEP_DONE;
}

/*
 * Code without any rule: the frame pointer, as unwind_user_next_fp() in the kernel. @compiled: it
 * may be code that keeps one, see runtime.bpf.h
 */
__noinline int step_fp(struct walk *w, u32 compiled)
{
	return w ? step_by_fp(w, WORD, compiled) : STEP_WRONG;
}

#if HAS_32BIT
__noinline int step_fp32(struct walk *w)
{
	return w ? step_by_fp(w, WORD32, 0) : STEP_WRONG;
}
#else
#define step_fp32(w)		STEP_WRONG
#endif

#endif
