// SPDX-License-Identifier: GPL-2.0
/*
 * test_cfi.c - reads .eh_frame to rows
 *
 * The tests cover every encoding of pointers and every instruction. Bad .eh_frame must cost only
 * the rows that depend on it.
 */
#include "cfi_build.h"

#define SDATA4_PCREL	(DW_EH_PE_sdata4 | DW_EH_PE_pcrel)
#define MAX_ROWS	4096

struct row {
	uint64_t start, end;
	struct cfi_row s;
};

static struct eh e;
static struct cfi_stats stats;
static struct row rows[MAX_ROWS];
static unsigned int nr_rows, nr_fdes;
static uint64_t fde_end;

static int on_fde(void *arg, uint64_t start, uint64_t end)
{
	(void)arg;
	assert_true(start < end);
	fde_end = end;
	nr_fdes++;
	rows[nr_rows].end = 0;
	return 0;
}

static int on_row(void *arg, uint64_t start, const struct cfi_row *rules)
{
	(void)arg;
	assert_true(start < fde_end);
	assert_true(nr_rows < MAX_ROWS);
	if (nr_rows && rows[nr_rows - 1].end > start)
		rows[nr_rows - 1].end = start;
	rows[nr_rows++] = (struct row){ start, fde_end, *rules };
	return 0;
}

static void parse_sized(size_t size)
{
	struct cfi_section sec = {
		.vaddr = e.vaddr, .big_endian = e.big_endian, .addr_size = 8,
		.reg_sp = 7, .reg_fp = 6, .reg_ra = 16, .reg_pc = 16,
		.have_data = true, .data_base = 0x5000,
	};
	const struct cfi_ops ops = { on_fde, on_row };
	uint8_t *copy = malloc(size ? size : 1);

	/* at the end of an allocation, so that the sanitizer sees a read past it */
	memcpy(copy, e.b, size);
	sec.data = copy;
	sec.size = size;
	nr_rows = nr_fdes = 0;
	assert_int_equal(cfi_parse(&sec, &ops, NULL, &stats), 0);
	free(copy);
}

static void parse(void)
{
	parse_sized(e.n);
}

static const struct cfi_row *at(uint64_t pc)
{
	unsigned int i;

	for (i = 0; i < nr_rows; i++) {
		if (pc >= rows[i].start && pc < rows[i].end)
			return &rows[i].s;
	}
	fail_msg("no row at %#lx", (unsigned long)pc);
	return NULL;
}

static void assert_rule(const struct cfi_rule *r, enum cfi_how how, uint8_t reg, int32_t off)
{
	assert_int_equal(r->how, how);
	assert_int_equal(r->reg, reg);
	assert_int_equal(r->off, off);
}

/* One function of the usual kind at 0x1000, 0x100 long, with these instructions */
#define function(...) do {						\
	eh_init(&e);							\
	eh_cie(&e, SDATA4_PCREL);					\
	eh_fde(&e, 0x1000, 0x100);					\
	eh_ops(&e, __VA_ARGS__);					\
	eh_end(&e);							\
	parse();							\
} while (0)

static void rows_of_a_function(void **state)
{
	(void)state;
	function(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		 DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6,
		 DW_CFA_advance_loc1, 0x50, DW_CFA_remember_state, DW_CFA_def_cfa, 7, 8,
		 DW_CFA_advance_loc | 1, DW_CFA_restore_state);
	assert_int_equal(nr_rows, 5);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 7, 8);
	assert_rule(&at(0x1000)->ra, CFI_AT_CFA, 0, -8);
	assert_rule(&at(0x1000)->fp, CFI_SAME, 0, 0);
	assert_rule(&at(0x1001)->cfa, CFI_REG, 7, 16);
	assert_rule(&at(0x1001)->fp, CFI_AT_CFA, 0, -16);
	assert_rule(&at(0x1004)->cfa, CFI_REG, 6, 16);
	assert_rule(&at(0x1053)->cfa, CFI_REG, 6, 16);
	assert_rule(&at(0x1054)->cfa, CFI_REG, 7, 8);
	assert_rule(&at(0x1055)->cfa, CFI_REG, 6, 16);
	assert_rule(&at(0x10ff)->fp, CFI_AT_CFA, 0, -16);
	assert_int_equal(stats.nr_fdes, 1);
	assert_int_equal(stats.nr_cies, 1);
}

static void every_advance_instruction_moves_the_pc(void **state)
{
	(void)state;
	function(DW_CFA_advance_loc2, 0x10, 0, DW_CFA_def_cfa_offset, 16,
		 DW_CFA_advance_loc4, 0x10, 0, 0, 0, DW_CFA_def_cfa_offset, 24,
		 DW_CFA_MIPS_advance_loc8, 0x10, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 32,
		 DW_CFA_advance_loc1, 0, DW_CFA_def_cfa_offset, 40,
		 DW_CFA_advance_loc4, 0xff, 0xff, 0xff, 0xff, DW_CFA_def_cfa_offset, 48);
	assert_int_equal(nr_rows, 4);
	assert_rule(&at(0x1010)->cfa, CFI_REG, 7, 16);
	assert_rule(&at(0x1020)->cfa, CFI_REG, 7, 24);
	/* the empty row in between is dropped */
	assert_rule(&at(0x1030)->cfa, CFI_REG, 7, 40);
	assert_int_equal(rows[3].end, 0x1100);
}

static void set_loc_forwards_only(void **state)
{
	size_t to;

	(void)state;
	eh_init(&e);
	eh_cie(&e, SDATA4_PCREL);
	eh_fde(&e, 0x1000, 0x100);
	eh_ops(&e, DW_CFA_set_loc);
	to = e.n;
	eh_uint(&e, 0x1020 - (e.vaddr + e.n), 4);
	eh_ops(&e, DW_CFA_def_cfa_offset, 16);
	eh_end(&e);
	parse();
	assert_rule(&at(0x101f)->cfa, CFI_REG, 7, 8);
	assert_rule(&at(0x1020)->cfa, CFI_REG, 7, 16);
	eh_set(&e, to, 0x0fff - (e.vaddr + to), 4);
	parse();
	assert_int_equal(nr_rows, 1);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
}

static void every_way_to_save_a_register(void **state)
{
	(void)state;
	function(DW_CFA_offset_extended, 6, 3, DW_CFA_advance_loc | 1,
		 DW_CFA_offset_extended_sf, 6, 0x7f, DW_CFA_advance_loc | 1,
		 DW_CFA_GNU_negative_offset_extended, 6, 2, DW_CFA_advance_loc | 1,
		 DW_CFA_val_offset, 6, 2, DW_CFA_advance_loc | 1,
		 DW_CFA_val_offset_sf, 6, 0x7e, DW_CFA_advance_loc | 1,
		 DW_CFA_register, 6, 12, DW_CFA_advance_loc | 1,
		 DW_CFA_undefined, 6, DW_CFA_advance_loc | 1,
		 DW_CFA_same_value, 6, DW_CFA_advance_loc | 1,
		 DW_CFA_undefined, 16, DW_CFA_advance_loc | 1,
		 DW_CFA_restore | 16, DW_CFA_GNU_args_size, 0x20, DW_CFA_offset | 12, 4);
	assert_rule(&at(0x1000)->fp, CFI_AT_CFA, 0, -24);
	assert_rule(&at(0x1001)->fp, CFI_AT_CFA, 0, 8);
	assert_rule(&at(0x1002)->fp, CFI_AT_CFA, 0, 16);
	assert_rule(&at(0x1003)->fp, CFI_CFA, 0, -16);
	assert_rule(&at(0x1004)->fp, CFI_CFA, 0, 16);
	assert_rule(&at(0x1005)->fp, CFI_REG, 12, 0);
	assert_rule(&at(0x1006)->fp, CFI_UNDEF, 0, 0);
	assert_rule(&at(0x1007)->fp, CFI_SAME, 0, 0);
	assert_rule(&at(0x1008)->ra, CFI_UNDEF, 0, 0);
	assert_rule(&at(0x1009)->ra, CFI_AT_CFA, 0, -8);
}

static void every_way_to_define_the_cfa(void **state)
{
	(void)state;
	function(DW_CFA_def_cfa_sf, 10, 0x7e, DW_CFA_advance_loc | 1,
		 DW_CFA_def_cfa_offset_sf, 0x7d, DW_CFA_advance_loc | 1,
		 DW_CFA_def_cfa_register, 11, DW_CFA_advance_loc | 1,
		 DW_CFA_def_cfa, 3, 0x80, 0x10);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 10, 16);
	assert_rule(&at(0x1001)->cfa, CFI_REG, 10, 24);
	assert_rule(&at(0x1002)->cfa, CFI_REG, 11, 24);
	assert_rule(&at(0x1003)->cfa, CFI_REG, 3, 2048);
}

static void expressions_that_are_rules(void **state)
{
	(void)state;
	/* GCC, for a realigned stack */
	function(DW_CFA_expression, 6, 2, DW_OP_breg6, 0,
		 DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref);
	assert_rule(&at(0x1000)->cfa, CFI_AT_REG, 6, -8);
	assert_rule(&at(0x1000)->fp, CFI_AT_REG, 6, 0);
	/* the frame of a signal: SP is found where the CFA is */
	function(DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0xa0, 0x01, DW_OP_deref,
		 DW_CFA_expression, 7, 3, DW_OP_breg7, 0xa0, 0x01,
		 DW_CFA_expression, 16, 3, DW_OP_breg7, 0xa8, 0x01);
	assert_rule(&at(0x1000)->cfa, CFI_AT_REG, 7, 160);
	assert_rule(&at(0x1000)->ra, CFI_AT_REG, 7, 168);
	/* libcrypto; 255 is the most that may be added */
	function(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 8);
	assert_rule(&at(0x1000)->cfa, CFI_AT_REG, 7, 8);
	assert_int_equal(at(0x1000)->cfa.add, 8);
	function(DW_CFA_def_cfa_expression, 8, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 0xff,
		 1, DW_OP_lit0, DW_OP_plus);
	assert_int_equal(at(0x1000)->cfa.add, 255);
	/* sums in all their forms */
	function(DW_CFA_val_expression, 6, 7, DW_OP_bregx, 12, 4, DW_OP_lit4, DW_OP_plus,
		 DW_OP_plus_uconst, 8, DW_CFA_advance_loc | 1,
		 DW_CFA_expression, 6, 3, DW_OP_const1u, 24, DW_OP_minus, DW_CFA_advance_loc | 1,
		 DW_CFA_val_expression, 6, 3, DW_OP_const1s, 0xf0, DW_OP_plus);
	assert_rule(&at(0x1000)->fp, CFI_REG, 12, 16);
	assert_rule(&at(0x1001)->fp, CFI_AT_CFA, 0, -24);
	assert_rule(&at(0x1002)->fp, CFI_CFA, 0, -16);
}

static void the_expression_of_a_plt(void **state)
{
	(void)state;
	function(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		 DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	assert_rule(&at(0x1000)->cfa, CFI_PLT, 7, 8);
	assert_int_equal(at(0x1000)->cfa.limit, 11);
	/* nearly that */
	function(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		 DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit4, DW_OP_shl, DW_OP_plus);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
}

static void expressions_that_are_no_rules(void **state)
{
	(void)state;
	/* *(*(rsp + 8) + 8), and sums that are too large */
	function(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 8,
		 DW_OP_deref);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 8, DW_OP_deref, DW_OP_plus_uconst, 0x80,
		 2);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 8, DW_OP_deref, DW_OP_lit1,
		 DW_OP_minus);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_val_expression, 6, 3, DW_OP_deref, DW_OP_plus_uconst, 8);	/* FP */
	assert_rule(&at(0x1000)->fp, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_plus);	/* stack empty */
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 0);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 10, DW_OP_dup, DW_OP_lit0, DW_OP_lit0, DW_OP_lit0,
		 DW_OP_lit0, DW_OP_lit0, DW_OP_lit0, DW_OP_lit0, DW_OP_lit0, DW_OP_lit0);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
	function(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 0x88, 0x80);	/* cut short */
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_EXPR);
}

static void a_caller_sp_that_is_not_the_cfa(void **state)
{
	(void)state;
	/* longjmp */
	function(DW_CFA_def_cfa, 5, 0, DW_CFA_register, 7, 8, DW_CFA_register, 16, 1,
		 DW_CFA_register, 6, 9);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 8, 0);
	assert_rule(&at(0x1000)->ra, CFI_REG, 1, 0);
	assert_rule(&at(0x1000)->fp, CFI_REG, 9, 0);
	/* setcontext: all of them saved where the CFA says, but for a negative offset */
	function(DW_CFA_def_cfa, 1, 0x10, DW_CFA_offset_extended_sf, 7, 0x6c,
		 DW_CFA_offset_extended_sf, 16, 0x6b, DW_CFA_offset_extended_sf, 6, 0x71);
	assert_rule(&at(0x1000)->cfa, CFI_AT_REG, 1, 0x10 + 160);
	assert_rule(&at(0x1000)->ra, CFI_AT_REG, 1, 0x10 + 168);
	assert_rule(&at(0x1000)->fp, CFI_AT_REG, 1, 0x10 + 120);
	/* SP does not come from a register */
	function(DW_CFA_def_cfa, 5, 0, DW_CFA_undefined, 7);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_SP);
	/* the CFA does not come from a register, so no rule can count from a register instead */
	function(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_deref, DW_CFA_register, 7, 8);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 8, 0);
	assert_rule(&at(0x1000)->ra, CFI_BAD, 0, CFI_CAUSE_SP);
	function(DW_CFA_val_offset, 7, 0);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 7, 8);
}

static void nonsense_spoils_what_follows_only(void **state)
{
	unsigned int i;

	(void)state;
	function(DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 8,
		 0x3f, DW_CFA_advance_loc | 8, DW_CFA_def_cfa_offset, 24);
	assert_int_equal(nr_rows, 3);
	assert_rule(&at(0x1008)->cfa, CFI_REG, 7, 16);
	assert_rule(&at(0x1010)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
	assert_rule(&at(0x10ff)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
	function(DW_CFA_restore_state);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
	function(DW_CFA_def_cfa, 7, 0x80);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
	function(DW_CFA_def_cfa, 7, 0xff, 0xff, 0xff, 0xff, 0x7f);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_RANGE);
	function(DW_CFA_def_cfa, 0xff, 0x7f, 8);
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_RANGE);
	/* more remembered than is kept */
	eh_init(&e);
	eh_cie(&e, SDATA4_PCREL);
	eh_fde(&e, 0x1000, 0x100);
	for (i = 0; i < 100; i++)
		eh_ops(&e, DW_CFA_remember_state);
	eh_end(&e);
	parse();
	assert_rule(&at(0x1000)->cfa, CFI_BAD, 0, CFI_CAUSE_OP);
}

/* The FDE's start, written as @enc says; returns where the row is. */
static void one_encoding(uint8_t enc, uint64_t start, uint64_t stored, unsigned int size)
{
	eh_cie(&e, enc);
	eh_fde_raw(&e);
	if ((enc & 0x70) == DW_EH_PE_pcrel)
		stored -= e.vaddr + e.n;
	if ((enc & 0x70) == DW_EH_PE_aligned) {
		while ((e.vaddr + e.n) & 7)
			eh_uint(&e, 0, 1);
	}
	if (size)
		eh_uint(&e, stored, size);
	else
		eh_uleb(&e, stored);
	if (size)
		eh_uint(&e, 0x40, size);
	else
		eh_uleb(&e, 0x40);
	eh_uleb(&e, 0);
	eh_end(&e);
	parse();
	assert_int_equal(nr_fdes, 1);
	assert_int_equal(rows[0].start, start);
	assert_int_equal(rows[0].end, start + 0x40);
	e.n = 0;
}

static void every_encoding_of_a_pc(void **state)
{
	int big;

	(void)state;
	for (big = 0; big < 2; big++) {
		eh_init(&e);
		e.big_endian = big;
		one_encoding(DW_EH_PE_absptr, 0x123456789a, 0x123456789a, 8);
		one_encoding(DW_EH_PE_udata2, 0xf000, 0xf000, 2);
		one_encoding(DW_EH_PE_udata4, 0xf0001000, 0xf0001000, 4);
		one_encoding(DW_EH_PE_udata8, 0x7fff00001000, 0x7fff00001000, 8);
		one_encoding(DW_EH_PE_sdata2 | DW_EH_PE_pcrel, 0x9000, 0x9000, 2);
		one_encoding(DW_EH_PE_sdata4 | DW_EH_PE_pcrel, 0x1000, 0x1000, 4);
		one_encoding(DW_EH_PE_sdata8 | DW_EH_PE_pcrel, 0x1000, 0x1000, 8);
		one_encoding(DW_EH_PE_udata4 | DW_EH_PE_datarel, 0x6000, 0x1000, 4);
		one_encoding(DW_EH_PE_sdata4 | DW_EH_PE_datarel, 0x4000, -0x1000, 4);
		one_encoding(DW_EH_PE_uleb128, 0x12345, 0x12345, 0);
		one_encoding(DW_EH_PE_sleb128, 0x3f, 0x3f, 0);
		one_encoding(DW_EH_PE_aligned, 0x1000, 0x1000, 8);
	}
}

static void assert_bad_fde(enum cfi_cause cause)
{
	parse();
	assert_int_equal(nr_rows, 0);
	assert_int_equal(stats.nr_fdes, 1);
	assert_int_equal(stats.bad_fdes[cause], 1);
}

static void encodings_that_cannot_be_followed(void **state)
{
	static const uint8_t bad[] = {
		DW_EH_PE_omit, SDATA4_PCREL | DW_EH_PE_indirect, DW_EH_PE_funcrel | DW_EH_PE_udata4,
		DW_EH_PE_textrel | DW_EH_PE_udata4, 0x05, 0x60,
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad); i++) {
		eh_init(&e);
		eh_cie(&e, bad[i]);
		eh_fde(&e, 0x1000, 0x100);
		eh_end(&e);
		assert_bad_fde(CFI_CAUSE_POINTER);
	}
	eh_init(&e);
	eh_cie(&e, DW_EH_PE_udata8);
	eh_fde_raw(&e);
	eh_uint(&e, -0x1000ULL, 8);
	eh_uint(&e, 0x2000, 8);		/* wraps */
	eh_uleb(&e, 0);
	eh_end(&e);
	assert_bad_fde(CFI_CAUSE_FDE);
}

static void augmentations(void **state)
{
	static const uint8_t zplr[] = { DW_EH_PE_indirect | SDATA4_PCREL, 1, 2, 3, 4, SDATA4_PCREL,
					SDATA4_PCREL };
	static const uint8_t enc = SDATA4_PCREL;

	(void)state;
	/* a personality is skipped, whatever it is; language data is in the FDE */
	eh_init(&e);
	eh_cie_raw(&e, 3, "zPLR", zplr, sizeof(zplr));
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	eh_fde_raw(&e);
	eh_uint(&e, 0x1000 - (e.vaddr + e.n), 4);
	eh_uint(&e, 0x100, 4);
	eh_uleb(&e, 4);
	eh_uint(&e, 0x0e0e0e0e, 4);
	eh_end(&e);
	parse();
	assert_int_equal(nr_rows, 1);
	assert_rule(&at(0x1000)->cfa, CFI_REG, 7, 8);
	assert_int_equal(at(0x1000)->flags, 0);
	/* a signal frame */
	eh_init(&e);
	eh_cie_raw(&e, 1, "zRS", &enc, 1);
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	eh_fde(&e, 0x1000, 0x100);
	eh_end(&e);
	parse();
	assert_int_equal(at(0x1000)->flags, CFI_SIGNAL);
	/* unknown: the encoding may be anything */
	eh_init(&e);
	eh_cie_raw(&e, 1, "zXR", "\0\033", 2);
	eh_end(&e);
	eh_fde(&e, 0x1000, 0x100);
	eh_end(&e);
	assert_bad_fde(CFI_CAUSE_AUGMENTATION);
	/* none, and that of GCC 2, both with absolute pcs */
	eh_init(&e);
	eh_cie_raw(&e, 1, "", NULL, 0);
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	eh_fde_raw(&e);
	eh_uint(&e, 0x1000, 8);
	eh_uint(&e, 0x100, 8);
	eh_end(&e);
	eh_cie_raw(&e, 1, "eh", NULL, 0);
	eh_bytes(&e, usual, sizeof(usual));
	eh_end(&e);
	eh_fde_raw(&e);
	eh_uint(&e, 0x2000, 8);
	eh_uint(&e, 0x100, 8);
	eh_end(&e);
	parse();
	assert_int_equal(nr_rows, 2);
	assert_rule(&at(0x20ff)->ra, CFI_AT_CFA, 0, -8);
}

static void versions_of_a_cie(void **state)
{
	static const uint8_t enc = SDATA4_PCREL;
	uint8_t version;

	(void)state;
	for (version = 0; version < 6; version++) {
		eh_init(&e);
		eh_cie_raw(&e, version, "zR", &enc, 1);
		eh_bytes(&e, usual, sizeof(usual));
		eh_end(&e);
		eh_fde(&e, 0x1000, 0x100);
		eh_end(&e);
		if (version != 1 && version != 3 && version != 4) {
			assert_bad_fde(CFI_CAUSE_CIE);
			continue;
		}
		parse();
		assert_int_equal(nr_rows, 1);
		assert_rule(&at(0x1000)->ra, CFI_AT_CFA, 0, -8);
	}
}

static void lengths_of_64_bits(void **state)
{
	int big, id_size;

	(void)state;
	for (big = 0; big < 2; big++) {
		for (id_size = 4; id_size <= 8; id_size += 4) {
			eh_init(&e);
			e.big_endian = big;
			e.is_64 = true;
			e.id_size = id_size;
			eh_cie(&e, SDATA4_PCREL);
			if (big && id_size == 8)
				continue;	/* zero bytes show it: little endian only */
			eh_fde(&e, 0x1000, 0x100);
			eh_end(&e);
			parse();
			assert_int_equal(nr_rows, 1);
			assert_rule(&at(0x10ff)->cfa, CFI_REG, 7, 8);
		}
	}
}

static void zero_lengths(void **state)
{
	struct cfi_section sec = {
		.addr_size = 8, .reg_sp = 7, .reg_fp = 6, .reg_ra = 16, .ends_at_zero = true
	};
	const struct cfi_ops ops = { on_fde, on_row };

	(void)state;
	eh_init(&e);
	eh_cie(&e, SDATA4_PCREL);
	eh_fde(&e, 0x1000, 0);		/* of no pc */
	eh_end(&e);
	eh_uint(&e, 0, 4);		/* a terminator: crtend.o in the middle */
	eh_fde(&e, 0x1000, 0x10);
	eh_end(&e);
	parse();
	assert_int_equal(nr_fdes, 1);
	assert_int_equal(stats.nr_fdes, 2);
	sec.data = e.b;
	sec.size = e.n;
	sec.vaddr = e.vaddr;
	nr_fdes = nr_rows = 0;
	assert_int_equal(cfi_parse(&sec, &ops, NULL, &stats), 0);
	assert_int_equal(nr_fdes, 0);
}

static void sections_cut_anywhere(void **state)
{
	size_t size;

	(void)state;
	function(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		 DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref);
	for (size = 0; size < e.n; size++) {
		parse_sized(size);
		assert_int_equal(nr_rows, 0);
	}
}

static void cies_in_odd_places(void **state)
{
	size_t at_id;

	(void)state;
	/* the CIE comes last */
	eh_init(&e);
	eh_length(&e);
	at_id = e.n;
	eh_uint(&e, 0, 4);
	eh_uint(&e, 0x1000 - (e.vaddr + e.n), 4);
	eh_uint(&e, 0x100, 4);
	eh_uleb(&e, 0);
	eh_end(&e);
	eh_cie(&e, SDATA4_PCREL);
	eh_set(&e, at_id, at_id - e.cie, 4);
	parse();
	assert_int_equal(nr_rows, 1);
	/* outside, in both directions, and in the middle of an FDE */
	eh_set(&e, at_id, 0x7fffffff, 4);
	assert_bad_fde(CFI_CAUSE_FDE);
	eh_set(&e, at_id, -0x7fffffff, 4);
	assert_bad_fde(CFI_CAUSE_FDE);
	eh_set(&e, at_id, -5, 4);
	assert_bad_fde(CFI_CAUSE_CIE);
}

static void eh_frame_hdr(void **state)
{
	uint8_t hdr[] = { 1, SDATA4_PCREL, DW_EH_PE_udata4, 0x3b, 0xfc, 0x0f, 0, 0 };
	uint64_t start;

	(void)state;
	assert_int_equal(cfi_find_eh_frame(hdr, sizeof(hdr), 0x2000, false, 8, &start), 0);
	assert_int_equal(start, 0x2004 + 0xffc);
	assert_int_not_equal(cfi_find_eh_frame(hdr, 7, 0x2000, false, 8, &start), 0);
	assert_int_not_equal(cfi_find_eh_frame(hdr, 3, 0x2000, false, 8, &start), 0);
	hdr[0] = 2;
	assert_int_not_equal(cfi_find_eh_frame(hdr, sizeof(hdr), 0x2000, false, 8, &start), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_function),
		cmocka_unit_test(every_advance_instruction_moves_the_pc),
		cmocka_unit_test(set_loc_forwards_only),
		cmocka_unit_test(every_way_to_save_a_register),
		cmocka_unit_test(every_way_to_define_the_cfa),
		cmocka_unit_test(expressions_that_are_rules),
		cmocka_unit_test(the_expression_of_a_plt),
		cmocka_unit_test(expressions_that_are_no_rules),
		cmocka_unit_test(a_caller_sp_that_is_not_the_cfa),
		cmocka_unit_test(nonsense_spoils_what_follows_only),
		cmocka_unit_test(every_encoding_of_a_pc),
		cmocka_unit_test(encodings_that_cannot_be_followed),
		cmocka_unit_test(augmentations),
		cmocka_unit_test(versions_of_a_cie),
		cmocka_unit_test(lengths_of_64_bits),
		cmocka_unit_test(zero_lengths),
		cmocka_unit_test(sections_cut_anywhere),
		cmocka_unit_test(cies_in_odd_places),
		cmocka_unit_test(eh_frame_hdr),
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
