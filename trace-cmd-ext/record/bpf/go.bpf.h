/* SPDX-License-Identifier: GPL-2.0 */
/*
 * go.bpf.h - from the stack of a thread back to the stack of its goroutine
 *
 * Go runs its memory management, its scheduler, and C code on the stack of the thread.
 * systemstack() and asmcgocall() change to that stack, call a function, and change back. No row of
 * a table describes how, because no register holds what they need. Here, a walk that comes to such
 * a return address compares the bytes of the instructions there, and does what they will do. They
 * say which fields and words they read:
 *
 *	systemstack()	SP of the goroutine, from the current g, its thread and their fields
 *	asmcgocall()	the g and how far SP was from the end of its stack, both in this frame; or
 *			SP itself, if it did not change the stack
 *
 * Then the return address is at SP, or after a saved FP, as the last instructions say. It must be
 * after a call of this function.
 *
 * When C calls Go back, systemstack() in the callback changes the stack pointer in the fields of
 * the goroutine. So a walk leaves systemstack() only once, and not after asmcgocall().
 *
 * While a goroutine waits in systemstack(), another thread may move its stack. It sets the stack
 * pointer in the fields before it frees the old stack. So the walk reads that pointer again at its
 * end: if it has changed, the frames after systemstack() are dropped (check_goroutine()).
 *
 * Source: Go's src/runtime/asm_amd64.s.
 */
#ifndef TRACE_USTACK_RECORD_BPF_GO_H
#define TRACE_USTACK_RECORD_BPF_GO_H

#include "mapping.bpf.h"
#include "step.bpf.h"

#define GO_CODE_WORDS	8
#define GO_CODE		55		/* bytes of the longest form */
#define GO_PIC_CODE	45		/* position-independent: the same, after GO_LOAD_TLS */
#define GO_LOAD_TLS	7
#define GO_SHORT_CODE	13		/* and of the shortest form */
#define GO_FUNCTION	384		/* bytes before its return address, at most */

/* How a function finds SP */
enum go_how {
	GO_NONE,			/* it is another function */
	GO_BY_THREAD,			/* from fields of the goroutine */
	GO_BY_DEPTH,			/* from the end of the goroutine's stack */
	GO_BY_SLOT,			/* from its own frame: the stack is the same */
};

struct go_switch {
	enum go_how how;
	/* All of these are less than 128: */
	u32 thread, sp;			/* offsets of fields */
	u32 g, depth;			/* offsets from SP: of the g, and of the depth or SP */
	u32 stack_end;			/* offset of a field */
	u32 goroutine;			/* the same; less than 2^31 */
	u64 tls;			/* where the current g is, from the thread pointer on */
	bool saves_fp;
	u64 field, value;		/* GO_BY_THREAD: where SP was read, and SP */
};

/* The bytes from number @at on, as a word */
#define CODE_AT(code, at)	((code)[(at) / 8] >> (at) % 8 * 8 | \
				 ((at) % 8 ? (code)[(at) / 8 + 1] << (8 - (at) % 8) * 8 : 0))

/*
 * At byte @at: mov %rsi, %rsp; mov %eax, N(%rsp); ret, or pop %rbp; ret. N is the place of the
 * result, after the words that are loaded.
 */
static __always_inline bool ends_call(const u64 *code, const u32 at, struct go_switch *s)
{
	u64 word = CODE_AT(code, at);
	u32 end = CODE_AT(code, at + 7), result = word >> 48 & 0xff;

	s->saves_fp = (u16)end == 0xc35d;
	return (word & 0xffffffffffffull) == 0x244489f48948ull && result >= 2 * WORD &&
	       result < 0x80 && (s->saves_fp || (u8)end == 0xc3);
}

/*
 * An access to the current g: OP %fs:TLS, %REG, where OP is 0x8b (load) or 0x89 (store). In
 * position-independent code, a register has TLS: OP %fs:(%rcx), %REG.
 */
#define G_SIZE(pic)		((pic) ? 4 : 9)
#define G_TLS(code, at)		((s32)CODE_AT(code, (at) + 5))

static __always_inline bool accesses_g(const u64 *code, const u32 at, const u32 op, const u32 reg,
				       const bool pic)
{
	const u32 modrm = reg << 3 | (pic ? 1 : 4);

	return (u32)CODE_AT(code, at) == (0x4864 | op << 16 | modrm << 24) &&
	       (pic || (u8)CODE_AT(code, at + 4) == 0x25);
}

/*
 * asmcgocall(): mov G(%rsp), %rdi; mov END(%rdi), %rsi; sub DEPTH(%rsp), %rsi; the current g is
 * %rdi; then as above. The depth can be at SP itself.
 */
static __always_inline bool changes_by_depth(const u64 *code, struct go_switch *s, const bool pic)
{
	s->g = code[0] >> 32 & 0xff;
	s->stack_end = code[1] & 0xff;
	if ((code[0] & 0xffffff80ffffffffull) != 0x778b4800247c8b48ull || s->stack_end >> 7)
		return false;
	if ((u32)CODE_AT(code, 9) == 0x24742b48 && accesses_g(code, 14, 0x89, 7, pic)) {
		s->depth = code[1] >> 40 & 0xff;
		return !(s->depth >> 7) && ends_call(code, 14 + G_SIZE(pic), s);
	}
	s->depth = 0;
	return (u32)CODE_AT(code, 9) == 0x24342b48 && accesses_g(code, 13, 0x89, 7, pic) &&
	       ends_call(code, 13 + G_SIZE(pic), s);
}

/* asmcgocall() on the stack of the thread: mov SLOT(%rsp), %rsi; then as above */
static __always_inline bool changes_by_slot(const u64 *code, struct go_switch *s)
{
	if ((u32)code[0] == 0x24748b48) {
		s->depth = code[0] >> 32 & 0xff;
		return !(s->depth >> 7) && ends_call(code, 5, s);
	}
	s->depth = 0;
	return (u32)code[0] == 0x24348b48 && ends_call(code, 4, s);
}

/*
 * systemstack(): %rax is the current g; mov THREAD(%rax), %rbx; mov GOROUTINE(%rbx), %rax; the
 * current g is %rax; mov SP(%rax), %rsp; movq $0, SP(%rax); ret. Since Go 1.21, it also loads FP,
 * and clears it, and has saved FP.
 */
static __always_inline bool changes_by_thread(const u64 *code, struct go_switch *s, const bool pic)
{
	const u32 fields = G_SIZE(pic), store = fields + 11, end = store + G_SIZE(pic);
	u64 word = CODE_AT(code, end), fp = word >> 56;

	s->thread = CODE_AT(code, fields) >> 24 & 0xff;
	s->goroutine = CODE_AT(code, fields + 7);
	s->sp = word >> 24 & 0xff;
	if (!accesses_g(code, 0, 0x8b, 0, pic) || !accesses_g(code, store, 0x89, 0, pic) ||
	    (CODE_AT(code, fields) & 0xffffff80ffffffull) != 0x838b4800588b48ull ||
	    s->goroutine >> 31 || (word & 0x80ffffff) != 0x608b48)
		return false;
	if (!pic) {
		s->tls = (s64)G_TLS(code, 0);
		if (G_TLS(code, store) != G_TLS(code, 0))
			return false;
	}
	s->saves_fp = (word >> 32 & 0xffffff) == 0x688b48;
	if (s->saves_fp)
		return CODE_AT(code, end + 8) == (0x40c748ull | (u64)s->sp << 24) &&
		       CODE_AT(code, end + 16) == (0x40c748ull | fp << 24) &&
		       (u16)CODE_AT(code, end + 24) == 0xc35d;
	return CODE_AT(code, end + 4) == (0x40c748ull | (u64)s->sp << 24) &&
	       (u8)CODE_AT(code, end + 12) == 0xc3;
}

/* Returns 0 if the word cannot be read. */
static __always_inline u64 load_word(u64 addr)
{
	u64 word;

	return bpf_probe_read_user(&word, WORD, (void *)addr) ? 0 : word;
}

/*
 * Does the code start with mov $TLS, %rcx? That is so in position-independent programs. Libraries
 * load it from memory.
 */
static __always_inline bool loads_tls(const u64 *code, u64 ip, struct go_switch *s)
{
	s64 operand = (s32)(code[0] >> 24);

	if ((code[0] & 0xffffff) == 0xc1c748)
		s->tls = operand;
	else if ((code[0] & 0xffffff) == 0x0d8b48)
		s->tls = load_word(ip + GO_LOAD_TLS + operand);
	return s->tls;
}

static __always_inline void read_switch(u64 ip, struct go_switch *s)
{
	u64 code[GO_CODE_WORDS] = {};

	/* shorter forms may end at the end of a page */
	if (bpf_probe_read_user(code, GO_CODE, (void *)ip) &&
	    bpf_probe_read_user(code, GO_SHORT_CODE, (void *)ip))
		return;
	if (loads_tls(code, ip, s)) {
		if (bpf_probe_read_user(code, GO_PIC_CODE, (void *)(ip + GO_LOAD_TLS)))
			return;
		if (changes_by_thread(code, s, true))
			s->how = GO_BY_THREAD;
		else if (changes_by_depth(code, s, true))
			s->how = GO_BY_DEPTH;
	} else if (changes_by_thread(code, s, false)) {
		s->how = GO_BY_THREAD;
	} else if (changes_by_depth(code, s, false)) {
		s->how = GO_BY_DEPTH;
	} else if (changes_by_slot(code, s)) {
		s->how = GO_BY_SLOT;
	}
}

/* SP after the change; 0: it is not known */
static __always_inline u64 find_sp(const struct walk *w, struct go_switch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 g, goroutine, end, depth;

	if (s->how == GO_BY_SLOT)
		return load_word(w->sp + s->depth);
	if (s->how == GO_BY_DEPTH) {
		end = load_word(load_word(w->sp + s->g) + s->stack_end);
		depth = load_word(w->sp + s->depth);
		return end && depth ? end - depth : 0;
	}
	if (s->how != GO_BY_THREAD || w->switched)
		return 0;
	g = load_word(get_thread_pointer(task) + s->tls);
	goroutine = load_word(load_word(g + s->thread) + s->goroutine);
	if (!goroutine || goroutine == g)
		return 0;
	s->field = goroutine + s->sp;
	s->value = load_word(s->field);
	return s->value;
}

/* Is there a call before @ra whose target is shortly before @ip? */
static __always_inline bool is_called_from(u64 ra, u64 ip)
{
	u64 code;

	if (bpf_probe_read_user(&code, WORD, (void *)(ra - 8)))
		return false;
	return (u8)(code >> 24) == 0xe8 && ip - (ra + (s32)(code >> 32)) < GO_FUNCTION;
}

/* From systemstack() or asmcgocall() to the caller, which may be on another stack */
__noinline int step_goroutine(struct walk *w)
{
	struct go_switch s = {};
	u64 sp, fp, ra = 0;

	if (!w || w->frame_flags & (FRAME_INNERMOST | FRAME_EXACT))
		return STEP_WRONG;
	read_switch(w->ip, &s);
	sp = find_sp(w, &s);
	if (!sp)
		return STEP_WRONG;
	/* neither code nor these fields are in the trail */
	forget_trail(w);
	fp = w->fp;
	if ((s.saves_fp && read_word_to(w, &fp, sp, WORD)) ||
	    read_word_to(w, &ra, s.saves_fp ? sp + WORD : sp, WORD) || !is_called_from(ra, w->ip))
		return STEP_WRONG;
	w->switched |= s.how != GO_BY_SLOT;
	if (s.how == GO_BY_THREAD) {
		w->go_field = s.field;
		w->go_sp = s.value;
		w->go_nr = w->nr;
	}
	w->ip = ra;
	w->sp = sp + (s.saves_fp ? 2 * WORD : WORD);
	w->fp = fp;
	w->frame_flags = 0;
	return STEP_DONE;
}

/* The walk has ended. If the goroutine's stack has moved, drop the frames that are on it. */
static __always_inline void check_goroutine(struct walk *w)
{
	u64 now = 0;

	if (!w->go_field || (!bpf_probe_read_user(&now, WORD, (void *)w->go_field) &&
			     now == w->go_sp))
		return;
	w->nr = w->go_nr;
	w->flags |= UNWIND_STACK_INCOMPLETE;
	w->reason = MSG_HOLE;
	/* other frames with the same hash are another stack */
	add_hash(w, w->go_field);
}

#endif
