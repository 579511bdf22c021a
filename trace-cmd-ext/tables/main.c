// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - trace-ustack-tables: unwind tables by hand
 *
 *	make FILE...		keep the tables of ELF files in the cache, see make.c
 *	make FILE -o OUT	write the table that is generated for an ELF file
 *	dump FILE		print a table: that of an SFrame section in a file of its own, or
 *				the generated one of an ELF file
 *	verify FILE...		look up each row of .eh_frame in the generated table, and list by
 *				cause what the table does not cover
 *	register, run		register tables with the kernel, see serve.c
 *
 * Exit status: 0; 1 if something is wrong with a file; 2 for a wrong command line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/rows/rows.h"
#include "tables.h"

#define MAX_PRINTED	10

static int print_error(const char *path, const char *what, const char *remedy)
{
	fprintf(stderr, "trace-ustack-tables: %s: %s%s%s\n", path, what, remedy ? "; " : "",
		remedy ? remedy : "");
	return 1;
}

static int print_gen_error(const char *path, int err)
{
	switch (err) {
	case -ENOEXEC:
		return print_error(path, "not an ELF file, or a broken one", NULL);
	case -EOPNOTSUPP:
		return print_error(path, "of an architecture or kind for which no table is made",
				   "it takes linked files for x86-64, arm64, s390x and i386");
	case -ENODATA:
		return print_error(path, TABLES_NOTHING,
				   "compile with -fasynchronous-unwind-tables");
	default:
		return print_error(path, strerror(-err), NULL);
	}
}

static int make_table(const char *path, struct gen_table *table, double *ms)
{
	/* a path can lead to a pipe without a writer */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), ret;
	double start = clock_get_seconds();

	if (fd < 0)
		return print_error(path, strerror(errno), NULL);
	ret = gen_from_fd(fd, table);
	close(fd);
	if (ms)
		*ms = (clock_get_seconds() - start) * 1e3;
	return ret ? print_gen_error(path, ret) : 0;
}

static void print_summary(const char *path, const struct gen_table *table, double ms)
{
	const struct stats *s = &table->stats;
	uint64_t source = s->eh_frame_size + s->eh_frame_hdr_size;
	unsigned int i;

	printf("%s: %" PRIu64 " FDEs, %" PRIu64 " rows in .eh_frame; table of %zu bytes, %.2f of"
	       " .eh_frame and .eh_frame_hdr, %" PRIu32 " functions, %" PRIu32 " rows; %.1f ms\n",
	       path, s->nr_fdes, s->nr_rows, table->size,
	       source ? (double)table->size / source : 0, s->table_fdes, s->table_fres, ms);
	printf("  code: %" PRIu64 " bytes, covered %" PRIu64 " (padding %" PRIu64 ", PLT stubs"
	       " without .eh_frame %" PRIu64 "), holes %" PRIu64 ", not covered %" PRIu64 "\n",
	       s->text_bytes, s->covered_bytes, s->padding_bytes, s->plt_bytes, s->hole_bytes,
	       stats_get_unknown_bytes(s));
	if (s->go_bytes)
		printf("  Go's own tables (.gopclntab): %" PRIu64 " bytes\n", s->go_bytes);
	if (s->gap_bytes)
		printf("  other code without .eh_frame: %" PRIu64 " bytes, covered by following"
		       " it %" PRIu64 " (%.1f%%)\n", s->gap_bytes, s->flow_bytes,
		       100.0 * s->flow_bytes / s->gap_bytes);
	for (i = 0; i < STATS_NR_CAUSES; i++) {
		if (s->hole[i].nr)
			printf("  %s: %s: %" PRIu64 ", %" PRIu64 " bytes\n",
			       stats_is_hole(i) ? "hole" : "not covered", stats_get_cause_name(i),
			       s->hole[i].nr, s->hole[i].bytes);
	}
}

/* --------------------------------- make ---------------------------------- */

static int write_table(const char *path, const char *out)
{
	struct gen_table table;
	FILE *to;
	double ms;
	int ret;

	ret = make_table(path, &table, &ms);
	if (ret)
		return ret;
	to = fopen(out, "wbe");
	if (!to || fwrite(table.data, table.size, 1, to) != 1)
		ret = print_error(out, strerror(errno), NULL);
	if (to && fclose(to) && !ret)
		ret = print_error(out, strerror(errno), NULL);
	if (!ret)
		print_summary(path, &table, ms);
	gen_free(&table);
	return ret;
}

/* --------------------------------- dump ---------------------------------- */

static const char *get_reg_name(const struct sframe_table *t, unsigned int reg)
{
	const struct arch *arch = arch_find_by_abi(t->arch->abi);

	return arch && reg < arch->nr_names ? arch->reg_name[reg] : "?";
}

static void print_rule(const struct sframe_table *t, const char *name,
		       const struct sframe_rule *rule)
{
	const char *base;

	switch (rule->base) {
	case SFRAME_SAME:
		return;
	case SFRAME_UNDEFINED:
		printf(" %s undefined", name);
		return;
	case SFRAME_CFA:
		base = "cfa";
		break;
	case SFRAME_SP:
		base = get_reg_name(t, t->arch->reg_sp);
		break;
	case SFRAME_FP:
		base = get_reg_name(t, t->arch->reg_fp);
		break;
	default:
		base = get_reg_name(t, rule->reg);
	}
	printf(rule->deref ? " %s=*(%s%+d)" : " %s=%s%+d", name, base, rule->off);
	if (rule->add)
		printf("%+d", rule->add);
}

/* Print where the register is saved; print nothing if it still holds its value. */
static void print_kept_reg(const struct sframe_table *t, uint32_t slot)
{
	const char *reg = get_reg_name(t, t->arch->reg_kept);

	if (!t->kept)
		return;
	if (slot == SFRAME_KEPT_UNKNOWN)
		printf(" %s unknown", reg);
	else if (slot != SFRAME_KEPT_IN_REG)
		printf(" %s=*(cfa-%" PRIu32 ")", reg, 8 * slot);
}

static int dump_func(const struct sframe_table *t, uint32_t index)
{
	struct sframe_func func;
	struct sframe_row row;
	uint64_t pc, end;
	uint32_t n;
	int ret;

	ret = sframe_get_func(t, index, &func);
	if (ret)
		return ret;
	printf("%#" PRIx64 "-%#" PRIx64 " rows %" PRIu32 " at %#" PRIx32 "%s%s%s\n", func.start,
	       func.start + func.size, func.nr_fres, func.fre_off,
	       SFRAME_FDE_TYPE(func.info2) != SFRAME_FDE_TYPE_DEFAULT ? " flexible" : "",
	       SFRAME_FDE_IS_SIGNAL(func.info) ? " signal" : "",
	       SFRAME_FDE_IS_MASK(func.info) ? " mask" : "");
	/* rows of a pattern repeat: show it once */
	end = func.start + (func.rep_size && func.rep_size < func.size ? func.rep_size : func.size);
	for (pc = func.start, n = 0; pc < end && n <= func.nr_fres;
	     pc = row.start + row.size, n++) {
		ret = sframe_find_row(t, &func, pc, &row);
		if (ret == -ENOENT && !func.nr_fres)
			puts("  hole");
		if (ret == -ENOENT)
			return 0;
		if (ret)
			return ret;
		printf("  %#" PRIx64, row.start);
		print_rule(t, "cfa", &row.cfa);
		print_rule(t, "ra", &row.ra);
		print_rule(t, "fp", &row.fp);
		print_kept_reg(t, SFRAME_ROW_KEPT(row.flags));
		if (row.flags & SFRAME_ROW_MANGLED)
			printf(" ra signed");
		putchar('\n');
		if (row.start + row.size <= pc)
			return -EBADMSG;
	}
	return 0;
}

/* Read a file that is an SFrame section; 1 if it is something else. */
static int read_section(const char *path, struct gen_table *table)
{
	struct stat st;
	uint16_t magic;
	FILE *from;
	int ret = 1;

	memset(table, 0, sizeof(*table));
	from = fopen(path, "rbe");
	if (!from)
		return 1;
	if (!fstat(fileno(from), &st) && st.st_size >= SFRAME_HDR_SIZE &&
	    st.st_size < UINT32_MAX && fread(&magic, sizeof(magic), 1, from) == 1 &&
	    (magic == SFRAME_MAGIC || magic == __builtin_bswap16(SFRAME_MAGIC))) {
		table->size = st.st_size;
		table->data = malloc(table->size);
		rewind(from);
		if (table->data && fread(table->data, table->size, 1, from) == 1)
			ret = 0;
		table->text_size = INT64_MAX;
	}
	fclose(from);
	if (ret)
		gen_free(table);
	return ret;
}

static int cmd_dump(const char *path)
{
	struct gen_table table;
	struct sframe_table t;
	uint32_t i, nr_rows;
	int ret;

	if (read_section(path, &table) && make_table(path, &table, NULL))
		return 1;
	ret = gen_open(&table, &t);
	if (!ret)
		ret = sframe_get_nr_rows(&t, &nr_rows);
	if (ret) {
		gen_free(&table);
		return print_error(path, "no SFrame section that can be read here", NULL);
	}
	printf("version %u, abi %u (%s), flags %#x, %" PRIu32 " functions, %" PRIu32 " rows, %"
	       PRIu32 " bytes of rows\n", t.version, t.arch->abi,
	       arch_find_by_abi(t.arch->abi)->name, t.flags, t.nr_fdes, nr_rows,
	       t.fre_len);
	for (i = 0; i < t.nr_fdes && !ret; i++)
		ret = dump_func(&t, i);
	gen_free(&table);
	if (ret)
		return print_error(path, "the section is damaged", NULL);
	return 0;
}

/* -------------------------------- verify --------------------------------- */

struct verify {
	const char *path;
	struct image *img;
	struct sframe_table t;
	bool no_caller;			/* the function is __start_context(), which nothing calls */
	struct cfi_row rules;		/* of the row whose end is not known yet */
	uint64_t row_start, end;	/* end: of the function */
	bool has_row;			/* @rules are those of a row */
	uint64_t rows, holes, no_callers, wrong;
};

/*
 * Is this glibc's __start_context() for amd64? Its .eh_frame says that something calls it. The
 * generator recognizes the function in its own way. This check must not use that, because it
 * verifies the generator.
 */
static bool is_start_context(const struct verify *v, uint64_t start, uint64_t end)
{
	static const char known[] = "4889dc488b3c244885ff7408e8........4889c7e8........f4";
	size_t len = end - start, i;
	const uint8_t *code;
	char byte[3];

	if (v->t.arch->abi != SFRAME_ABI_AMD64 || len > IMAGE_MAX_CODE)
		return false;
	code = image_get_code(v->img, start, len);
	if (code && len > 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4)) {
		code += 4;
		len -= 4;
	}
	if (!code || len * 2 != sizeof(known) - 1)
		return false;
	for (i = 0; i < len; i++) {
		snprintf(byte, sizeof(byte), "%02x", code[i]);
		if (known[2 * i] != '.' && memcmp(&known[2 * i], byte, 2))
			return false;
	}
	return true;
}

static bool is_same_rule(const struct verify *v, const struct cfi_rule *theirs,
			 const struct sframe_rule *ours, uint64_t pc)
{
	static const uint8_t how[] = {
		[CFI_SAME] = SFRAME_SAME, [CFI_UNDEF] = SFRAME_UNDEFINED,
		[CFI_REG] = SFRAME_REG, [CFI_AT_REG] = SFRAME_REG,
		[CFI_CFA] = SFRAME_CFA, [CFI_AT_CFA] = SFRAME_CFA, [CFI_PLT] = SFRAME_REG,
	};
	bool deref = theirs->how == CFI_AT_REG || theirs->how == CFI_AT_CFA;
	int32_t off = theirs->off;
	uint8_t base;

	if (theirs->how == CFI_BAD)
		return false;
	base = how[theirs->how];
	if (base == SFRAME_REG && theirs->reg == v->t.arch->reg_sp)
		base = SFRAME_SP;
	else if (base == SFRAME_REG && theirs->reg == v->t.arch->reg_fp)
		base = SFRAME_FP;
	if (theirs->how == CFI_PLT && (pc & 15) >= theirs->limit)
		off -= v->t.arch->ra_off;	/* a word, as a call pushes */
	return ours->base == base && (base == SFRAME_SAME || base == SFRAME_UNDEFINED ||
		(!!ours->deref == deref && ours->off == off && ours->add == theirs->add &&
		 (base != SFRAME_REG || ours->reg == theirs->reg)));
}

static void verify_pc(struct verify *v, uint64_t pc)
{
	struct sframe_row row;
	int ret;

	ret = sframe_find(&v->t, pc, &row);
	if (ret == -ENOENT) {
		v->holes++;
		return;
	}
	/* FDEs for addresses that are not code do not count */
	if (ret == -ESRCH && !image_is_in_exec_segment(v->img, pc, pc + 1))
		return;
	if (!ret && row.ra.base == SFRAME_UNDEFINED && v->rules.ra.how == CFI_UNDEF)
		return;
	if (!ret && row.ra.base == SFRAME_UNDEFINED && v->no_caller) {
		v->no_callers++;
		return;
	}
	if (!ret && CFI_KEPT(v->rules.flags) != SFRAME_ROW_KEPT(row.flags))
		ret = -EINVAL;
	if (!ret && !!(v->rules.flags & CFI_SIGNAL) == !!(row.flags & SFRAME_ROW_SIGNAL) &&
	    !!(v->rules.flags & CFI_MANGLED) == !!(row.flags & SFRAME_ROW_MANGLED) &&
	    is_same_rule(v, &v->rules.cfa, &row.cfa, pc) &&
	    is_same_rule(v, &v->rules.ra, &row.ra, pc) &&
	    is_same_rule(v, &v->rules.fp, &row.fp, pc))
		return;
	if (v->wrong++ < MAX_PRINTED)
		printf("%s: %#" PRIx64 ": the table has %s .eh_frame\n", v->path, pc,
		       ret == -ESRCH ? "nothing, unlike" : "another rule than");
}

static void verify_row(struct verify *v, uint64_t end)
{
	uint64_t pc, last = v->row_start + 32 < end ? v->row_start + 32 : end;

	if (!v->has_row || end <= v->row_start)
		return;
	v->rows++;
	for (pc = v->row_start; pc < last; pc++)
		verify_pc(v, pc);
	verify_pc(v, v->row_start + (end - v->row_start) / 2);
	verify_pc(v, end - 1);
	v->has_row = false;
}

static int on_fde(void *arg, uint64_t start, uint64_t end)
{
	struct verify *v = arg;

	verify_row(v, v->end);
	v->no_caller = is_start_context(v, start, end);
	v->end = end;
	return 0;
}

static int on_row(void *arg, uint64_t start, const struct cfi_row *rules)
{
	struct verify *v = arg;

	verify_row(v, start);
	v->row_start = start;
	v->rules = *rules;
	v->has_row = true;
	return 0;
}

static int verify_rows(struct verify *v, int fd)
{
	static const struct cfi_ops ops = { .fde = on_fde, .row = on_row };
	struct image img = { .fd = fd };
	struct cfi_section sec;
	struct cfi_stats stats;
	uint8_t *data;
	int ret;

	v->img = &img;
	ret = image_open(&img);
	if (ret)
		goto out;
	sec = image_describe_eh_frame(&img, arch_find_by_abi(v->t.arch->abi));
	sec.reg_kept = v->t.kept ? v->t.arch->reg_kept : 0;
	sec.size = img.eh_frame.end - img.eh_frame.start;
	if (!sec.size)			/* its rows come from elsewhere */
		goto out;
	data = malloc(sec.size + 1);
	ret = data ? image_read(&img, sec.vaddr, data, sec.size) : -ENOMEM;
	sec.data = data;
	if (!ret)
		ret = cfi_parse(&sec, &ops, v, &stats);
	verify_row(v, v->end);
	free(data);
out:
	image_close(&img);
	return ret;
}

static int cmd_verify(const char *path)
{
	struct verify v = { .path = path };
	struct gen_table table;
	double ms;
	int ret, fd;

	ret = make_table(path, &table, &ms);
	if (ret)
		return ret;
	if (gen_open(&table, &v.t)) {
		ret = print_error(path, "the generated table cannot be read", NULL);
		goto out;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 ? -errno : verify_rows(&v, fd);
	if (fd >= 0)
		close(fd);
	if (ret) {
		ret = print_error(path, strerror(-ret), NULL);
		goto out;
	}
	print_summary(path, &table, ms);
	printf("  verified: %" PRIu64 " rows, %" PRIu64 " pcs in holes, %" PRIu64 " wrong\n",
	       v.rows, v.holes, v.wrong);
	if (v.no_callers)
		printf("  without a caller, which .eh_frame does not say: %" PRIu64 " pcs of "
		       "glibc's __start_context\n", v.no_callers);
	ret = v.wrong ? 1 : 0;
out:
	gen_free(&table);
	return ret;
}

/* --------------------------------- main ---------------------------------- */

static int usage(FILE *to)
{
	fputs("usage: trace-ustack-tables make [OPTION...] FILE...\n"
	      "       trace-ustack-tables dump FILE\n"
	      "       trace-ustack-tables verify FILE...\n"
	      "       trace-ustack-tables register [OPTION...] [FILE...]\n"
	      "       trace-ustack-tables run [OPTION...] CMD [ARGUMENT...]\n"
	      "FILE is an ELF file. dump also reads an SFrame section that make wrote.\n"
	      "make, register and run list their options with --help.\n"
	      "  -h, --help  print this text\n", to);
	return to == stdout ? 0 : 2;
}

static int run_command(int argc, char **argv)
{
	int i, ret = 0;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout);
	if (argc > 1 && !strcmp(argv[1], "register"))
		return cmd_register(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "run"))
		return cmd_run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "make"))
		return cmd_make(argc - 1, argv + 1, write_table);
	if (argc < 3)
		return usage(stderr);
	if (!strcmp(argv[1], "dump") && argc == 3)
		return cmd_dump(argv[2]);
	if (!strcmp(argv[1], "verify")) {
		for (i = 2; i < argc; i++)
			ret |= cmd_verify(argv[i]);
		return ret;
	}
	return usage(stderr);
}

int main(int argc, char **argv)
{
	int ret = run_command(argc, argv);

	/* the output is lost, so the command has failed, even if all else worked */
	if ((fflush(stdout) || ferror(stdout)) && !ret)
		ret = print_error("standard output", strerror(errno), NULL);
	return ret;
}
