// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * encode.c - encodes the rules of a row as the bytes of an FRE
 *
 * A file has few different sets of rules (a few hundred), and the encoder runs once for each. The
 * default form says: CFA = SP or FP + n, RA and FP saved at a distance from the CFA. The flexible
 * form can say all of
 *
 *	CFA:	register + n, *(register + n), *(register + n) + m
 *	RA, FP:	*(CFA + n), register + n, *(register + n)
 *
 * and takes twice the words. A control word of 0 stands for the rule of the default form, so RA or
 * FP = CFA + n has no encoding.
 */
#include <string.h>

#include "rows.h"

/* The words of an FRE; those of its default form have no control words. */
struct fre_words {
	int32_t v[SFRAME_FRE_MAX_WORDS];
	bool is_control[SFRAME_FRE_MAX_WORDS];
	unsigned int nr;
};

static void add_word(struct fre_words *w, int32_t v, bool is_control)
{
	w->is_control[w->nr] = is_control;
	w->v[w->nr++] = v;
}

static unsigned int get_word_shift(const struct fre_words *w)
{
	unsigned int shift = 0, i;

	for (i = 0; i < w->nr; i++) {
		if (w->is_control[i] ? w->v[i] > UINT8_MAX : w->v[i] != (int8_t)w->v[i])
			shift = shift < 1 ? 1 : shift;
		if (!w->is_control[i] && w->v[i] != (int16_t)w->v[i])
			shift = 2;
	}
	return shift;
}

static uint8_t put_words(uint8_t *to, bool sp, bool mangled, const struct fre_words *w,
			 bool big_endian)
{
	unsigned int shift = get_word_shift(w), size = 1 << shift, i, b;
	uint8_t *p = to;

	*p++ = SFRAME_FRE_INFO(sp, w->nr, shift, mangled);
	for (i = 0; i < w->nr; i++) {
		for (b = 0; b < size; b++)
			p[big_endian ? size - 1 - b : b] = (uint32_t)w->v[i] >> 8 * b;
		p += size;
	}
	return p - to;
}

/* One pair of a flexible FRE; @cfa: the pair of the CFA, which cannot count from the CFA. */
static bool encode_pair(const struct cfi_rule *rule, bool cfa, struct fre_words *w)
{
	int32_t control;

	if (rule->add && !cfa)
		return false;
	switch (rule->how) {
	case CFI_REG:
	case CFI_PLT:
		control = SFRAME_CTRL(rule->reg, false, true);
		break;
	case CFI_AT_REG:
		control = SFRAME_CTRL(rule->reg, true, true) | (rule->add ? SFRAME_CTRL_ADD : 0);
		break;
	case CFI_AT_CFA:
		if (cfa)
			return false;
		control = SFRAME_CTRL(0, true, false);
		break;
	default:
		return false;
	}
	add_word(w, control, true);
	add_word(w, rule->off, false);
	if (rule->add)
		add_word(w, rule->add, false);
	return true;
}

/* The offset of a CFA in the form of a row; false if a row cannot have it. */
static bool encode_cfa(const struct sframe_arch *abi, int32_t off, int32_t *word)
{
	int64_t v = (int64_t)off - abi->cfa_bias;

	*word = v / abi->cfa_scale;
	return v % abi->cfa_scale == 0 && *word == v / abi->cfa_scale;
}

static bool encode_default(const struct sframe_arch *abi, const struct cfi_row *s,
			   struct fre_words *w)
{
	int32_t cfa;

	if (s->cfa.how != CFI_REG && s->cfa.how != CFI_PLT)
		return false;
	if (s->cfa.reg != abi->reg_sp && s->cfa.reg != abi->reg_fp)
		return false;
	if (!encode_cfa(abi, s->cfa.off, &cfa))
		return false;
	add_word(w, cfa, false);
	if (abi->ra_off) {
		if (s->ra.how != CFI_AT_CFA || s->ra.off != abi->ra_off)
			return false;
	} else if (s->ra.how == CFI_AT_CFA && s->ra.off) {
		add_word(w, s->ra.off, false);
	} else if (s->ra.how != CFI_SAME) {
		return false;
	} else if (s->fp.how != CFI_SAME) {
		/* RA is in its register: 0 keeps the place */
		add_word(w, 0, false);
	}
	if (s->fp.how == CFI_AT_CFA)
		add_word(w, s->fp.off, false);
	else if (s->fp.how != CFI_SAME)
		return false;
	return true;
}

static uint8_t encode_flexible(const struct sframe_arch *abi, const struct cfi_row *s,
			       struct rows_fre *fre)
{
	/* without a fixed place, RA is in its register */
	bool ra_default = abi->ra_off ? s->ra.how == CFI_AT_CFA && s->ra.off == abi->ra_off :
			  s->ra.how == CFI_SAME;
	struct cfi_rule cfa = s->cfa;
	struct fre_words w = { .nr = 0 };

	if (!encode_cfa(abi, cfa.off, &cfa.off) || !encode_pair(&cfa, true, &w))
		return STATS_CAUSE_CFA;
	if (!ra_default) {
		if (!encode_pair(&s->ra, false, &w))
			return STATS_CAUSE_RA;
	} else if (s->fp.how != CFI_SAME) {
		add_word(&w, 0, true);
	}
	if (s->fp.how != CFI_SAME && !encode_pair(&s->fp, false, &w))
		return STATS_CAUSE_FP;
	fre->adds = s->cfa.add;
	fre->flex_len = put_words(fre->flex, false, s->flags & CFI_MANGLED, &w, abi->big_endian);
	return 0;
}

void rows_encode(const struct arch *arch, const struct cfi_row *s, struct rows_fre *fre)
{
	const struct sframe_arch *abi = arch->abi;
	/* stubs push as much as calls do */
	int32_t pushed = -abi->ra_off;
	struct fre_words w = { .nr = 0 };

	memset(fre, 0, sizeof(*fre));
	fre->signal = s->flags & CFI_SIGNAL;
	fre->kept = CFI_KEPT(s->flags);
	if (s->ra.how == CFI_UNDEF) {
		/* no words: there is no caller, whatever the other rules are */
		fre->bytes[0] = fre->flex[0] = 0;
		fre->len = fre->flex_len = 1;
		return;
	}
	if (s->cfa.how == CFI_BAD)
		fre->cause = s->cfa.off;
	else if (s->ra.how == CFI_BAD)
		fre->cause = s->ra.off;
	else if (s->fp.how == CFI_BAD)
		fre->cause = s->fp.off;
	else if (arch->restores_by && s->cfa.how == CFI_REG && s->cfa.reg != abi->reg_sp &&
		 s->cfa.reg != abi->reg_fp && arch->restores_by(s))
		fre->cause = CFI_CAUSE_SP;
	if (fre->cause)
		return;
	fre->plt = s->cfa.how == CFI_PLT;
	fre->limit = s->cfa.limit;
	if (encode_default(abi, s, &w)) {
		fre->len = put_words(fre->bytes, s->cfa.reg == abi->reg_sp,
				     s->flags & CFI_MANGLED, &w, abi->big_endian);
	} else {
		fre->flex_only = true;
	}
	if (!fre->plt) {
		fre->cause = encode_flexible(abi, s, fre);
	} else if (fre->flex_only || s->cfa.off != (int8_t)(s->cfa.off + pushed) - pushed) {
		/* ld writes only simple rules for stubs */
		fre->cause = STATS_CAUSE_CFA;
	} else {
		w.v[0] += pushed;
		fre->flex_len = put_words(fre->flex, s->cfa.reg == abi->reg_sp, false, &w,
					  abi->big_endian);
	}
}
