/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The edges of every call path on s390x, see start.S. Here the chain is the back chain: the first
 * word of each frame is the address of the caller's frame, and r14 is saved 112 bytes into that
 * frame. A frame whose first word is 0 ends the chain, but only at the place where the kernel saw
 * the stack start: code that keeps no back chain can have such a word anywhere. So the main task
 * starts its chain there, in two steps. Source: s390x ELF ABI, "Stack frame layout".
 */
#ifdef __s390x__
	.text

/* cp_main(task of region 0, initial stack), on region 0's stack */
	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined 14
	lgr	%r3, %r15
	lghi	%r0, 0
	aghi	%r15, -160
	stg	%r0, 0(%r15)
	brasl	%r14, on_region
	.globl	cp_start_ip
cp_start_ip:
	.word	0
	.cfi_endproc
	.size	_start, . - _start

	.type	on_region, @function
on_region:
	.cfi_startproc
	stg	%r14, 112(%r15)
	.cfi_offset 14, -48
	lgr	%r11, %r15
	.cfi_def_cfa_register 11
	larl	%r2, cp_region
	lgfi	%r1, CP_REGION_SIZE - 160
	la	%r15, 0(%r1,%r2)
	stg	%r11, 0(%r15)
	brasl	%r14, cp_main
	.word	0
	.cfi_endproc
	.size	on_region, . - on_region

/*
 * flags r2, stack r3, ptid r4, seq r5, slot r6, fn 160(r15), task 168(r15). Only by the main task,
 * which has a frame of _start to go back to meanwhile.
 */
	.globl	cp_clone
	.type	cp_clone, @function
cp_clone:
	.cfi_startproc
	stmg	%r6, %r15, 48(%r15)
	lg	%r0, 160(%r15)
	lg	%r1, 168(%r15)
	aghi	%r3, -176
	stg	%r0, 160(%r3)
	stg	%r1, 168(%r3)
	lghi	%r0, 0
	stg	%r0, 0(%r3)
	larl	%r1, 1f
	stg	%r1, 0(%r6)
	lgr	%r6, %r5
	lgr	%r1, %r2
	lgr	%r2, %r3
	lgr	%r3, %r1
	lghi	%r5, 0
	/* Until it returns on the frame of _start: nothing hangs on it, and the child has none */
	lgr	%r8, %r15
	larl	%r1, cp_region + CP_REGION_SIZE - 160
	lg	%r15, 0(%r1)
	.cfi_def_cfa_register 8
	.cfi_undefined 14
	lghi	%r1, 120
	svc	0
1:	ltgr	%r2, %r2
	jz	2f
	lgr	%r15, %r8
	.cfi_def_cfa_register 15
	.cfi_restore 14
	lmg	%r6, %r14, 48(%r15)
	br	%r14
	.cfi_endproc
	.cfi_startproc
	.cfi_undefined 14
2:	lg	%r1, 160(%r15)
	lg	%r2, 168(%r15)
	basr	%r14, %r1
	.word	0
	.cfi_endproc
	.size	cp_clone, . - cp_clone

/* cp_signal() returns the sequence number of the rt_sigreturn to come, which the vDSO makes */
	.globl	cp_sig_entry
	.type	cp_sig_entry, @function
cp_sig_entry:
	.cfi_startproc
	stg	%r14, 112(%r15)
	.cfi_offset 14, -48
	lgr	%r5, %r14
	lgr	%r1, %r15
	aghi	%r15, -160
	.cfi_adjust_cfa_offset 160
	stg	%r1, 0(%r15)
	brasl	%r14, cp_signal
	llgfr	%r6, %r2
	aghi	%r15, 160
	.cfi_adjust_cfa_offset -160
	lg	%r14, 112(%r15)
	.cfi_restore 14
	br	%r14
	.cfi_endproc
	.size	cp_sig_entry, . - cp_sig_entry

#endif
	.section .note.GNU-stack, "", %progbits
