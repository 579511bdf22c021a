// SPDX-License-Identifier: GPL-2.0
/*
 * register.c - registers unwind tables before and while the recorder records
 *
 * Before the first event, the recorder registers tables for every running program, for CMD with the
 * libraries it names, and for the programs of earlier recordings (libunwind-user/tables/recall.c).
 * The latter start with those used last and take a moment at most; the rest is registered while
 * recording. A program or library that is executed or loaded later gets its table as soon as its
 * mapping is seen (libunwind-user/tables/follow.c); its first events may come without a table. The
 * kernel keeps the tables as long as the recorder lives.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/tables/tables.h"

#define MAX_PRINTED	5
/* The time for tables of earlier programs, before the first event: CMD may start one of these. */
#define RECALL_NS	100000000
#define RECALL_CMD_NS	1000000000
#define MAX_SCRIPTS	4		/* interpreters of interpreters, as execve() */

struct rec_registration {
	struct tables_session *t;
	unsigned int nr_printed;
	bool verbose;
};

static int show_progress(void *ctx, uint64_t done, uint64_t all)
{
	const struct rec *r = ctx;

	if (!r->opts.quiet)
		tool_show_progress("unwind tables", done, all);
	return rec_wait_interrupted() ? -EINTR : 0;
}

/* ---------------------------------- CMD ---------------------------------- */

/* PT_INTERP of an ELF file; false if the file has no PT_INTERP. */
static bool read_interpreter(int fd, char *interp, size_t size)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned int i;

	if (!libs_read_ehdr(fd, &eh))
		return false;
	for (i = 0; i < eh.e_phnum && i < 64; i++) {
		if (!libs_read_phdr(fd, &eh, i, &ph))
			return false;
		if (ph.p_type != PT_INTERP)
			continue;
		if (!ph.p_filesz || ph.p_filesz > size ||
		    libs_read(fd, interp, ph.p_filesz, ph.p_offset) != (ssize_t)ph.p_filesz)
			return false;
		interp[ph.p_filesz - 1] = '\0';
		return true;
	}
	return false;
}

/*
 * Add the libraries that the dynamic loader lists: "NAME => PATH (ADDRESS)" or "PATH (ADDRESS)".
 * The loader, and libraries for auditing, run here with the rights of the recorder. CMD itself runs
 * with the same rights a moment later, so this gives it no others.
 */
static void add_libraries(struct tables_session *t, const char *interp, const char *path)
{
	char line[PATH_MAX], *at;
	int fds[2], null;
	pid_t pid;
	FILE *f;

	if (pipe2(fds, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		sigset_t none;

		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 0);
		dup2(null, 2);
		dup2(fds[1], 1);
		execl(interp, interp, "--list", path, NULL);
		_exit(127);
	}
	close(fds[1]);
	f = fdopen(fds[0], "r");
	while (pid > 0 && f && fgets(line, sizeof(line), f)) {
		at = strchr(line, '/');
		if (!at || !strstr(at, " ("))
			continue;
		*strstr(at, " (") = '\0';
		tables_add_path(t, at);
	}
	if (f)
		fclose(f);
	else
		close(fds[0]);
	if (pid > 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

/* Add an ELF file, its dynamic loader, and its libraries. */
static void add_elf(struct tables_session *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char interp[PATH_MAX];

	if (fd < 0)
		return;
	tables_add_fd(t, fd, path);
	if (read_interpreter(fd, interp, sizeof(interp)))
		add_libraries(t, interp, path);
	close(fd);
}

/* The first line of a script, without "#!", terminated; false if it is not a script. */
static bool read_script_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	memset(line, 0, size);
	if (fd < 0)
		return false;
	libs_read(fd, line, size - 1, 0);
	close(fd);
	if (strncmp(line, "#!", 2))
		return false;
	memmove(line, line + 2, size - 2);
	return true;
}

/* Add the file, or its interpreter. */
static void add_program(struct tables_session *t, const char *name)
{
	char path[PATH_MAX], line[258], word[sizeof(line)], *interp, *arg;
	int depth, len;

	snprintf(path, sizeof(path), "%s", name);
	for (depth = 0; depth < MAX_SCRIPTS; depth++) {
		if (!read_script_line(path, line, sizeof(line))) {
			add_elf(t, path);
			return;
		}
		interp = line + strspn(line, " \t");
		len = strcspn(interp, " \t\n");
		arg = interp + len + strspn(interp + len, " \t");
		snprintf(path, sizeof(path), "%.*s", len, interp);
		if (len < 4 || strncmp(interp + len - 4, "/env", 4))
			continue;
		/* "env NAME" searches NAME as we do */
		add_elf(t, path);
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(arg, " \t\n"), arg);
		if (*word == '-' || !*word || command_find(word, path))
			return;
	}
}

/* ------------------------------ the session ------------------------------ */

static int add_bpf_table(void *ctx, int fd, const char *path)
{
	return rec_bpf_add_table(ctx, fd, path);
}

int rec_tables_start(struct rec *r)
{
	struct tables_opts opts = {
		.size = sizeof(opts), .tracefs = tracefs_tracing_dir(), .progress = show_progress,
		.ctx = r,
	};
	struct rec_registration *s;
	char path[PATH_MAX];
	int ret;

	if (!r->opts.tables)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return tool_report_no_memory();
	s->verbose = r->opts.verbose;
	if (r->request_by == REQUEST_BY_BPF) {
		opts.add_file = add_bpf_table;
		ret = tables_open_with(&opts, NULL, &s->t);
	} else {
		ret = tables_open(&opts, &s->t);
	}
	if (ret) {
		tool_error("%s/user_unwind_tables: %s%s", opts.tracefs, strerror(-ret),
			   ret == -ENOENT ? "; this kernel follows frame pointers only, so stacks "
			   "through code that keeps none will be cut" :
			   "; without unwind tables stacks are by frame pointers only");
		free(s);
		return 0;
	}
	r->tables = s;
	ret = tables_get_cache_error(s->t);
	if (ret)
		tool_error("the table directory cannot be used (%s), so all are made again; it "
			   "must belong to you, and nobody else may write to it", strerror(-ret));
	ret = tables_follow(s->t, true);
	if (!ret)
		ret = tables_follow_wait(s->t);
	tool_end_progress();
	if (rec_wait_interrupted())
		return 0;
	if (ret)
		tool_error("cannot register unwind tables of the running programs: %s",
			   strerror(-ret));
	if (r->opts.cmd && !command_find(r->opts.cmd[0], path))
		add_program(s->t, path);
	ret = tables_recall_within(s->t, r->opts.cmd ? RECALL_CMD_NS : RECALL_NS);
	tool_end_progress();
	if (ret < 0 && ret != -ENOENT && !rec_wait_interrupted())
		tool_error("cannot register unwind tables of programs from earlier recordings: %s",
			   strerror(-ret));
	return 0;
}

void rec_tables_add_rest(struct rec *r)
{
	if (r->tables)
		tables_recall_rest(r->tables->t);
}

static void print_uncovered(void *ctx, const struct tables_file *f)
{
	struct rec_registration *s = ctx;

	if (f->cause == TABLES_COVERED || f->cause == TABLES_VANISHED)
		return;
	if (!s->verbose && s->nr_printed++ >= MAX_PRINTED)
		return;
	fprintf(stderr, "    %s: %s%s%s\n", f->path, tables_get_cause_name(f->cause),
		f->cause == TABLES_ERROR ? ": " : "",
		f->cause == TABLES_ERROR ? strerror(-f->error) : "");
}

void rec_tables_print_summary(struct rec *r)
{
	struct rec_registration *s = r->tables;
	struct tables_summary sum;

	if (!s)
		return;
	tables_get_summary(s->t, &sum);
	fprintf(stderr, "  unwind tables: %llu files, %.1f MiB; they cover %.2f%% of the code in "
		"these files\n", (unsigned long long)sum.files[TABLES_COVERED],
		sum.table_bytes / 1048576.0,
		sum.text_bytes ? 100.0 * sum.covered_bytes / sum.text_bytes : 0.0);
	if (sum.uncovered)
		fprintf(stderr, "  %llu files have none:\n", (unsigned long long)sum.uncovered);
	s->nr_printed = 0;
	tables_for_each(s->t, print_uncovered, s);
	if (!s->verbose && s->nr_printed > MAX_PRINTED)
		fprintf(stderr, "    and %u more; trace-ustack check lists them\n",
			s->nr_printed - MAX_PRINTED);
	if (sum.unreadable)
		fprintf(stderr, "  %llu processes may not be read\n",
			(unsigned long long)sum.unreadable);
}

void rec_tables_save(struct rec *r)
{
	int ret;

	saved_tables_remove(r->opts.out);
	if (!r->tables)
		return;
	/* the summary lists the same files */
	tables_follow_stop(r->tables->t);
	if (!r->id)
		return;
	ret = saved_tables_write(r->opts.out, r->id, r->tables->t);
	if (ret)
		tool_error("%s.tables: %s; the list of files with unwind tables is not saved",
			   r->opts.out, strerror(-ret));
}

struct tables_session *rec_tables_get_session(const struct rec *r)
{
	return r->tables->t;
}

bool rec_tables_get_summary(const struct rec *r, struct tables_summary *sum)
{
	if (r->tables)
		tables_get_summary(r->tables->t, sum);
	return r->tables;
}

void rec_tables_stop(struct rec *r)
{
	if (!r->tables)
		return;
	/* without the list, tables come late the next time; nothing is lost now */
	tables_remember(r->tables->t);
	tables_close(r->tables->t);
	free(r->tables);
	r->tables = NULL;
}
