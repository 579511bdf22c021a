// SPDX-License-Identifier: GPL-2.0
/*
 * guard.c - a process that outlives the recorder
 *
 * The guard holds one end of a pipe, whose other end closes when the recorder dies for any reason.
 * The guard then stops tracing, reads the rest of the buffers, completes the file and removes the
 * instances. It calls the same functions as the recorder, of which fork() has made a copy. The
 * recorder makes the guard before it has an instance or a thread. The guard has a session of its
 * own, so that Ctrl-C does not reach it. Until the recorder dies it only locks the instances, when
 * the recorder says that they exist.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

static int finish_file(struct rec *r)
{
	int ret;

	rec_stop(r);
	/* the recorder was killed while it moved data: all of the data up to the end is there */
	if (rec_resume(r, &ret))
		return ret;
	ret = rec_read_start(r, false);
	if (!ret)
		ret = rec_read_stop(r);
	rec_read_stats(r);
	return dat_finish(r) || ret;
}

static void save_recording(struct rec *r)
{
	bool saved = false;

	rec_adopt_instances(r);
	r->opts.quiet = true;
	r->stop = r->reader_failed = -1;
	if (r->shared->stage == STAGE_RUNNING)
		saved = !finish_file(r);
	else if (r->shared->stage == STAGE_SETUP)
		dat_discard(r);
	if (r->shared->stage != STAGE_DONE)
		rec_remove_instances(r);
	if (saved)
		tool_error("the recorder was killed; %s has all events up to then, except those "
			   "in the pages that were being read%s", r->opts.out,
			   r->request_by == REQUEST_BY_BPF && !r->shared->stacks_inserted ?
			   ", and lacks user stacks: only the recorder knew which "
			   "files they are in" : "");
}

void rec_leave_session(const char *name)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, name);
}

static void __attribute__((noreturn)) run_guard(struct rec *r, int fd)
{
	char byte;
	ssize_t n;

	rec_leave_session("trace-ustack-gd");
	for (;;) {
		n = read(fd, &byte, 1);
		if (n == 1 && byte == 'i')
			rec_adopt_instances(r);
		else if (n >= 0 || errno != EINTR)
			break;
	}
	if (n <= 0)
		save_recording(r);
	tool_exit_child(0);
}

int rec_guard_start(struct rec *r)
{
	void *shared = mmap(NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fds[2] = { -1, -1 };

	if (shared == MAP_FAILED || pipe2(fds, O_CLOEXEC))
		goto fail;
	r->shared = shared;
	fflush(NULL);
	r->guard = fork();
	if (r->guard < 0)
		goto fail;
	if (!r->guard) {
		close(fds[1]);
		run_guard(r, fds[0]);
	}
	close(fds[0]);
	r->guard_pipe = fds[1];
	return 0;

fail:
	tool_error("the guard process, which completes the file if the recorder is killed, cannot "
		   "be started: %s", strerror(errno));
	if (shared != MAP_FAILED)
		munmap(shared, sizeof(*r->shared));
	r->shared = NULL;
	if (fds[0] >= 0) {
		close(fds[0]);
		close(fds[1]);
	}
	return TOOL_FAIL;
}

int rec_guard_report_instances(struct rec *r)
{
	if (write(r->guard_pipe, "i", 1) == 1)
		return 0;
	tool_error("the guard process is gone: %s", strerror(errno));
	return TOOL_FAIL;
}

void rec_guard_stop(struct rec *r)
{
	if (r->guard <= 0)
		return;
	r->shared->stage = STAGE_DONE;
	if (write(r->guard_pipe, "d", 1) != 1)
		kill(r->guard, SIGKILL);
	close(r->guard_pipe);
	while (waitpid(r->guard, NULL, 0) < 0 && errno == EINTR)
		;
	r->guard = 0;
}
