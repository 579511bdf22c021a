/* SPDX-License-Identifier: GPL-2.0 */
/*
 * foreign.S - 64-bit code in a 32-bit file, of i386 or of x32: see foreign.c
 *
 * Calls its first argument with the second. It has unwind information of the file's kind.
 */
	.text
	.code64
	.globl	foreign
	.type	foreign, @function
foreign:
	.cfi_startproc
	push	%rbp
	.cfi_adjust_cfa_offset 8
	mov	%rdi, %rax
	mov	%rsi, %rdi
	call	*%rax
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	foreign, . - foreign

	.section .note.GNU-stack, "", @progbits
