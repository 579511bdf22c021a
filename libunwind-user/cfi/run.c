// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * run.c - runs call frame instructions and emits rows
 *
 * Only the registers that a table describes are followed: CFA, RA, FP, one more if the caller asks
 * for it, and also SP, to check that the caller's SP is the CFA. An instruction that cannot be
 * understood makes the rest of the FDE bad. The rows before it stay right, since no instruction
 * acts on pcs before its own.
 */
#include <dwarf.h>
#include <string.h>

#include "impl.h"

/* Depth of remember_state. Compilers use 1. */
#define MAX_REMEMBERED	16

/* Some versions of <dwarf.h> lack these. */
#define OP_MIPS_ADVANCE_LOC8	0x1d
#define OP_ARM64_NEGATE_RA	0x2d
#define OP_GNU_ARGS_SIZE	0x2e
#define OP_GNU_NEGATIVE_OFFSET	0x2f

struct cfi_machine {
	const struct cfi_run *run;
	struct cfi_regs *regs;
	struct byte_cursor c;
	uint64_t pc;
	bool started;			/* a row was reported: this one */
	struct cfi_row last;
	unsigned int nr_remembered;
	struct cfi_regs remembered[MAX_REMEMBERED];
};

/* The rule of a register; NULL if this file does not follow the register. */
static struct cfi_rule *find_rule(const struct cfi_machine *m, struct cfi_regs *regs, uint64_t reg)
{
	if (reg == m->run->sec->reg_fp)
		return &regs->fp;
	if (reg == m->run->cie->ra_reg)
		return &regs->ra;
	if (reg == m->run->sec->reg_sp)
		return &regs->sp;
	if (reg == m->run->sec->reg_kept && reg)
		return &regs->kept;
	return NULL;
}

static void set_rule(struct cfi_machine *m, uint64_t reg, struct cfi_rule rule)
{
	struct cfi_rule *r = find_rule(m, m->regs, reg);

	if (r)
		*r = rule;
}

/* n * data_align, or a number that does not fit in a rule */
static int64_t scale_offset(const struct cfi_machine *m, int64_t n)
{
	int64_t v;

	if (__builtin_mul_overflow(n, m->run->cie->data_align, &v))
		return INT64_MAX;
	return v;
}

static int64_t read_uleb_off(struct cfi_machine *m)
{
	uint64_t n = bytes_read_uleb(&m->c);

	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static void save_register(struct cfi_machine *m, uint64_t reg, int64_t off, enum cfi_how how)
{
	set_rule(m, reg, cfi_make_rule(how, 0, off));
}

static void restore_register(struct cfi_machine *m, uint64_t reg)
{
	struct cfi_regs init = m->run->cie->init;
	struct cfi_rule *from = find_rule(m, &init, reg);

	if (from)
		set_rule(m, reg, *from);
}

/*
 * Does the rule for SP say what every row assumes, that SP becomes the CFA?
 *
 * On s390x a function saves SP like other registers: in the area below the CFA that its caller
 * keeps for this, or in a floating point register, whose number is above that of SP. The saved
 * value is SP at the call, which defines the CFA.
 */
static bool sp_is_cfa(const struct cfi_machine *m)
{
	const struct cfi_section *sec = m->run->sec;
	const struct cfi_rule *sp = &m->regs->sp;

	switch (sp->how) {
	case CFI_SAME:
		return true;
	case CFI_CFA:
		return sp->off == sec->sp_off;
	case CFI_AT_CFA:
		return sp->off < 0 && sp->off >= sec->sp_off;
	case CFI_REG:
		if (sec->sp_off)
			return sp->reg > sec->reg_sp && !sp->off;
		return !memcmp(sp, &m->regs->cfa, sizeof(*sp));
	default:
		return !sec->sp_off && !memcmp(sp, &m->regs->cfa, sizeof(*sp));
	}
}

/* If @rule counts from @cfa, make it count from the register that @cfa counts from. */
static struct cfi_rule count_from_register(const struct cfi_rule *rule, const struct cfi_rule *cfa)
{
	if (rule->how != CFI_CFA && rule->how != CFI_AT_CFA)
		return *rule;
	if (cfa->how != CFI_REG)
		return cfi_make_bad_rule(CFI_CAUSE_SP);
	return cfi_make_rule(rule->how == CFI_CFA ? CFI_REG : CFI_AT_REG, cfa->reg,
			     (int64_t)cfa->off + rule->off);
}

/*
 * In longjmp() and setcontext(), the CFA is the buffer, and SP is loaded like any register. In a
 * row the CFA is the new SP, and no rule may count from the old one.
 */
static void take_sp_for_cfa(const struct cfi_machine *m, struct cfi_row *rules)
{
	struct cfi_rule sp = count_from_register(&m->regs->sp, &m->regs->cfa);

	rules->ra = count_from_register(&rules->ra, &m->regs->cfa);
	rules->fp = count_from_register(&rules->fp, &m->regs->cfa);
	if ((sp.how != CFI_REG && sp.how != CFI_AT_REG) || m->run->sec->sp_off)
		sp = cfi_make_bad_rule(CFI_CAUSE_SP);
	rules->cfa = sp;
}

/* The flags that say where the register of sec->reg_kept is, which CIEs for signals do not say. */
static uint32_t get_kept_flags(const struct cfi_machine *m)
{
	const struct cfi_rule *kept = &m->regs->kept;
	uint32_t slot = CFI_KEPT_UNKNOWN;

	if (!m->run->sec->reg_kept || m->regs->flags & CFI_SIGNAL)
		return 0;
	if (kept->how == CFI_SAME)
		slot = CFI_KEPT_IN_REG;
	else if (kept->how == CFI_AT_CFA && !(kept->off % 8) && kept->off < -8 * CFI_KEPT_IN_REG &&
		 kept->off >= -8 * UINT8_MAX)
		slot = -kept->off / 8;
	return slot << CFI_KEPT_SHIFT;
}

static int emit_row(struct cfi_machine *m, const struct cfi_row *rules)
{
	if (m->started && !memcmp(rules, &m->last, sizeof(*rules)))
		return 0;
	m->started = true;
	m->last = *rules;
	return m->run->ops->row(m->run->arg, m->pc, rules);
}

/* The instructions up to here hold for [pc, to). */
static int advance_to(struct cfi_machine *m, uint64_t to)
{
	struct cfi_row rules = {
		.cfa = m->regs->cfa, .ra = m->regs->ra, .fp = m->regs->fp,
		.flags = m->regs->flags,
	};
	int ret = 0;

	if (to <= m->pc)
		return 0;
	if (m->run->ops) {
		if (rules.ra.how == CFI_SAME && m->run->cie->ra_reg != m->run->sec->reg_ra)
			rules.ra = cfi_make_rule(CFI_REG, m->run->cie->ra_reg, 0);
		if (m->regs->ra.how != CFI_UNDEF && !sp_is_cfa(m))
			take_sp_for_cfa(m, &rules);
		else
			rules.flags |= get_kept_flags(m);
		ret = emit_row(m, &rules);
	}
	m->pc = to;
	return ret;
}

static int advance_pc(struct cfi_machine *m, uint64_t delta)
{
	uint64_t to;

	if (__builtin_mul_overflow(delta, m->run->cie->code_align, &to) ||
	    __builtin_add_overflow(m->pc, to, &to) || to > m->run->end)
		to = m->run->end;
	return advance_to(m, to);
}

static bool set_loc(struct cfi_machine *m, int *ret)
{
	uint64_t to;

	/* assemblers never go backwards, and readers disagree about the meaning */
	if (!cfi_read_pointer(m->run->sec, &m->c, m->run->cie->enc, &to) || to < m->pc)
		return false;
	*ret = advance_to(m, to < m->run->end ? to : m->run->end);
	return true;
}

static struct cfi_rule read_expr(struct cfi_machine *m, bool cfa_pushed, bool value)
{
	uint64_t size = bytes_read_uleb(&m->c);

	return cfi_read_expr(m->run->sec, bytes_take(&m->c, size), cfa_pushed, value);
}

/*
 * Run an instruction that defines the CFA. Returns false for another instruction, and for one that
 * changes a part of a CFA that is not register + offset.
 */
static bool define_cfa(struct cfi_machine *m, uint8_t op)
{
	struct cfi_rule *cfa = &m->regs->cfa;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = bytes_read_uleb(&m->c);
		*cfa = cfi_make_rule(CFI_REG, reg, read_uleb_off(m));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = bytes_read_uleb(&m->c);
		*cfa = cfi_make_rule(CFI_REG, reg, scale_offset(m, bytes_read_sleb(&m->c)));
		return true;
	case DW_CFA_def_cfa_expression:
		*cfa = read_expr(m, false, true);
		return true;
	}
	if (cfa->how != CFI_REG)
		return false;
	switch (op) {
	case DW_CFA_def_cfa_register:
		*cfa = cfi_make_rule(CFI_REG, bytes_read_uleb(&m->c), cfa->off);
		return true;
	case DW_CFA_def_cfa_offset:
		*cfa = cfi_make_rule(CFI_REG, cfa->reg, read_uleb_off(m));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		*cfa = cfi_make_rule(CFI_REG, cfa->reg, scale_offset(m, bytes_read_sleb(&m->c)));
		return true;
	default:
		return false;
	}
}

/* Run an instruction that defines the rule of a register; false: another instruction. */
static bool define_register(struct cfi_machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = bytes_read_uleb(&m->c);
		save_register(m, reg, scale_offset(m, read_uleb_off(m)), CFI_AT_CFA);
		break;
	case DW_CFA_offset_extended_sf:
		reg = bytes_read_uleb(&m->c);
		save_register(m, reg, scale_offset(m, bytes_read_sleb(&m->c)), CFI_AT_CFA);
		break;
	case OP_GNU_NEGATIVE_OFFSET:
		reg = bytes_read_uleb(&m->c);
		save_register(m, reg, scale_offset(m, -read_uleb_off(m)), CFI_AT_CFA);
		break;
	case DW_CFA_val_offset:
		reg = bytes_read_uleb(&m->c);
		save_register(m, reg, scale_offset(m, read_uleb_off(m)), CFI_CFA);
		break;
	case DW_CFA_val_offset_sf:
		reg = bytes_read_uleb(&m->c);
		save_register(m, reg, scale_offset(m, bytes_read_sleb(&m->c)), CFI_CFA);
		break;
	case DW_CFA_restore_extended:
		restore_register(m, bytes_read_uleb(&m->c));
		break;
	case DW_CFA_undefined:
		set_rule(m, bytes_read_uleb(&m->c), (struct cfi_rule){ .how = CFI_UNDEF });
		break;
	case DW_CFA_same_value:
		set_rule(m, bytes_read_uleb(&m->c), (struct cfi_rule){ .how = CFI_SAME });
		break;
	case DW_CFA_register:
		reg = bytes_read_uleb(&m->c);
		set_rule(m, reg, cfi_make_rule(CFI_REG, bytes_read_uleb(&m->c), 0));
		break;
	case DW_CFA_expression:
		reg = bytes_read_uleb(&m->c);
		set_rule(m, reg, read_expr(m, true, false));
		break;
	case DW_CFA_val_expression:
		reg = bytes_read_uleb(&m->c);
		set_rule(m, reg, read_expr(m, true, true));
		break;
	default:
		return false;
	}
	return true;
}

/* Run an instruction whose opcode takes its whole byte. Returns false if the instruction is bad. */
static bool run_extended(struct cfi_machine *m, uint8_t op, int *ret)
{
	struct cfi_regs *regs = m->regs;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		return set_loc(m, ret);
	case DW_CFA_advance_loc1:
		*ret = advance_pc(m, bytes_read_u8(&m->c));
		break;
	case DW_CFA_advance_loc2:
		*ret = advance_pc(m, bytes_read_uint(&m->c, 2));
		break;
	case DW_CFA_advance_loc4:
		*ret = advance_pc(m, bytes_read_uint(&m->c, 4));
		break;
	case OP_MIPS_ADVANCE_LOC8:
		*ret = advance_pc(m, bytes_read_uint(&m->c, 8));
		break;
	case DW_CFA_remember_state:
		if (m->nr_remembered == MAX_REMEMBERED)
			return false;
		m->remembered[m->nr_remembered++] = *regs;
		break;
	case DW_CFA_restore_state:
		if (!m->nr_remembered)
			return false;
		*regs = m->remembered[--m->nr_remembered];
		break;
	case OP_GNU_ARGS_SIZE:
		bytes_read_uleb(&m->c);
		break;
	case OP_ARM64_NEGATE_RA:
		if (!m->run->sec->arm64)
			return false;
		regs->flags ^= CFI_MANGLED;
		break;
	default:
		return define_register(m, op) || define_cfa(m, op);
	}
	return true;
}

int cfi_run(const struct cfi_run *run, struct byte_cursor code, struct cfi_regs *regs)
{
	struct cfi_machine m;
	struct cfi_row bad;
	bool fine = true;
	int ret = 0;

	m.run = run;
	m.regs = regs;
	m.c = code;
	m.pc = run->start;
	m.started = false;
	m.nr_remembered = 0;
	while (m.c.p != m.c.end && fine && !ret) {
		uint8_t op = *m.c.p++;
		uint8_t low = op & 0x3f;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			ret = advance_pc(&m, low);
			break;
		case DW_CFA_offset:
			save_register(&m, low, scale_offset(&m, read_uleb_off(&m)), CFI_AT_CFA);
			break;
		case DW_CFA_restore:
			restore_register(&m, low);
			break;
		default:
			fine = run_extended(&m, low, &ret);
		}
		fine = fine && !m.c.bad;
		/* instructions after the end describe no pc of this FDE */
		if (m.pc >= run->end && run->ops)
			break;
	}
	if (!run->ops)
		return fine ? 0 : CFI_CAUSE_OP;
	if (ret || m.pc >= run->end)
		return ret;
	if (fine)
		return advance_to(&m, run->end);
	memset(&bad, 0, sizeof(bad));
	bad.cfa = cfi_make_bad_rule(CFI_CAUSE_OP);
	return emit_row(&m, &bad);
}
