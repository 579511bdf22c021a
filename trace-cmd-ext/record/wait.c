// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - the events that end a recording
 *
 * A recording ends by a signal; by the end of CMD, or of all processes of -p; by the time of
 * --duration; or by a reader that cannot write any more. Signals are blocked from the start, so
 * that a signal that comes while tables are made ends the recording just as orderly.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define LOOK_MS		500		/* how often to check processes that have no pidfd */
#define ENDED		-2		/* in place of a pidfd */

static int signals = -1;
static atomic_bool interrupted;	/* the thread that scans for tables reads it, too */
static struct rlimit files_before;

/* Each stream takes four descriptors. */
static void raise_limits(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files_before))
		return;
	files = files_before;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

void rec_limits_restore(void)
{
	if (files_before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &files_before);
}

static void fill_end_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

int rec_wait_prepare(void)
{
	sigset_t set;

	raise_limits();
	fill_end_signals(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* then write() fails at a limit of file sizes */
	signal(SIGXFSZ, SIG_IGN);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals >= 0)
		return 0;
	tool_error("the recorder cannot watch signals (signalfd): %s; see ulimit -n",
		   strerror(errno));
	return TOOL_FAIL;
}

/* From here on, signals may interrupt. Earlier signals have had their effect already. */
void rec_unblock_signals(void)
{
	struct signalfd_siginfo info;
	sigset_t set;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		;
	fill_end_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool rec_wait_interrupted(void)
{
	sigset_t set;

	if (!interrupted && !sigpending(&set))
		interrupted = sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
			      sigismember(&set, SIGHUP);
	return interrupted;
}

static void read_signals(struct rec *r)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			interrupted = true;
		else if (r->child && !r->child_ended &&
			 waitpid(r->child, &r->child_status, WNOHANG) == r->child)
			r->child_ended = true;
	}
}

/* For poll(): signals, failed readers, and the processes of -p; -1 for processes that are gone. */
static struct pollfd *open_watched(const struct rec *r)
{
	struct pollfd *fds = calloc(2 + r->opts.nr_pids, sizeof(*fds));
	size_t i;

	if (!fds)
		return NULL;
	fds[0] = (struct pollfd){ .fd = signals, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = r->reader_failed, .events = POLLIN };
	for (i = 0; i < r->opts.nr_pids; i++) {
		fds[2 + i].fd = syscall(SYS_pidfd_open, r->opts.pids[i], 0);
		fds[2 + i].events = POLLIN;
	}
	return fds;
}

/* Does one of the processes still run? */
static bool has_running_process(const struct rec *r, struct pollfd *fds)
{
	bool any = false;
	size_t i;

	for (i = 0; i < r->opts.nr_pids; i++) {
		if (fds[2 + i].fd >= 0 && fds[2 + i].revents) {
			close(fds[2 + i].fd);
			fds[2 + i].fd = ENDED;
		}
		any |= fds[2 + i].fd >= 0 || (fds[2 + i].fd != ENDED &&
					      (!kill(r->opts.pids[i], 0) || errno == EPERM));
	}
	return any;
}

int rec_wait_for_end(struct rec *r)
{
	struct pollfd *fds = open_watched(r);
	double start_time = clock_get_seconds(), left;
	int ms, ret;
	size_t i;

	if (!fds)
		return tool_report_no_memory();
	read_signals(r);
	while (!interrupted && !fds[1].revents) {
		if (r->opts.cmd && r->child_ended)
			break;
		if (r->opts.nr_pids && !has_running_process(r, fds))
			break;
		ms = r->opts.nr_pids ? LOOK_MS : -1;
		if (r->opts.duration) {
			left = start_time + r->opts.duration - clock_get_seconds();
			if (left <= 0)
				break;
			if (ms < 0 || left * 1000 < ms)
				ms = left > 1e6 ? 1e9 : left * 1000 + 1;
		}
		ret = poll(fds, 2 + r->opts.nr_pids, ms);
		if (ret < 0 && errno != EINTR)
			break;
		if (ret <= 0)
			for (i = 0; i < 2 + r->opts.nr_pids; i++)
				fds[i].revents = 0;
		read_signals(r);
	}
	r->seconds = clock_get_seconds() - start_time;
	for (i = 0; i < r->opts.nr_pids; i++)
		if (fds[2 + i].fd >= 0)
			close(fds[2 + i].fd);
	free(fds);
	return 0;
}
