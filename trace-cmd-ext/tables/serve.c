// SPDX-License-Identifier: GPL-2.0
/*
 * serve.c - `register` and `run`: unwind tables with the kernel, by hand
 *
 * Tables stay registered as long as this process has tracefs' user_unwind_tables open: until it is
 * killed, in whatever way, or until the command of `run` ends. The line "ready" says that all
 * requested tables are registered; scripts wait for this line.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "libunwind-user/tables/tables.h"
#include "tables.h"

#define TOOL		"trace-ustack-tables"
#define PROGRESS_AFTER	1.0	/* seconds */

struct serve {
	const char *name;		/* of the subcommand */
	struct tables_session *session;
	bool all, verbose, quiet;
	double start;			/* clock_get_seconds() */
	bool progress_shown;		/* on the terminal */
};

static int __attribute__((format(printf, 2, 3)))
complain(const struct serve *s, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, TOOL " %s: ", s->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static int show_progress(void *ctx, uint64_t done, uint64_t all)
{
	struct serve *s = ctx;

	if (!isatty(STDERR_FILENO) || s->quiet)
		return 0;
	if (done < all && clock_get_seconds() - s->start > PROGRESS_AFTER) {
		fprintf(stderr, "\r" TOOL " %s: %" PRIu64 " of %" PRIu64 " files", s->name, done,
			all);
		s->progress_shown = true;
	} else if (done == all && s->progress_shown) {
		fputs("\r\033[K", stderr);
		s->progress_shown = false;
	}
	return 0;
}

/* -------------------------------- results -------------------------------- */

static void print_file(void *ctx, const struct tables_file *f)
{
	const struct serve *s = ctx;

	if (f->cause == TABLES_COVERED && !s->verbose)
		return;
	if (f->cause == TABLES_COVERED)
		printf("  %s: %" PRIu64 " bytes, %s\n", f->path, f->table_size,
		       f->cached ? "from the cache" : "made now");
	else
		printf("  %s: %s%s%s\n", f->path, tables_get_cause_name(f->cause),
		       f->cause == TABLES_ERROR ? ": " : "",
		       f->cause == TABLES_ERROR ? strerror(-f->error) : "");
}

static void print_summary(struct serve *s)
{
	struct tables_summary sum;
	uint64_t without;

	if (s->quiet)
		return;
	tables_get_summary(s->session, &sum);
	without = sum.uncovered + sum.files[TABLES_VANISHED];
	printf("%" PRIu64 " files have tables (%" PRIu64 " from the cache), %.1f MiB, in %.3f s\n",
	       sum.files[TABLES_COVERED], sum.cached, sum.table_bytes / 1048576.0,
	       clock_get_seconds() - s->start);
	printf("%" PRIu64 " of %" PRIu64 " bytes of code in them are covered, %" PRIu64
	       " in %" PRIu64 " holes that tables cannot express, %" PRIu64 " not covered:"
	       " frame pointers are followed there\n",
	       sum.covered_bytes, sum.text_bytes, sum.hole_bytes, sum.holes, sum.unknown_bytes);
	if (sum.processes)
		printf("%" PRIu64 " processes; %" PRIu64 " have code in no file (%" PRIu64
		       " bytes), %" PRIu64 " may not be read\n", sum.processes,
		       sum.anon_processes, sum.anon_bytes, sum.unreadable);
	if (without)
		printf("%" PRIu64 " files have none:\n", without);
	tables_for_each(s->session, print_file, s);
	fflush(stdout);
}

/* ----------------------- start of both subcommands ----------------------- */

static int usage(const struct serve *s, const char *what, FILE *to)
{
	fprintf(to,
		"usage: " TOOL " %s [-aqv] [--no-cache] %s\n"
		"Register unwind tables with the kernel, %s.\n"
		"  -a, --all       also for all programs that run or start later, as run does\n"
		"  -q, --quiet     print no summary\n"
		"  -v, --verbose   also list the files that have tables\n"
		"      --no-cache  generate all tables again, and store none\n"
		"  -h, --help      print this text\n",
		s->name, what, strcmp(what, "[FILE...]") ? "while CMD runs" :
		"for each FILE, until killed");
	return to == stdout ? 0 : 2;
}

static int open_tables(struct serve *s, bool no_cache)
{
	struct tables_opts opts = {
		.size = sizeof(opts), .no_cache = no_cache, .progress = show_progress, .ctx = s,
	};
	int ret;

	s->start = clock_get_seconds();
	ret = tables_open(&opts, &s->session);
	switch (-ret) {
	case 0:
		break;
	case ENOENT:
		return complain(s, "user_unwind_tables in /sys/kernel/tracing: %s; this kernel "
				"has no unwind tables, or tracefs is not mounted there",
				strerror(-ret));
	case EPERM:
	case EACCES:
		return complain(s, "user_unwind_tables in /sys/kernel/tracing: %s; only root "
				"may register tables", strerror(-ret));
	default:
		return complain(s, "user_unwind_tables in /sys/kernel/tracing: %s",
				strerror(-ret));
	}
	ret = tables_get_cache_error(s->session);
	if (ret && !s->quiet)
		complain(s, "the table directory cannot be used (%s), so all are made again; it "
			 "must belong to you, and nobody else may write to it", strerror(-ret));
	return 0;
}

/* Read the options; open the tables. @files: the first other argument. 0, or the exit status. */
static int begin_serving(struct serve *s, int argc, char **argv, const char *what, int *files)
{
	static const struct option longs[] = {
		{ "all", no_argument, NULL, 'a' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "no-cache", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	bool no_cache = false;
	int c;

	s->name = argv[0];
	optind = 1;
	while ((c = getopt_long(argc, argv, "+aqvh", longs, NULL)) != -1) {
		switch (c) {
		case 'a':
			s->all = true;
			break;
		case 'q':
			s->quiet = true;
			break;
		case 'v':
			s->verbose = true;
			break;
		case 'n':
			no_cache = true;
			break;
		case 'h':
			exit(usage(s, what, stdout));
		default:
			return usage(s, what, stderr);
		}
	}
	*files = optind;
	if (optind == argc && !(s->all && !strcmp(what, "[FILE...]")))
		return usage(s, what, stderr);
	return open_tables(s, no_cache);
}

static int add_files(struct serve *s, char **file)
{
	int ret, status = 0;

	for (; *file; file++) {
		ret = tables_add_path(s->session, *file);
		if (ret)
			status = complain(s, "%s: no table: %s", *file,
					  ret == -ENODATA ? TABLES_NOTHING :
					  ret == -EOPNOTSUPP ? "it is for another architecture"
					  " than this kernel, or not linked" :
					  ret == -ENOEXEC ? "not an ELF file" : strerror(-ret));
	}
	return status;
}

static int add_running(struct serve *s)
{
	int ret;

	if (!s->all)
		return 0;
	ret = tables_follow(s->session, true);
	if (!ret)
		ret = tables_follow_wait(s->session);
	if (!ret)
		ret = tables_recall(s->session);
	if (!ret || ret == -ENOENT)
		return 0;
	return complain(s, "tables for all running programs: %s", strerror(-ret));
}

static void end_serving(struct serve *s)
{
	if (s->all)
		tables_remember(s->session);
	tables_close(s->session);
}

/* ------------------------------ subcommands ------------------------------ */

int cmd_register(int argc, char **argv)
{
	struct serve s = { .name = NULL };
	int ret, files, sig, vdso;
	sigset_t set;

	ret = begin_serving(&s, argc, argv, "[FILE...]", &files);
	if (ret)
		return ret;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ret = add_files(&s, argv + files);
	if (!ret) {
		/* the vDSO of arm64 has frame records in place of .eh_frame */
		vdso = tables_add_vdso(s.session);
		if (vdso && vdso != -ENODATA && !s.quiet)
			complain(&s, "the vDSO has no table: %s", strerror(-vdso));
		ret = add_running(&s);
	}
	if (!ret) {
		print_summary(&s);
		puts("ready");
		fflush(stdout);
		sigwait(&set, &sig);
		if (s.all)
			print_summary(&s);
	}
	end_serving(&s);
	return ret;
}

int cmd_run(int argc, char **argv)
{
	struct serve s = { .name = NULL };
	int ret, command, status;
	pid_t pid;

	ret = begin_serving(&s, argc, argv, "CMD [ARGUMENT...]", &command);
	if (ret)
		return ret;
	s.all = true;
	ret = add_running(&s);
	if (ret)
		goto out;
	pid = fork();
	if (pid < 0) {
		ret = complain(&s, "%s cannot be started: no process can be made: %s; see ulimit "
			       "-u", argv[command], strerror(errno));
		goto out;
	}
	if (!pid) {
		execvp(argv[command], argv + command);
		fprintf(stderr, TOOL " %s: %s: %s\n", s.name, argv[command], strerror(errno));
		_exit(127);
	}
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ret = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	print_summary(&s);
out:
	end_serving(&s);
	return ret;
}
