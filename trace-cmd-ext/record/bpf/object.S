/* SPDX-License-Identifier: GPL-2.0 */
/* object.S - the compiled programs (walk.bpf.c), as bytes in this program */
	.section .rodata
	.balign 8
	.globl bpf_walk_start
	.hidden bpf_walk_start
bpf_walk_start:
	.incbin "walk.bpf.o"
	.globl bpf_walk_end
	.hidden bpf_walk_end
bpf_walk_end:
	.section .note.GNU-stack, "", @progbits
