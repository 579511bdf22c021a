// SPDX-License-Identifier: GPL-2.0
/* run.c - the processes that a subcommand runs: the pager, the reader of a file */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#ifdef COVERAGE
#include <gcov.h>
#endif

#include "tool.h"

/*
 * CPU seconds for any file, and one more for so many bytes: only a hostile file needs them. Symbols
 * are read in the same time, so it has to be enough for large programs on a slow machine: 30 s were
 * too few in an emulated guest with a busy host.
 */
#define SECONDS_BASE	120
#define BYTES_PER_SECOND	(1u << 20)

static pid_t pager;
static bool terminal;

static void wait_for_pager(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

void tool_start_pager(void)
{
	const char *cmd = getenv("TRACE_USTACK_PAGER");
	int fds[2];

	terminal = isatty(STDOUT_FILENO);
	if (!cmd)
		cmd = getenv("PAGER");
	if (!cmd)
		cmd = "command -v less >/dev/null 2>&1 && exec less; exec cat";
	if (!terminal || !*cmd || !strcmp(cmd, "cat") || pager || pipe(fds))
		return;
	fflush(stdout);
	pager = fork();
	if (pager < 0) {
		pager = 0;
		close(fds[0]);
		close(fds[1]);
		return;
	}
	if (!pager) {
		dup2(fds[0], STDIN_FILENO);
		close(fds[0]);
		close(fds[1]);
		/* as git does: quit if the text fits, keep colours, do not clear */
		setenv("LESS", "FRX", 0);
		execl("/bin/sh", "sh", "-c", cmd, (char *)NULL);
		_exit(127);
	}
	dup2(fds[1], STDOUT_FILENO);
	close(fds[0]);
	close(fds[1]);
	/* the pager handles Ctrl-C; after it ends, a write ends this process */
	signal(SIGINT, SIG_IGN);
	atexit(wait_for_pager);
}

bool tool_is_on_terminal(void)
{
	return terminal || isatty(STDOUT_FILENO);
}

bool tool_use_colour(void)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

	return tool_is_on_terminal() && !(none && *none) && term &&
	       strcmp(term, "dumb");
}

/* Die by the signal that ended the reader, so that a shell sees it. */
static int die_by_signal(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return TOOL_FAIL;
}

void tool_exit_child(int code)
{
#ifdef __SANITIZE_ADDRESS__
	__lsan_do_leak_check();
#endif
#ifdef COVERAGE
	__gcov_dump();
#endif
	_exit(code);
}

int tool_run_in_child(const char *file, int (*run)(void *arg), void *arg)
{
	int status, sig;
	pid_t pid, parent = getpid();
	struct stat st;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		tool_error("%s: cannot start a process to read it: %s", file, strerror(errno));
		return TOOL_FAIL;
	}
	if (!pid) {
		limit_to_parent(parent);
		pager = 0;
		limit_cpu_time(SECONDS_BASE +
			       (stat(file, &st) ? 0 : st.st_size / BYTES_PER_SECOND));
		tool_exit_child(tool_finish(run(arg)));
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	if (sig == SIGINT || sig == SIGTERM || sig == SIGPIPE || sig == SIGHUP || sig == SIGQUIT)
		return die_by_signal(sig);
	if (sig == SIGXCPU || sig == SIGKILL)
		tool_error("%s: is damaged, or there is not enough memory or time to read it: "
			   "reading was stopped", file);
	else
		tool_error("%s: is damaged: libtracecmd crashed while reading it (%s)", file,
			   strsignal(sig));
	return TOOL_INPUT;
}
