// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * go.c - the frames of Go's assembler for arm64
 *
 *	str x30,[sp,#-size]!			small frames
 *	stur x29,[sp,#-8]
 *	sub x29,sp,#8
 *
 *	sub x20,sp,#size			large frames, since Go 1.19
 *	stp x29,x30,[x20,#-8]
 *	mov sp,x20
 *	sub x29,sp,#8
 *
 *	ldp x29,x30,[sp,#-8]			or ldur x29,[sp,#-8]; ldr x30,[sp],#size
 *	add sp,sp,#size
 *
 * So RA is saved at SP, and FP right below it. The linker may put two instructions for an add of
 * a large size.
 */
#include "arm64.h"

#define STUR_FP		0xf81f83fdu	/* stur x29,[sp,#-8] */
#define LDUR_FP		0xf85f83fdu	/* ldur x29,[sp,#-8] */
#define STP_LARGE	0xa93ffa9du	/* stp x29,x30,[x20,#-8] */
#define MOV_SP_X20	0x9100029fu	/* mov sp,x20 */
#define LDP_BOTH	0xa97ffbfdu	/* ldp x29,x30,[sp,#-8] */

/* Instruction number @n before the pc; 0 if the function starts after it */
static uint32_t get_insn_before(const struct arch_go_code *code, unsigned int n)
{
	return code->before >= 4 * n ? arch_read_le32(code->p - 4 * n) : 0;
}

/* str x30,[sp,#-size]!, and ldr x30,[sp],#size */
static bool is_indexed(uint32_t insn, uint32_t opcode, int32_t off)
{
	return off >= -256 && off < 256 && insn == (opcode | ((uint32_t)off & 0x1ff) << 12);
}

static bool is_frame_saved(const struct arch_go_code *code, uint32_t size,
			   struct arch_go_frame *frame)
{
	*frame = (struct arch_go_frame){ .fp = -(int32_t)size - 8, .ra = -(int32_t)size };
	if (get_insn_before(code, 1) == MOV_SP_X20)
		return get_insn_before(code, 2) == STP_LARGE;
	frame->from = 4;
	return is_indexed(get_insn_before(code, 1), 0xf8000ffe, -(int32_t)size) &&
	       code->after >= 4 && arch_read_le32(code->p) == STUR_FP;
}

/* add sp,sp,#imm: the number, or 0 */
static uint32_t get_sp_addend(uint32_t insn)
{
	uint32_t n = insn >> 10 & 0xfff;

	return (insn & 0xff8003ff) != 0x910003ff ? 0 : insn & 1 << 22 ? n << 12 : n;
}

static enum arch_go_end classify_end(const struct arch_go_code *code, uint32_t size)
{
	uint32_t last = get_insn_before(code, 1), more;

	if (is_indexed(last, 0xf84007fe, size))
		return get_insn_before(code, 2) == LDUR_FP ? ARCH_GO_RESTORED : ARCH_GO_LOST;
	if (get_sp_addend(last) == size)
		return get_insn_before(code, 2) == LDP_BOTH ? ARCH_GO_RESTORED : ARCH_GO_LOST;
	more = get_sp_addend(get_insn_before(code, 2));
	if (get_sp_addend(last) && more && get_sp_addend(last) + more == size)
		return get_insn_before(code, 3) == LDP_BOTH ? ARCH_GO_RESTORED : ARCH_GO_LOST;
	return ARCH_GO_JUMP;
}

const struct arch_go arm64_go = {
	.is_frame_saved = is_frame_saved,
	.classify_end = classify_end,
};
