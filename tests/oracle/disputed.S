/* SPDX-License-Identifier: GPL-2.0 */
/*
 * disputed.S - code that seems to reach one place with different SP, on a path that never happens
 *
 * The code is like CreateFunction() of postgres: a call that never returns has arguments on the
 * stack. Right after the call stands a block of a loop, where the stack holds no arguments. The
 * .eh_frame counts from RBP there, so sp.c cannot find out from .eh_frame which path is right.
 *
 * With -DSPOILT=1 the .eh_frame is wrong where SP is known, with -DSPOILT=2 where SP is disputed.
 * The oracle must find both.
 */
	.text
	/* the oracle looks at nothing in the first bytes of a segment */
	.skip	16, 0xcc
	.globl	disputed
	.type	disputed, @function
disputed:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register 6
	sub	$32, %rsp
#if SPOILT == 1
	.cfi_def_cfa_offset 32
#endif
	push	$1
	pop	%rax
#if SPOILT == 1
	.cfi_def_cfa_offset 16
#endif
	call	returns
	test	%eax, %eax
	jne	2f
	xor	%ecx, %ecx
	jmp	1f
2:	sub	$16, %rsp
	call	never
1:	inc	%ecx
	jmp	3f
	int3
3:
#if SPOILT == 2
	.cfi_def_cfa_offset 32
#endif
	push	$9
	pop	%rax
#if SPOILT == 2
	.cfi_def_cfa_offset 16
#endif
	cmp	%ecx, %eax
	jb	1b
	add	$32, %rsp
	pop	%rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size	disputed, . - disputed

	.type	returns, @function
returns:
	.cfi_startproc
	mov	$1, %eax
	ret
	.cfi_endproc
	.size	returns, . - returns

	.type	never, @function
never:
	.cfi_startproc
	pause
	jmp	never
	.cfi_endproc
	.size	never, . - never

	.section .note.GNU-stack, "", @progbits
