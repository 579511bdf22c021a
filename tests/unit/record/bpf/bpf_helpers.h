/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bpf_helpers.h - what the BPF programs take from libbpf's header of this name, for step_arm64.c
 *
 * A test compiles the steps of a walk for this machine. Their memory is that of test_step_bpf.c.
 */
#ifndef TEST_BPF_HELPERS_H
#define TEST_BPF_HELPERS_H

#define SEC(name)
#define __uint(name, val)	int (*name)[val]
#define __type(name, val)	typeof(val) *name
#define __array(name, val)	typeof(val) *name[]
#define __noinline		__attribute__((noinline))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline, unused))
#define barrier()		asm volatile("" ::: "memory")

/* Read memory of the program. 0, or another number if it cannot be read */
int test_read_user(void *to, unsigned int size, unsigned long long from);

#define bpf_probe_read_user(to, size, from) \
	test_read_user(to, size, (unsigned long long)(from))
#define bpf_probe_read_kernel(to, size, from)	((void)(to), (void)(from), 1)
#define bpf_task_pt_regs(task)			((void)(task), NULL)
#define bpf_get_current_task()			NULL
#define bpf_loop(nr, fn, ctx, flags)		((void)(fn), (void)(ctx), 0)

#endif
