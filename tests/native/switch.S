/* SPDX-License-Identifier: GPL-2.0 */
/*
 * switch.S - functions whose CFA is above an SP that is kept in memory: see switch.c
 *
 * A runtime with stacks of its own, as OCaml 5, marks its switches as signal frames: these may lead
 * to any stack. Assembler code that aligns SP, as in OpenSSL, is an ordinary frame.
 */
#define DW_CFA_def_cfa_expression	0x0f
#define DW_OP_breg7			0x77	/* rsp */
#define DW_OP_deref			0x06
#define DW_OP_plus_uconst		0x23

/* CFA = *(rsp + off) + add */
#define CFA_ABOVE(off, add)							\
	.cfi_escape DW_CFA_def_cfa_expression, 5, DW_OP_breg7, off, DW_OP_deref,	\
		DW_OP_plus_uconst, add

	.text

/* void on_own_stack(void (*function)(void), void *end): call @function on the stack up to @end */
	.globl	on_own_stack
	.type	on_own_stack, @function
on_own_stack:
	.cfi_startproc
	.cfi_signal_frame
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbx, -16
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset rbp, -24
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	mov	%rsp, left_at(%rip)
	mov	%rsp, -16(%rsi)
	lea	-16(%rsi), %rsp
	.cfi_remember_state
	CFA_ABOVE(0, 32)
	xor	%ebp, %ebp
	call	*%rdi
	mov	(%rsp), %rsp
	.cfi_restore_state
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	pop	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbx
	ret
	.cfi_endproc
	.size	on_own_stack, . - on_own_stack

/* void on_first_stack(void (*function)(void)): call @function on the stack that was left */
	.globl	on_first_stack
	.type	on_first_stack, @function
on_first_stack:
	.cfi_startproc
	.cfi_signal_frame
	mov	left_at(%rip), %rax
	mov	%rsp, -8(%rax)
	lea	-16(%rax), %rsp
	.cfi_remember_state
	CFA_ABOVE(8, 8)
	call	*%rdi
	mov	8(%rsp), %rsp
	.cfi_restore_state
	ret
	.cfi_endproc
	.size	on_first_stack, . - on_first_stack

/* void aligned(void (*function)(void)) */
	.globl	aligned
	.type	aligned, @function
aligned:
	.cfi_startproc
	mov	%rsp, %rax
	.cfi_def_cfa_register rax
	push	%rbp
	.cfi_offset rbp, -16
	sub	$40, %rsp
	and	$-64, %rsp
	mov	%rax, 24(%rsp)
	CFA_ABOVE(24, 8)
	xor	%ebp, %ebp
	call	*%rdi
	mov	24(%rsp), %rsi
	.cfi_def_cfa rsi, 8
	mov	-8(%rsi), %rbp
	.cfi_restore rbp
	lea	(%rsi), %rsp
	.cfi_def_cfa_register rsp
	ret
	.cfi_endproc
	.size	aligned, . - aligned

	.local	left_at
	.comm	left_at, 8, 8

	.section .note.GNU-stack, "", @progbits
