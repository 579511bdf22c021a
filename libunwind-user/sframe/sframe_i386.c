// SPDX-License-Identifier: LGPL-2.1-or-later
/* sframe_i386.c - opens tables of i386, see sframe_i386.h */
#include "sframe_i386.h"

/* eax, ecx, edx, ebx, esp, ebp, esi, edi */
static const s16 sig_regs[] = {
	I386_RT_SC + 44, I386_RT_SC + 40, I386_RT_SC + 36, I386_RT_SC + 32,
	I386_RT_SC + I386_SC_SP, I386_RT_SC + I386_SC_FP, I386_RT_SC + 20, I386_RT_SC + 16,
};

/* mov $173, %eax; int $0x80 */
static const u8 sig_code[] = { 0xb8, 0xad, 0, 0, 0, 0xcd, 0x80 };

static const struct sframe_sig sig = {
	.ip		= I386_RT_SC + I386_SC_IP,
	.sp		= I386_RT_SC + I386_SC_SP,
	.fp		= I386_RT_SC + I386_SC_FP,
	.regs		= sig_regs,
	.code		= sig_code,
	.code_len	= sizeof(sig_code),
	.code_syscall	= 5,
};

const struct sframe_arch sframe_arch_i386 = {
	.abi		= SFRAME_ABI_I386,
	.reg_sp		= 4,
	.reg_fp		= 5,
	.reg_ra		= 8,
	.nr_regs	= 8,
	.ra_off		= -4,
	.cfa_scale	= 1,
	.nr_sigs	= 1,
	.sigs		= &sig,
};

int sframe_open_i386(struct sframe_table *t)
{
	const u8 *mem = t->mem;
	u8 hdr[SFRAME_HDR_SIZE];
	int ret;

	if (!mem || t->size < sizeof(hdr) || mem[SFRAME_HDR_ABI_OFF] != SFRAME_ABI_I386 ||
	    (s8)mem[SFRAME_HDR_FIXED_RA_OFF] != sframe_arch_i386.ra_off ||
	    mem[SFRAME_HDR_AUXHDR_LEN_OFF])
		return -EOPNOTSUPP;
	/* without an auxiliary header, sframe_open() reads nothing after this header */
	__builtin_memcpy(hdr, mem, sizeof(hdr));
	hdr[SFRAME_HDR_ABI_OFF] = SFRAME_ABI_AMD64;
	hdr[SFRAME_HDR_FIXED_RA_OFF] = -8;
	t->mem = hdr;
	ret = sframe_open(t);
	t->mem = mem;
	t->arch = &sframe_arch_i386;
	return ret;
}
