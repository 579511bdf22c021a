// SPDX-License-Identifier: GPL-2.0
/*
 * walk.bpf.c - the programs: at an event, walk the user stack of the task and send it
 *
 * The recorder attaches a copy of on_event() to the tracepoint of each event, with the number of
 * the event in it (events.c). These copies are small. Each of them claims memory, notes the event
 * there, and goes on in walk_stack() by a tail call, so that the kernel verifies the walk only
 * once. The memory knows its owner by the address of the context, which is the same before and
 * after the call and different for each program that runs.
 *
 * A walk takes no locks and no page faults. For each address, it finds the mapping in the maple
 * tree of the process, and the rule in the rows of the mapped file (rule.h). By the rule it finds
 * the next frame, as libunwind-user/sframe/step.c does. The tree can change meanwhile. So the walk
 * uses a mapping only if the mapping belongs to the process and holds the address. A walk that
 * cannot go on says why; it never guesses.
 *
 * All functions that are not static are verified by themselves, whatever their arguments are. They
 * keep their state in map values: the verifier need not follow these through loops.
 *
 *	arch.bpf.h	what the programs must know about the architecture
 *	state.bpf.h	the maps, and what a walk keeps
 *	mapping.bpf.h, find_rule.bpf.h, step.bpf.h	from a frame to the next one
 *	runtimes.bpf.h	the next three, where they are known
 *	go.bpf.h	stacks of goroutines
 *	runtime.bpf.h	JIT code
 *	python.bpf.h	the functions of Python
 *	same.bpf.h	stacks that are still those of earlier walks
 *	send.bpf.h	messages to the recorder
 *	busy.bpf.h	which CPUs run a program that takes locks
 *	task.bpf.h	which tasks are traced, and where their stacks start
 *	count.bpf.h	what the kernel counts: hits of kprobe events, and runs that it skipped
 *	probe.bpf.h	programs for kprobe events and uprobe events
 *	function.bpf.h	the program for kernel functions
 */
#include "busy.bpf.h"
#include "count.bpf.h"
#include "find_rule.bpf.h"
#include "mapping.bpf.h"
#include "runtimes.bpf.h"
#include "same.bpf.h"
#include "send.bpf.h"
#include "state.bpf.h"
#include "step.bpf.h"
#include "task.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* --------------------------------- a walk -------------------------------- */

static __always_inline int end_walk(struct walk *w, u32 flags, u32 reason)
{
	w->flags |= flags;
	if (w->maybe_jit)
		w->flags |= UNWIND_STACK_FRAME_POINTER;
	w->reason = reason;
	return 1;
}

/*
 * Where RA can be in a register, a function without a rule that was interrupted may have the FP of
 * its caller.
 */
static __always_inline bool may_follow_fp(const struct walk *w)
{
	return HAS_FP && (!HAS_LINK_REG || !(w->frame_flags & FRAME_EXACT));
}

/* No table covers the code: it may be a thunk, or switch stacks. Otherwise follow the FP. */
static __always_inline int step_without_rule(struct walk *w, int map, u64 *sp, const u32 size)
{
	int ret = STEP_WRONG;

	if (size == WORD && map >= 0 && get_mapping(w, map)->kind == MAP_NO_FILE) {
		ret = step_thunk(w);
	} else if (size == WORD && map >= 0) {
		ret = step_goroutine(w);
		/* no frame of C is between the two stacks */
		if (ret == STEP_DONE)
			*sp = w->sp;
	}
	if (ret == STEP_WRONG && size == WORD && w->fp < w->sp)
		enter_own_stack(w, map);
	if (ret == STEP_WRONG && may_follow_fp(w))
		ret = size == WORD ? step_fp(w, may_be_jit(w, map)) : step_fp32(w);
	if (ret != STEP_WRONG)
		return ret;
	end_walk(w, UNWIND_STACK_INCOMPLETE, map < 0 ? MSG_NO_MAPPING : MSG_NO_TABLE);
	return STEP_ENDED;
}

/* Go to the caller by the rule for this frame. Sets @sp if the caller is on another stack. */
static __always_inline int step_by_rule(struct walk *w, u32 rule, int map, u64 *sp, const u32 size)
{
	struct full_rule *full;
	u32 number;
	int ret;

	switch (RULE_KIND(rule)) {
	case RULE_SP:
	case RULE_FP:
		return step_plain(w, rule, size);
	case RULE_FULL:
		number = rule >> 2;
		full = bpf_map_lookup_elem(&full_rules, &number);
		if (!full)
			return STEP_WRONG;
		ret = STEP_WRONG;
		if (full->flags & FULL_DOUBTFUL)
			ret = size == WORD ? step_sigreturn(w) : step_sigreturn32(w);
		if (ret == STEP_WRONG) {
			w->rule = *full;
			ret = size == WORD ? step_full(w) : step_full32(w);
		}
		return ret;
	}
	if (rule == rule_make_special(RULE_OUTERMOST))
		return STEP_OUTERMOST;
	if (rule == rule_make_special(RULE_OTHER_ABI)) {
		end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_OTHER_ABI);
		return STEP_ENDED;
	}
	ret = size == WORD ? step_sigreturn(w) : step_sigreturn32(w);
	if (ret == STEP_WRONG && rule == rule_make_special(RULE_UNKNOWN))
		ret = step_without_rule(w, map, sp, size);
	return ret;
}

enum start {
	START_NO,
	START_YES,
	START_MAYBE,			/* this is not known */
};

/*
 * Is this where the stack starts? Nothing is above that. A thread starts after the system call of
 * the thread that made it. The rules there are right for the old thread only. The new thread calls
 * its function from near there. That code may have a frame of at most START_WORDS.
 */
static __always_inline enum start is_start(struct walk *w)
{
	u64 link;

	if (w->sp - w->key.stack_start >= w->key.start_size)
		return START_NO;
	if (w->key.start_ip && w->ip - w->key.start_ip >= START_CODE)
		return START_NO;
	if (!HAS_LINK_REG || !(w->frame_flags & FRAME_EXACT))
		return START_YES;
	/* a call does not move SP: this may be a function without a frame, and the rule knows */
	if (!w->key.start_ip)
		return START_NO;
	/* The function of the thread may be near its start. It would return to there. */
	if (w->ip == w->key.start_ip)
		return START_YES;
	if (read_link(w, &link))
		return START_MAYBE;
	link = strip_ra(w, link);
	return link - w->key.start_ip >= START_CODE || w->ip - link <= START_EXIT ?
	       START_YES : START_MAYBE;
}

/* One frame: note it, and go to its caller. 1: the walk has ended */
static __always_inline int step_frame(struct walk *w, const u32 size)
{
	u32 rule = rule_make_special(RULE_UNKNOWN), nr;
	u32 exact = w->frame_flags & FRAME_EXACT;
	enum start start;
	u64 pc, sp = w->sp;
	int map, ret;

	/* rt_sigreturn() can set such an address; in a stack it stands for a Python function */
	if (w->ip >= MSG_PYTHON_BASE && w->ip < MSG_PYTHON_END)
		return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_NO_MAPPING);
	if (w->trampoline && (w->ip & -PAGE_SIZE) == w->trampoline && find_return(w))
		return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_HOLE);
	pc = w->ip - !exact;
	map = find_mapping(w, pc);
	nr = w->nr;
	if (map < 0 && !(w->frame_flags & FRAME_INNERMOST)) {
		/* No call returns to where no code is: the step that led here was wrong */
		if (w->fp_frame == nr + 1) {
			w->flags &= ~UNWIND_STACK_FRAME_POINTER;
			w->maybe_jit = 0;
		}
		return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_NO_MAPPING);
	}
	if (nr >= MSG_MAX_FRAMES)
		return end_walk(w, UNWIND_STACK_TRUNCATED, MSG_TOO_DEEP);
	w->frame[nr & (MSG_MAX_FRAMES - 1)] = w->ip;
	w->nr = nr + 1;
	add_hash(w, w->ip);

	if (!HAS_32BIT && w->flags & UNWIND_STACK_COMPAT)
		return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_OTHER_ABI);
	start = is_start(w);
	if (start == START_YES)
		return end_walk(w, 0, MSG_OK);
	if (start == START_MAYBE)
		return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_HOLE);
	if (w->maybe_jit && map >= 0 && get_mapping(w, map)->kind != MAP_NO_FILE)
		settle_jit_frames(w, map, pc);
	if (map >= 0) {
		rule = find_rule(w, map, pc);
		if (rule == NO_TABLE)
			return end_walk(w, UNWIND_STACK_INCOMPLETE, MSG_NO_TABLE);
		if (size == WORD && has_python(w, map))
			start_python(w, map);
	}

	ret = step_by_rule(w, rule, map, &sp, size);
	if (ret == STEP_ENDED)
		return 1;
	if (ret == STEP_DONE) {
		w->map_before = map;
		w->pc_before = pc;
		if (w->python.file)
			leave_frame(w, map, sp, exact);
		return 0;
	}
	if (ret == STEP_OUTERMOST)
		return end_walk(w, 0, MSG_OK);
	return end_walk(w, UNWIND_STACK_INCOMPLETE,
			ret == STEP_NOT_READABLE ? MSG_NOT_READABLE : MSG_HOLE);
}

__noinline int walk_frame(struct walk *w)
{
	return w ? step_frame(w, WORD) : 1;
}

struct loop {
	struct walk *w;
};

static long loop_frame(u32 i, struct loop *l)
{
	return walk_frame(l->w) ? 1 : 0;
}

#if HAS_32BIT
__noinline int walk_frame32(struct walk *w)
{
	return w ? step_frame(w, WORD32) : 1;
}

static long loop_frame32(u32 i, struct loop *l)
{
	return walk_frame32(l->w) ? 1 : 0;
}
#endif

/*
 * The registers that user space entered the kernel with. false: there are none, or they do not say
 * where the stack is.
 */
static __always_inline bool start_walk(struct walk *w, struct task_struct *task,
				       struct mm_struct *mm)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	enum user_abi abi;
	u64 start, arg;

	w->flags = 0;
	w->reason = MSG_OK;
	w->nr = 0;
	w->nr_code = 0;
	w->nr_mappings = 0;
	w->last_map = 0;
	w->nr_sig = 0;
	w->fp_frame = 0;
	w->maybe_jit = 0;
	w->switched = 0;
	w->go_field = 0;
	forget_python(w);
	w->hash[0] = 0;
	w->hash[1] = 0;
	w->trail.nr = 0;
	w->trail.nr_windows = 0;
	if (!mm || !regs)
		return false;
	abi = get_user_abi(regs);
	if (abi == USER_UNKNOWN)
		return false;
	if (abi == USER_32)
		w->flags = UNWIND_STACK_COMPAT;
	/*
	 * Between the old program and the new one, registers and memory do not belong together.
	 * find_saved_stack() has the stack then, unless the kernel skipped the program that keeps
	 * it.
	 */
	if (!mm->env_end)
		return false;
	/* claim_walk() has noted where a thread starts */
	w->key.start_size = START_WORDS * WORD + 1;
	if (!w->key.stack_start) {
		start = mm->start_stack;
		arg = mm->arg_start;
		w->key.stack_start = start;
		w->key.start_ip = 0;
		w->key.start_size = arg > start ? arg - start : 0;
	}
	w->key.task = (u64)task;
	w->key.start_time = task->start_time;
	w->key.exec_id = task->self_exec_id | (w->flags & UNWIND_STACK_COMPAT ? IN_COMPAT : 0);
	w->key.mm = (u64)mm;
	w->key.changes = count_changes(mm);
	w->ip = regs->REGS_IP;
	w->sp = regs->REGS_SP;
	w->fp = regs->REGS_FP;
	if (w->flags & UNWIND_STACK_COMPAT) {
		w->ip = (u32)w->ip;
		w->sp = (u32)w->sp;
		w->fp = (u32)w->fp;
	}
	w->key.ip = w->ip;
	w->key.sp = w->sp;
	w->key.fp = w->fp;
#if HAS_LINK_REG
	w->key.link = regs->REGS_LINK;
#endif
#if HAS_SIGNED_RA
	w->signature = find_signature(mm);
#endif
	w->trampoline = find_trampoline(mm);
	w->frame_flags = FRAME_EXACT | FRAME_INNERMOST;
	return true;
}

static __always_inline void note_registers(struct walk *w, struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	if (regs)
		copy_registers(w->reg, regs, w->flags & UNWIND_STACK_COMPAT);
}

/* Walk and send the stack. Its id, or 0 and a reason */
static __always_inline u64 walk_and_send(struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	struct loop loop = { .w = w };
	struct cached_walk *cached;
	u64 id;

	if (!start_walk(w, task, mm) || !mm) {
		w->reason = MSG_NO_REGISTERS;
		return 0;
	}
	cached = claim_cached_walk(w);
	id = cached ? find_same(cached, w) : 0;
	if (id) {
		w->repeated++;
	} else {
		note_registers(w, task);
#if HAS_32BIT
		if (w->flags & UNWIND_STACK_COMPAT)
			bpf_loop(MSG_MAX_FRAMES + 1, loop_frame32, &loop, 0);
		else
#endif
			bpf_loop(MSG_MAX_FRAMES + 1, loop_frame, &loop, 0);
		check_goroutine(w);
		end_python(w);
		id = send_stack(w);
		if (cached)
			cache_walk(cached, w, mm, id);
		if (!id)
			w->reason = MSG_NO_ROOM;
	}
	barrier();
	if (cached)
		cached->busy = 0;
	return id;
}

/* --------------------------------- events -------------------------------- */

/* Indices of the map `programs` */
#define WALK_STACK	0
#define NO_PROGRAM	1

#define SAVE_STACK		0		/* in place of the id of an event: save the stack */

/* Returns false for kernel threads, and for workers of io_uring and vhost. */
static __always_inline bool is_user(struct task_struct *task)
{
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

static __always_inline bool is_traced(const struct control *c, struct task_struct *task,
				      struct task **entry)
{
	u32 pid = task->pid;
	struct task *t;

	if (!is_user(task))
		return false;
	t = bpf_map_lookup_elem(&tasks, &pid);
	*entry = t;
	if (c->all)
		return !t || !(t->flags & TASK_LEFT_OUT);
	return t && t->flags & TASK_TRACED;
}

/* Claim memory for the program with this context, and note where the task's stack starts. */
static __always_inline struct walk *claim_walk(void *ctx, const struct task *entry)
{
	u32 slot = bpf_get_smp_processor_id() * SLOTS_PER_CPU, i, key;
	struct walk *w;

	for (i = 0; i < SLOTS_PER_CPU; i++) {
		key = slot + i;
		w = bpf_map_lookup_elem(&slots, &key);
		if (!w)
			break;
		if (!w->owner && !__sync_val_compare_and_swap(&w->owner, 0, (u64)ctx)) {
			w->time = bpf_ktime_get_ns();
			w->nested = i;
			w->key.stack_start = entry ? entry->stack_start : 0;
			w->key.start_ip = entry ? entry->start_ip : 0;
			return w;
		}
	}
	return NULL;
}

/*
 * Load a pointer field of a task by a helper. For a direct load, the verifier searches all types of
 * the kernel by name, which takes longer than all else in a small program.
 */
#define POINTER(task, field)	((u64)BPF_CORE_READ(task, field))

/*
 * Has the task lost the memory of its stack, or may others write to it by now? The kernel wakes a
 * parent in vfork(), and a thread that joins this one, before it changes task->mm.
 */
static __always_inline bool has_left(const struct saved_stack *saved, struct task_struct *task)
{
	return saved->mm != POINTER(task, mm) || saved->exits ||
	       (saved->vfork && !POINTER(task, vfork_done));
}

/*
 * The stack that was saved for this task, if the task is still in the same entry to the kernel and
 * has left its stack. The registers say whether it is the same entry. Until execve() sets the
 * registers of the new program, the task keeps the registers of its entry. After that, on_exec()
 * stores the new registers. Only this system call can have the new registers: a program that starts
 * is at its first instruction, and no system call starts there. Shortly before on_exec(), the stack
 * pointer and the count of programs are already new. On amd64, the number of the system call is
 * then that of execve() for the new program, which differs between 32-bit and 64-bit programs. On
 * the others, the task has no number any more when a signal ends it because execve() failed too
 * late to return.
 */
static __always_inline struct saved_stack *find_saved_stack(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	u64 key = (u64)task, nr;
	struct saved_stack *saved = bpf_map_lookup_elem(&saved_stacks, &key);
	struct mm_struct *mm;
	bool executes;

	if (!saved || !regs || !has_left(saved, task))
		return NULL;
	mm = (void *)POINTER(task, mm);
	executes = task->self_exec_id == saved->exec_id + 1;
	nr = get_syscall(regs);
	if (saved->ip == regs->REGS_IP && saved->sp == regs->REGS_SP)
		return nr == saved->syscall ||
		       (executes && (is_execve(nr) || (FORGETS_SYSCALL && nr == NO_SYSCALL))) ?
		       saved : NULL;
	return executes && mm && (nr == saved->syscall || is_execve(nr)) &&
	       regs->REGS_SP == BPF_CORE_READ(mm, start_stack) ? saved : NULL;
}

/* execve() has returned: forget the stack that was saved for it. */
static __always_inline void drop_saved_stack(struct task_struct *task, struct task *entry)
{
	u64 key = (u64)task;
	struct saved_stack *saved = bpf_map_lookup_elem(&saved_stacks, &key);

	if (!saved || saved->exec_id != task->self_exec_id || saved->mm == POINTER(task, mm))
		return;
	bpf_map_delete_elem(&saved_stacks, &key);
	entry->flags &= ~TASK_SAVED_STACK;
}

/* Note that this task may have a saved stack, or that a task that has one may take over its ID. */
static __always_inline void note_saved_stack(u32 pid, u64 start_time)
{
	struct task *t = bpf_map_lookup_elem(&tasks, &pid), new = {};

	if (t)
		new = *t;
	else
		new.start_time = start_time;
	new.flags |= TASK_SAVED_STACK;
	bpf_map_update_elem(&tasks, &pid, &new, BPF_ANY);
}

/* @exits: the task ends, even if the kernel has not marked it yet */
static __always_inline void store_saved_stack(u64 stack, u32 reason, bool exits)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct saved_stack new = { .stack = stack, .reason = reason };
	u32 pid = task->pid, tgid = task->tgid;
	u64 key = (u64)task;

	if (!regs)
		return;
	new.ip = regs->REGS_IP;
	new.sp = regs->REGS_SP;
	new.syscall = get_syscall(regs);
	new.mm = POINTER(task, mm);
	new.vfork = POINTER(task, vfork_done) != 0;
	new.exits = exits || (task->flags & PF_EXITING);
	new.exec_id = task->self_exec_id;
	if (bpf_map_update_elem(&saved_stacks, &key, &new, BPF_ANY) || task->flags & PF_EXITING)
		return;
	note_saved_stack(pid, task->start_time);
	/* A thread that executes a program takes the number of its process */
	if (tgid != pid)
		note_saved_stack(tgid, BPF_CORE_READ(task, group_leader, start_time));
}

/* The stack that was saved for this task; NULL: its stack has to be walked */
static __always_inline struct saved_stack *get_saved_stack(struct task_struct *task,
							   struct task *entry)
{
	bool may = entry && entry->flags & TASK_SAVED_STACK;
	struct saved_stack *saved = may || task->flags & PF_EXITING ? find_saved_stack(task) : NULL;

	if (may && !saved)
		drop_saved_stack(task, entry);
	return saved;
}

/* Send the saved stack, or continue in the walk program of @next with this program's type. */
static __always_inline void start_walk_program(void *ctx, struct control *c,
					       struct task_struct *task, struct task *entry,
					       const struct origin *origin, void *next)
{
	struct saved_stack *saved;
	struct walk *w;

	mark_busy();
	saved = get_saved_stack(task, entry);
	if (saved) {
		send_event(c, origin, saved->stack, saved->reason, 0);
		unmark_busy();
		return;
	}
	w = claim_walk(ctx, entry);
	if (w) {
		w->origin = *origin;
		bpf_tail_call(ctx, next, WALK_STACK);
		w->owner = 0;
	}
	send_event(c, origin, 0, MSG_BUSY, 0);
	unmark_busy();
}

/* The end of start_walk_program() or save_by_tracepoint(), as a program. @next: their map */
static __always_inline void finish_walk_program(void *ctx, void *next)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	u32 slot = bpf_get_smp_processor_id() * SLOTS_PER_CPU, i, key;
	struct walk *w = NULL;
	u64 id;

	for (i = 0; i < SLOTS_PER_CPU; i++) {
		key = slot + i;
		w = bpf_map_lookup_elem(&slots, &key);
		if (w && w->owner == (u64)ctx)
			break;
	}
	if (!c || !w || i == SLOTS_PER_CPU) {
		/*
		 * Never reached; the program only needs to have a tail call. Since 6.13, a program
		 * without one has one stack for each CPU. To protect that stack, the kernel keeps a
		 * program from interrupting itself, but not the target of a tail call.
		 */
		skip_number();
		unmark_busy();
		bpf_tail_call(ctx, next, NO_PROGRAM);
		return;
	}
	id = walk_and_send(w);
	if (w->origin.event == SAVE_STACK)
		store_saved_stack(id, w->reason, false);
	else
		send_event(c, &w->origin, id, w->reason, w->nested ? 0 : w->time);
	w->owner = 0;
	unmark_busy();
}

SEC("raw_tp")
int walk_stack(struct bpf_raw_tracepoint_args *ctx)
{
	finish_walk_program(ctx, &programs);
	return 0;
}

/* Walk for a program that runs before the record. @next: see start_walk_program() */
static __always_inline void start_walk_before_record(void *ctx, void *next)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *task = bpf_get_current_task_btf();
	struct origin origin = {};
	struct task *entry;
	u32 counter;

	asm volatile("%0 = %1" : "=r"(origin.event) : "i"(EVENT_ID));
	asm volatile("%0 = %1" : "=r"(counter) : "i"(COUNTER));
	if (!c || !c->on || !is_traced(c, task, &entry))
		return;
	note_skipped(&origin, counter);
	start_walk_program(ctx, c, task, entry, &origin, next);
}

SEC("raw_tp")
int on_event(struct bpf_raw_tracepoint_args *ctx)
{
	start_walk_before_record(ctx, &programs);
	return 0;
}

static __always_inline void on_syscall(void *ctx, bool enter)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *task;
	struct pt_regs *regs;
	struct origin origin = {};
	struct task *entry;
	u64 nr;

	if (!c || !c->on)
		return;
	task = bpf_get_current_task_btf();
	/* ftrace has no events for system calls of 32-bit programs */
	if (in_compat_syscall(task) || !is_traced(c, task, &entry))
		return;
	regs = (void *)bpf_task_pt_regs(task);
	if (!regs)
		return;
	nr = get_syscall(regs);
	if (nr >= MAX_SYSCALLS)
		return;
	origin.event = enter ? c->enter[nr] : c->exit[nr];
	if (!origin.event)
		return;
	note_skipped(&origin, enter ? COUNTER_ENTER : COUNTER_EXIT);
	start_walk_program(ctx, c, task, entry, &origin, &programs);
}

SEC("raw_tp/sys_enter")
int on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	on_syscall(ctx, true);
	return 0;
}

SEC("raw_tp/sys_exit")
int on_sys_exit(struct bpf_raw_tracepoint_args *ctx)
{
	on_syscall(ctx, false);
	return 0;
}

/* -------------------------------- samples -------------------------------- */

#define FL_IRQS_OFF	0x01		/* TRACE_FLAG_* of the kernel */
#define FL_HARDIRQ	0x08
#define FL_SOFTIRQ	0x10
#define FL_NMI		0x40
#define FL_BH_OFF	0x80

/* Send what the current task does, with both stacks. @c: NULL is allowed */
static __always_inline void take_sample(void *ctx, struct control *c, u32 event, u32 flags, u64 ip,
					u64 parent_ip)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task *entry = NULL;
	bool user = is_user(task);
	u32 reason = MSG_OK;
	struct saved_stack *saved;
	struct walk *w;
	u64 stack = 0;

	if (!c || !(user ? is_traced(c, task, &entry) : c->all))
		return;
	w = claim_walk(ctx, entry);
	if (!w) {
		__sync_fetch_and_add(&c->lost, 1);
		return;
	}
	saved = user ? get_saved_stack(task, entry) : NULL;
	if (saved) {
		stack = saved->stack;
		reason = saved->reason;
	} else if (user && flags & FL_NMI) {
		/* The kernel may be saving the registers of user space */
		reason = MSG_NO_REGISTERS;
	} else if (user) {
		stack = walk_and_send(w);
		reason = w->reason;
	}
	w->sample.flags = flags;
	w->sample.ip = ip;
	w->sample.parent_ip = parent_ip;
	send_sample(ctx, c, w, event, stack, reason);
	w->owner = 0;
}

/*
 * The timer of a CPU runs this, in an interrupt. Interrupts are off while the kernel saves or
 * restores the registers of user space, so these are whole here.
 */
SEC("perf_event")
int on_sample(void *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);

	if (c && c->sampling)
		take_sample(ctx, c, c->sample, FL_HARDIRQ | FL_IRQS_OFF, 0, 0);
	return 0;
}

#include "function.bpf.h"
#include "probe.bpf.h"

/* ------------------------ before the memory goes away -------------------- */

/*
 * A task that executes a program or ends loses its memory before its last events in this entry to
 * the kernel. So one of these programs saves its stack. The tracepoints are in the right place on
 * new kernels only: sched_prepare_exec since 6.10, sched_process_exit since 6.16. On older ones the
 * recorder attaches programs to functions.
 */
static __always_inline bool has_nothing_to_save(struct task **entry)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct task_struct *task = bpf_get_current_task_btf();

	if (!c || !c->on || !is_traced(c, task, entry) || !POINTER(task, mm))
		return true;
	/* A failed execve() may already have saved it; the memory may then be another program's. */
	return find_saved_stack(task);
}

static __always_inline void save_by_tracepoint(void *ctx)
{
	struct task *entry;
	struct walk *w;

	if (has_nothing_to_save(&entry))
		return;
	mark_busy();
	w = claim_walk(ctx, entry);
	if (w) {
		w->origin.event = SAVE_STACK;
		bpf_tail_call(ctx, &programs, WALK_STACK);
		w->owner = 0;
	}
	store_saved_stack(0, MSG_BUSY, false);
	unmark_busy();
}

SEC("raw_tp/sched_prepare_exec")
int on_prepare_exec(struct bpf_raw_tracepoint_args *ctx)
{
	save_by_tracepoint(ctx);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	save_by_tracepoint(ctx);
	return 0;
}

static __always_inline void save_by_function(void *ctx, bool exits)
{
	struct task *entry;
	struct walk *w;
	u64 id;

	if (has_nothing_to_save(&entry))
		return;
	mark_busy();
	w = claim_walk(ctx, entry);
	if (w) {
		id = walk_and_send(w);
		store_saved_stack(id, w->reason, exits);
		w->owner = 0;
	} else {
		store_saved_stack(0, MSG_BUSY, exits);
	}
	unmark_busy();
}

SEC("fentry/begin_new_exec")
int on_begin_new_exec(void *ctx)
{
	save_by_function(ctx, false);
	return 0;
}

SEC("fentry/do_exit")
int on_do_exit(void *ctx)
{
	save_by_function(ctx, true);
	return 0;
}

/* ------------------------------ system calls ----------------------------- */

/* Run by the recorder: which function has which number? */
SEC("raw_tp")
int read_syscalls(struct bpf_raw_tracepoint_args *ctx)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);

	if (c)
		bpf_probe_read_kernel(c->syscall, sizeof(c->syscall), (void *)c->syscall_table);
	return 0;
}
