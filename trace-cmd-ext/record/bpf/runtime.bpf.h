/* SPDX-License-Identifier: GPL-2.0 */
/*
 * runtime.bpf.h - JIT code, where it is known to keep a frame pointer
 *
 * No table covers memory that is in no file, so a walk follows the frame pointer there. Only when
 * the walk comes back to a file, it finds out which runtime compiled the code: see struct runtime.
 * Until then w->maybe_jit is set. The stack is marked if the walk ends earlier, or comes to a file
 * that is not such a runtime.
 */
#ifndef TRACE_USTACK_RECORD_BPF_RUNTIME_H
#define TRACE_USTACK_RECORD_BPF_RUNTIME_H

#include "mapping.bpf.h"
#include "state.bpf.h"
#include "step.bpf.h"

static __always_inline struct runtime *find_runtime(const struct mapping *m)
{
	struct part_key key = { .ino = m->ino, .dev = m->dev };
	struct runtime *r;

	if (m->kind != MAP_FILE)
		return NULL;
	r = bpf_map_lookup_elem(&runtimes, &key);
	if (!r || r->state.size != m->state.size || r->state.mtime != m->state.mtime ||
	    r->state.mtime_nsec != m->state.mtime_nsec)
		return NULL;
	return r;
}

static __always_inline bool is_in(u64 off, const struct file_range *range)
{
	return off >= range->start && off < range->end;
}

static __always_inline bool is_frameless_callee(const struct runtime *r, u64 off)
{
	u32 i;

	for (i = 0; i < MAX_FRAMELESS_CALLEES; i++) {
		if (i >= r->nr_frameless_callees)
			break;
		if (is_in(off, &r->frameless_callee[i]))
			return true;
	}
	return false;
}

/* The mapping of the frame that this frame called. It may have been replaced since: then NULL. */
static __always_inline struct mapping *find_called_mapping(struct walk *w)
{
	struct mapping *m = get_mapping(w, w->map_before);

	if (w->map_before < 0 || w->pc_before < m->start || w->pc_before >= m->end)
		return NULL;
	return m;
}

/*
 * JIT code of Erlang has called a function of the runtime. The function runs on the stack of the
 * thread, and JIT code on the stack of its Erlang process, where FP is. That stack may be below.
 */
__noinline int enter_own_stack(struct walk *w, s64 i)
{
	struct mapping *m;
	struct runtime *r;
	u32 layout = 0;

	if (!w || i < 0 || w->frame_flags & (FRAME_INNERMOST | FRAME_EXACT))
		return 0;
	m = find_called_mapping(w);
	r = m ? find_runtime(m) : NULL;
	if (!r || !r->own_stacks || m == get_mapping(w, i))
		return 0;
	/* what the walk does now depends on this word */
	forget_trail(w);
	if (!bpf_probe_read_user(&layout, sizeof(layout),
				 (void *)(m->start - m->pgoff + r->own_stacks)) && layout == 1)
		w->sp = w->fp;
	return 0;
}

/*
 * Start with the innermost of consecutive JIT frames. Returns false if its function may have no
 * frame of its own.
 */
static __always_inline bool start_jit_frames(struct walk *w)
{
	struct mapping *m = find_called_mapping(w);
	struct runtime *r;

	/* after a thunk, it is not known whether the thunk's caller has a frame pointer */
	if (!m || m->kind == MAP_NO_FILE)
		return false;
	r = find_runtime(m);
	if (r && is_frameless_callee(r, w->pc_before - m->start + m->pgoff))
		return false;
	w->called_dev = r ? m->dev : 0;
	w->called_ino = r ? m->ino : 0;
	w->lowest = w->ip;
	w->highest = w->ip;
	return true;
}

/*
 * May the frame in mapping @i be a frame of JIT code that has called a function? The frame of
 * interrupted code is not: this code may not have made its frame yet, or may have left it already.
 */
__noinline int may_be_jit(struct walk *w, s64 i)
{
	if (!w || i < 0 || w->frame_flags & (FRAME_INNERMOST | FRAME_EXACT) ||
	    get_mapping(w, i)->kind != MAP_NO_FILE)
		return 0;
	if (!w->maybe_jit)
		return start_jit_frames(w);
	if (w->ip < w->lowest)
		w->lowest = w->ip;
	if (w->ip > w->highest)
		w->highest = w->ip;
	return 1;
}

/* Are these frames between the addresses that are in memory at @low and @high? */
static __always_inline bool is_between(const struct walk *w, u64 low, u64 high)
{
	u64 start = 0, end = 0;

	return !bpf_probe_read_user(&start, sizeof(start), (void *)low) &&
	       !bpf_probe_read_user(&end, sizeof(end), (void *)high) &&
	       w->lowest > start && w->highest <= end;
}

struct return_search {
	const struct walk *w;
	u64 to, found;
};

static long compare_return(u32 i, struct return_search *s)
{
	if (i >= s->w->nr)
		return 1;
	s->found = s->w->frame[i & (MSG_MAX_FRAMES - 1)] == s->to;
	return s->found;
}

/* Does no frame return to the address that is in memory at @return_barrier? */
static __always_inline bool is_whole(const struct walk *w, u64 return_barrier)
{
	struct return_search s = { .w = w };

	if (bpf_probe_read_user(&s.to, sizeof(s.to), (void *)return_barrier))
		return false;
	bpf_loop(MSG_MAX_FRAMES, compare_return, &s, 0);
	return !s.found;
}

static __always_inline bool keeps_frames(const struct walk *w, const struct mapping *m, u64 pc)
{
	struct runtime *r = find_runtime(m);
	u64 base = m->start - m->pgoff;
	u8 flag = 0;

	if (!r || !is_in(pc - base, &r->callers))
		return false;
	if (r->calls_itself && (w->called_ino != m->ino || w->called_dev != m->dev))
		return false;
	if (r->low && !is_between(w, base + r->low, base + r->high))
		return false;
	if (r->flag && (bpf_probe_read_user(&flag, sizeof(flag), (void *)(base + r->flag)) ||
			flag != 1))
		return false;
	return !r->return_barrier || is_whole(w, base + r->return_barrier);
}

/* The frame in mapping @i, a file, called JIT code. Mark the stack unless this code keeps frames */
__noinline int settle_jit_frames(struct walk *w, s64 i, u64 pc)
{
	if (!w)
		return 0;
	if (w->frame_flags & FRAME_EXACT || !keeps_frames(w, get_mapping(w, i), pc))
		w->flags |= UNWIND_STACK_FRAME_POINTER;
	w->maybe_jit = 0;
	return 0;
}

#endif
