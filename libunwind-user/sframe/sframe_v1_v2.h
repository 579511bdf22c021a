/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_v1_v2.h - functions and rules of versions 1 and 2; only for sframe_func.h
 *
 * No file of the kernel has this: the kernel reads version 3 only.
 */
#ifndef SFRAME_V1_V2_H
#define SFRAME_V1_V2_H

static inline int read_func_v1_v2(const struct sframe_table *t, u64 off, struct sframe_func *f,
				  struct window *w)
{
	u8 buf[SFRAME_V2_FDE_SIZE];
	const u8 *p;
	int ret;

	ret = fetch(t, off, t->fde_size, buf, &p);
	if (ret)
		return ret;
	f->start = get_start(t, off, p);
	f->size = get32(t, p + SFRAME_FDE_SIZE_OFF);
	f->fre_off = get32(t, p + SFRAME_FDE_FRE_OFF_OFF);
	f->nr_fres = get32(t, p + SFRAME_FDE_NUM_FRES_OFF);
	f->info = get8(p + SFRAME_FDE_INFO_OFF);
	f->info2 = 0;
	f->rep_size = t->version == SFRAME_VERSION_1 ? 0 : get8(p + SFRAME_FDE_REP_SIZE_OFF);
	f->kept_slot = SFRAME_KEPT_UNKNOWN;
	f->kept_rows = 0;
	if (!f->nr_fres)
		return check_info(t, f);
	ret = window_at(t, w, f->fre_off);
	return ret ? ret : check_info(t, f);
}

/* s390x: an odd offset is a register number: number << 1 | 1 */
static int set_reg_or_at_cfa(const struct sframe_arch *arch, struct sframe_rule *r, s32 off)
{
	if (!(off & 1)) {
		set_at_cfa(r, off);
		return 0;
	}
	off >>= 1;
	if (off < 0 || off > 0xff || off == arch->reg_sp)
		return -EBADMSG;
	*r = (struct sframe_rule) { .base = SFRAME_REG, .reg = off };
	if (off == arch->reg_fp)
		*r = (struct sframe_rule) { .base = SFRAME_FP };
	return 0;
}

#endif
