// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arch.c - registers and default rules of i386, see arch/arch.h
 *
 * Code without rows is not followed: distributions compile i386 code with .eh_frame, PLTs included.
 * An exception is __x86.get_pc_thunk.bx(), which position-independent programs take from glibc's
 * crti.o, and which they call all the time.
 *
 * The rows of all functions are compared with their code. glibc has much assembler code for i386,
 * and some of it says nothing of a push or of a sub of ESP in the middle of a function.
 *
 * Source: System V ABI, Intel386 supplement, table 2.14 (DWARF numbers).
 */
#include <elf.h>
#include <string.h>

#include "i386.h"
#include "libunwind-user/arch/amd64/amd64.h"
#include "libunwind-user/base/base.h"

static const char *const names[] = {
	"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip",
};

/* The nops of amd64, and lea 0(%esi),%esi in all its forms. Source: gas, config/tc-i386.c */
static size_t get_padding_length(const uint8_t *p, size_t len)
{
	static const struct {
		uint8_t len, code[7];
	} lea[] = {
		{ 3, { 0x8d, 0x76, 0 } }, { 4, { 0x8d, 0x74, 0x26, 0 } },
		{ 6, { 0x8d, 0xb6 } }, { 7, { 0x8d, 0xb4, 0x26 } },
	};
	size_t segment = len && p[0] == 0x2e, i;

	for (i = 0; i < ARRAY_SIZE(lea); i++) {
		if (len - segment >= lea[i].len && !memcmp(p + segment, lea[i].code, lea[i].len))
			return segment + lea[i].len;
	}
	return amd64_get_padding_length(p, len);
}

/* mov (%esp),%REG; ret, where REG is neither ESP nor EBP. Source: glibc, sysdeps/i386/crti.S */
static bool is_pc_thunk(const uint8_t *p)
{
	unsigned int reg = p[1] >> 3;

	return p[0] == 0x8b && (p[1] & 0xc7) == 0x04 && p[2] == 0x24 && p[3] == 0xc3 &&
	       reg != 4 && reg != 5;
}

/*
 * The end of glibc's makecontext(): ret, and then code that the function of a coroutine returns to
 * and that nothing calls. It has no FDE. Source: glibc, sysdeps/unix/sysv/linux/i386/makecontext.S.
 *
 * The address before it is that of the ret. So a row that says "no caller" would be wrong for
 * makecontext() itself.
 */
static bool has_stack_start(const uint8_t *p, size_t len)
{
	static const uint8_t code[] = {
		0xc3,				/* ret */
		0x8d, 0x24, 0x9c,		/* lea (%esp,%ebx,4),%esp */
		0x83, 0x3c, 0x24, 0,		/* cmpl $0,(%esp) */
		0x74, 0x07,			/* je to the xor */
		0xe8, 0, 0, 0, 0,		/* call setcontext */
		0xeb, 0x02,			/* jmp to the and */
		0x31, 0xc0,			/* xor %eax,%eax */
		0x83, 0xe4, 0xf0,		/* and $-16,%esp */
		0x83, 0xec, 0x0c,		/* sub $12,%esp */
		0x50,				/* push %eax */
		0xe8, 0, 0, 0, 0,		/* call exit */
		0xf4,				/* hlt */
	};
	size_t i;

	for (i = 0; len >= sizeof(code) && i < sizeof(code); i++) {
		if (code[i] && p[i] != code[i])
			return false;
	}
	return len >= sizeof(code);
}

/*
 * setcontext() restores the registers from eax, which is the CFA. In the rows of compilers, the
 * return address is in memory: they realign the stack by ecx or edi, and the CFA is far above eax
 * while they take a large stack. longjmp() has the return address in a register.
 */
static bool restores_by(const struct cfi_row *row)
{
	return row->ra.how == CFI_REG || (row->cfa.reg == 0 && !row->cfa.off);
}

const struct arch arch_i386 = {
	.name = "i386",
	.machine = EM_386,
	.abi = &sframe_arch_i386,
	.reg_name = names,
	.nr_names = ARRAY_SIZE(names),
	.reg_pc = 8,
	.restores_by = restores_by,
	.get_padding_length = get_padding_length,
	.ends_system_call = amd64_ends_system_call,
	.has_stack_start = has_stack_start,
	.is_pc_thunk = is_pc_thunk,
	.compare = &i386_flow,
};
