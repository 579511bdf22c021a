// SPDX-License-Identifier: GPL-2.0
/* run.c - recording: the order of the steps */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "impl.h"

/* Do all from the first change to tracefs to the moment before the first event. */
static int set_up(struct rec *r)
{
	int ret;

	ret = rec_make_instances(r);
	/* before there is a thread */
	if (!ret)
		ret = rec_gate_prepare(r);
	if (!ret)
		ret = rec_configure(r);
	if (!ret)
		ret = rec_bpf_open(r);
	if (!ret)
		ret = rec_tables_start(r);
	if (!ret)
		ret = dat_write_header(r);
	if (!ret && r->opts.cmd)
		ret = command_prepare(r);
	if (!ret)
		ret = rec_enable_events(r);
	if (!ret)
		ret = rec_read_start(r, true);
	if (!ret)
		ret = rec_bpf_start(r);
	/* all threads run when the recorder's tasks are left out */
	if (!ret)
		ret = rec_gate_start(r);
	if (!ret)
		ret = rec_choose_tasks(r);
	return ret;
}

static int record_events(struct rec *r)
{
	int ret, command = 0, written;

	rec_jit_start(r);
	r->comms = names_read();
	r->shared->stage = STAGE_RUNNING;
	ret = rec_start(r);
	rec_tables_add_rest(r);
	if (!ret && r->opts.cmd)
		command = command_start(r);
	if (!ret && !command) {
		if (!r->opts.quiet && !r->opts.cmd && isatty(STDERR_FILENO))
			fprintf(stderr, "trace-ustack: recording%s\n",
				r->opts.duration ? "" : "; Ctrl-C ends it");
		ret = rec_wait_for_end(r);
	}
	rec_stop(r);
	rec_gate_stop(r);
	if (command) {
		/* nothing was recorded, so an older file of that name stays */
		rec_read_stop(r);
		dat_discard(r);
		return command;
	}
	command_stop(r);
	written = rec_read_stop(r);
	rec_read_stats(r);
	ret = ret ? ret : written;
	written = rec_bpf_finish(r);
	ret = ret ? ret : written;
	written = dat_finish(r);
	return ret ? ret : written;
}

static int run_steps(struct rec *r)
{
	struct tool_why why;
	char path[PATH_MAX];
	int ret, removed;

	if (!rec_tracefs_find(r->opts.tracefs, true, &why)) {
		tool_error("%s", why.text);
		return TOOL_FAIL;
	}
	rec_tracefs_set_verbose(r->opts.verbose);
	if (!r->opts.all && rec_tracefs_in_other_pid_namespace()) {
		tool_error("trace-ustack runs in a PID namespace, but traces have the PIDs of the "
			   "initial namespace; use -a, or run trace-ustack outside the namespace");
		return TOOL_FAIL;
	}
	ret = rec_select_events(r);
	if (!ret && r->opts.cmd)
		ret = command_find(r->opts.cmd[0], path);
	if (!ret)
		ret = rec_choose_source(r);
	if (!ret && r->request_by == REQUEST_BY_BPF)
		ret = format_choose_ids(r);
	if (!ret)
		ret = dat_open(r);
	if (!ret)
		ret = rec_wait_prepare();
	if (ret)
		goto discard;
	ret = set_up(r);
	if (!ret && !rec_wait_interrupted()) {
		ret = record_events(r);
	} else {
		rec_stop(r);
		rec_gate_stop(r);
		rec_read_stop(r);
		dat_discard(r);
		if (!ret) {
			tool_error("ended before the recording started; there is no %s",
				   r->opts.out);
			ret = TOOL_FAIL;
		}
	}
	removed = rec_remove_instances(r);
	rec_guard_stop(r);
	if (r->child && !r->child_ended)
		command_stop(r);
	rec_unblock_signals();
	if (!ret) {
		rec_tables_save(r);
		ret = rec_finish_file(r);
		ret = ret ? ret : removed;
	}
	/* the thread of the tables gives them to the programs */
	rec_tables_stop(r);
	rec_bpf_close(r);
	return ret;

discard:
	dat_discard(r);
	return ret;
}

int record_run(const struct rec_opts *opts)
{
	struct rec r = {
		.opts = *opts, .out_fd = -1, .stop = -1, .reader_failed = -1, .guard_pipe = -1,
	};
	int ret;

	r.buf[BUF_EVENTS].lock = r.buf[BUF_MAPS].lock = -1;
	ret = run_steps(&r);
	if (opts->pass_exit && !ret)
		ret = command_get_exit_code(&r);
	rec_free(&r);
	return ret;
}
