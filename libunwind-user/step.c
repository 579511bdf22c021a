// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * step.c - apply the rule of one frame
 *
 * A stack is hostile input too: it may be corrupt, or made so that its frames lead nowhere. What
 * keeps a walk finite:
 *
 *  - The stack pointer moves up with each step. In the topmost or an interrupted frame it may stay,
 *    if RA is in a register: a function that uses no stack. Its caller's frame is neither.
 *  - Only a signal frame may go anywhere, for it can lie on a stack of its own. So any circle leads
 *    through one. Brent's way finds it: the state after signal frame number 1, 2, 4, 8 ... is
 *    kept, and if a later one equals it, that is the circle. Two frames of a stack cannot
 *    be interrupted at the same instruction with the same stack pointer.
 *  - The caller has a limit besides.
 */
#include "step.h"

static inline int read_words(const struct ustep_env *env, u64 addr, u64 *words, unsigned int nr)
{
#ifdef ustep_env_read
	return ustep_env_read(env, addr, words, nr);
#else
	return env->read(env->ctx, addr, words, nr);
#endif
}

#define WORD	8

/* A register other than SP and FP: known where the program was interrupted, and nowhere else. */
static int read_reg(const struct ustep *s, const struct ustep_env *env, unsigned int reg, u64 *v)
{
	u64 addr;

	if (s->flags & USTEP_TOPMOST)
		return env->get_reg && !env->get_reg(env->ctx, reg, v) ? 0 : -ENODATA;
	if (!(s->flags & USTEP_SIGNAL) || !env->arch->sig_regs || reg >= env->arch->nr_regs)
		return -ENODATA;
	addr = s->sig + env->arch->sig_regs[reg];
	return addr % WORD ? -ENODATA : read_words(env, addr, v, 1);
}

/* base + off of @rule */
static int sum(const struct ustep *s, const struct ustep_env *env, const struct sframe_rule *rule,
	       u64 cfa, u64 *v)
{
	int ret;

	switch (rule->base) {
	case SFRAME_CFA:
		*v = cfa;
		break;
	case SFRAME_SP:
		*v = s->sp;
		break;
	case SFRAME_FP:
		*v = s->fp;
		break;
	case SFRAME_REG:
		ret = read_reg(s, env, rule->reg, v);
		if (ret)
			return ret;
		break;
	default:
		return -EBADMSG;
	}
	*v += (u64)(s64)rule->off;
	return 0;
}

static int value(const struct ustep *s, const struct ustep_env *env, const struct sframe_rule *rule,
		 u64 cfa, u64 *v)
{
	u64 addr;
	int ret;

	ret = sum(s, env, rule, cfa, &addr);
	if (ret)
		return ret;
	if (!rule->deref) {
		*v = addr;
		return 0;
	}
	return addr % WORD ? -EINVAL : read_words(env, addr, v, 1);
}

static inline bool is_at(const struct sframe_rule *rule, enum sframe_base base, s32 off)
{
	return rule->base == base && rule->deref && rule->off == off;
}

/* RA and FP by any rules */
static int read_two(const struct ustep *s, const struct ustep_env *env,
		    const struct sframe_row *row, u64 cfa, u64 *ra, u64 *fp)
{
	int ret;

	if (row->ra.base == SFRAME_SAME)
		ret = read_reg(s, env, env->arch->reg_ra, ra);
	else
		ret = value(s, env, &row->ra, cfa, ra);
	if (ret)
		return ret;
	*fp = s->fp;
	return row->fp.base == SFRAME_SAME ? 0 : value(s, env, &row->fp, cfa, fp);
}

/* The usual rules, with one read where RA and FP lie in a row */
static inline int read_saved(const struct ustep *s, const struct ustep_env *env,
			     const struct sframe_row *row, u64 cfa, u64 *ra, u64 *fp)
{
	u64 words[2], at = cfa + (u64)(s64)row->ra.off;
	int ret;

	if (unlikely(row->ra.base != SFRAME_CFA || !row->ra.deref || at % WORD))
		return read_two(s, env, row, cfa, ra, fp);
	if (row->fp.base == SFRAME_SAME) {
		*fp = s->fp;
		return read_words(env, at, ra, 1);
	}
	if (unlikely(!is_at(&row->fp, SFRAME_CFA, row->ra.off - WORD)))
		return read_two(s, env, row, cfa, ra, fp);
	ret = read_words(env, at - WORD, words, 2);
	*fp = words[0];
	*ra = words[1];
	return ret;
}

/* Does the row read the frame of a signal the way the kernel lays it out? */
static bool is_sigframe(const struct sframe_arch *arch, const struct sframe_row *row)
{
	return arch->sig_regs && is_at(&row->cfa, SFRAME_SP, arch->sig_sp) &&
	       is_at(&row->ra, SFRAME_SP, arch->sig_ip) &&
	       is_at(&row->fp, SFRAME_SP, arch->sig_fp);
}

static int after_signal(struct ustep *s, const struct ustep_env *env, const struct sframe_row *row,
			u64 ip, u64 sp)
{
	if (s->nr_sig && ip == s->seen_ip && sp == s->seen_sp)
		return -EINVAL;
	s->nr_sig++;
	if (!(s->nr_sig & (s->nr_sig - 1))) {
		s->seen_ip = ip;
		s->seen_sp = sp;
	}
	s->flags = USTEP_EXACT;
	if (is_sigframe(env->arch, row)) {
		s->flags |= USTEP_SIGNAL;
		s->sig = s->sp;
	}
	return 0;
}

int ustep_row(struct ustep *s, const struct ustep_env *env, const struct sframe_row *row)
{
	u64 cfa, sp, ra = 0, fp = 0;
	int ret;

	if (unlikely(row->ra.base == SFRAME_UNDEFINED))
		return USTEP_OUTERMOST;
	if (likely(row->cfa.base == SFRAME_SP && !row->cfa.deref)) {
		cfa = s->sp + (u64)(s64)row->cfa.off;
	} else {
		if (unlikely(row->cfa.base == SFRAME_CFA))
			return -EBADMSG;
		ret = value(s, env, &row->cfa, 0, &cfa);
		if (unlikely(ret))
			return ret;
	}

	sp = cfa + (u64)(s64)env->arch->sp_off;
	if (unlikely(sp <= s->sp) && !(row->flags & SFRAME_ROW_SIGNAL)) {
		if (sp < s->sp || !(s->flags & USTEP_EXACT) || row->ra.base == SFRAME_CFA)
			return -EINVAL;
	}
	if (unlikely(sp % WORD))
		return -EINVAL;

	ret = read_saved(s, env, row, cfa, &ra, &fp);
	if (unlikely(ret))
		return ret;
	if (unlikely(row->flags & SFRAME_ROW_MANGLED))
		ra &= ~env->ra_mask;
	/* Where threads and programs start, before there is a row that says so */
	if (unlikely(!ra))
		return USTEP_OUTERMOST;

	if (unlikely(row->flags & SFRAME_ROW_SIGNAL)) {
		ret = after_signal(s, env, row, ra, sp);
		if (ret)
			return ret;
	} else {
		s->flags = 0;
	}
	s->ip = ra;
	s->sp = sp;
	s->fp = fp;
	s->frames++;
	return 0;
}

static bool is_code(const struct ustep_env *env, u64 addr)
{
	const struct sframe_arch *arch = env->arch;
	u8 code[16];
	unsigned int i;

	if (env->read_code(env->ctx, addr, code, arch->sig_code_len))
		return false;
	for (i = 0; i < arch->sig_code_len; i++) {
		if (code[i] != arch->sig_code[i])
			return false;
	}
	return true;
}

int ustep_sigreturn(const struct ustep *s, const struct ustep_env *env, struct sframe_row *row)
{
	const struct sframe_arch *arch = env->arch;

	if (!env->read_code || !arch->sig_code_len || arch->sig_code_len > 16)
		return -ENOENT;
	/*
	 * A handler returns to the first instruction. Only the topmost frame may be further on: in
	 * front of the system call, or behind it while it is in there.
	 */
	if (!is_code(env, s->ip) &&
	    !(s->flags & USTEP_EXACT && (is_code(env, s->ip - arch->sig_code_syscall) ||
					 is_code(env, s->ip - arch->sig_code_len))))
		return -ENOENT;
	*row = (struct sframe_row) {
		.start = ustep_pc(s),
		.size = 1,
		.flags = SFRAME_ROW_SIGNAL,
		.cfa = { .off = arch->sig_sp, .base = SFRAME_SP, .deref = 1 },
		.ra = { .off = arch->sig_ip, .base = SFRAME_SP, .deref = 1 },
		.fp = { .off = arch->sig_fp, .base = SFRAME_SP, .deref = 1 },
	};
	return 0;
}
