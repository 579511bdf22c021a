/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arch_arm64.bpf.h - what the programs must know about arm64, little endian: see arch.bpf.h
 *
 * Sources: as of libunwind-user/sframe/sframe_arm64.h; the kernel's include/linux/preempt.h, and
 * ptrace.h, thread_info.h and pointer_auth.h of arch/arm64/include/asm.
 *
 * A walk of a 32-bit program has one address: its frames depend on the compiler, and on ARM or
 * Thumb.
 */
#ifndef TRACE_USTACK_RECORD_BPF_ARCH_ARM64_H
#define TRACE_USTACK_RECORD_BPF_ARCH_ARM64_H

#define HAS_LINK_REG	1
#define HAS_SIGNED_RA	1
#define HAS_FP		1
#define FORGETS_SYSCALL	1
#define SP_OFF		0
#define RULE_RA_AFTER_FP	RULE_ARM64_RA_AFTER_FP
#define NR_REGS		31
#define NR_SIG_REGS	NR_REGS
#define REG_SLOTS	32
#define REG_LINK	30
#define REG_KEPT	NR_REGS		/* no table says where functions keep a register */

/* After a handler has returned, SP is that of the signal frame. */
#define SIG_REGS	312		/* x0; the others follow */
#define SIG_FP		544
#define SIG_SP		560
#define SIG_IP		568

#define PSR_MODE32	0x10
#define SIGN_BITS_END	(1ull << 55)	/* bits of a signature are lower */
/*
 * NMI_MASK, as kernels have it that count irq_disable(), and as others have it. In the former, the
 * bits of the latter mean that interrupts were switched off 16 times.
 */
#define NMI_BITS_NEW	0x70000000
#define NMI_BITS_OLD	0xf00000

#define REGS_IP		pc
#define REGS_SP		sp
#define REGS_FP		regs[29]
#define REGS_LINK	regs[30]

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
	__s32 syscallno;
};

typedef struct {
	void *vdso;
} mm_context_t;

struct mm_struct___arch {
	unsigned long task_size;
	mm_context_t context;
};

struct thread_info {
	struct {
		__u32 count;
	} preempt;
};

struct task_struct___arch {
	struct thread_info thread_info;
};

#pragma clang attribute pop

static __always_inline enum user_abi get_user_abi(const struct pt_regs *regs)
{
	return regs->pstate & PSR_MODE32 ? USER_32 : USER_64;
}

static __always_inline void copy_registers(u64 *reg, const struct pt_regs *regs, bool compat)
{
	bpf_probe_read_kernel(reg, NR_REGS * sizeof(u64), &regs->regs);
}

static __always_inline u64 get_syscall(const struct pt_regs *regs)
{
	return (s64)regs->syscallno;
}

static __always_inline bool in_compat_syscall(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	return regs && regs->pstate & PSR_MODE32;
}

/* The kernel keeps the number that the old program has called. */
static __always_inline bool is_execve(u64 nr)
{
	return false;
}

static __always_inline u64 get_vdso_start(struct mm_struct *mm)
{
	return (u64)BPF_CORE_READ((struct mm_struct___arch *)mm, context.vdso);
}

/*
 * The bits of a return address that can be its signature: those between the highest address of user
 * space and bit 55, as ptrauth_user_pac_mask() has them
 */
static __always_inline u64 find_signature(struct mm_struct *mm)
{
	u64 size = ((struct mm_struct___arch *)mm)->task_size;

	return size & (size - 1) || size > SIGN_BITS_END ? 0 : SIGN_BITS_END - size;
}

/* The frame of a signal starts at SP. */
static __always_inline bool is_sig_place(s64 at)
{
	return !at;
}

static __always_inline s64 get_sig_place(int found)
{
	return 0;
}

static __always_inline s64 get_sig_offset(u32 reg)
{
	return SIG_REGS + reg * 8;
}

/* mov x8, #139; svc #0 */
#define SIG_CODE	0xd4000001d2801168ull

/* @exact: @ip may be at the system call, or after it. Less than 0: the code cannot be read */
static __always_inline int is_sigreturn(u64 ip, bool exact)
{
	u64 code[2] = {};

	/* the code may start at the start of a page, and another function end at its end */
	if (bpf_probe_read_user(code, sizeof(code), (void *)(ip - 8)) &&
	    bpf_probe_read_user(&code[1], 8, (void *)ip) &&
	    bpf_probe_read_user(code, 12, (void *)(ip - 8)))
		return -1;
	return code[1] == SIG_CODE ||
	       (exact && (code[0] == SIG_CODE || (code[0] >> 32 | code[1] << 32) == SIG_CODE));
}

/*
 * The kernel saves all registers before it can be interrupted, except by an NMI of the firmware.
 * @ctx: the address of the registers that the probe was hit with
 */
static __always_inline bool may_lack_registers(struct task_struct *task, u64 ctx)
{
	return ((struct task_struct___arch *)task)->thread_info.preempt.count &
	       (NMI_BITS_NEW | NMI_BITS_OLD);
}

/* The return address is in the link register: the function has not yet begun. */
static __always_inline u64 read_parent_ip(struct pt_regs *ctx)
{
	return ctx->regs[REG_LINK];
}

#endif
