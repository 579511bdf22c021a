// SPDX-License-Identifier: GPL-2.0
/*
 * test_flat.c - flat rows for BPF programs say what the SFrame table says, at every place of a file
 *
 * The files are this program, what is installed of a list, and those that the command line names:
 * these can be files for other architectures.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "libunwind-user/sframe/sframe.h"
#include "tests/unit/unit.h"
#include "trace-cmd-ext/record/bpf/flat.h"

static struct full_rules full;

static char **more_files;

static bool same_value(const struct full_value *a, const struct sframe_rule *b)
{
	return a->off == b->off && a->base == b->base && a->deref == b->deref && a->reg == b->reg &&
	       a->add == b->add;
}

static bool same_full(const struct full_rule *r, const struct sframe_row *row)
{
	return same_value(&r->cfa, &row->cfa) && same_value(&r->ra, &row->ra) &&
	       same_value(&r->fp, &row->fp) && r->kept == SFRAME_ROW_KEPT(row->flags) &&
	       !(r->flags & FULL_SIGNAL) == !(row->flags & SFRAME_ROW_SIGNAL) &&
	       !(r->flags & FULL_SIGNED_RA) == !(row->flags & SFRAME_ROW_MANGLED);
}

/* The rule as the programs understand it, as a row of SFrame */
static struct sframe_row plain_row(uint32_t rule, const struct sframe_arch *arch)
{
	int word = arch->is_32bit ? 4 : 8, fp = -word * (int)(rule >> 2 & RULE_MAX_FP);
	bool arm64 = arch->abi == SFRAME_ABI_ARM64_LE;
	struct sframe_row row = {
		.cfa = { .base = RULE_KIND(rule) == RULE_SP ? SFRAME_SP : SFRAME_FP },
	};

	if (arch->ra_off) {
		row.cfa.off = ((int32_t)rule >> 9) * word;
		row.ra = (struct sframe_rule) { .base = SFRAME_CFA, .deref = 1, .off = -word };
	} else {
		assert_true(arm64 || arch->abi == SFRAME_ABI_S390X);
		row.cfa.off = ((int32_t)rule >> 10) * word;
		row.flags = arm64 && rule & RULE_SIGNED_RA ? SFRAME_ROW_MANGLED : 0;
		if (fp)
			row.ra = (struct sframe_rule) {
				.base = SFRAME_CFA, .deref = 1,
				.off = fp + (arm64 ? RULE_ARM64_RA_AFTER_FP :
						     RULE_S390X_RA_AFTER_FP),
			};
		if (!arm64 && rule & RULE_RA_ONLY)
			fp = 0;
	}
	if (fp)
		row.fp = (struct sframe_rule) { .base = SFRAME_CFA, .deref = 1, .off = fp };
	return row;
}

static bool same_rule(uint32_t rule, int ret, const struct sframe_row *row,
		      const struct sframe_arch *arch)
{
	struct sframe_row plain;

	if (ret == -ENOENT)
		return rule == rule_make_special(RULE_HOLE);
	if (ret)
		return rule == rule_make_special(RULE_UNKNOWN);
	if (row->ra.base == SFRAME_UNDEFINED)
		return rule == rule_make_special(RULE_OUTERMOST);
	if (RULE_KIND(rule) == RULE_FULL)
		return same_full(&full.rule[rule >> 2], row);
	if (RULE_KIND(rule) == RULE_SPECIAL)
		return false;
	plain = plain_row(rule, arch);
	return plain.flags == row->flags &&
	       !memcmp(&plain.cfa, &row->cfa, sizeof(row->cfa)) &&
	       !memcmp(&plain.ra, &row->ra, sizeof(row->ra)) &&
	       !memcmp(&plain.fp, &row->fp, sizeof(row->fp));
}

static int find_in_table(const struct sframe_table *t, const struct tables_id *id, uint64_t off,
			 struct sframe_row *row)
{
	uint32_t i;

	for (i = 0; i < id->nr_segs; i++) {
		if (off - id->seg[i].offset < id->seg[i].size)
			return sframe_find(t, off - id->seg[i].offset + id->seg[i].vaddr, row);
	}
	return -ESRCH;
}

static unsigned long compare(const struct flat *f, const struct sframe_table *t,
			     const struct tables_id *id, uint32_t *chunk)
{
	unsigned long rules = 0;
	struct sframe_row row;
	struct part part = {};
	uint32_t off, rule;
	uint64_t at;
	size_t i;
	int ret;

	for (i = 0; i < f->part.nr; i++) {
		assert_true(8 + flat_words(&f->part.v[i]) <= CHUNK_WORDS);
		/* as the programs find it: not at the start of a chunk */
		flat_write(f, &f->part.v[i], chunk, 8, &part);
		assert_int_equal(part.abi, f->abi);
		for (off = 0; off < PART_SIZE; off++) {
			at = ((uint64_t)f->part.v[i].nr << PART_SHIFT) + off;
			ret = find_in_table(t, id, at, &row);
			rule = flat_find(chunk, &part, off);
			if (!same_rule(rule, ret, &row, t->arch))
				fail_msg("at %#lx: rule %#x, table %d", (unsigned long)at, rule,
					 ret);
			rules += !ret;
		}
	}
	return rules;
}

/* Are these the rows of this machine's own programs? */
static bool is_own(const struct sframe_arch *arch)
{
#if defined(__x86_64__)
	return arch->abi == SFRAME_ABI_AMD64 || arch->abi == SFRAME_ABI_I386;
#elif defined(__aarch64__)
	return arch->abi == SFRAME_ABI_ARM64_LE;
#elif defined(__s390x__)
	return arch->abi == SFRAME_ABI_S390X;
#else
	(void)arch;
	return false;
#endif
}

static void make_rows(struct flat *f, const struct gen_table *table, const struct sframe_table *t,
		      const struct tables_id *id)
{
	int ret = flat_make(f, &full, table, id);

	assert_int_equal(ret, is_own(t->arch) ? 0 : -EOPNOTSUPP);
	if (!ret)
		assert_int_equal(f->abi, t->arch->is_32bit ? ABI_32 : ABI_64);
	else
		assert_int_equal(flat_make_any(f, &full, table, id), 0);
	if (ret)
		assert_int_equal(f->abi, ABI_OTHER);
}

/* The executable segments, which tables_identify() finds in this machine's own files */
static void find_segments(int fd, struct tables_id *id)
{
	GElf_Phdr ph;
	size_t nr, i;
	Elf *elf;

	memset(id, 0, sizeof(*id));
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	assert_int_equal(elf_getphdrnum(elf, &nr), 0);
	for (i = 0; i < nr; i++) {
		assert_non_null(gelf_getphdr(elf, i, &ph));
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		assert_true(id->nr_segs < TABLES_MAX_SEGS);
		id->seg[id->nr_segs++] = (struct tables_seg) {
			.vaddr = ph.p_vaddr, .offset = ph.p_offset, .size = ph.p_filesz,
		};
	}
	elf_end(elf);
}

static int get_table(int fd, struct tables_id *id, struct gen_table *table)
{
	int ret = tables_get_table(NULL, fd, id, table, NULL);

	if (ret != -EOPNOTSUPP)
		return ret;
	find_segments(fd, id);
	return gen_from_fd(fd, table);
}

static void check_file(const char *path, bool must)
{
	uint32_t *chunk = malloc(CHUNK_WORDS * sizeof(*chunk));
	struct gen_table table;
	struct sframe_table t;
	struct tables_id id;
	struct flat f;
	int fd = open(path, O_RDONLY);

	assert_non_null(chunk);
	assert_true(fd >= 0 || !must);
	if (fd >= 0 && !get_table(fd, &id, &table)) {
		assert_int_equal(gen_open(&table, &t), 0);
		make_rows(&f, &table, &t, &id);
		assert_true(compare(&f, &t, &id, chunk) > 0);
		flat_free(&f);
		gen_free(&table);
	} else {
		assert_false(must);
	}
	if (fd >= 0)
		close(fd);
	free(chunk);
}

static void every_place_of_a_file(void **state)
{
	static const char *const path[] = {
		"/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/lib64/ld-linux-x86-64.so.2", "/bin/bash", "/usr/bin/python3",
		"/usr/lib32/libc.so.6", "/usr/lib32/libstdc++.so.6",
	};
	char **file;
	size_t i;

	(void)state;
	check_file("/proc/self/exe", true);
	for (i = 0; i < sizeof(path) / sizeof(*path); i++)
		check_file(path[i], false);
	for (file = more_files; *file; file++)
		check_file(*file, true);
}

/* More rows than a chunk has room for: the rest is a hole, and nothing is written beyond. */
static void too_many_rows(void **state)
{
	uint32_t *chunk = malloc(CHUNK_WORDS * sizeof(*chunk)), i;
	struct flat f = {};
	struct part part = {};
	struct flat_part *p = vec_add(&f.part);
	struct row *row;

	(void)state;
	assert_non_null(chunk);
	assert_non_null(p);
	for (i = 0; i < PART_SIZE; i++) {
		row = vec_add(&f.row);
		assert_non_null(row);
		*row = (struct row) { .off = i, .rule = rule_make_plain(RULE_SP, 1 + i % 2, 0) };
	}
	p->nr_rows = PART_SIZE;
	assert_true(flat_words(p) <= CHUNK_WORDS);
	flat_write(&f, p, chunk, 0, &part);
	assert_int_equal(flat_find(chunk, &part, 7), rule_make_plain(RULE_SP, 2, 0));
	assert_int_equal(flat_find(chunk, &part, PART_SIZE - 1), rule_make_special(RULE_HOLE));
	flat_free(&f);
	free(chunk);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place_of_a_file),
		cmocka_unit_test(too_many_rows),
	};
	int ret;

	more_files = argv + (argc ? 1 : 0);
	full.rule = calloc(MAX_FULL, sizeof(*full.rule));
	if (!full.rule)
		return 1;
	ret = cmocka_run_group_tests_name("flat", tests, NULL, NULL);
	free(full.rule);
	return ret;
}
