/* SPDX-License-Identifier: GPL-2.0 */
/*
 * runtimes.bpf.h - Go, JIT code and Python, where the programs know them
 *
 * The three headers read code of amd64, or the thread pointer that the kernel of amd64 has in
 * memory. On other architectures no runtime is known. There a walk shows no functions of Python. On
 * arm64, it follows frame records through code without a table, which marks the stack. SP is then
 * unknown, so the walk ends at the next function whose rule needs it.
 */
#ifndef TRACE_USTACK_RECORD_BPF_RUNTIMES_H
#define TRACE_USTACK_RECORD_BPF_RUNTIMES_H

#include "mapping.bpf.h"
#include "step.bpf.h"
#if HAS_RUNTIMES
#include "go.bpf.h"
#include "python.bpf.h"
#include "runtime.bpf.h"
#else

static __always_inline int step_thunk(struct walk *w)
{
	return STEP_WRONG;
}

static __always_inline int step_goroutine(struct walk *w)
{
	return STEP_WRONG;
}

static __always_inline void check_goroutine(struct walk *w)
{
}

static __always_inline void enter_own_stack(struct walk *w, s64 i)
{
}

static __always_inline int may_be_jit(struct walk *w, s64 i)
{
	return 0;
}

static __always_inline void settle_jit_frames(struct walk *w, s64 i, u64 pc)
{
}

static __always_inline void forget_python(struct walk *w)
{
	w->python.file = 0;
	w->python.failed = 0;
}

static __always_inline bool has_python(const struct walk *w, u32 i)
{
	return false;
}

static __always_inline void start_python(struct walk *w, u32 i)
{
}

static __always_inline int get_spans(struct walk *w, u32 file, u64 base)
{
	return 0;
}

static __always_inline void leave_frame(struct walk *w, s64 map, u64 sp, u32 exact)
{
}

static __always_inline void end_python(struct walk *w)
{
}

#endif

#endif
