/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The edges of every call path on arm64, see start.S. A frame record {x29, x30} whose x29 is 0 ends
 * the chain. Source: AAPCS64, "The frame pointer".
 */
#ifdef __aarch64__
	.text

/* cp_main(task of region 0, initial stack), on region 0's stack */
	.globl	_start
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined 30
	mov	x29, #0
	mov	x30, #0
	mov	x1, sp
	adrp	x0, cp_region
	add	x0, x0, :lo12:cp_region
	mov	x2, #CP_REGION_SIZE
	add	sp, x0, x2
	bl	cp_main
	brk	#0
	.cfi_endproc
	.size	_start, . - _start

/* flags x0, stack x1, ptid x2, seq x3, slot x4, fn x5, task x6 */
	.globl	cp_clone
	.type	cp_clone, %function
cp_clone:
	.cfi_startproc
	sub	x1, x1, #16
	stp	x5, x6, [x1]
	adr	x9, 1f
	str	x9, [x4]
	mov	x4, x3
	mov	x3, #0
	mov	x8, #220
	/* For the child, and not where a page fault would show the caller without */
	mov	x10, x29
	.cfi_register 29, 10
	mov	x29, #0
	.cfi_undefined 30
	svc	#0
1:	cbz	x0, 2f
	mov	x29, x10
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.cfi_startproc
	.cfi_undefined 30
2:	ldp	x9, x0, [sp], #16
	.cfi_adjust_cfa_offset -16
	blr	x9
	brk	#0
	.cfi_endproc
	.size	cp_clone, . - cp_clone

/* cp_signal() returns the sequence number of the rt_sigreturn to come, which the vDSO makes */
	.globl	cp_sig_entry
	.type	cp_sig_entry, %function
cp_sig_entry:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_adjust_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, sp
	mov	x3, x30
	bl	cp_signal
	mov	w4, w0
	ldp	x29, x30, [sp], #16
	.cfi_adjust_cfa_offset -16
	.cfi_restore 29
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	cp_sig_entry, . - cp_sig_entry

#endif
	.section .note.GNU-stack, "", %progbits
