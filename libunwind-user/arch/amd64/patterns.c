// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * patterns.c - instructions of amd64 that the generator looks for
 *
 * Padding is what assemblers fill alignment with. Sources: Intel SDM, "Recommended Multi-Byte
 * Sequence of NOP Instruction"; gas, config/tc-i386.c; LLVM, X86AsmBackend; int3 and zero bytes.
 */
#include <string.h>

#include "amd64.h"

#define MAX_NOP		15

/* nop, with any number of 66 and one 2e or 3e in front: 90, or 0f 1f with a memory operand */
static size_t get_nop_len(const uint8_t *p, size_t len)
{
	size_t n = 0, operand;
	uint8_t modrm;

	if (len > MAX_NOP)
		len = MAX_NOP;
	while (n < len && p[n] == 0x66)
		n++;
	if (n < len && (p[n] == 0x2e || p[n] == 0x3e))
		n++;
	if (n < len && p[n] == 0x90)
		return n + 1;
	if (n + 2 >= len || p[n] != 0x0f || p[n + 1] != 0x1f)
		return 0;
	n += 2;
	modrm = p[n++];
	if (modrm & 0x38)
		return 0;
	operand = (modrm & 7) == 4;			/* SIB */
	switch (modrm >> 6) {
	case 0:
		/* no assembler pads with a displacement without a base */
		if ((modrm & 7) == 5 || (operand && n < len && (p[n] & 7) == 5))
			return 0;
		break;
	case 1:
		operand += 1;
		break;
	case 2:
		operand += 4;
		break;
	default:
		return 0;
	}
	return n + operand <= len ? n + operand : 0;
}

size_t amd64_get_padding_length(const uint8_t *p, size_t len)
{
	if (p[0] == 0xcc || p[0] == 0x00)
		return 1;
	return get_nop_len(p, len);
}

bool amd64_ends_system_call(const uint8_t *p)
{
	/* syscall, sysenter, int $0x80 */
	return (p[0] == 0x0f && (p[1] == 0x05 || p[1] == 0x34)) || (p[0] == 0xcd && p[1] == 0x80);
}

/*
 * glibc's makecontext() and swapcontext() change SP, and .eh_frame does not say so. makecontext()
 * uses a function that starts with mov %reg,%rsp (both encodings, perhaps after endbr64).
 * swapcontext() has mov 160(%reg),%rsp, where a ucontext keeps SP. GNAT has landing pads like the
 * former, but their CFA is by FP. Sources: glibc, sysdeps/unix/sysv/linux/x86_64/__start_context.S,
 * swapcontext.S; struct ucontext of the kernel.
 */
size_t amd64_find_stack_switch(const uint8_t *p, size_t len, bool by_fp)
{
	size_t endbr = len >= 7 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0, i;
	const uint8_t *q = p + endbr;

	if (by_fp)
		return len;
	if (len >= 3 && (((q[0] & 0xfb) == 0x48 && q[1] == 0x89 && (q[2] & 0xc7) == 0xc4) ||
			 ((q[0] & 0xfe) == 0x48 && q[1] == 0x8b && (q[2] & 0xf8) == 0xe0)))
		return 0;
	/* search for the fourth of the seven bytes, the rarest one */
	for (i = 3; i + 4 <= len; i++) {
		q = memchr(p + i, 160, len - 3 - i);
		if (!q)
			break;
		i = q - p;
		if (q[-3] == 0x48 && q[-2] == 0x8b && (q[-1] & 0xf8) == 0xa0 && !q[1] &&
		    !q[2] && !q[3])
			return i + 4;
	}
	return len;
}

/*
 * __start_context() of Debian's glibc 2.36 to 2.43, perhaps after endbr64. Its .eh_frame says that
 * something called it. Nothing does: makecontext() writes its address where the coroutine's
 * function returns to. Source: as above.
 */
bool amd64_starts_stack(const uint8_t *p, size_t len)
{
	static const uint8_t code[] = {
		0x48, 0x89, 0xdc,		/* mov %rbx,%rsp */
		0x48, 0x8b, 0x3c, 0x24,		/* mov (%rsp),%rdi */
		0x48, 0x85, 0xff,		/* test %rdi,%rdi */
		0x74, 0x08,			/* je to the last call */
		0xe8, 0, 0, 0, 0,		/* call setcontext */
		0x48, 0x89, 0xc7,		/* mov %rax,%rdi */
		0xe8, 0, 0, 0, 0,		/* call exit */
		0xf4,				/* hlt */
	};
	size_t i;

	if (len >= 4 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4)) {
		p += 4;
		len -= 4;
	}
	for (i = 0; len == sizeof(code) && i < len; i++) {
		if (code[i] && p[i] != code[i])
			return false;
	}
	return len == sizeof(code);
}

/* push and pop of memory: the length of the operand after the opcode; 0 if it is cut off */
static size_t get_memory_operand_len(const uint8_t *p, size_t len)
{
	static const uint8_t disp[] = { 0, 1, 4 };
	unsigned int mod, rm;
	size_t n = 1;

	if (len < 2)
		return 0;
	mod = p[0] >> 6;
	rm = p[0] & 7;
	if (mod == 3)
		return 0;
	if (rm == 4) {
		n++;
		if (!mod && (p[1] & 7) == 5)
			n += 4;
	} else if (!mod && rm == 5) {
		n += 4;
	}
	n += disp[mod];
	return n <= len ? n : 0;
}

/* The length of a mov, lea, xor or test that does not write SP, else 0; @rex: of the prefix */
static size_t match_keeping_sp(const uint8_t *p, size_t len, size_t rex)
{
	unsigned int written = 0;
	bool is_reg;
	size_t n;

	if (len < rex + 2)
		return 0;
	is_reg = p[rex + 1] >> 6 == 3;
	switch (p[rex]) {
	case 0x8b: case 0x8d: case 0x33:
		written = (p[rex + 1] >> 3 & 7) | (rex && p[0] & 4 ? 8 : 0);
		break;
	case 0x89: case 0x31:
		if (is_reg)
			written = (p[rex + 1] & 7) | (rex && p[0] & 1 ? 8 : 0);
		break;
	case 0x85:
		break;
	default:
		return 0;
	}
	if (written == 4)
		return 0;
	n = is_reg ? 1 : get_memory_operand_len(p + rex + 1, len - rex - 1);
	return n ? rex + 1 + n : 0;
}

/* endbr64; push, pop, sub and add of SP. Source: Intel SDM, volume 2. */
size_t amd64_decode_push(const uint8_t *p, size_t len, int32_t *bytes)
{
	size_t rex = len && (p[0] & 0xf0) == 0x40, n;
	int32_t imm;

	*bytes = 0;
	if (len < rex + 1)
		return 0;
	switch (p[rex]) {
	case 0xf3:
		return len >= 4 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
	case 0x50: case 0x51: case 0x52: case 0x53:
	case 0x54: case 0x55: case 0x56: case 0x57:
		*bytes = 8;
		return rex + 1;
	case 0xff: case 0x8f:
		n = get_memory_operand_len(p + rex + 1, len - rex - 1);
		if (!n || (p[rex + 1] & 0x38) != (p[rex] == 0xff ? 0x30 : 0))
			return 0;
		*bytes = p[rex] == 0xff ? 8 : -8;
		return rex + 1 + n;
	case 0x81: case 0x83:
		break;
	default:
		return match_keeping_sp(p, len, rex);
	}
	/* sub is /5, add is /0 */
	if (len < 4 || p[0] != 0x48 || (p[2] != 0xec && p[2] != 0xc4))
		return 0;
	if (p[1] == 0x83) {
		imm = (int8_t)p[3];
		n = 4;
	} else if (len >= 7) {
		imm = arch_read_le32(p + 3);
		n = 7;
	} else {
		return 0;
	}
	if (imm == INT32_MIN)
		return 0;
	*bytes = p[2] == 0xec ? imm : -imm;
	return n;
}

size_t amd64_find_last_jump(const uint8_t *p, size_t len, int32_t *off)
{
	if (len >= 2 && p[len - 2] == 0xeb) {
		*off = (int8_t)p[len - 1];
		return 2;
	}
	if (len < 5 || p[len - 5] != 0xe9)
		return 0;
	*off = arch_read_le32(p + len - 4);
	return 5;
}
