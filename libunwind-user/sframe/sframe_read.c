// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * sframe_read.c - search in an SFrame section
 *
 * sframe_open() checks the header. A lookup finds the function (binary search) and reads its rows
 * one by one (sframe_func.h); sframe_rules.h decodes the row found; sframe_bytes.h reads the bytes.
 * A section can come from anyone, and may change while it is read. So a check of its bytes says
 * nothing about the next read of them: the reader relies only on the few numbers that sframe_open()
 * copied.
 */
#include "sframe_func.h"
#ifdef SFRAME_AMD64
#include "sframe_amd64.h"
#endif
#ifdef SFRAME_I386
#include "sframe_i386.h"
#endif
#ifdef SFRAME_ARM64
#include "sframe_arm64.h"
#endif
#ifdef SFRAME_S390X
#include "sframe_s390x.h"
#endif

const struct sframe_arch *sframe_arch(u8 abi)
{
	switch (abi) {
#ifdef SFRAME_AMD64
	case SFRAME_ABI_AMD64:
		return &sframe_arch_amd64;
#endif
#ifdef SFRAME_I386
	case SFRAME_ABI_I386:
		return &sframe_arch_i386;
#endif
#ifdef SFRAME_ARM64
	case SFRAME_ABI_ARM64_LE:
		return &sframe_arch_arm64;
#endif
#ifdef SFRAME_S390X
	case SFRAME_ABI_S390X:
		return &sframe_arch_s390x;
#endif
	default:
		return NULL;
	}
}

/* ------------------------------- header -------------------------------- */

static int open_preamble(struct sframe_table *t, const u8 *hdr)
{
	u8 known_flags = SFRAME_F_SORTED | SFRAME_F_PCREL;
	u16 magic;

	/* As it is in memory: the magic shows whether get16() has to swap all other numbers */
	__builtin_memcpy(&magic, hdr + SFRAME_HDR_MAGIC_OFF, sizeof(magic));
	t->swap = magic == __builtin_bswap16(SFRAME_MAGIC);
	if (magic != SFRAME_MAGIC && !t->swap)
		return -EINVAL;
#ifndef SFRAME_SWAP
	if (t->swap)
		return -EOPNOTSUPP;
#endif
	t->version = get8(hdr + SFRAME_HDR_VERSION_OFF);
	t->flags = get8(hdr + SFRAME_HDR_FLAGS_OFF);
	switch (t->version) {
#ifdef SFRAME_V1_V2
	case SFRAME_VERSION_1:
		t->fde_size = SFRAME_V1_FDE_SIZE;
		known_flags = SFRAME_F_SORTED | SFRAME_F_FRAME_POINTER;
		break;
	case SFRAME_VERSION_2:
		t->fde_size = SFRAME_V2_FDE_SIZE;
		known_flags |= SFRAME_F_FRAME_POINTER;
		break;
#endif
	case SFRAME_VERSION_3:
		t->fde_size = SFRAME_V3_FDE_SIZE;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (t->flags & ~known_flags || !(t->flags & SFRAME_F_SORTED))
		return -EOPNOTSUPP;
	return 0;
}

/* Set t->kept if the table says where functions keep arch->reg_kept. */
static int open_aux(struct sframe_table *t, u8 len)
{
	u8 buf[SFRAME_AUX_SIZE];
	const u8 *aux;
	int ret;

	t->kept = 0;
	if (!is_v3(t) || len != SFRAME_AUX_SIZE)
		return 0;
	ret = fetch(t, SFRAME_HDR_SIZE, SFRAME_AUX_SIZE, buf, &aux);
	if (ret)
		return ret;
	if (!__builtin_memcmp(aux, SFRAME_AUX_MAGIC, SFRAME_AUX_REG_OFF) && t->arch->reg_kept &&
	    aux[SFRAME_AUX_REG_OFF] == t->arch->reg_kept)
		t->kept = SFRAME_KEPT_SIZE;
	return 0;
}

int sframe_open(struct sframe_table *t)
{
	u64 room, fdes, end;
	u8 buf[SFRAME_HDR_SIZE], aux_len;
	const u8 *hdr;
	int ret;

	if (t->size < SFRAME_HDR_SIZE)
		return -EBADMSG;
	if (t->base + t->size < t->base || t->text_start + t->text_size < t->text_start ||
	    (!t->mem && t->addr + t->size < t->addr))
		return -ERANGE;

	ret = fetch(t, 0, SFRAME_HDR_SIZE, buf, &hdr);
	if (ret)
		return ret;
	ret = open_preamble(t, hdr);
	if (ret)
		return ret;

	/* Other fixed offsets than the architecture's belong to another ABI */
	t->arch = sframe_arch(get8(hdr + SFRAME_HDR_ABI_OFF));
	if (!t->arch || t->arch->big_endian != (SFRAME_NATIVE_BIG ^ t->swap) ||
	    hdr[SFRAME_HDR_FIXED_FP_OFF] ||
	    (s8)hdr[SFRAME_HDR_FIXED_RA_OFF] != t->arch->ra_off)
		return -EOPNOTSUPP;

	/* All of these are below 2^37, so nothing overflows from here on */
	aux_len = get8(hdr + SFRAME_HDR_AUXHDR_LEN_OFF);
	room = SFRAME_HDR_SIZE + (u64)aux_len;
	t->nr_fdes = get32(t, hdr + SFRAME_HDR_NUM_FDES_OFF);
	t->fre_len = get32(t, hdr + SFRAME_HDR_FRE_LEN_OFF);
	t->fde_off = room + get32(t, hdr + SFRAME_HDR_FDEOFF_OFF);
	t->fre_off = room + get32(t, hdr + SFRAME_HDR_FREOFF_OFF);
	fdes = t->fde_off + (u64)t->nr_fdes * t->fde_size;
	end = t->fre_off + t->fre_len;
	if (end < fdes)
		end = fdes;
	if (end > t->size)
		return -EBADMSG;
	t->size = end;
	return open_aux(t, aux_len);
}

/* ------------------------------- lookup -------------------------------- */

int sframe_find(const struct sframe_table *t, u64 pc, struct sframe_row *row)
{
	u32 index;
	int ret;

	if (unlikely(pc - t->text_start >= t->text_size || !t->nr_fdes))
		return -ESRCH;
	ret = search_funcs(t, pc, 0, t->nr_fdes, &index);
	if (unlikely(ret))
		return ret;
	return find_row_in_func(t, index, pc, row);
}
