// SPDX-License-Identifier: GPL-2.0
/*
 * files.c - which programs and libraries have tables, symbols and debug files
 *
 * The check makes the tables, or finds them in the cache, as a recording does. It gives none of
 * them to the kernel.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "trace-cmd-ext/model/model.h"
#include "trace-cmd-ext/record/record.h"
#include "trace-cmd-ext/tool/tool.h"
#include "libunwind-user/tables/tables.h"

#define DEBUG_DIR "/usr/lib/debug"

struct files {
	struct check *c;
	bool all;			/* every running program: a file without tables is a note */
	uint64_t files, symbols, exports_only, none, debug;
};

/* Register nothing: the check gives no table to the kernel. */
static int add_nothing(struct tables_session *t, const struct unwind_table_file *arg)
{
	(void)t;
	(void)arg;
	return 0;
}

/* Register nothing. BPF programs would take these tables, also those of 32-bit files. */
static int ignore_file(void *ctx, int fd, const char *path)
{
	(void)ctx;
	(void)fd;
	(void)path;
	return 0;
}

static int show_progress(void *ctx, uint64_t done, uint64_t all)
{
	(void)ctx;
	tool_show_progress("unwind tables", done, all);
	return 0;
}

/* -------------------------------- symbols -------------------------------- */

struct symbols {
	bool symtab, dynsym, mini, debug;	/* its own symbols; mini: .gnu_debugdata */
	bool go;				/* it has Go's table of functions */
	char link[256];				/* .gnu_debuglink */
};

static void note_section(struct symbols *s, Elf *elf, Elf_Scn *scn, size_t names)
{
	const char *name;
	Elf_Data *data;
	GElf_Shdr sh;

	if (!gelf_getshdr(scn, &sh))
		return;
	name = elf_strptr(elf, names, sh.sh_name);
	if (!name)
		return;
	s->symtab |= sh.sh_type == SHT_SYMTAB && sh.sh_size > sh.sh_entsize;
	s->dynsym |= sh.sh_type == SHT_DYNSYM && sh.sh_size > sh.sh_entsize;
	s->mini |= !strcmp(name, ".gnu_debugdata");
	s->go |= !strcmp(name, ".gopclntab") || !strcmp(name, ".go.buildinfo");
	s->debug |= !strcmp(name, ".debug_info") && sh.sh_type != SHT_NOBITS;
	if (strcmp(name, ".gnu_debuglink"))
		return;
	data = elf_rawdata(scn, NULL);
	if (data && data->d_buf && data->d_size > 5 && memchr(data->d_buf, 0, data->d_size))
		snprintf(s->link, sizeof(s->link), "%s", (const char *)data->d_buf);
}

static bool read_symbols(int fd, struct symbols *s)
{
	Elf_Scn *scn = NULL;
	size_t names;
	Elf *elf;

	memset(s, 0, sizeof(*s));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return false;
	}
	if (!elf_getshdrstrndx(elf, &names))
		while ((scn = elf_nextscn(elf, scn)))
			note_section(s, elf, scn, names);
	elf_end(elf);
	return true;
}

/* Look where gdb and others look: by build ID, then by the name in the link. */
static bool find_debug_file(const struct tables_file *f, const struct symbols *s,
			    char path[PATH_MAX])
{
	char hex[41], dir[PATH_MAX], *slash;
	uint32_t i;

	for (i = 0; i < f->build_id_size && i < sizeof(f->build_id); i++)
		sprintf(hex + 2 * i, "%02x", f->build_id[i]);
	if (f->build_id_size > 1) {
		snprintf(path, PATH_MAX, DEBUG_DIR "/.build-id/%.2s/%s.debug", hex, hex + 2);
		if (!access(path, R_OK))
			return true;
	}
	if (!*s->link || strchr(s->link, '/') || *f->path != '/')
		return false;
	snprintf(dir, sizeof(dir), "%s", f->path);
	slash = strrchr(dir, '/');
	*slash = '\0';
	if (snprintf(path, PATH_MAX, "%s/%s", dir, s->link) < PATH_MAX && !access(path, R_OK))
		return true;
	if (snprintf(path, PATH_MAX, "%s/.debug/%s", dir, s->link) < PATH_MAX &&
	    !access(path, R_OK))
		return true;
	return snprintf(path, PATH_MAX, DEBUG_DIR "%s/%s", dir, s->link) < PATH_MAX &&
	       !access(path, R_OK);
}

/* Say in words how many of its functions have names. */
static const char *describe_symbols(struct files *fs, const struct tables_file *f, char *debug)
{
	struct symbols s;
	bool known;
	int fd;

	*debug = '\0';
	fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return "it cannot be opened by its path";
	known = read_symbols(fd, &s);
	close(fd);
	if (!known)
		return "not an ELF file";
	if (s.debug)
		snprintf(debug, PATH_MAX, "%s", f->path);
	else if (!find_debug_file(f, &s, debug))
		*debug = '\0';
	fs->debug += !!*debug;
	if (s.symtab || s.mini || s.go || *debug) {
		fs->symbols++;
		return s.symtab ? "all functions have names" : *debug ?
		       "all functions have names, by the debug file" : s.go ?
		       "all functions of Go have names, by .gopclntab" :
		       "all functions have names, by .gnu_debugdata";
	}
	if (s.dynsym) {
		fs->exports_only++;
		return "exported functions have names, others have not";
	}
	fs->none++;
	return "functions have no names";
}

/* -------------------------- files and their tables ----------------------- */

static void add_file_finding(void *ctx, const struct tables_file *f)
{
	char debug[PATH_MAX], text[PATH_MAX + 128];
	struct files *fs = ctx;
	const char *symbols;
	int fd;

	if (*f->path == '[')		/* the vDSO */
		return;
	fs->files++;
	symbols = describe_symbols(fs, f, debug);
	if (f->cause == TABLES_COVERED) {
		snprintf(text, sizeof(text), "%s; debug file: %s", symbols,
			 *debug ? debug : "none");
		fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		check_code(fs->c, f->path, fd, &f->stats, fs->all, text);
		if (fd >= 0)
			close(fd);
		return;
	}
	if (f->cause == TABLES_VANISHED && fs->all)
		return;
	check_add(fs->c, fs->all ? CHECK_NOTE : CHECK_MISSING, "files", f->path,
		  get_table_remedy(f->cause), "no tables: %s%s%s; %s",
		  tables_get_cause_name(f->cause), f->cause == TABLES_ERROR ? ": " : "",
		  f->cause == TABLES_ERROR ? strerror(-f->error) : "", symbols);
}

static struct tables_session *open_session(struct files *fs)
{
	struct tables_opts opts = {
		.size = sizeof(opts), .progress = fs->all ? show_progress : NULL,
	};
	const char *source = fs->c->source;
	struct tables_session *t;
	int ret;

	/* a file that the user named may be recorded with any source */
	if (!fs->all || (source && !strcmp(source, source_get_name(SOURCE_BPF))))
		opts.add_file = ignore_file;
	ret = tables_open_with(&opts, add_nothing, &t);
	if (!ret)
		return t;
	check_add(fs->c, CHECK_MISSING, "files", "tables", NULL, "they cannot be made: %s",
		  strerror(-ret));
	return NULL;
}

void check_running(struct check *c)
{
	struct files fs = { .c = c, .all = true };
	struct tables_session *t = open_session(&fs);
	struct tables_summary sum;
	int ret;

	if (!t)
		return;
	ret = tables_get_cache_error(t);
	if (ret)
		check_add(c, CHECK_NOTE, "programs that run", "directory of tables",
			  "it must belong to you, and nobody else may write to it",
			  "it cannot be used (%s), so all are made again each time",
			  strerror(-ret));
	ret = tables_scan(t);
	if (ret)
		check_add(c, CHECK_NOTE, "programs that run", "/proc", NULL,
			  "it cannot be read to its end: %s", strerror(-ret));
	tables_get_summary(t, &sum);
	check_add(c, CHECK_OK, "programs that run", "unwind tables", NULL,
		  "%" PRIu64 " files have them, %.1f MiB (%" PRIu64 " from the cache); they cover "
		  "%.2f%% of the code in these files", sum.files[TABLES_COVERED],
		  sum.table_bytes / 1048576.0, sum.cached,
		  sum.text_bytes ? 100.0 * sum.covered_bytes / sum.text_bytes : 0.0);
	if (sum.unreadable)
		check_add(c, CHECK_NOTE, "programs that run", "processes",
			  geteuid() ? "run it as root" : NULL,
			  "%" PRIu64 " of them may not be read", sum.unreadable);
	if (sum.anon_processes)
		check_add(c, CHECK_NOTE, "programs that run", "JIT code",
			  "let them write /tmp/perf-PID.map (node --perf-basic-prof, java with an "
			  "agent), and keep frame pointers (java -XX:+PreserveFramePointer)",
			  "%" PRIu64 " of %" PRIu64 " processes have code in no file",
			  sum.anon_processes, sum.processes);
	tables_for_each(t, add_file_finding, &fs);
	check_add(c, CHECK_OK, "symbols", "functions", NULL, "of %" PRIu64 " files %" PRIu64
		  " have all names, %" PRIu64 " those of exported functions, %" PRIu64 " none",
		  fs.files, fs.symbols, fs.exports_only, fs.none);
	check_add(c, fs.debug ? CHECK_OK : CHECK_NOTE, "symbols", "debug files", fs.debug ? NULL :
		  "install their packages *-dbg, *-dbgsym or *-debuginfo",
		  "%" PRIu64 " of %" PRIu64 " files have one: source lines and inlined functions",
		  fs.debug, fs.files);
	tables_close(t);
}

/* ------------------------------- arguments ------------------------------- */

static void add_process(struct check *c, struct tables_session *t, pid_t pid)
{
	char path[64], line[PATH_MAX + 128], perms[8], name[32];
	uint64_t start, end, ino, anon = 0;
	bool any = false;
	FILE *f;
	int at, fd;

	snprintf(name, sizeof(name), "process %d", (int)pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		any = true;
		at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*x:%*x %" SCNu64 " %n", &start,
			   &end, perms, &ino, &at) != 4 || !at || perms[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (!ino) {
			anon += line[at] == '[' && strncmp(line + at, "[anon", 5) ? 0 : end - start;
			continue;
		}
		fd = tables_open_mapping(t, pid, start, end, line + at);
		if (fd < 0) {
			check_add(c, CHECK_MISSING, "files", line + at, "run it as root",
				  "it cannot be opened: %s", strerror(-fd));
			continue;
		}
		tables_add_fd(t, fd, line + at);
		close(fd);
	}
	if (!any) {
		check_add(c, CHECK_MISSING, "processes", name, f ? "run it as root" : NULL,
			  f ? "its mappings may not be read, or it is a thread of the kernel" :
			  "it is not there");
	} else if (anon) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)pid);
		check_add(c, access(path, R_OK) ? CHECK_NOTE : CHECK_OK, "processes", name,
			  access(path, R_OK) ? "let it write /tmp/perf-PID.map, and keep frame "
			  "pointers" : NULL, "%" PRIu64 " KiB of code are in no file (JIT); %s %s",
			  anon / 1024, path, access(path, R_OK) ? "is not there" : "names it");
	}
	if (f)
		fclose(f);
}

static bool is_number(const char *s)
{
	for (; isdigit((unsigned char)*s); s++)
		;
	return !*s;
}

void check_argument(struct check *c, const char *arg)
{
	struct files fs = { .c = c };
	struct tables_session *t = open_session(&fs);
	char path[PATH_MAX];
	int fd;

	if (!t)
		return;
	if (is_number(arg) && access(arg, F_OK)) {
		add_process(c, t, atoi(arg));
	} else if (!realpath(arg, path)) {
		check_add(c, CHECK_MISSING, "files", arg, NULL, "%s", strerror(errno));
	} else {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			check_add(c, CHECK_MISSING, "files", path,
				  errno == EACCES ? "run it as root" : NULL, "%s", strerror(errno));
		else
			tables_add_fd(t, fd, path);
		if (fd >= 0)
			close(fd);
	}
	tables_for_each(t, add_file_finding, &fs);
	tables_close(t);
}
