// SPDX-License-Identifier: GPL-2.0
/*
 * code.c - how well the unwinder can walk the code of a file
 *
 * Three things decide this: the part of the code that the table covers, what the rest has instead
 * of a table, and the runtime that the file contains or is. Some runtimes keep frame pointers, some
 * make code in memory.
 */
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/model/model.h"

#define NEARLY_ALL	95.0	/* percent; the rest is assembler that few stacks pass */
#define TOO_LITTLE	50.0
#define MAX_HOLES	3

#define GO_ABOUT	"Go's runtime switches stacks, and only --source bpf finds the caller on " \
			"the other stack"
#define GO_REMEDY	"record --source bpf; other stacks are marked"

/* The check recognizes a runtime by a section, or by a function that it exports. */
static const struct code_kind {
	const char *section, *function;
	bool frame_pointers;		/* the code without .eh_frame keeps them */
	const char *about, *remedy;
} kinds[] = {
	{ ".gopclntab", NULL, true, GO_ABOUT, GO_REMEDY },
	{ ".go.buildinfo", NULL, true, GO_ABOUT, GO_REMEDY },
	{ NULL, "JNI_CreateJavaVM", false, "Java code is made in memory, and has no table",
	  "record --java, or start java with -XX:+PreserveFramePointer" },
	{ NULL, "_ZN2v87Isolate7DisposeEv", true, "V8's built-in functions, and JavaScript, which "
	  "is made in memory, have no tables and keep frame pointers",
	  "record --node, for names" },
	{ NULL, "call_into_lisp", false, "Lisp code is in the core file, and has no table",
	  "no remedy yet; only C frames are complete" },
	{ NULL, "luaJIT_setmode", false, "code that LuaJIT compiles is made in memory, and has no "
	  "table", "luajit -joff for complete stacks" },
	{ NULL, "scm_boot_guile", false, "code that Guile compiles has no table",
	  "set GUILE_JIT_THRESHOLD=-1 for complete stacks" },
	{ NULL, "erts_alloc_init", false, "Erlang code is made in memory, and has no table",
	  "record --erlang, or start erl with +JPperf true" },
};

#define NR_KINDS ARRAY_SIZE(kinds)

static const struct code_kind *find_kind_by_section(const char *name)
{
	size_t i;

	for (i = 0; i < NR_KINDS; i++)
		if (kinds[i].section && !strcmp(kinds[i].section, name))
			return &kinds[i];
	return NULL;
}

static const struct code_kind *find_kind_by_functions(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *name;
	GElf_Sym sym;
	size_t i, k;

	for (i = 0; data && sh->sh_entsize && i < data->d_size / sh->sh_entsize; i++) {
		if (i > INT32_MAX || !gelf_getsym(data, i, &sym))
			break;
		name = sym.st_shndx == SHN_UNDEF ? NULL : elf_strptr(elf, sh->sh_link, sym.st_name);
		for (k = 0; name && k < NR_KINDS; k++)
			if (kinds[k].function && !strcmp(kinds[k].function, name))
				return &kinds[k];
	}
	return NULL;
}

static const struct code_kind *find_kind(int fd)
{
	const struct code_kind *kind = NULL;
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr sh;
	size_t names;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getshdrstrndx(elf, &names)) {
		while (!kind && (scn = elf_nextscn(elf, scn))) {
			name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
			if (!name)
				continue;
			kind = find_kind_by_section(name);
			if (!kind && sh.sh_type == SHT_DYNSYM)
				kind = find_kind_by_functions(elf, scn, &sh);
		}
	}
	elf_end(elf);
	return kind;
}

/* Holes with most bytes first. Code that is too much to follow counts as code without a table. */
static unsigned int sort_holes(const struct stats *s, unsigned int most[MAX_HOLES], uint64_t *bytes)
{
	unsigned int nr = 0, i, k;

	*bytes = 0;
	for (i = 0; i < STATS_NR_CAUSES; i++) {
		if (!s->hole[i].nr || !stats_is_hole(i))
			continue;
		*bytes += s->hole[i].bytes;
		for (k = nr; k > 0 && s->hole[most[k - 1]].bytes < s->hole[i].bytes; k--)
			if (k < MAX_HOLES)
				most[k] = most[k - 1];
		if (k < MAX_HOLES)
			most[k] = i;
		nr += nr < MAX_HOLES;
	}
	return nr;
}

static double get_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * part / all : 0.0;
}

void check_code(struct check *c, const char *path, int fd, const struct stats *s, bool all,
		const char *symbols)
{
	double covered = get_percent(s->covered_bytes, s->text_bytes);
	const struct code_kind *kind = fd < 0 ? NULL : find_kind(fd);
	enum check_level level = CHECK_OK;
	unsigned int most[MAX_HOLES], nr, i;
	const char *remedy = NULL;
	char *text = NULL;
	uint64_t holes;
	size_t size;
	FILE *f;

	nr = sort_holes(s, most, &holes);
	if (covered < TOO_LITTLE && !(kind && kind->frame_pointers))
		level = all ? CHECK_NOTE : CHECK_MISSING;
	else if (covered < NEARLY_ALL || kind)
		level = CHECK_NOTE;
	if (level != CHECK_OK && kind)
		remedy = kind->remedy;
	if (level != CHECK_OK && !remedy && nr && 2 * holes > s->text_bytes - s->covered_bytes)
		remedy = get_hole_remedy(most[0]);
	if (level != CHECK_OK && !remedy)
		remedy = get_hole_remedy(STATS_CAUSE_FLOW);
	f = open_memstream(&text, &size);
	if (!f)
		return;
	fprintf(f, "tables cover %.2f%% of its code", covered);
	if (nr) {
		fprintf(f, ", %.2f%% are holes, where walks end (",
			get_percent(holes, s->text_bytes));
		for (i = 0; i < nr; i++)
			fprintf(f, "%s%s: %" PRIu64 " bytes", i ? ", " : "",
				stats_get_cause_name(most[i]), s->hole[most[i]].bytes);
		fputc(')', f);
	}
	if (s->covered_bytes + holes < s->text_bytes && covered < 99.995)
		fprintf(f, ", the rest goes by frame pointers%s",
			kind && kind->frame_pointers ? "" : kind ? ", which may not be kept" :
			": not known whether they are kept");
	fprintf(f, "; %s%s%s", kind ? kind->about : "", kind ? "; " : "", symbols);
	if (!fclose(f))
		check_add(c, level, "files", path, remedy, "%s", text);
	free(text);
}
