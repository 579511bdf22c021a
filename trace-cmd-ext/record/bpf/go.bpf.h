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

#define GO_CODE_WORDS	7
#define GO_CODE		55		/* bytes of the longest form */
#define GO_SHORT_CODE	13		/* and of the shortest form */
#define GO_FUNCTION	384		/* bytes before its return address, at most */
#define GO_TLS		-8		/* where the current g is, from the thread pointer on */

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
		return !(s->depth >> 7) && ends_call(code, 23, s);
	}
	s->depth = 0;
	return (u32)CODE_AT(code, 9) == 0x24342b48 && IS_STORE_G(code, 13) &&
	       ends_call(code, 22, s);
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

/* Returns 0 if the word cannot be read. */
static __always_inline u64 load_word(u64 addr)
{
	u64 word;

	return bpf_probe_read_user(&word, WORD, (void *)addr) ? 0 : word;
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
	g = load_word(task->thread.fsbase + GO_TLS);
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
