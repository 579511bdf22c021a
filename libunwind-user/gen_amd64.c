// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * gen_amd64 - what the generator has to know of amd64
 *
 * Padding: what assemblers fill alignment with. Sources: Intel SDM, "Recommended Multi-Byte
 * Sequence of NOP Instruction"; gas, config/tc-i386.c; LLVM, X86AsmBackend; int3 and zero bytes.
 *
 * Stubs of a PLT, for linkers that write no .eh_frame for them (lld; GNU ld for .plt.got and with
 * --no-ld-generated-unwind-info). They are told by their bytes, within sections named .plt* only:
 * elsewhere the same bytes could stand in the middle of something. A stub is entered by a call,
 * so CFA = rsp + 8; the lazy kind pushes a number before it goes on to the first stub, PLT0, which
 * therefore starts with CFA = rsp + 16 and pushes once more. Sources: the psABI of amd64; binutils,
 * bfd/elfxx-x86.c and elf64-x86-64.c; lld, ELF/Arch/X86_64.cpp.
 */
#include <elf.h>
#include <string.h>

#include "gen_flow.h"

#define REG_RBP		6
#define REG_RSP		7

#define MAX_NOP		15

/* nop, with any number of 66 and one 2e or 3e in front: 90, or 0f 1f with a memory operand */
static size_t nop_len(const uint8_t *p, size_t len)
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
		/* a displacement without base is what no assembler pads with */
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

static size_t amd64_padding(const uint8_t *p, size_t len)
{
	if (p[0] == 0xcc || p[0] == 0x00)
		return 1;
	return nop_len(p, len);
}

static bool amd64_enters_kernel(const uint8_t *p)
{
	/* syscall, sysenter, int $0x80 */
	return (p[0] == 0x0f && (p[1] == 0x05 || p[1] == 0x34)) || (p[0] == 0xcd && p[1] == 0x80);
}

/*
 * What glibc has for makecontext() and swapcontext() without a word in .eh_frame: a function that
 * begins with mov %reg, %rsp (both forms, endbr64 may be in front), and mov 160(%reg), %rsp, which
 * is SP in a ucontext. Sources: glibc, sysdeps/unix/sysv/linux/x86_64/__start_context.S,
 * swapcontext.S; struct ucontext of the kernel.
 */
static size_t amd64_leaves_stack(const uint8_t *p, size_t len)
{
	size_t endbr = len >= 7 && !memcmp(p, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0, i;
	const uint8_t *q = p + endbr;

	if (len >= 3 && (((q[0] & 0xfb) == 0x48 && q[1] == 0x89 && (q[2] & 0xc7) == 0xc4) ||
			 ((q[0] & 0xfe) == 0x48 && q[1] == 0x8b && (q[2] & 0xf8) == 0xe0)))
		return 0;
	/* of seven bytes the fourth, which is the rarest */
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

/* Bytes of a stub: -1 is any byte. */
#define ANY4	-1, -1, -1, -1

struct stub {
	uint8_t size;
	uint8_t pushed;		/* from here on CFA is 8 more; 0: nowhere */
	uint8_t cfa;		/* at its start, from rsp */
	bool is_plt0;		/* the first stub only: two slots in a row */
	int16_t byte[16];
};

static const struct stub stubs[] = {
	/* push slot(%rip); jmp *slot + 8(%rip) */
	{ 16, 6, 16, true, { 0xff, 0x35, ANY4, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x40, 0x00 } },
	{ 16, 6, 16, true, { 0xff, 0x35, ANY4, 0xf2, 0xff, 0x25, ANY4, 0x0f, 0x1f, 0x00 } },
	/* jmp *slot(%rip); push n; jmp PLT0 */
	{ 16, 11, 8, false, { 0xff, 0x25, ANY4, 0x68, ANY4, 0xe9, ANY4 } },
	/* [endbr64;] push n; [bnd] jmp PLT0 */
	{ 16, 9, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY4, 0xf2, 0xe9, ANY4, 0x90 } },
	{ 16, 9, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, ANY4, 0xe9, ANY4, 0x66, 0x90 } },
	{ 16, 5, 8, false, { 0x68, ANY4, 0xf2, 0xe9, ANY4, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	/* [endbr64;] [bnd] jmp *slot(%rip) */
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, ANY4,
			     0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4,
			     0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00 } },
	{ 16, 0, 8, false, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, ANY4,
			     0x66, 0x66, 0x66, 0x66, 0x66, 0x90 } },
	{ 8, 0, 8, false, { 0xf2, 0xff, 0x25, ANY4, 0x90 } },
	{ 8, 0, 8, false, { 0xff, 0x25, ANY4, 0x66, 0x90 } },
};

static int32_t slot_of(const uint8_t *disp)
{
	int32_t v;

	memcpy(&v, disp, sizeof(v));
	return v;
}

static bool matches(const struct stub *s, const uint8_t *p)
{
	unsigned int i, jmp;

	for (i = 0; i < s->size; i++) {
		if (s->byte[i] >= 0 && s->byte[i] != p[i])
			return false;
	}
	if (!s->is_plt0)
		return true;
	/* each slot counts from the end of its instruction; a stub for TLS descriptors differs */
	jmp = p[6] == 0xf2 ? 13 : 12;
	return slot_of(p + 2) + 6LL + 8 == slot_of(p + jmp - 4) + (long long)jmp;
}

static const struct stub *stub_at(struct gen_image *img, uint64_t addr, uint64_t end)
{
	const struct stub *s;
	const uint8_t *p;
	size_t len = end - addr < 16 ? end - addr : 16;

	p = image_code(img, addr, len);
	for (s = stubs; p && s < stubs + sizeof(stubs) / sizeof(*stubs); s++) {
		if (s->size <= len && matches(s, p))
			return s;
	}
	return NULL;
}

static struct cfi_state state_of(uint8_t how, int32_t cfa, uint8_t limit)
{
	return (struct cfi_state){
		.cfa = { .how = how, .reg = REG_RSP, .off = cfa, .limit = limit },
		.ra = { .how = CFI_AT_CFA, .off = -8 },
	};
}

/* @nr stubs of one kind from @start on */
static int add_run(struct gen_rows *r, uint64_t start, uint64_t nr, const struct stub *s)
{
	/* lazy stubs are a pattern of 16 bytes, if they start at multiples of 16 */
	bool pattern = s->pushed && s->cfa == 8 && !(start & 15);
	struct cfi_state state = state_of(pattern ? CFI_PLT : CFI_REG, s->cfa,
					  pattern ? s->pushed : 0);
	uint64_t i;
	int ret;

	ret = rows_add_fde(r, start, start + nr * s->size);
	if (ret)
		return ret;
	if (!s->pushed || pattern)
		return rows_add_row(r, 0, &state);
	for (i = 0; i < nr && !ret; i++) {
		state.cfa.off = s->cfa;
		ret = rows_add_row(r, i * s->size, &state);
		state.cfa.off += 8;
		if (!ret)
			ret = rows_add_row(r, i * s->size + s->pushed, &state);
	}
	return ret;
}

static int amd64_plt(struct gen_rows *r, uint64_t start, uint64_t end)
{
	const struct stub *s, *last = NULL;
	uint64_t addr, run = start;
	int ret = 0;

	for (addr = start; addr < end && !ret; addr += s ? s->size : 8) {
		s = stub_at(r->img, addr, end);
		if (s == last)
			continue;
		if (last)
			ret = add_run(r, run, (addr - run) / last->size, last);
		run = addr;
		last = s;
	}
	if (last && !ret)
		ret = add_run(r, run, (addr - run) / last->size, last);
	return ret;
}

const struct gen_arch gen_amd64 = {
	.machine = EM_X86_64,
	.abi = SFRAME_ABI_AMD64,
	.reg_sp = REG_RSP,
	.reg_fp = REG_RBP,
	.ra_off = -8,
	.padding = amd64_padding,
	.enters_kernel = amd64_enters_kernel,
	.leaves_stack = amd64_leaves_stack,
	.plt = amd64_plt,
	.flow = &flow_amd64,
};
