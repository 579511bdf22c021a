// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * expr.c - the few DWARF expressions that are a rule
 *
 * The expression runs over symbols: a number, register + offset, CFA + offset, or the memory at
 * register + offset or at CFA + offset, to which a small number may be added. A value outside
 * this set, *(*(rsp + 8) + 8) say, is bad. An operation that no compiler, linker or C library was
 * seen to use is bad too. There are no jumps, so each byte is read once.
 */
#include <dwarf.h>
#include <string.h>

#include "impl.h"

#define STACK_SIZE	8

enum sym_kind { SYM_NUMBER, SYM_REG, SYM_CFA, SYM_AT_REG, SYM_AT_CFA };

struct expr_sym {
	enum sym_kind kind;
	uint64_t reg;
	int64_t n;		/* the number, or the offset */
	int64_t add;		/* to the memory */
};

struct expr_stack {
	struct expr_sym s[STACK_SIZE];
	unsigned int nr;
	bool bad;
};

static void push_symbol(struct expr_stack *st, struct expr_sym s)
{
	if (st->nr == STACK_SIZE)
		st->bad = true;
	else
		st->s[st->nr++] = s;
}

static void push_number(struct expr_stack *st, int64_t n)
{
	push_symbol(st, (struct expr_sym){ .kind = SYM_NUMBER, .n = n });
}

static struct expr_sym pop_symbol(struct expr_stack *st)
{
	if (!st->nr) {
		st->bad = true;
		return (struct expr_sym){ .kind = SYM_NUMBER };
	}
	return st->s[--st->nr];
}

/* a + b, of which one is a number; or a - b, of which b is a number */
static void add_symbols(struct expr_stack *st, bool minus)
{
	struct expr_sym b = pop_symbol(st), a = pop_symbol(st);
	struct expr_sym t;
	int64_t *sum;

	if (!minus && a.kind == SYM_NUMBER) {
		t = a;
		a = b;
		b = t;
	}
	sum = a.kind == SYM_AT_REG || a.kind == SYM_AT_CFA ? &a.add : &a.n;
	if (b.kind != SYM_NUMBER || (minus ? __builtin_sub_overflow(*sum, b.n, sum) :
					     __builtin_add_overflow(*sum, b.n, sum)))
		st->bad = true;
	push_symbol(st, a);
}

static void load_symbol(struct expr_stack *st)
{
	struct expr_sym a = pop_symbol(st);

	if (a.kind == SYM_REG)
		a.kind = SYM_AT_REG;
	else if (a.kind == SYM_CFA)
		a.kind = SYM_AT_CFA;
	else
		st->bad = true;
	push_symbol(st, a);
}

/* Read the number that @op pushes; false if it pushes something else. */
static bool read_number(struct byte_cursor *c, uint8_t op, int64_t *n)
{
	switch (op) {
	case DW_OP_lit0 ... DW_OP_lit31:	*n = op - DW_OP_lit0; return true;
	case DW_OP_const1u:	*n = bytes_read_u8(c); return true;
	case DW_OP_const1s:	*n = (int8_t)bytes_read_u8(c); return true;
	case DW_OP_const2u:	*n = bytes_read_uint(c, 2); return true;
	case DW_OP_const2s:	*n = (int16_t)bytes_read_uint(c, 2); return true;
	case DW_OP_const4u:	*n = bytes_read_uint(c, 4); return true;
	case DW_OP_const4s:	*n = (int32_t)bytes_read_uint(c, 4); return true;
	case DW_OP_const8u:
	case DW_OP_const8s:	*n = bytes_read_uint(c, 8); return true;
	case DW_OP_constu:	*n = bytes_read_uleb(c); return true;
	case DW_OP_consts:	*n = bytes_read_sleb(c); return true;
	default:		return false;
	}
}

static void run_op(struct expr_stack *st, struct byte_cursor *c, uint8_t op, uint8_t addr_size)
{
	struct expr_sym a;
	uint64_t reg;
	int64_t n;

	if (read_number(c, op, &n)) {
		push_number(st, n);
		return;
	}
	switch (op) {
	case DW_OP_breg0 ... DW_OP_breg31:
		push_symbol(st, (struct expr_sym){ .kind = SYM_REG,
			    .reg = op - DW_OP_breg0, .n = bytes_read_sleb(c) });
		break;
	case DW_OP_bregx:
		reg = bytes_read_uleb(c);
		push_symbol(st, (struct expr_sym){ .kind = SYM_REG, .reg = reg,
						      .n = bytes_read_sleb(c) });
		break;
	case DW_OP_plus_uconst:
		push_number(st, bytes_read_uleb(c));
		add_symbols(st, false);
		break;
	case DW_OP_plus:
		add_symbols(st, false);
		break;
	case DW_OP_minus:
		add_symbols(st, true);
		break;
	case DW_OP_deref:
		load_symbol(st);
		break;
	case DW_OP_deref_size:
		if (bytes_read_u8(c) != addr_size)
			st->bad = true;
		load_symbol(st);
		break;
	case DW_OP_dup:
		a = pop_symbol(st);
		push_symbol(st, a);
		push_symbol(st, a);
		break;
	case DW_OP_drop:
		pop_symbol(st);
		break;
	case DW_OP_nop:
		break;
	default:
		st->bad = true;
	}
}

/*
 * CFA = SP + word + ((pc & 15) >= limit) * word: what ld writes for the entries of a .plt on amd64
 * and i386, which push a number at a fixed place of their 16 bytes.
 */
static bool match_plt_rule(const struct cfi_section *sec, const struct byte_cursor *c,
			   struct cfi_rule *rule)
{
	const uint8_t head[] = {
		DW_OP_breg0 + sec->reg_sp, sec->addr_size,
		DW_OP_breg0 + sec->reg_pc, 0, DW_OP_lit15, DW_OP_and
	};
	const uint8_t tail[] = {
		DW_OP_ge, sec->addr_size == 4 ? DW_OP_lit2 : DW_OP_lit3, DW_OP_shl, DW_OP_plus
	};
	const uint8_t *p = c->p;

	if (!sec->reg_pc || bytes_count_left(c) != sizeof(head) + 1 + sizeof(tail) ||
	    memcmp(p, head, sizeof(head)) || memcmp(p + sizeof(head) + 1, tail, sizeof(tail)))
		return false;
	p += sizeof(head);
	if (*p < DW_OP_lit1 || *p > DW_OP_lit15)
		return false;
	*rule = (struct cfi_rule){
		.how = CFI_PLT, .reg = sec->reg_sp, .off = sec->addr_size,
		.limit = *p - DW_OP_lit0
	};
	return true;
}

struct cfi_rule cfi_read_expr(const struct cfi_section *sec, struct byte_cursor code,
			      bool cfa_pushed, bool value)
{
	struct expr_stack st = { .nr = 0 };
	struct cfi_rule rule;
	struct expr_sym top;

	if (!cfa_pushed && match_plt_rule(sec, &code, &rule))
		return rule;
	if (cfa_pushed)
		push_symbol(&st, (struct expr_sym){ .kind = SYM_CFA });
	while (code.p != code.end && !st.bad)
		run_op(&st, &code, *code.p++, sec->addr_size);
	if (!value)
		load_symbol(&st);
	top = pop_symbol(&st);
	if (st.bad || code.bad)
		return cfi_make_bad_rule(CFI_CAUSE_EXPR);
	switch (top.kind) {
	case SYM_REG:
		return cfi_make_rule(CFI_REG, top.reg, top.n);
	case SYM_AT_REG:
		rule = cfi_make_rule(CFI_AT_REG, top.reg, top.n);
		if (top.add < 0 || top.add > UINT8_MAX)
			return cfi_make_bad_rule(CFI_CAUSE_EXPR);
		if (rule.how == CFI_AT_REG)
			rule.add = top.add;
		return rule;
	case SYM_CFA:
		return cfi_make_rule(CFI_CFA, 0, top.n);
	case SYM_AT_CFA:
		if (top.add)
			return cfi_make_bad_rule(CFI_CAUSE_EXPR);
		return cfi_make_rule(CFI_AT_CFA, 0, top.n);
	default:
		return cfi_make_bad_rule(CFI_CAUSE_EXPR);
	}
}
