/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arch_s390x.bpf.h - what the programs must know about s390x: see arch.bpf.h
 *
 * Sources: as of libunwind-user/sframe/sframe_s390x.h; the kernel's ptrace.h, mmu.h and
 * syscall.h of arch/s390/include/asm.
 *
 * Floating point registers of a running task are not in memory. So they are known in a frame that a
 * signal interrupted, and in no innermost frame.
 */
#ifndef TRACE_USTACK_RECORD_BPF_ARCH_S390X_H
#define TRACE_USTACK_RECORD_BPF_ARCH_S390X_H

#define HAS_LINK_REG	1
#define HAS_SIGNED_RA	0
#define HAS_FP		0
#define FORGETS_SYSCALL	1
#define SP_OFF		-160
#define RULE_RA_AFTER_FP	RULE_S390X_RA_AFTER_FP
#define NR_REGS		16
#define NR_SIG_REGS	32
#define REG_SLOTS	16
#define REG_LINK	14
#define REG_KEPT	12

/*
 * The registers of a signal frame start with the PSW. They are at SIG_RT_REGS from SP on after a
 * handler with SA_SIGINFO, else at SIG_REGS.
 */
#define SIG_RT_REGS	336
#define SIG_REGS	176
#define SIG_IP		8
#define SIG_GPRS	16
#define SIG_FP		(SIG_GPRS + 8 * 11)
#define SIG_SP		(SIG_GPRS + 8 * 15)

#define PSW_MASK_EA	0x100000000ull		/* 64-bit addresses */
#define PIF_SYSCALL	1			/* in flags */
#define SYSCALL_BITS	0xffff			/* of int_code */

#define REGS_IP		psw.addr
#define REGS_SP		gprs[15]
#define REGS_FP		gprs[11]
#define REGS_LINK	gprs[14]

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	unsigned long mask, addr;
} psw_t;

struct pt_regs {
	psw_t psw;
	unsigned long gprs[16];
	unsigned int int_code;
	unsigned long flags;
};

/* as later kernels may have it */
struct pt_regs___nr {
	unsigned long syscall_nr;
};

typedef struct {
	unsigned long vdso_base;
} mm_context_t;

struct mm_struct___arch {
	mm_context_t context;
};

#pragma clang attribute pop

static __always_inline enum user_abi get_user_abi(const struct pt_regs *regs)
{
	return regs->psw.mask & PSW_MASK_EA ? USER_64 : USER_32;
}

static __always_inline void copy_registers(u64 *reg, const struct pt_regs *regs, bool compat)
{
	bpf_probe_read_kernel(reg, NR_REGS * sizeof(u64), &regs->gprs);
}

static __always_inline u64 get_syscall(const struct pt_regs *regs)
{
	const struct pt_regs___nr *nr = (const void *)regs;

	if (!(regs->flags & PIF_SYSCALL))
		return NO_SYSCALL;
	return bpf_core_field_exists(nr->syscall_nr) ? nr->syscall_nr :
						       regs->int_code & SYSCALL_BITS;
}

static __always_inline bool in_compat_syscall(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	return regs && !(regs->psw.mask & PSW_MASK_EA);
}

/* The new program has the number of the old one, also if a signal ends it. */
static __always_inline bool is_execve(u64 nr)
{
	return false;
}

static __always_inline u64 get_vdso_start(struct mm_struct *mm)
{
	return BPF_CORE_READ((struct mm_struct___arch *)mm, context.vdso_base);
}

static __always_inline bool is_sig_place(s64 at)
{
	return at == SIG_RT_REGS || at == SIG_REGS;
}

/* Offsets of the floating point registers in a signal frame, in DWARF's order */
const volatile short sig_fp_regs[NR_SIG_REGS - NR_REGS] SEC(".rodata") = {
	216, 232, 248, 264, 224, 240, 256, 272, 280, 296, 312, 328, 288, 304, 320, 336,
};

static __always_inline s64 get_sig_offset(u32 reg)
{
	return reg < NR_REGS ? SIG_GPRS + reg * 8 : sig_fp_regs[reg & (NR_REGS - 1)];
}

/* svc 173 and svc 119 */
#define SIG_RT_CODE	0x0aad
#define SIG_CODE	0x0a77
#define SIG_CODE_SIZE	2

/*
 * Where the registers are from SP on. The two bytes before @ip can be the end of another
 * instruction, unless the task is in this system call.
 */
static __always_inline int is_sigreturn(u64 ip, bool exact)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	u16 code = 0;

	if (exact && regs && regs->psw.addr == ip &&
	    !bpf_probe_read_user(&code, sizeof(code), (void *)(ip - SIG_CODE_SIZE)) &&
	    get_syscall(regs) == (code & 0xff)) {
		if (code == SIG_RT_CODE)
			return SIG_RT_REGS;
		if (code == SIG_CODE)
			return SIG_REGS;
	}
	if (bpf_probe_read_user(&code, sizeof(code), (void *)ip))
		return -1;
	return code == SIG_RT_CODE ? SIG_RT_REGS : code == SIG_CODE ? SIG_REGS : 0;
}

static __always_inline s64 get_sig_place(int found)
{
	return found;
}

/* Events that come before all registers are saved are refused: comes_before_registers() */
static __always_inline bool may_lack_registers(struct task_struct *task, u64 ctx)
{
	return false;
}

/* The return address is in a register: the function has not yet begun. */
static __always_inline u64 read_parent_ip(struct pt_regs *ctx)
{
	return ctx->gprs[REG_LINK];
}

#endif
