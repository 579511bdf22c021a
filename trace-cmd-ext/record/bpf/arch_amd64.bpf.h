/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arch_amd64.bpf.h - what the programs must know about amd64: see arch.bpf.h
 *
 * Sources: as of libunwind-user/sframe/sframe_amd64.h and sframe_i386.h; the kernel's
 * arch/x86/include/asm/segment.h and cpu_entry_area.h.
 */
#ifndef TRACE_USTACK_RECORD_BPF_ARCH_AMD64_H
#define TRACE_USTACK_RECORD_BPF_ARCH_AMD64_H

#define HAS_LINK_REG	0
#define HAS_SIGNED_RA	0
#define HAS_FP		1
#define FORGETS_SYSCALL	0
#define SP_OFF		0
#define NR_REGS		16
#define NR_SIG_REGS	NR_REGS
#define NR_REGS32	8
#define REG_SLOTS	16
#define REG_KEPT	3

/* The frame of a signal: offsets of registers from SP, and the code that leads there */
#define SIG_SP		160
#define SIG_IP		168
#define SIG_FP		120
#define SIG_CODE	9
#define SIG_SYSCALL	7
/* The signal frame of a 32-bit program: offsets from its sigcontext on, see sframe_i386.h */
#define SIG32_FP	24
#define SIG32_SP	28
#define SIG32_IP	56

#define TS_COMPAT	0x2
#define ELFCLASS64	2
#define EM_386		3
#define NR_EXECVE	59
#define NR_EXECVE32	11
#define NR_EXECVE_X32	(0x40000000 | 520)
#define USER_CS		0x33
#define USER_CS_XEN	0xe033
#define USER32_CS	0x23
#define USER32_CS_XEN	0xe023
#define USER_DS		0x2b
#define USER_DS_XEN	0xe02b
/* An NMI can come while the kernel saves the registers of user space. Its stack is in this area. */
#define CPU_ENTRY_AREA		0xfffffe0000000000ull
#define CPU_ENTRY_AREA_SIZE	(1ull << 39)

#define REGS_IP		ip
#define REGS_SP		sp
#define REGS_FP		bp

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct vdso_image {
	void *data;
};

typedef struct {
	void *vdso;
	struct vdso_image *vdso_image;
} mm_context_t;

struct mm_struct___arch {
	mm_context_t context;
};

struct thread_struct {
	unsigned long fsbase;
};

struct thread_info {
	__u32 status;
};

struct task_struct___arch {
	struct thread_info thread_info;
	struct thread_struct thread;
};

#pragma clang attribute pop

/* The code segment says whether this is 32-bit code. Its segments must start at address 0. */
static __always_inline enum user_abi get_user_abi(const struct pt_regs *regs)
{
	u64 cs = regs->cs, ss;

	if (cs == USER_CS || cs == USER_CS_XEN)
		return USER_64;
	ss = regs->ss;
	if ((cs != USER32_CS && cs != USER32_CS_XEN) || (ss != USER_DS && ss != USER_DS_XEN))
		return USER_UNKNOWN;
	return USER_32;
}

static __always_inline void copy_registers(u64 *reg, const struct pt_regs *regs, bool compat)
{
	if (compat) {
		reg[0] = (u32)regs->ax;
		reg[1] = (u32)regs->cx;
		reg[2] = (u32)regs->dx;
		reg[3] = (u32)regs->bx;
		reg[4] = (u32)regs->sp;
		reg[5] = (u32)regs->bp;
		reg[6] = (u32)regs->si;
		reg[7] = (u32)regs->di;
		return;
	}
	reg[0] = regs->ax;
	reg[1] = regs->dx;
	reg[2] = regs->cx;
	reg[3] = regs->bx;
	reg[4] = regs->si;
	reg[5] = regs->di;
	reg[6] = regs->bp;
	reg[7] = regs->sp;
	reg[8] = regs->r8;
	reg[9] = regs->r9;
	reg[10] = regs->r10;
	reg[11] = regs->r11;
	reg[12] = regs->r12;
	reg[13] = regs->r13;
	reg[14] = regs->r14;
	reg[15] = regs->r15;
}

static __always_inline u64 get_syscall(const struct pt_regs *regs)
{
	return regs->orig_ax;
}

static __always_inline bool in_compat_syscall(struct task_struct *task)
{
	return ((struct task_struct___arch *)task)->thread_info.status & TS_COMPAT;
}

/* The kernel sets the number to that of execve() for the new program. */
static __always_inline bool is_execve(u64 nr)
{
	return nr == NR_EXECVE || nr == NR_EXECVE32 || nr == NR_EXECVE_X32;
}

static __always_inline u64 get_vdso_start(struct mm_struct *mm)
{
	return (u64)BPF_CORE_READ((struct mm_struct___arch *)mm, context.vdso);
}

/* pthread_self() returns this. */
static __always_inline u64 get_thread_pointer(struct task_struct *task)
{
	return ((struct task_struct___arch *)task)->thread.fsbase;
}

/* Offsets of registers in a signal frame, by DWARF number */
const volatile short sig_regs[NR_REGS] SEC(".rodata") = {
	144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96,
};

/* Offsets from the sigcontext of a 32-bit program on: eax, ecx, edx, ebx, esp, ebp, esi, edi */
const volatile short sig32_regs[NR_REGS32] SEC(".rodata") = {
	44, 40, 36, 32, SIG32_SP, SIG32_FP, 20, 16,
};

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
	return sig_regs[reg & (NR_REGS - 1)];
}

static __always_inline s64 get_sig32_offset(u32 reg)
{
	return sig32_regs[reg & (NR_REGS32 - 1)];
}

/* mov $15, %rax; syscall */
static __always_inline bool is_sig_code(u64 addr)
{
	u64 code[2] = {};

	return !bpf_probe_read_user(code, SIG_CODE, (void *)addr) &&
	       code[0] == 0x0f0000000fc0c748ull && code[1] == 0x05;
}

/* @exact: @ip may be at the system call, or after it */
static __always_inline int is_sigreturn(u64 ip, bool exact)
{
	return is_sig_code(ip) ||
	       (exact && (is_sig_code(ip - SIG_SYSCALL) || is_sig_code(ip - SIG_CODE)));
}

/* @ctx: the address of the registers that the probe was hit with */
static __always_inline bool may_lack_registers(struct task_struct *task, u64 ctx)
{
	return ctx - CPU_ENTRY_AREA < CPU_ENTRY_AREA_SIZE;
}

/* The return address is on top of the stack: the function has not yet begun. */
static __always_inline u64 read_parent_ip(struct pt_regs *ctx)
{
	u64 parent_ip = 0;

	bpf_probe_read_kernel(&parent_ip, sizeof(parent_ip), (void *)ctx->sp);
	return parent_ip;
}

#endif
