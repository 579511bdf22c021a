/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The edges of every call path: program start, thread start, signal entry. Each starts its frames
 * with a frame pointer of 0, so a path has a known end. This file is for x86; start_s390x.S and
 * start_arm64.S do the same for s390x and arm64.
 */
	.text

#ifdef __x86_64__

/* cp_main(task of region 0, initial stack), on region 0's stack */
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined rip
	xor	%ebp, %ebp
	mov	%rsp, %rsi
	lea	cp_region(%rip), %rdi
	lea	CP_REGION_SIZE(%rdi), %rsp
	call	cp_main
	hlt
	.cfi_endproc
	.size	_start, . - _start

/* flags rdi, stack rsi, ptid rdx, seq rcx, slot r8, fn r9, task 8(%rsp) */
	.globl	cp_clone
	.type	cp_clone, @function
cp_clone:
	.cfi_startproc
	mov	8(%rsp), %rax
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbx, 0
	mov	%rbp, %rbx
	.cfi_register rbp, rbx
	sub	$16, %rsi
	mov	%r9, (%rsi)
	mov	%rax, 8(%rsi)
	lea	1f(%rip), %rax
	mov	%rax, (%r8)
	mov	%rcx, %r8
	xor	%r10d, %r10d
	mov	$56, %eax
	/* For the child, and not where a page fault would show the caller without */
	xor	%ebp, %ebp
	syscall
1:	test	%rax, %rax
	jz	2f
	mov	%rbx, %rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	.cfi_restore rbp
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_undefined rip
2:	pop	%rax
	pop	%rdi
	call	*%rax
	hlt
	.cfi_endproc
	.size	cp_clone, . - cp_clone

/* cp_signal() returns the sequence number of the rt_sigreturn to come */
	.globl	cp_sig_entry
	.type	cp_sig_entry, @function
cp_sig_entry:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	mov	%rsp, %rbp
	.cfi_def_cfa_register rbp
	call	cp_signal
	mov	%eax, %r8d
	pop	%rbp
	.cfi_def_cfa rsp, 8
	ret
	.cfi_endproc
	.size	cp_sig_entry, . - cp_sig_entry

	nop
	.globl	cp_restorer
	.type	cp_restorer, @function
cp_restorer:
	mov	$15, %eax
	syscall
	.globl	cp_sigreturn_ip
cp_sigreturn_ip:
	hlt
	.size	cp_restorer, . - cp_restorer

#elif defined(__i386__)

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined eip
	xor	%ebp, %ebp
	mov	%esp, %eax
	mov	$cp_region, %ecx
	lea	CP_REGION_SIZE(%ecx), %esp
	sub	$8, %esp
	push	%eax
	push	%ecx
	call	cp_main
	hlt
	.cfi_endproc
	.size	_start, . - _start

/* flags, stack, ptid, seq, slot, fn, task from 4(%esp) on */
	.globl	cp_clone
	.type	cp_clone, @function
cp_clone:
	.cfi_startproc
	push	%ebx
	push	%esi
	push	%edi
	push	%ebp
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset ebp, 0
	mov	24(%esp), %ecx
	sub	$16, %ecx
	mov	40(%esp), %eax
	mov	%eax, (%ecx)
	mov	44(%esp), %eax
	mov	%eax, 4(%ecx)
	mov	36(%esp), %eax
	movl	$1f, (%eax)
	mov	20(%esp), %ebx
	mov	28(%esp), %edx
	mov	32(%esp), %edi
	xor	%esi, %esi
	mov	$120, %eax
	xor	%ebp, %ebp
	int	$0x80
1:	test	%eax, %eax
	jz	2f
	pop	%ebp
	pop	%edi
	pop	%esi
	pop	%ebx
	.cfi_adjust_cfa_offset -16
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_undefined eip
2:	pop	%eax
	call	*%eax
	hlt
	.cfi_endproc
	.size	cp_clone, . - cp_clone

	.globl	cp_sig_entry
	.type	cp_sig_entry, @function
cp_sig_entry:
	.cfi_startproc
	push	%ebp
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset ebp, 0
	mov	%esp, %ebp
	.cfi_def_cfa_register ebp
	sub	$8, %esp
	and	$-16, %esp
	sub	$4, %esp
	push	16(%ebp)
	push	12(%ebp)
	push	8(%ebp)
	call	cp_signal
	mov	%eax, %edi
	mov	%ebp, %esp
	pop	%ebp
	.cfi_def_cfa esp, 4
	ret
	.cfi_endproc
	.size	cp_sig_entry, . - cp_sig_entry

	nop
	.globl	cp_restorer
	.type	cp_restorer, @function
cp_restorer:
	mov	$173, %eax
	int	$0x80
	.globl	cp_sigreturn_ip
cp_sigreturn_ip:
	hlt
	.size	cp_restorer, . - cp_restorer

#endif

	.section .note.GNU-stack, "", @progbits
