/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * sframe_rules.h - from the words of one row to its rules; only for sframe_func.h
 *
 * The caller has checked that the window holds as many words as the row's info says. The version,
 * the architecture and the kind of function decide what the words mean. A row with more or fewer
 * words than that gives -EBADMSG.
 */
#ifndef SFRAME_RULES_H
#define SFRAME_RULES_H

#include "sframe_bytes.h"

/* The words of a row */
struct words {
	const u8	*p;
	u8		nr;	/* words left */
	u8		shift;	/* a word has 1 << shift bytes */
};

static inline u32 next_word(const struct sframe_table *t, struct words *w)
{
	const u8 *p = w->p;

	w->p += 1 << w->shift;
	w->nr--;
	switch (w->shift) {
	case 0:
		return *p;
	case 1:
		return get16(t, p);
	default:
		return get32(t, p);
	}
}

static inline s32 next_offset(const struct sframe_table *t, struct words *w)
{
	u8 shift = w->shift;
	u32 v = next_word(t, w);

	return shift == 0 ? (s8)v : shift == 1 ? (s16)v : (s32)v;
}

static inline int set_cfa(const struct sframe_arch *arch, struct sframe_rule *r, s32 off)
{
	s64 v = (s64)off * arch->cfa_scale + arch->cfa_bias;

	r->off = v;
	return r->off == v ? 0 : -EBADMSG;
}

static inline void set_at_cfa(struct sframe_rule *r, s32 off)
{
	*r = (struct sframe_rule) { .off = off, .base = SFRAME_CFA, .deref = 1 };
}

#ifdef SFRAME_V1_V2
/* s390x before version 3: an odd offset is a register number */
static int set_reg_or_at_cfa(const struct sframe_arch *arch, struct sframe_rule *r, s32 off);
#endif

static inline int set_saved_rule(const struct sframe_table *t, struct sframe_rule *r, s32 off)
{
#ifdef SFRAME_V1_V2
	if (unlikely(t->arch->abi == SFRAME_ABI_S390X && t->version < SFRAME_VERSION_3))
		return set_reg_or_at_cfa(t->arch, r, off);
#endif
	set_at_cfa(r, off);
	return 0;
}

static inline int default_rules(const struct sframe_table *t, struct words *w, bool sp,
				struct sframe_row *row)
{
	int ret;
	s32 off;

	row->cfa.base = sp ? SFRAME_SP : SFRAME_FP;
	ret = set_cfa(t->arch, &row->cfa, next_offset(t, w));
	if (!ret && !t->arch->ra_off && w->nr) {
		off = next_offset(t, w);
		/* RA is not saved; the 0 only fills its place */
		if (off)
			ret = set_saved_rule(t, &row->ra, off);
	}
	if (!ret && w->nr)
		ret = set_saved_rule(t, &row->fp, next_offset(t, w));
	return ret ? ret : w->nr ? -EBADMSG : 0;
}

/*
 * One pair of a flexible row. No pair, or a control of 0, leaves the rule as it is. @add: a third
 * word may follow.
 */
static int flex_rule(const struct sframe_table *t, struct words *w, bool add,
		     struct sframe_rule *r)
{
	u32 ctrl, reg;
	s32 more;

	if (!w->nr)
		return 0;
	ctrl = next_word(t, w);
	if (!ctrl)
		return 0;
	reg = SFRAME_CTRL_REG(ctrl);
	if ((ctrl & SFRAME_CTRL_ADD && !add) || !w->nr || reg > 0xff)
		return -EBADMSG;
	*r = (struct sframe_rule) {
		.off = next_offset(t, w),
		.base = SFRAME_REG,
		.reg = reg,
		.deref = !!SFRAME_CTRL_IS_DEREF(ctrl),
	};
	if (!SFRAME_CTRL_IS_REG(ctrl)) {
		r->base = SFRAME_CFA;
		return !r->deref || reg ? -EBADMSG : 0;
	}
	if (ctrl & SFRAME_CTRL_ADD) {
		if (!r->deref || !w->nr)
			return -EBADMSG;
		more = next_offset(t, w);
		if (more <= 0 || more > 0xff)
			return -EBADMSG;
		r->add = more;
	}
	if (reg == t->arch->reg_sp || reg == t->arch->reg_fp) {
		r->base = reg == t->arch->reg_sp ? SFRAME_SP : SFRAME_FP;
		r->reg = 0;
	}
	return 0;
}

static int flex_rules(const struct sframe_table *t, struct words *w, bool add,
		      struct sframe_row *row)
{
	int ret;

	ret = flex_rule(t, w, add, &row->cfa);
	if (ret)
		return ret;
	/* The CFA needs a rule, which cannot depend on the CFA itself */
	if (row->cfa.base == SFRAME_SAME || row->cfa.base == SFRAME_CFA)
		return -EBADMSG;
	ret = set_cfa(t->arch, &row->cfa, row->cfa.off);
	if (!ret)
		ret = flex_rule(t, w, false, &row->ra);
	if (!ret)
		ret = flex_rule(t, w, false, &row->fp);
	return ret ? ret : w->nr ? -EBADMSG : 0;
}

static inline int decode_row(const struct sframe_table *t, const struct sframe_func *f, u8 info,
			     const u8 *p, struct sframe_row *row)
{
	struct words w = {
		.p = p,
		.nr = SFRAME_FRE_COUNT(info),
		.shift = SFRAME_FRE_WORD_SHIFT(info),
	};

	row->cfa = (struct sframe_rule) { .off = 0 };
	row->ra = row->cfa;
	row->fp = row->cfa;
	row->flags = SFRAME_FDE_IS_SIGNAL(f->info) ? SFRAME_ROW_SIGNAL : 0;
	if (SFRAME_FRE_IS_MANGLED(info)) {
		if (!t->arch->mangles_ra)
			return -EBADMSG;
		row->flags |= SFRAME_ROW_MANGLED;
	}
	if (!w.nr) {
		row->ra.base = SFRAME_UNDEFINED;
		return t->version == SFRAME_VERSION_1 ? -EBADMSG : 0;
	}
	if (t->arch->ra_off)
		set_at_cfa(&row->ra, t->arch->ra_off);
	if (unlikely(f->info2 != SFRAME_FDE_TYPE_DEFAULT))
		return flex_rules(t, &w, f->info2 == SFRAME_FDE_TYPE_FLEX_ADD, row);
	return default_rules(t, &w, SFRAME_FRE_IS_SP(info), row);
}

#endif
