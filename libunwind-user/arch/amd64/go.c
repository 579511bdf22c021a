// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * go.c - the frames of Go's assembler for amd64
 *
 *	sub $size,%rsp			up to Go 1.20; add $-128 for 128
 *	mov %rbp,size-8(%rsp)
 *	lea size-8(%rsp),%rbp
 *	...
 *	mov size-8(%rsp),%rbp
 *	add $size,%rsp
 *
 *	push %rbp			since Go 1.21
 *	mov %rsp,%rbp
 *	sub $size-8,%rsp
 *	...
 *	add $size-8,%rsp
 *	pop %rbp
 *
 * So FP is saved right below the return address.
 */
#include <string.h>

#include "amd64.h"

#define FP_SLOT		(-16)

/* The length of mov %rbp,off(%rsp) (@opcode 0x89), or of the load (0x8b), at @p; or 0 */
static unsigned int match_fp_move(const uint8_t *p, size_t len, uint8_t opcode, uint32_t off)
{
	if (len >= 4 && !off && p[0] == 0x48 && p[1] == opcode && p[2] == 0x2c && p[3] == 0x24)
		return 4;
	if (len >= 5 && p[0] == 0x48 && p[1] == opcode && p[2] == 0x6c && p[3] == 0x24 &&
	    (uint32_t)(int8_t)p[4] == off)
		return 5;
	if (len >= 8 && p[0] == 0x48 && p[1] == opcode && p[2] == 0xac && p[3] == 0x24 &&
	    arch_read_le32(p + 4) == off)
		return 8;
	return 0;
}

/* The length of the instruction before @p that moves SP by @bytes, or 0 */
static unsigned int match_sp_move(const struct arch_go_code *code, int32_t bytes)
{
	/* add: 0xc4, sub: 0xec; either can have the negative number */
	const uint8_t *p = code->p;

	if (code->before >= 7 && p[-7] == 0x48 && p[-6] == 0x81 &&
	    ((p[-5] == 0xc4 && arch_read_le32(p - 4) == (uint32_t)bytes) ||
	     (p[-5] == 0xec && arch_read_le32(p - 4) == -(uint32_t)bytes)))
		return 7;
	if (code->before >= 4 && p[-4] == 0x48 && p[-3] == 0x83 &&
	    ((p[-2] == 0xc4 && (int8_t)p[-1] == bytes) ||
	     (p[-2] == 0xec && (int8_t)p[-1] == -bytes)))
		return 4;
	return 0;
}

static bool is_frame_saved(const struct arch_go_code *code, uint32_t size,
			   struct arch_go_frame *frame)
{
	*frame = (struct arch_go_frame){ .fp = FP_SLOT, .ra = -8 };
	if (size == 8 && code->before && code->p[-1] == 0x55)
		return true;
	frame->from = match_fp_move(code->p, code->after, 0x89, size - 8);
	return frame->from && match_sp_move(code, -(int32_t)size);
}

static enum arch_go_end classify_end(const struct arch_go_code *code, uint32_t size)
{
	static const uint8_t lens[] = { 4, 5, 8 };
	unsigned int len, n, i;

	if (size == 8 && code->before && code->p[-1] == 0x5d)
		return ARCH_GO_RESTORED;
	len = match_sp_move(code, size);
	if (!len)
		return ARCH_GO_JUMP;
	for (i = 0; i < sizeof(lens); i++) {
		n = lens[i];
		if (code->before >= len + n &&
		    match_fp_move(code->p - len - n, n, 0x8b, size - 8) == n)
			return ARCH_GO_RESTORED;
	}
	return ARCH_GO_LOST;
}

/* syscall.rawVforkSyscall(): pop %r12; syscall; push %r12. The child overwrites the stack. */
static uint8_t find_popped_ra(const struct arch_go_code *code)
{
	return code->before >= 2 && code->after >= 4 && !memcmp(code->p - 2, "\x41\x5c", 2) &&
	       !memcmp(code->p, "\x0f\x05\x41\x54", 4) ? 12 : 0;
}

const struct arch_go amd64_go = {
	.pushed = 8,
	.is_frame_saved = is_frame_saved,
	.classify_end = classify_end,
	.find_popped_ra = find_popped_ra,
	.injects_calls = true,
};
