// SPDX-License-Identifier: GPL-2.0
/*
 * command.c - the command that is recorded
 *
 * The recorder makes the command's process early, so that its PID can be set as a filter. The
 * process waits before execve() until everything is recorded. The command does not inherit the
 * recorder's own limits and signal masks.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define END_TRIES	50
#define END_US		100000

static int exec_errno_fd = -1;		/* execve() failed: its errno comes here */

static int try_path(const char *path, int *denied)
{
	struct stat st;

	if (stat(path, &st))
		return -1;
	if (S_ISREG(st.st_mode) && !access(path, X_OK))
		return 0;
	*denied = 1;
	return -1;
}

int command_find(const char *name, char path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	int denied = 0, len;

	if (strchr(name, '/') || !*name) {
		snprintf(path, PATH_MAX, "%s", name);
		if (!try_path(path, &denied))
			return 0;
		goto missing;
	}
	if (!dir)
		dir = "/usr/local/bin:/usr/bin:/bin";
	for (;; dir += len + 1) {
		len = strcspn(dir, ":");
		if (snprintf(path, PATH_MAX, "%.*s/%s", len ? len : 1, len ? dir : ".",
			     name) < PATH_MAX && !try_path(path, &denied))
			return 0;
		if (!dir[len])
			break;
	}
missing:
	if (denied) {
		tool_error("%s: cannot be executed: %s", name, strerror(EACCES));
		return 126;
	}
	tool_error("%s: there is no such command", name);
	return 127;
}

/* Variables that make a runtime write down its functions, or keep frame pointers */
static const struct setting {
	unsigned int runtime;
	const char *variable, *value;
	bool add;			/* options may be there already */
} settings[] = {
	{ RUNTIME_PYTHON, "PYTHONPERFSUPPORT", "1", false },
	{ RUNTIME_NODE, "NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack",
	  true },
	{ RUNTIME_JAVA, "JAVA_TOOL_OPTIONS", "-XX:+PreserveFramePointer", true },
	{ RUNTIME_ERLANG, "ERL_FLAGS", "+JPperf true", true },
};

/* Returns 0, or -1 with errno. */
static int set_up_runtimes(unsigned int runtimes)
{
	const struct setting *s;
	const char *old;
	char *value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		s = &settings[i];
		if (!(runtimes & s->runtime))
			continue;
		old = s->add ? getenv(s->variable) : NULL;
		if (asprintf(&value, "%s%s%s", old ? old : "", old ? " " : "", s->value) < 0 ||
		    setenv(s->variable, value, 1))
			return -1;
		free(value);
	}
	return 0;
}

static void __attribute__((noreturn)) run_command(struct rec *r, int start_fd, int errno_fd)
{
	sigset_t none;
	char byte;
	int err;

	rec_gate_close_inherited(r);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	/* no byte comes if the recorder has died */
	if (read(start_fd, &byte, 1) != 1)
		_exit(125);
	rec_limits_restore();
	if (!set_up_runtimes(r->opts.runtimes))
		execvp(r->opts.cmd[0], r->opts.cmd);
	err = errno;
	if (write(errno_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

int command_prepare(struct rec *r)
{
	int start_pipe[2], errno_pipe[2];

	if (pipe2(start_pipe, O_CLOEXEC) || pipe2(errno_pipe, O_CLOEXEC)) {
		tool_error("%s cannot be started: no pipe can be made: %s; see ulimit -n",
			   r->opts.cmd[0], strerror(errno));
		return TOOL_FAIL;
	}
	fflush(NULL);
	r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		tool_error("%s cannot be started: no process can be made: %s; see ulimit -u",
			   r->opts.cmd[0], strerror(errno));
		return TOOL_FAIL;
	}
	if (!r->child) {
		close(start_pipe[1]);
		close(errno_pipe[0]);
		run_command(r, start_pipe[0], errno_pipe[1]);
	}
	close(start_pipe[0]);
	close(errno_pipe[1]);
	r->start_pipe = start_pipe[1];
	exec_errno_fd = errno_pipe[0];
	return 0;
}

int command_start(struct rec *r)
{
	int err = 0;
	ssize_t n;

	n = write(r->start_pipe, "", 1);
	close(r->start_pipe);
	if (n == 1) {
		do {
			n = read(exec_errno_fd, &err, sizeof(err));
		} while (n < 0 && errno == EINTR);
	}
	close(exec_errno_fd);
	if (n != sizeof(err))
		return 0;
	tool_error("%s: cannot be executed: %s", r->opts.cmd[0], strerror(err));
	return err == ENOENT ? 127 : 126;
}

static bool has_child_ended(struct rec *r)
{
	if (!r->child_ended && waitpid(r->child, &r->child_status, WNOHANG) == r->child)
		r->child_ended = true;
	return r->child_ended;
}

void command_stop(struct rec *r)
{
	int i;

	if (!r->child || has_child_ended(r))
		return;
	kill(r->child, SIGTERM);
	for (i = 0; i < END_TRIES && !has_child_ended(r); i++)
		usleep(END_US);
	if (!r->child_ended)
		tool_error("%s: does not end, and goes on as process %d", r->opts.cmd[0],
			   (int)r->child);
}

int command_get_exit_code(const struct rec *r)
{
	if (!r->child_ended)
		return 128 + SIGTERM;
	if (WIFEXITED(r->child_status))
		return WEXITSTATUS(r->child_status);
	return 128 + WTERMSIG(r->child_status);
}
