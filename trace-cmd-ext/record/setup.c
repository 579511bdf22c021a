// SPDX-License-Identifier: GPL-2.0
/*
 * setup.c - the two instances
 *
 * trace-ustack-PID records the events. trace-ustack-PID.maps has options/userstacktrace_maps on and
 * gets the records of which file is mapped where, so that these survive when events overrun their
 * buffer. Both instances are made with tracing off, and are configured before an event is switched
 * on.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

#define MIN_KB		1408
#define MAX_KB		8192
#define MAPS_KB		512
/* The events' buffers take at most this part of the free memory. */
#define MEMORY_PART	16
/* Wait this long after the last event: tasks on their way to user space still write stacks. */
#define GRACE_US	20000

/* ------------------------------- instances ------------------------------- */

static int count_cpus(struct tracefs_instance *in)
{
	char *path = tracefs_instance_get_file(in, "per_cpu");
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *d;
	int cpu, nr = 0;

	while (dir && (d = readdir(dir))) {
		if (sscanf(d->d_name, "cpu%d", &cpu) == 1 && cpu >= nr)
			nr = cpu + 1;
	}
	if (dir)
		closedir(dir);
	tracefs_put_tracing_file(path);
	return nr;
}

void rec_name_instances(struct rec *r, pid_t pid)
{
	struct rec_buffer *b = r->buf;

	snprintf(b[BUF_EVENTS].name, sizeof(b->name), "trace-ustack-%d", (int)pid);
	snprintf(b[BUF_MAPS].name, sizeof(b->name), "trace-ustack-%d.maps", (int)pid);
	b[BUF_EVENTS].label = "";
	b[BUF_MAPS].label = "maps";
}

/* Write a value to a file of an instance, or print the error. */
static int set_file(const struct rec_buffer *b, const char *file, const char *value,
		    const char *remedy)
{
	int ret = rec_tracefs_write(b->instance, file, value);

	if (!ret)
		return 0;
	tool_error("instances/%s/%s: '%s' is refused: %s%s%s", b->name, file, value, strerror(-ret),
		   remedy ? "; " : "", remedy ? remedy : "");
	return TOOL_FAIL;
}

/* Without the lock, another recorder takes the instance for abandoned, and removes it. */
static int lock_instance(struct rec_buffer *b)
{
	b->lock = instance_lock(b->name, true);
	if (b->lock >= 0)
		return 0;
	tool_error("instances/%s: cannot be locked: %s", b->name, strerror(-b->lock));
	return TOOL_FAIL;
}

static int make_instance(struct rec_buffer *b)
{
	errno = 0;
	b->instance = tracefs_instance_create(b->name);
	if (!b->instance) {
		tool_error("%s/instances/%s: %s%s", tracefs_tracing_dir(), b->name, strerror(errno),
			   errno == EACCES || errno == EPERM ? "; run it as root" : "");
		return TOOL_FAIL;
	}
	if (lock_instance(b))
		return TOOL_FAIL;
	return set_file(b, "tracing_on", "0", NULL);
}

static void remove_left_instances(void)
{
	struct recorder_instance *left;
	size_t nr, i;

	if (instance_list(&left, &nr))
		return;
	for (i = 0; i < nr; i++) {
		if (left[i].alive)
			continue;
		if (instance_remove(left[i].name))
			tool_error("instances/%s: left by a recorder that is gone, and it "
				   "cannot be removed", left[i].name);
	}
	free(left);
}

/* The kernel copies a whole page, also from a buffer with larger pages. */
static unsigned int read_page_size(struct tracefs_instance *in)
{
	char *text = rec_tracefs_read(in, "buffer_subbuf_size_kb", NULL);
	unsigned long kb = text ? strtoul(text, NULL, 10) : 0;

	free(text);
	return kb && kb <= 1024 ? kb * 1024 : (unsigned long)sysconf(_SC_PAGESIZE);
}

static void read_instance_facts(struct rec *r)
{
	r->nr_cpus = count_cpus(r->buf[BUF_EVENTS].instance);
	r->page_size = read_page_size(r->buf[BUF_EVENTS].instance);
}

void rec_adopt_instances(struct rec *r)
{
	char path[96];
	int i;

	for (i = 0; i < NR_BUFS; i++) {
		struct rec_buffer *b = &r->buf[i];

		snprintf(path, sizeof(path), "instances/%s", b->name);
		if (!b->instance && rec_tracefs_exists(path))
			b->instance = tracefs_instance_create(b->name);
		/* the data can be read without the lock, too: a later call tries again */
		if (b->instance && b->lock < 0)
			lock_instance(b);
	}
	if (r->buf[BUF_EVENTS].instance)
		read_instance_facts(r);
}

int rec_make_instances(struct rec *r)
{
	int ret;

	remove_left_instances();
	rec_name_instances(r, getpid());
	/* the kernel takes a while to make an instance: the recorder can be killed meanwhile */
	ret = rec_guard_start(r);
	if (!ret)
		ret = make_instance(&r->buf[BUF_EVENTS]);
	if (!ret && r->opts.maps)
		ret = make_instance(&r->buf[BUF_MAPS]);
	if (!ret)
		ret = rec_guard_report_instances(r);
	if (ret)
		return ret;
	read_instance_facts(r);
	if (r->nr_cpus > 0)
		return 0;
	tool_error("instances/%s has no per_cpu directories; is that a tracefs?",
		   r->buf[BUF_EVENTS].name);
	return TOOL_FAIL;
}

int rec_remove_instances(struct rec *r)
{
	int i, ret, status = 0;

	for (i = 0; i < NR_BUFS; i++) {
		if (!r->buf[i].instance)
			continue;
		ret = instance_remove(r->buf[i].name);
		if (ret) {
			tool_error("instances/%s: cannot be removed: %s; trace-ustack check "
				   "--repair tries again", r->buf[i].name, strerror(-ret));
			status = TOOL_FAIL;
		}
		if (r->buf[i].lock >= 0)
			close(r->buf[i].lock);
		tracefs_instance_free(r->buf[i].instance);
		r->buf[i].instance = NULL;
	}
	return status;
}

/* ----------------------------- configuration ----------------------------- */

static unsigned long choose_kb(int nr_cpus)
{
	char *text = rec_tracefs_read_path("/proc/meminfo", NULL), *at;
	unsigned long free_kb = 0, kb;

	at = text ? strstr(text, "MemAvailable:") : NULL;
	if (at)
		free_kb = strtoul(at + strlen("MemAvailable:"), NULL, 10);
	free(text);
	kb = free_kb / MEMORY_PART / nr_cpus;
	return kb < MIN_KB ? MIN_KB : kb > MAX_KB ? MAX_KB : kb;
}

static int set_clock_and_size(struct rec *r, const struct rec_buffer *b, unsigned long kb)
{
	char text[32];
	int ret;

	snprintf(text, sizeof(text), "%lu", kb);
	ret = set_file(b, "trace_clock", r->opts.clock,
		       "the file trace_clock lists the clocks of this kernel");
	if (!ret)
		ret = set_file(b, "buffer_size_kb", text, "choose a smaller buffer with -b");
	return ret;
}

static int ask_for_stacks(struct rec *r)
{
	const struct rec_buffer *b = &r->buf[BUF_EVENTS];
	bool deferred = r->request_by == REQUEST_BY_OPTION || r->request_by == REQUEST_BY_TRIGGER;
	int ret;

	if (r->opts.once && deferred && rec_tracefs_exists("options/" ONCE)) {
		ret = set_file(b, "options/" ONCE, "1", "use --all-stacks");
		if (ret)
			return ret;
	}
	if (r->opts.kernel_stack && !r->triggers) {
		ret = set_file(b, "options/stacktrace", "1", "use --no-kernel-stack");
		if (ret)
			return ret;
	}
	switch (r->request_by) {
	case REQUEST_BY_OPTION:
		return set_file(b, "options/" DEFERRED, "1", "if it is busy, 62 other "
				"tracers have deferred user stacks: end one of them");
	case REQUEST_BY_FRAME_POINTERS:
		return set_file(b, "options/userstacktrace", "1", NULL);
	default:
		return 0;
	}
}

int rec_configure(struct rec *r)
{
	int ret;

	r->buffer_kb = r->opts.kb ? r->opts.kb : choose_kb(r->nr_cpus);
	ret = set_clock_and_size(r, &r->buf[BUF_EVENTS], r->buffer_kb);
	if (!ret && r->opts.maps)
		ret = set_clock_and_size(r, &r->buf[BUF_MAPS],
					 r->buffer_kb < MAPS_KB ? r->buffer_kb : MAPS_KB);
	if (!ret && r->opts.maps)
		ret = set_file(&r->buf[BUF_MAPS], "options/" MAPS, "1", "use --no-maps-instance");
	if (!ret)
		ret = rec_configure_events(r);
	if (!ret)
		ret = ask_for_stacks(r);
	return ret;
}

/* --------------------------------- tasks --------------------------------- */

static int add_pid(struct rec *r, struct text *t, pid_t pid)
{
	text_addf(t, "%d ", (int)pid);
	return t->failed ? -ENOMEM : rec_bpf_add_task(r, pid);
}

/* Add all threads of a process; -ESRCH if it does not exist. */
static int add_threads(struct rec *r, struct text *t, pid_t pid)
{
	char path[64];
	struct dirent *d;
	int ret;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -ESRCH;
	ret = 0;
	while (!ret && (d = readdir(dir)))
		if (*d->d_name != '.')
			ret = add_pid(r, t, atoi(d->d_name));
	closedir(dir);
	return ret;
}

int rec_choose_tasks(struct rec *r)
{
	const struct rec_buffer *b = &r->buf[BUF_EVENTS];
	struct text t = {};
	size_t i;
	int ret = 0;

	own_tasks_find(r);
	if (r->opts.all) {
		for (i = 0; i < r->nr_own; i++)
			rec_bpf_leave_out(r, r->own[i]);
		ret = own_tasks_leave_out(r);
		if (ret)
			tool_error("the recorder cannot be left out: %s; its own events will be in "
				   "the file", strerror(-ret));
		return 0;
	}
	if (r->opts.inherit && set_file(b, "options/event-fork", "1", "use --no-inherit"))
		return TOOL_FAIL;
	for (i = 0; !ret && i < r->opts.nr_pids; i++) {
		ret = add_threads(r, &t, r->opts.pids[i]);
		if (ret == -ESRCH) {
			tool_error("-p %u: there is no such process", r->opts.pids[i]);
			free(t.v);
			return TOOL_FAIL;
		}
	}
	if (!ret && r->child)
		ret = add_pid(r, &t, r->child);
	if (!ret)
		ret = t.failed ? -ENOMEM : rec_tracefs_write(b->instance, "set_event_pid", t.v);
	free(t.v);
	if (!ret)
		return 0;
	tool_error("instances/%s/set_event_pid: %s", b->name, strerror(-ret));
	return TOOL_FAIL;
}

/* ------------------------------ start, stop ------------------------------ */

int rec_start(struct rec *r)
{
	int ret = 0;

	if (r->opts.maps)
		ret = set_file(&r->buf[BUF_MAPS], "tracing_on", "1", NULL);
	if (!ret)
		ret = set_file(&r->buf[BUF_EVENTS], "tracing_on", "1", NULL);
	rec_bpf_set_sampling(r, !ret);
	return ret;
}

/*
 * With triggers, switch the events off together with the buffer: a trigger also works on an event
 * that is off, and would leave a stack without an event.
 */
void rec_stop(struct rec *r)
{
	struct tracefs_instance *in = r->buf[BUF_EVENTS].instance;

	rec_bpf_set_sampling(r, false);
	/* Without an instance, these files would be those of the whole machine */
	if (!in)
		return;
	if (!r->triggers) {
		rec_tracefs_write(in, "events/enable", "0");
		usleep(GRACE_US);
	}
	rec_tracefs_write(in, "tracing_on", "0");
	if (r->buf[BUF_MAPS].instance)
		rec_tracefs_write(r->buf[BUF_MAPS].instance, "tracing_on", "0");
}

void rec_read_stats(struct rec *r)
{
	char file[64];
	int i, cpu;

	for (i = 0; i < NR_BUFS; i++) {
		struct rec_buffer *b = &r->buf[i];

		if (!b->instance)
			continue;
		b->stats = calloc(r->nr_cpus, sizeof(*b->stats));
		for (cpu = 0; b->stats && cpu < r->nr_cpus; cpu++) {
			snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
			b->stats[cpu] = rec_tracefs_read(b->instance, file, NULL);
		}
	}
}
