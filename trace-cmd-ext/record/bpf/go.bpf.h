/* SPDX-License-Identifier: GPL-2.0 */
/*
 * go.bpf.h - from the stack of a thread back to the stack of its goroutine
 *
 * Go runs its memory management, its scheduler, and C code on the stack of the thread.
 * systemstack() and asmcgocall() change to that stack, call a function, and change back. No row of
 * a table describes how, because no register holds what they need. Here, a walk that comes to such
 * a return address does what the instructions there will do. Their bytes are compared. They say
 * which fields and words they read:
 *
 *	systemstack()	SP of the goroutine, from the current g, its thread and their fields
 *	asmcgocall()	the g and how far SP was from the end of its stack, both in this frame; or
 *			SP itself, if it did not change the stack
 *
 * Then the return address is at SP, or after a saved FP, as the last instructions say. It must be
 * after a call of this function.
 *
 * When C calls Go back, the stack pointer of the goroutine in its fields becomes that of the
 * callback. So a walk leaves systemstack() only once.
 *
 * Source: Go's src/runtime/asm_amd64.s.
 */
#ifndef TRACE_USTACK_RECORD_BPF_GO_H
#define TRACE_USTACK_RECORD_BPF_GO_H

#include "step.bpf.h"

#define GO_CODE_WORDS	7
#define GO_CODE		55		/* bytes of the longest form */
#define GO_SHORT_CODE	13		/* and of the shortest form */
#define GO_FUNCTION	384		/* bytes before its return address, at most */
#define GO_TLS		-8		/* where the current g is, from the thread pointer on */

/* How a function finds SP, and what it then loads from the stack */
struct go_switch {
	enum { GO_NONE, GO_BY_THREAD, GO_BY_DEPTH, GO_BY_SLOT } how;
	/* All of these are less than 128: */
	u32 thread, sp;			/* offsets of fields */
	u32 g, depth;			/* offsets from SP: of the g, and of the depth or SP */
	u32 stack_end;			/* offset of a field */
	u32 goroutine;			/* the same; less than 2^31 */
	bool saves_fp;
};

/* mov %rsi, %rsp; mov %eax, N(%rsp); ret, or pop %rbp; ret. @code: from the first one on */
static __always_inline bool ends_call(u64 code, struct go_switch *s)
{
	s->saves_fp = code >> 56 == 0x5d;
	return (code & 0xffffffffffffull) == 0x244489f48948ull &&
	       (s->saves_fp || code >> 56 == 0xc3);
}

/* The bytes from number @at on, as a word */
#define CODE_AT(code, at)	((code)[(at) / 8] >> (at) % 8 * 8 | \
				 ((at) % 8 ? (code)[(at) / 8 + 1] << (8 - (at) % 8) * 8 : 0))

/* mov %rdi, %fs:-8 */
#define IS_STORE_G(code, at)	(CODE_AT(code, at) == 0xfffff8253c894864ull)

/*
 * asmcgocall(): mov G(%rsp), %rdi; mov END(%rdi), %rsi; sub DEPTH(%rsp), %rsi; mov %rdi, %fs:-8;
 * then as above. The depth can be at SP itself.
 */
static __always_inline bool changes_by_depth(const u64 *code, struct go_switch *s)
{
	s->g = code[0] >> 32 & 0xff;
	s->stack_end = code[1] & 0xff;
	if ((code[0] & 0xffffff80ffffffffull) != 0x778b4800247c8b48ull || s->stack_end >> 7)
		return false;
	if ((u32)CODE_AT(code, 9) == 0x24742b48 && IS_STORE_G(code, 14)) {
		s->depth = code[1] >> 40 & 0xff;
		return !(s->depth >> 7) && ends_call(CODE_AT(code, 23), s);
	}
	s->depth = 0;
	return (u32)CODE_AT(code, 9) == 0x24342b48 && IS_STORE_G(code, 13) &&
	       ends_call(CODE_AT(code, 22), s);
}

/* asmcgocall() on the stack of the thread: mov SLOT(%rsp), %rsi; then as above */
static __always_inline bool changes_by_slot(const u64 *code, struct go_switch *s)
{
	if ((u32)code[0] == 0x24748b48) {
		s->depth = code[0] >> 32 & 0xff;
		return !(s->depth >> 7) && ends_call(CODE_AT(code, 5), s);
	}
	s->depth = 0;
	return (u32)code[0] == 0x24348b48 && ends_call(CODE_AT(code, 4), s);
}

/*
 * systemstack(): mov %fs:-8, %rax; mov THREAD(%rax), %rbx; mov GOROUTINE(%rbx), %rax; mov %rax,
 * %fs:-8; mov SP(%rax), %rsp; movq $0, SP(%rax); ret. Since Go 1.21, it also loads FP, and clears
 * it, and has saved FP.
 */
static __always_inline bool changes_by_thread(const u64 *code, struct go_switch *s)
{
	u64 sp = code[4] & 0xff, fp = code[4] >> 32 & 0xff;

	s->thread = code[1] >> 32 & 0xff;
	s->goroutine = code[2];
	s->sp = sp;
	if (code[0] != 0xfffff825048b4864ull ||
	    (code[1] & 0xffffff80ffffffffull) != 0x838b4800588b48ffull ||
	    code[2] >> 31 != 0x04894864ull << 1 || code[3] != 0x608b48fffffff825ull || sp >> 7)
		return false;
	s->saves_fp = code[4] >> 8 == (0x40c74800688b48ull | fp << 24);
	if (s->saves_fp)
		return code[5] == (0x40c7480000000000ull | sp) &&
		       (code[6] & 0xffffffffffffffull) == (0xc35d0000000000ull | fp);
	return code[4] >> 8 == (sp << 24 | 0x40c748) && (u16)code[5] == 0xc300;
}

static __always_inline void read_switch(u64 ip, struct go_switch *s)
{
	u64 code[GO_CODE_WORDS] = {};

	/* shorter forms may end at the end of a page */
	if (bpf_probe_read_user(code, GO_CODE, (void *)ip) &&
	    bpf_probe_read_user(code, GO_SHORT_CODE, (void *)ip))
		return;
	if (changes_by_thread(code, s))
		s->how = GO_BY_THREAD;
	else if (changes_by_depth(code, s))
		s->how = GO_BY_DEPTH;
	else if (changes_by_slot(code, s))
		s->how = GO_BY_SLOT;
}

static __always_inline u64 load(u64 addr)
{
	u64 word;

	return bpf_probe_read_user(&word, WORD, (void *)addr) ? 0 : word;
}

/* SP after the change; 0: it is not known */
static __always_inline u64 find_sp(const struct walk *w, const struct go_switch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u64 g, goroutine;

	if (s->how == GO_BY_SLOT)
		return load(w->sp + s->depth);
	if (s->how == GO_BY_DEPTH)
		return load(load(w->sp + s->g) + s->stack_end) - load(w->sp + s->depth);
	if (s->how != GO_BY_THREAD || w->switched)
		return 0;
	g = load(task->thread.fsbase + GO_TLS);
	goroutine = load(load(g + s->thread) + s->goroutine);
	return goroutine != g ? load(goroutine + s->sp) : 0;
}

/* Is there a call before @ra whose target is shortly before @ip? */
static __always_inline bool called_from(u64 ra, u64 ip)
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
	    read_word_to(w, &ra, s.saves_fp ? sp + WORD : sp, WORD) || !called_from(ra, w->ip))
		return STEP_WRONG;
	w->switched |= s.how == GO_BY_THREAD;
	w->ip = ra;
	w->sp = sp + (s.saves_fp ? 2 * WORD : WORD);
	w->fp = fp;
	w->frame_flags = 0;
	return STEP_DONE;
}

#endif
