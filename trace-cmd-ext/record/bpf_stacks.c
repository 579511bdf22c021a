// SPDX-License-Identifier: GPL-2.0
/*
 * bpf_stacks.c - user stacks on stock kernels, by BPF programs
 *
 * ftrace records the events and the kernel stacks. BPF programs on the same tracepoints send the
 * user stacks, and the source writes them to FILE.part.bpf (record/bpf/bpf.h). insert.c relies on
 * the order: the kernel calls the functions of a tracepoint in the order in which they were
 * attached. So the programs are attached before ftrace switches the events on. When the recording
 * has ended, insert.c adds the stacks to what ftrace recorded, and FILE.part.bpf is removed.
 *
 * The programs go away with the recorder. If the recorder is killed, the guard completes the file
 * without user stacks: only the recorder knew the paths of the files that were mapped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/record/bpf/bpf.h"

#define DEFAULT_PID_MAX	32768		/* PID_MAX_DEFAULT, include/linux/threads.h */

struct rec_bpf {
	struct bpfsrc *src;
	char messages[PATH_MAX];
	struct insert_event *event;	/* that get stacks, by id */
	size_t nr_events;
	struct insert_stats stats;
	struct bpfsrc_stats bpf;
};

bool rec_bpf_get_path(const struct rec *r, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s.bpf", r->part) < PATH_MAX;
}

/* ---------------------------------- start --------------------------------- */

static int compare_ids(const void *a, const void *b)
{
	const struct insert_event *x = a, *y = b;

	return cmp_int(x->id, y->id);
}

/* The tracepoints of system calls let a task move to another CPU on any kernel. */
static bool is_syscall(const char *system)
{
	return !strcmp(system, "syscalls") || !strcmp(system, "raw_syscalls");
}

/*
 * Is the event in the middle of a task switch? There ftrace already decides by the next task
 * whether to write the record, while the programs still see the previous task.
 */
static bool is_in_task_switch(const struct rec_event *ev)
{
	static const char *const systems[] = { "kvm", "msr", "tlb", "x86_fpu" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(systems); i++)
		if (!strcmp(ev->system, systems[i]))
			return true;
	return false;
}

static uint64_t get_period_ns(const struct rec *r)
{
	return r->opts.freq ? 1000000000 / r->opts.freq : 0;
}

/* Returns the offset of the address in a record: struct uprobe_trace_entry_head of the kernel. */
static unsigned int get_address_offset(const struct rec_event *ev)
{
	struct bpfsrc_site site[MAX_SITES];
	char *text;
	size_t nr = rec_find_uprobe_sites(ev->system, ev->name, &text, site);

	free(text);
	/* after the common fields; in the record of a uretprobe, the function comes first */
	return nr && site[0].returns ? 16 : 8;
}

static void report_vdso32_error(const struct rec_bpf *s)
{
	struct bpfsrc_stats stats;

	bpfsrc_get_stats(s->src, &stats);
	if (stats.vdso32_error)
		tool_error("--source bpf: the vDSO of 32-bit programs cannot be read (%s); stacks "
			   "through it follow frame pointers, and are marked",
			   strerror(-stats.vdso32_error));
}

static int open_source(struct rec *r, struct rec_bpf *s)
{
	struct bpfsrc_event *event = calloc(r->nr_events + 1, sizeof(*event));
	struct bpfsrc_opts opts = {
		.event = event, .file = s->messages, .all = r->opts.all,
		.inherit = r->opts.inherit, .quiet = r->opts.quiet,
		.trampolines = r->opts.runtimes & RUNTIME_PYTHON,
		.other_pids = rec_tracefs_in_other_pid_namespace(),
		.period = get_period_ns(r), .sample = r->format_id[FORMAT_SAMPLE],
		.function = r->function, .nr_functions = r->nr_functions,
		.function_id = rec_tracefs_read_id("ftrace", "function"),
	};
	bool all_move = bpfsrc_tracepoints_migrate();
	char why[512] = "";
	size_t i;
	int ret;

	s->event = calloc(r->nr_events + 1, sizeof(*s->event));
	if (!event || !s->event) {
		free(event);
		return tool_report_no_memory();
	}
	for (i = 0; i < r->nr_events; i++) {
		const struct rec_event *ev = &r->event[i];
		struct bpfsrc_event *to = &event[opts.nr_events];

		if (ev->sel->no_stack)
			continue;
		*to = (struct bpfsrc_event){ ev->system, ev->name,
					     rec_tracefs_read_id(ev->system, ev->name), ev->kind,
					     all_move || is_syscall(ev->system) };
		s->event[opts.nr_events++] = (struct insert_event){
			.id = to->id,
			.may_migrate = to->may_migrate || to->kind == BPFSRC_UPROBE,
			.probe = to->kind == BPFSRC_KPROBE,
			.address_off = to->kind == BPFSRC_UPROBE ? get_address_offset(ev) : 0,
			.filter = ev->sel->filter || rec_event_names_two_tasks(ev) ||
				  is_in_task_switch(ev),
		};
	}
	s->nr_events = opts.nr_events;
	qsort(s->event, s->nr_events, sizeof(*s->event), compare_ids);
	ret = bpfsrc_open(&s->src, &opts, why, sizeof(why));
	free(event);
	if (!ret) {
		report_vdso32_error(s);
		return 0;
	}
	tool_error("--source bpf: %s", *why ? why : strerror(-ret));
	return TOOL_FAIL;
}

int rec_bpf_open(struct rec *r)
{
	if (r->request_by != REQUEST_BY_BPF)
		return 0;
	r->bpf = calloc(1, sizeof(*r->bpf));
	if (!r->bpf || !rec_bpf_get_path(r, r->bpf->messages)) {
		tool_error(r->bpf ? "%s: its name is too long" : "%s: not enough memory",
			   r->opts.out);
		return TOOL_FAIL;
	}
	return open_source(r, r->bpf);
}

/* ftrace has the events on, so the programs of uprobes come before it. */
static int add_uprobes(struct rec *r)
{
	struct bpfsrc_site site[MAX_SITES];
	const struct rec_event *ev;
	struct bpfsrc_event event;
	char *text, why[PATH_MAX + 256];
	size_t i, nr;
	int ret = 0;

	for (ev = r->event; ev < r->event + r->nr_events && !ret; ev++) {
		if (ev->sel->no_stack || ev->kind != BPFSRC_UPROBE)
			continue;
		event = (struct bpfsrc_event){ ev->system, ev->name,
					       rec_tracefs_read_id(ev->system, ev->name),
					       BPFSRC_UPROBE, true };
		nr = rec_find_uprobe_sites(ev->system, ev->name, &text, site);
		for (i = 0; i < nr && !ret; i++)
			ret = bpfsrc_add_uprobe(r->bpf->src, &event, &site[i], why, sizeof(why));
		free(text);
	}
	if (ret)
		tool_error("--source bpf: %s", why);
	return ret;
}

int rec_bpf_start(struct rec *r)
{
	int ret = 0;

	if (r->bpf && add_uprobes(r))
		return TOOL_FAIL;
	if (r->bpf)
		ret = bpfsrc_start(r->bpf->src);
	if (!ret)
		return 0;
	tool_error("--source bpf: the BPF programs cannot be started: %s", strerror(-ret));
	return TOOL_FAIL;
}

void rec_bpf_set_sampling(struct rec *r, bool on)
{
	if (r->bpf && r->bpf->src)
		bpfsrc_set_sampling(r->bpf->src, on);
}

int rec_bpf_add_task(struct rec *r, pid_t tid)
{
	return r->bpf ? bpfsrc_add_task(r->bpf->src, tid) : 0;
}

int rec_bpf_leave_out(struct rec *r, pid_t tid)
{
	return r->bpf ? bpfsrc_leave_out(r->bpf->src, tid) : 0;
}

int rec_bpf_add_table(struct rec *r, int fd, const char *path)
{
	return bpfsrc_add_table(r->bpf->src, fd, path);
}

/* ----------------------------------- end ---------------------------------- */

static void get_raw_path(void *ctx, int cpu, char *path)
{
	rec_get_raw_path(ctx, BUF_EVENTS, cpu, path);
}

static bool get_file(void *ctx, uint32_t dev_major, uint32_t dev_minor, uint64_t ino,
		     struct bpfsrc_file *file)
{
	const struct rec *r = ctx;

	return bpfsrc_get_file(r->bpf->src, dev_major, dev_minor, ino, file);
}

static int show_progress(void *ctx, uint64_t done, uint64_t all)
{
	const struct rec *r = ctx;

	if (!r->opts.quiet)
		tool_show_progress("adding stacks", done, all);
	return 0;
}

/* Are there fewer thread IDs than by default? A namespace can have its own limit, a lower one. */
static bool has_few_tids(void)
{
	char *text = rec_tracefs_read_path("/proc/sys/kernel/pid_max", NULL);
	bool few = !text || strtoul(text, NULL, 10) < DEFAULT_PID_MAX;

	free(text);
	return few;
}

static int add_user_stacks(struct rec *r, struct rec_bpf *s)
{
	char *header_page = rec_tracefs_read(NULL, "events/header_page", NULL), why[PATH_MAX + 128];
	struct insert_opts opts = {
		.messages = s->messages, .event = s->event, .nr_events = s->nr_events,
		.kernel_stack = r->opts.kernel_stack ?
				rec_tracefs_read_id("ftrace", "kernel_stack") : -1,
		.cookie = r->format_id[FORMAT_COOKIE], .stack = r->format_id[FORMAT_STACK],
		.map = r->format_id[FORMAT_MAP],
		.sample = r->opts.freq ? r->format_id[FORMAT_SAMPLE] : -1,
		.function = r->nr_functions ? rec_tracefs_read_id("ftrace", "function") : -1,
		.period = get_period_ns(r),
		.few_tids = has_few_tids(), .nr_cpus = r->nr_cpus,
		.page_size = r->page_size, .header_page = header_page, .raw_path = get_raw_path,
		.get_file = get_file, .progress = show_progress, .ctx = r,
	};
	size_t i;
	int ret;

	for (i = 0; i < s->nr_events; i++) {
		s->event[i].skips = bpfsrc_get_skipped(s->src, s->event[i].id);
		s->event[i].filter |= r->cut;
	}
	ret = insert_stacks(&opts, &s->stats, why, sizeof(why));
	tool_end_progress();
	free(header_page);
	if (!ret)
		return 0;
	tool_error("%s; %s will be without user stacks%s", why, r->opts.out,
		   ret == -ENOSPC || ret == -EDQUOT ?
		   ": make room: adding the stacks takes up to three times the recording's "
		   "space" : "");
	return TOOL_FAIL;
}

int rec_bpf_finish(struct rec *r)
{
	struct rec_bpf *s = r->bpf;
	int ret;

	if (!s)
		return 0;
	ret = bpfsrc_stop(s->src);
	if (ret)
		tool_error("%s: %s; user stacks from then on are missing", s->messages,
			   strerror(-ret));
	bpfsrc_get_stats(s->src, &s->bpf);
	ret = add_user_stacks(r, s);
	r->shared->stacks_inserted = !ret;
	unlink(s->messages);
	return ret;
}

void rec_bpf_add_comms(const struct rec *r, struct text *t)
{
	if (r->bpf)
		bpfsrc_add_comms(r->bpf->src, t);
}

void rec_bpf_close(struct rec *r)
{
	if (!r->bpf)
		return;
	bpfsrc_close(r->bpf->src);
	r->bpf->src = NULL;
}

void rec_bpf_free(struct rec *r)
{
	rec_bpf_close(r);
	if (r->bpf)
		free(r->bpf->event);
	free(r->bpf);
	r->bpf = NULL;
}

/* --------------------------------- summary -------------------------------- */

const struct insert_stats *rec_bpf_get_stats(const struct rec *r, const struct bpfsrc_stats **bpf)
{
	if (!r->bpf)
		return NULL;
	*bpf = &r->bpf->bpf;
	return &r->bpf->stats;
}
