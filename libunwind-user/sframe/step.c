// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * step.c - apply the rule of one frame
 *
 * A stack is hostile input too: it may be corrupt, or made so that its frames never end. These
 * rules keep a walk finite:
 *
 *  - The stack pointer moves up with each step. It may stay only in the innermost frame or
 *    in an interrupted one, and only if RA is in a register or saved in the caller's frame: such
 *    a function uses no stack, or none yet. Its caller is neither innermost nor interrupted.
 *  - Only a signal frame may lead anywhere, because it can be on a stack of its own. So any cycle
 *    contains a signal frame. Brent's algorithm finds the cycle: it keeps the state after signal
 *    frame number 1, 2, 4, 8 ..., and compares each later one with it. Two frames of a stack cannot
 *    be interrupted at the same instruction with the same stack pointer.
 *  - The caller limits the number of frames too.
 */
#include "step.h"

/* Bytes of a word of the program */
static inline u32 word_size(const struct ustep_env *env)
{
#ifdef SFRAME_I386
	return env->arch->is_32bit ? 4 : 8;
#else
	return 8;
#endif
}

/* Addresses of 32-bit programs start again from 0 after the highest one. */
static inline u64 wrap_addr(u64 addr, u32 word)
{
	return word == 8 ? addr : (u32)addr;
}

static inline bool is_aligned(u64 addr, u32 word)
{
	return !(addr & (word - 1));
}

static __always_inline int read_words(const struct ustep_env *env, u64 addr, u64 *words,
				      unsigned int nr, u32 word)
{
#ifdef ustep_env_read
	return ustep_env_read(wrap_addr(addr, word), words, nr, word);
#else
	return env->read(env->ctx, wrap_addr(addr, word), words, nr);
#endif
}

/*
 * Read a register other than SP and FP. All are known where the program was interrupted;
 * arch->reg_kept is known in later frames too, as long as rows say where it is.
 */
static int read_reg(const struct ustep *s, const struct ustep_env *env, unsigned int reg, u64 *v)
{
	u32 word = word_size(env);
	u64 addr;

	if (s->flags & USTEP_INNERMOST)
		return env->get_reg && !env->get_reg(env->ctx, reg, v) ? 0 : -ENODATA;
	if (s->flags & USTEP_SIGNAL && reg < env->arch->nr_regs) {
		reg = sframe_index_nospec(reg, env->arch->nr_regs);
		addr = s->sig + env->arch->sigs[s->sig_kind].regs[reg];
	} else if (s->flags & (USTEP_KEPT | USTEP_KEPT_AT) && reg == env->arch->reg_kept) {
		addr = s->kept;
		if (s->flags & USTEP_KEPT) {
			*v = addr;
			return 0;
		}
	} else {
		return -ENODATA;
	}
	return is_aligned(addr, word) ? read_words(env, addr, v, 1, word) : -ENODATA;
}

/*
 * Find arch->reg_kept in the caller's frame, from where it is in this one. Returns USTEP_KEPT with
 * its value in @s->kept, USTEP_KEPT_AT with its address there, or 0. This reads memory only if the
 * value is in a signal frame; else a later step reads it, if that step needs it.
 */
static inline u32 find_kept_reg(struct ustep *s, const struct ustep_env *env,
				const struct sframe_row *row, u64 cfa)
{
	u32 slot = SFRAME_ROW_KEPT(row->flags), known = s->flags & (USTEP_KEPT | USTEP_KEPT_AT);

	if (slot == SFRAME_KEPT_UNKNOWN)
		return 0;
	if (slot != SFRAME_KEPT_IN_REG) {
		s->kept = cfa - (u64)slot * 8;
		return USTEP_KEPT_AT;
	}
	if (known)
		return known;
	return read_reg(s, env, env->arch->reg_kept, &s->kept) ? 0 : USTEP_KEPT;
}

static int base_plus_offset(const struct ustep *s, const struct ustep_env *env,
			    const struct sframe_rule *rule, u64 cfa, u64 *v)
{
	int ret;

	switch (rule->base) {
	case SFRAME_CFA:
		*v = cfa;
		break;
	case SFRAME_SP:
		if (s->flags & USTEP_NO_SP)
			return -ENODATA;
		*v = s->sp;
		break;
	case SFRAME_FP:
		if (s->flags & USTEP_NO_FP)
			return -ENODATA;
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
	*v = wrap_addr(*v + (u64)(s64)rule->off, word_size(env));
	return 0;
}

static int apply_rule(const struct ustep *s, const struct ustep_env *env,
		      const struct sframe_rule *rule, u64 cfa, u64 *v)
{
	u32 word = word_size(env);
	u64 addr;
	int ret;

	ret = base_plus_offset(s, env, rule, cfa, &addr);
	if (ret)
		return ret;
	if (!rule->deref) {
		*v = addr;
		return 0;
	}
	return is_aligned(addr, word) ? read_words(env, addr, v, 1, word) : -EINVAL;
}

static inline bool is_saved_at(const struct sframe_rule *rule, enum sframe_base base, s32 off)
{
	return rule->base == base && rule->deref && rule->off == off && !rule->add;
}

/* Read RA and FP by any rules. */
static int read_by_rules(const struct ustep *s, const struct ustep_env *env,
			 const struct sframe_row *row, u64 cfa, u64 *ra, u64 *fp)
{
	int ret;

	if (row->ra.base == SFRAME_SAME)
		ret = read_reg(s, env, env->arch->reg_ra, ra);
	else
		ret = apply_rule(s, env, &row->ra, cfa, ra);
	if (ret)
		return ret;
	*fp = s->fp;
	return row->fp.base == SFRAME_SAME ? 0 : apply_rule(s, env, &row->fp, cfa, fp);
}

/* Read RA and FP by the usual rules, with one read where they are adjacent. */
static __always_inline int read_saved(const struct ustep *s, const struct ustep_env *env,
				      const struct sframe_row *row, u64 cfa, u64 *ra, u64 *fp,
				      const u32 word)
{
	u64 words[2], at = cfa + (u64)(s64)row->ra.off;
	int ret;

	if (unlikely(row->ra.base != SFRAME_CFA || !row->ra.deref || !is_aligned(at, word)))
		return read_by_rules(s, env, row, cfa, ra, fp);
	if (row->fp.base == SFRAME_SAME) {
		*fp = s->fp;
		return read_words(env, at, ra, 1, word);
	}
	if (unlikely(!is_saved_at(&row->fp, SFRAME_CFA, row->ra.off - (s32)word)))
		return read_by_rules(s, env, row, cfa, ra, fp);
	ret = read_words(env, at - word, words, 2, word);
	*fp = words[0];
	*ra = words[1];
	return ret;
}

/* The index in arch->sigs of the layout that the row's offsets fit, or nr_sigs if none fits */
static unsigned int sig_kind(const struct sframe_arch *arch, const struct sframe_row *row)
{
	const struct sframe_sig *sig;
	unsigned int i;

	/* Such a row restores SP as the CFA, which must then be the caller's SP itself */
	if (arch->sp_off && !(row->flags & SFRAME_ROW_SP))
		return arch->nr_sigs;
	for (i = 0; i < arch->nr_sigs; i++) {
		sig = &arch->sigs[i];
		if (is_saved_at(&row->cfa, SFRAME_SP, sig->sp) &&
		    is_saved_at(&row->ra, SFRAME_SP, sig->ip) &&
		    is_saved_at(&row->fp, SFRAME_SP, sig->fp))
			break;
	}
	return i;
}

/*
 * Set the flags of the frame that a signal interrupted, at @ip with @sp. Returns -EINVAL if the
 * walk was in that frame before.
 */
static int leave_signal_frame(struct ustep *s, const struct ustep_env *env,
			      const struct sframe_row *row, u64 ip, u64 sp)
{
	if (s->nr_sig && ip == s->seen_ip && sp == s->seen_sp)
		return -EINVAL;
	s->nr_sig++;
	if (!(s->nr_sig & (s->nr_sig - 1))) {
		s->seen_ip = ip;
		s->seen_sp = sp;
	}
	s->sig_kind = sig_kind(env->arch, row);
	s->flags = USTEP_EXACT;
	if (s->sig_kind < env->arch->nr_sigs) {
		s->flags |= USTEP_SIGNAL;
		s->sig = s->sp;
	}
	return 0;
}

/*
 * Can the row be a wrong one for the code that returns from a signal handler? Yes if the row is
 * marked as a signal frame but does not fit the kernel's layout, or if it leaves RA in a register.
 * Not if its CFA is above an SP in memory: such a frame is a switch of stacks.
 */
static inline bool is_doubtful(const struct ustep_env *env, const struct sframe_row *row)
{
	if (row->flags & SFRAME_ROW_SIGNAL)
		return !row->cfa.add && sig_kind(env->arch, row) == env->arch->nr_sigs;
	return row->ra.base == SFRAME_SAME;
}

/*
 * @plain: RA is saved, the only flags of the row are SFRAME_ROW_KEPT_MASK, SP and FP are known, a
 * word has 8 bytes; nearly all steps are so. It must be a constant: a walk spends most of its time
 * in the copy with @plain true.
 */
static __always_inline int step_by_row(struct ustep *s, const struct ustep_env *env,
				       const struct sframe_row *row, const bool plain)
{
	const u32 word = plain ? 8 : word_size(env);
	u64 cfa, sp, ra, fp;
	u32 flags = 0;
	int ret;

	if (likely(row->cfa.base == SFRAME_SP && !row->cfa.deref &&
		   (plain || !(s->flags & USTEP_NO_SP)))) {
		cfa = s->sp + (u64)(s64)row->cfa.off;
	} else {
		if (unlikely(row->cfa.base == SFRAME_CFA))
			return -EBADMSG;
		ret = apply_rule(s, env, &row->cfa, 0, &cfa);
		if (unlikely(ret))
			return ret;
		cfa += row->cfa.add;
	}

	cfa = wrap_addr(cfa, word);
	sp = cfa;
	if (plain || !(row->flags & SFRAME_ROW_SP))
		sp += (u64)(s64)env->arch->sp_off;
	if (unlikely(sp <= s->sp) && (plain || !(row->flags & SFRAME_ROW_SIGNAL))) {
		/* The function has no frame yet: RA can only be saved in the caller's frame */
		if (sp < s->sp || !(s->flags & USTEP_EXACT) ||
		    (row->ra.base == SFRAME_CFA && cfa + (u64)(s64)row->ra.off < s->sp))
			return -EINVAL;
	}
	if (unlikely(!is_aligned(sp, word)))
		return -EINVAL;

	ret = read_saved(s, env, row, cfa, &ra, &fp, word);
	if (unlikely(ret))
		return ret;
	if (!plain && row->flags & SFRAME_ROW_MANGLED)
		ra &= ~env->ra_mask;
	/* The first function of a thread or program, where no row says that it is outermost */
	if (unlikely(!ra))
		return USTEP_OUTERMOST;

	if (!plain && row->fp.base == SFRAME_SAME)
		flags = s->flags & USTEP_NO_FP;
	if (!plain && row->flags & SFRAME_ROW_SIGNAL) {
		ret = leave_signal_frame(s, env, row, ra, sp);
		if (ret)
			return ret;
		flags |= s->flags;
	} else if (row->flags) {
		flags |= find_kept_reg(s, env, row, cfa);
	}
	s->flags = flags;
	s->ip = ra;
	s->sp = sp;
	s->fp = fp;
	s->frames++;
	return 0;
}

/* Not inlined, so that other steps do not need stack for @sigreturn */
static sframe_noinline int step_any(struct ustep *s, const struct ustep_env *env,
				    const struct sframe_row *row)
{
	struct sframe_row sigreturn;

	if (row->ra.base == SFRAME_UNDEFINED)
		return USTEP_OUTERMOST;
	if (is_doubtful(env, row) && !ustep_sigreturn(s, env, &sigreturn))
		row = &sigreturn;
	return step_by_row(s, env, row, false);
}

int ustep_row(struct ustep *s, const struct ustep_env *env, const struct sframe_row *row)
{
	if (likely(!(row->flags & ~SFRAME_ROW_KEPT_MASK) && row->ra.base == SFRAME_CFA &&
		   !(s->flags & (USTEP_NO_SP | USTEP_NO_FP)) && word_size(env) == 8))
		return step_by_row(s, env, row, true);
	return step_any(s, env, row);
}

static bool has_code(const struct ustep_env *env, const struct sframe_sig *sig, u64 addr)
{
	u8 code[16];
	unsigned int i;

	if (sig->code_len > sizeof(code) || env->read_code(env->ctx, addr, code, sig->code_len))
		return false;
	for (i = 0; i < sig->code_len; i++) {
		if (code[i] != sig->code[i])
			return false;
	}
	return true;
}

/*
 * A handler returns to the first instruction. Only an innermost or interrupted frame may be
 * further: at the system call, or after it while the kernel runs it.
 */
static bool is_in_sigreturn(const struct ustep *s, const struct ustep_env *env,
			    const struct sframe_sig *sig)
{
	if (has_code(env, sig, s->ip))
		return true;
	if (!(s->flags & USTEP_EXACT))
		return false;
	return (sig->code_syscall && has_code(env, sig, s->ip - sig->code_syscall)) ||
	       has_code(env, sig, s->ip - sig->code_len);
}

int ustep_sigreturn(const struct ustep *s, const struct ustep_env *env, struct sframe_row *row)
{
	const struct sframe_sig *sig = env->arch->sigs, *end = sig + env->arch->nr_sigs;

	if (!env->read_code)
		return -ENOENT;
	while (sig < end && !is_in_sigreturn(s, env, sig))
		sig++;
	if (sig == end)
		return -ENOENT;
	*row = (struct sframe_row) {
		.start = ustep_pc(s),
		.size = 1,
		.flags = SFRAME_ROW_SIGNAL | SFRAME_ROW_SP,
		.cfa = { .off = sig->sp, .base = SFRAME_SP, .deref = 1 },
		.ra = { .off = sig->ip, .base = SFRAME_SP, .deref = 1 },
		.fp = { .off = sig->fp, .base = SFRAME_SP, .deref = 1 },
	};
	return 0;
}
