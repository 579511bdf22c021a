/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arch.bpf.h - what the programs must know about the architecture
 *
 * build.mk names the architecture. rule.h says what only programs for amd64 do: HAS_32BIT and
 * HAS_RUNTIMES. The header of each architecture defines
 *
 *	HAS_LINK_REG	a call leaves RA in the register REG_LINK, and the function saves it;
 *			RULE_RA_AFTER_FP then says where rules of 32 bits have RA
 *	HAS_SIGNED_RA	RA can be signed: find_signature()
 *	FORGETS_SYSCALL	before a signal ends a task, its system call has no number any more
 *	HAS_FP		code without a rule may keep a frame pointer
 *	SP_OFF		the SP of the caller is CFA + SP_OFF
 *	NR_REGS		the registers with lower DWARF numbers are in struct pt_regs
 *	NR_SIG_REGS	those with lower numbers are in a signal frame
 *	REG_SLOTS	a power of two, at least NR_REGS
 *	REG_KEPT	tables can say where functions keep this register
 *	SIG_SP, SIG_IP, SIG_FP, get_sig_offset()	the registers in the kernel's signal frame
 *	is_sig_place()	can they start at this offset from SP?
 *	REGS_IP, REGS_SP, REGS_FP, REGS_LINK	fields of struct pt_regs
 *
 * and the functions below. Fields of kernel structures that only this architecture has are in
 * structures of the names NAME___arch; see kernel.h.
 *
 *	get_user_abi()		which code does the task run?
 *	copy_registers()	the registers, by DWARF number
 *	get_syscall()		the number of the system call, or NO_SYSCALL
 *	in_compat_syscall()	is it a system call of a 32-bit program?
 *	is_execve()		can the number of a system call be that of execve()?
 *	get_vdso_start()	the address of the vDSO's code
 *	is_sigreturn()		does the code at an address return from a signal handler?
 *				more than 0: yes; 0: no; less than 0: it cannot be read
 *	get_sig_place()		where the registers are then, from SP on
 *	may_lack_registers()	was the kernel still saving registers when a probe was hit?
 *	read_parent_ip()	who called the kernel function that starts?
 */
#ifndef TRACE_USTACK_RECORD_BPF_ARCH_H
#define TRACE_USTACK_RECORD_BPF_ARCH_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "rule.h"

enum user_abi {
	USER_UNKNOWN,			/* the registers do not say where its stack is */
	USER_64,
	USER_32,
};

#define NO_SYSCALL	(~0ull)

#if defined(ARCH_AMD64)
#include "arch_amd64.bpf.h"
#elif defined(ARCH_ARM64)
#include "arch_arm64.bpf.h"
#elif defined(ARCH_S390X)
#include "arch_s390x.bpf.h"
#else
#error "the BPF programs are not for this architecture"
#endif

#endif
