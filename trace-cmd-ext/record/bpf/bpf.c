// SPDX-License-Identifier: GPL-2.0
/*
 * bpf.c - load, attach, start, stop; the thread that writes messages to the file
 *
 * This program contains the BPF programs as an object file (object.S), which libbpf adapts to the
 * kernel. The programs send messages through a ring buffer, which a thread reads every DRAIN_MS. A
 * wake-up costs more than a stack. So the BPF programs wake the thread only when the buffer is half
 * full, or when a file has no table yet.
 *
 * The thread appends the messages to the file as they are, and looks at the mappings in them: a
 * file without a table gets one (tables.c).
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "impl.h"
#include "trace-cmd-ext/tool/tool.h"

#define DRAIN_MS	20
#define RING_SIZE	(16u << 20)
#define OUT_SIZE	(1u << 20)

extern const char bpf_walk_start[], bpf_walk_end[];

struct comm {
	uint32_t id;			/* tid */
	char name[16];
};

struct bpfsrc {
	struct bpf_object *obj;
	struct bpfsrc_attached tasks, events;
	struct bpfsrc_tables *tables;
	struct control *control;
	int task_map;
	struct ring_buffer *ring;
	pthread_t thread;
	bool started, stop;
	bool other_pids, samples, trampolines;
	bool kprobes, uprobes;		/* there are events of this kind */
	bool functions;			/* calls of functions are recorded */
	uint64_t skipped_before;	/* calls that were skipped before recording started */
	int out, out_error;
	char *buf;
	size_t used;			/* bytes of @buf */
	struct bpfsrc_stats stats;
	VEC(struct comm) comms;		/* of the tasks in samples and functions */
	struct hidx comm_idx;
};

static int get_map_fd(const struct bpfsrc *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->obj, name);
}

/* ------------------------------- the thread ------------------------------ */

static void flush_out(struct bpfsrc *s)
{
	if (!s->out_error)
		s->out_error = fd_write_all(s->out, s->buf, s->used);
	s->used = 0;
}

static void write_message(struct bpfsrc *s, const void *m, size_t size)
{
	if (s->used + size > OUT_SIZE)
		flush_out(s);
	memcpy(s->buf + s->used, m, size);
	s->used += size;
}

static void note_stack(struct bpfsrc *s, const struct msg_stack *m)
{
	const struct msg_code *code = m->code;
	struct bpfsrc_file file;
	uint32_t i;

	s->stats.stacks++;
	for (i = 0; i < m->nr_code; i++) {
		if (!code[i].ino)
			continue;
		if (m->reason == MSG_NO_TABLE ||
		    !bpfsrc_tables_get(s->tables, code[i].dev_major << 20 | code[i].dev_minor,
				       code[i].ino, &file))
			bpfsrc_tables_request(s->tables, m->tgid, &code[i]);
	}
}

/* Keep the latest name of the task. */
static void note_comm(struct bpfsrc *s, const struct msg_sample *m)
{
	struct comm *c = vec_get(&s->comms, &s->comm_idx, id, m->event.tid);
	char *at;

	if (!c)
		return;
	memcpy(c->name, m->comm, sizeof(c->name));
	/* a name must not look like the line of another task */
	while ((at = memchr(c->name, '\n', sizeof(c->name))))
		*at = '?';
}

static int on_message(void *ctx, void *data, size_t size)
{
	const struct msg_event *m = data;
	struct bpfsrc *s = ctx;

	if (m->head.type == MSG_STACK) {
		note_stack(s, data);
	} else if (m->head.type != MSG_PYTHON) {
		s->stats.events++;
		if (m->reason < MSG_NR_REASONS)
			s->stats.reason[m->reason]++;
		if (m->head.type == MSG_SAMPLE)
			note_comm(s, data);
	}
	write_message(s, data, size);
	return 0;
}

static int write_skipped(void *ctx, const struct msg_skipped *m)
{
	write_message(ctx, m, sizeof(*m));
	return 0;
}

/*
 * Write the end of each CPU: the number that its next message would have had. An end also says that
 * the counts of skipped runs are in the file.
 */
static void write_ends(struct bpfsrc *s)
{
	int cpus = libbpf_num_possible_cpus(), cpu, fd = get_map_fd(s, "seqs");
	struct msg_end m = { .head = { .type = MSG_END, .size = sizeof(m) } };

	if (bpfsrc_for_each_skipped(&s->events, s->obj, write_skipped, s))
		return;
	for (cpu = 0; cpu < cpus; cpu++) {
		m.cpu = cpu;
		if (!bpf_map_lookup_elem(fd, &m.cpu, &m.seq))
			write_message(s, &m, sizeof(m));
	}
}

static void *drain_ring(void *arg)
{
	struct bpfsrc *s = arg;

	bpfsrc_leave_out(s, gettid());
	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		ring_buffer__poll(s->ring, DRAIN_MS);
		ring_buffer__consume(s->ring);
	}
	return NULL;
}

/* ---------------------------------- open --------------------------------- */

/* The kernel's reason to refuse a program, or else the first warning of libbpf */
static char libbpf_warning[160];

static int save_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char *text, *line, *end;

	if (level != LIBBPF_WARN || vasprintf(&text, fmt, ap) < 0)
		return 0;
	/* the log of the verifier ends with the reason and a line of statistics */
	end = strstr(text, "\nprocessed ");
	if (end || !*libbpf_warning) {
		if (!end)
			end = text + strcspn(text, "\n");
		*end = '\0';
		line = strrchr(text, '\n');
		snprintf(libbpf_warning, sizeof(libbpf_warning), "%s", line ? line + 1 : text);
	}
	free(text);
	return 0;
}

static int set_map_size(struct bpfsrc *s, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(s->obj, name);

	return map ? bpf_map__set_max_entries(map, entries) : -ENOENT;
}

static int open_object(struct bpfsrc *s, size_t nr_events)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "ustack");
	int cpus = libbpf_num_possible_cpus(), ret;

	if (cpus < 0)
		return cpus;
	s->obj = bpf_object__open_mem(bpf_walk_start, bpf_walk_end - bpf_walk_start, &opts);
	if (!s->obj)
		return -errno;
	bpfsrc_choose_probes(s->obj, s->kprobes, s->uprobes);
	bpfsrc_set_load(s->obj, "on_function", s->functions);
	ret = s->functions ? bpfsrc_prepare_functions(s->obj) : 0;
	if (!ret)
		ret = set_map_size(s, "counts", COUNTER_EVENTS + nr_events);
	if (!ret)
		ret = set_map_size(s, "slots", cpus * SLOTS_PER_CPU);
	if (!ret)
		ret = set_map_size(s, "seqs", cpus);
	if (!ret)
		ret = set_map_size(s, "ring", RING_SIZE);
	return ret;
}

static int load_object(struct bpfsrc *s, size_t nr_events)
{
	bool functions;
	int ret = open_object(s, nr_events);

	if (ret)
		return ret;
	functions = bpfsrc_choose_programs(s->obj, s->samples, true);
	ret = bpf_object__load(s->obj);
	if (!ret || !functions)
		return ret;
	/* leave out these programs: only stacks of ending tasks are less complete then */
	bpf_object__close(s->obj);
	s->obj = NULL;
	*libbpf_warning = '\0';
	ret = open_object(s, nr_events);
	if (ret)
		return ret;
	bpfsrc_choose_programs(s->obj, s->samples, false);
	return bpf_object__load(s->obj);
}

static int make_secrets(struct control *c)
{
	if (getrandom(c->hash_start, sizeof(c->hash_start), 0) != sizeof(c->hash_start) ||
	    getrandom(c->hash_factor, sizeof(c->hash_factor), 0) != sizeof(c->hash_factor))
		return -errno;
	c->hash_factor[0] |= 1;
	c->hash_factor[1] |= 1;
	return 0;
}

static int map_control(struct bpfsrc *s, const struct bpfsrc_opts *opts)
{
	size_t page = sysconf(_SC_PAGESIZE), size = (sizeof(*s->control) + page - 1) & -page;
	struct control *c;

	c = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, get_map_fd(s, "control"), 0);
	if (c == MAP_FAILED)
		return -errno;
	s->control = c;
	c->all = opts->all;
	c->inherit = opts->inherit;
	c->ring_size = RING_SIZE;
	c->sample = opts->sample;
	c->function = opts->function_id;
	return make_secrets(c);
}

static int set_walk_program(struct bpfsrc *s, const char *programs, const char *name)
{
	int fd = bpfsrc_get_prog_fd(s->obj, name);
	uint32_t zero = 0;

	if (fd < 0)
		return fd;
	return bpf_map_update_elem(get_map_fd(s, programs), &zero, &fd, BPF_ANY) ? -errno : 0;
}

static int open_tables(struct bpfsrc *s)
{
	const struct bpfsrc_table_maps maps = {
		.parts = get_map_fd(s, "parts"),
		.chunks = get_map_fd(s, "chunks"),
		.full_rules = get_map_fd(s, "full_rules"),
		.runtimes = get_map_fd(s, "runtimes"),
		.pythons = s->trampolines ? -1 : get_map_fd(s, "pythons"),
		.tasks = s->other_pids ? -1 : get_map_fd(s, "tasks"),
	};

	return bpfsrc_tables_open(&maps, &s->tables);
}

static int open_out(struct bpfsrc *s, const char *path)
{
	s->buf = malloc(OUT_SIZE);
	if (!s->buf)
		return -ENOMEM;
	s->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return s->out < 0 ? -errno : 0;
}

int bpfsrc_open(struct bpfsrc **src, const struct bpfsrc_opts *opts, char *why, size_t size)
{
	struct tool_why refused;
	struct bpfsrc *s;
	int ret;

	*src = NULL;
	ret = bpfsrc_check(&refused);
	if (ret)
		return bpfsrc_set_error(why, size, ret, "%s", refused.text);
	s = calloc(1, sizeof(*s));
	if (!s)
		return bpfsrc_set_error(why, size, -ENOMEM, "not enough memory");
	s->out = -1;
	s->other_pids = opts->other_pids;
	s->trampolines = opts->trampolines;
	s->samples = opts->period;
	s->functions = opts->nr_functions;
	s->kprobes = bpfsrc_has_kind(opts, BPFSRC_KPROBE);
	s->uprobes = bpfsrc_has_kind(opts, BPFSRC_UPROBE);
	*libbpf_warning = '\0';
	libbpf_set_print(save_warning);
	ret = open_out(s, opts->file);
	if (ret) {
		bpfsrc_set_error(why, size, ret, "%s: %s", opts->file, strerror(-ret));
		goto fail;
	}
	ret = load_object(s, opts->nr_events);
	if (!ret)
		ret = map_control(s, opts);
	if (!ret)
		ret = set_walk_program(s, "programs", "walk_stack");
	if (!ret && (s->kprobes || s->uprobes))
		ret = set_walk_program(s, "probe_programs", "walk_probe");
	if (!ret)
		ret = open_tables(s);
	if (ret) {
		bpfsrc_set_error(why, size, ret, "this kernel does not take the BPF "
				 "programs: %s%s%s", strerror(-ret),
				 *libbpf_warning ? "; " : "", libbpf_warning);
		goto fail;
	}
	s->task_map = get_map_fd(s, "tasks");
	s->ring = ring_buffer__new(get_map_fd(s, "ring"), on_message, s, NULL);
	if (!s->ring) {
		ret = bpfsrc_set_error(why, size, -errno, "the ring buffer cannot be mapped: %s",
				       strerror(errno));
		goto fail;
	}
	ret = bpfsrc_attach_tasks(&s->tasks, s->obj, why, size);
	if (!ret)
		ret = bpfsrc_attach_events(&s->events, s->obj, s->control, opts, why, size);
	if (!ret && s->samples)
		ret = bpfsrc_attach_samples(&s->events, bpfsrc_get_prog_fd(s->obj, "on_sample"),
					    opts->period, why, size);
	if (!ret && s->functions)
		ret = bpfsrc_attach_functions(&s->events, bpfsrc_get_prog_fd(s->obj, "on_function"),
					      opts, why, size);
	if (ret)
		goto fail;
	*src = s;
	return 0;

fail:
	bpfsrc_close(s);
	return ret;
}

int bpfsrc_add_uprobe(struct bpfsrc *s, const struct bpfsrc_event *event,
		      const struct bpfsrc_site *at, char *why, size_t size)
{
	return bpfsrc_attach_uprobe(&s->events, s->obj, event, at, why, size);
}

void bpfsrc_close(struct bpfsrc *s)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (!s)
		return;
	bpfsrc_stop(s);
	bpfsrc_detach(&s->events);
	bpfsrc_detach(&s->tasks);
	bpfsrc_tables_close(s->tables);
	ring_buffer__free(s->ring);
	if (s->control)
		munmap(s->control, (sizeof(*s->control) + page - 1) & -page);
	bpf_object__close(s->obj);
	if (s->out >= 0)
		close(s->out);
	vec_free(&s->comms);
	hidx_free(&s->comm_idx);
	free(s->buf);
	free(s);
}

/* ---------------------------------- tasks -------------------------------- */

static int set_task(struct bpfsrc *s, pid_t tid, uint32_t flag)
{
	struct task task = {};
	uint32_t key = tid;

	/* The programs may already have noted where the task's stack starts */
	bpf_map_lookup_elem(s->task_map, &key, &task);
	task.flags |= flag;
	return bpf_map_update_elem(s->task_map, &key, &task, BPF_ANY) ? -errno : 0;
}

int bpfsrc_add_task(struct bpfsrc *s, pid_t tid)
{
	return set_task(s, tid, TASK_TRACED);
}

int bpfsrc_leave_out(struct bpfsrc *s, pid_t tid)
{
	/* to the programs, this number is another task */
	return s->other_pids ? 0 : set_task(s, tid, TASK_LEFT_OUT);
}

int bpfsrc_add_table(struct bpfsrc *s, int fd, const char *path)
{
	/* the vDSO has no file, and a table already */
	return fd < 0 ? 0 : bpfsrc_tables_add(s->tables, fd, path);
}

/* ------------------------------ start and stop --------------------------- */

int bpfsrc_start(struct bpfsrc *s)
{
	int ret;

	if (s->started)
		return -EBUSY;
	ret = thread_start(&s->thread, drain_ring, s);
	if (ret)
		return ret;
	s->started = true;
	__atomic_store_n(&s->control->on, 1, __ATOMIC_RELEASE);
	return 0;
}

void bpfsrc_set_sampling(struct bpfsrc *s, bool on)
{
	if (on == s->control->sampling)
		return;
	if (on)
		s->skipped_before = bpfsrc_count_skipped_functions(s->obj);
	__atomic_store_n(&s->control->sampling, on, __ATOMIC_RELEASE);
	if (!on)
		s->stats.functions_skipped = bpfsrc_count_skipped_functions(s->obj) -
					     s->skipped_before + s->control->functions_skipped;
}

int bpfsrc_stop(struct bpfsrc *s)
{
	if (!s->started)
		return s->out_error;
	bpfsrc_set_sampling(s, false);
	__atomic_store_n(&s->control->on, 0, __ATOMIC_RELEASE);
	bpfsrc_tables_synchronize(s->tables);
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	pthread_join(s->thread, NULL);
	s->started = false;
	ring_buffer__consume(s->ring);
	bpfsrc_tables_stop(s->tables);
	write_ends(s);
	flush_out(s);
	if (close(s->out) && !s->out_error)
		s->out_error = -errno;
	s->out = -1;
	return s->out_error;
}

/* Sum walk.repeated, the first member, over all slots. */
static uint64_t count_repeated(const struct bpfsrc *s)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(s->obj, "slots");
	uint32_t i, nr = bpf_map__max_entries(map);
	uint64_t *value = malloc(bpf_map__value_size(map)), sum = 0;

	for (i = 0; value && i < nr; i++)
		if (!bpf_map_lookup_elem(bpf_map__fd(map), &i, value))
			sum += *value;
	free(value);
	return sum;
}

void bpfsrc_get_stats(const struct bpfsrc *s, struct bpfsrc_stats *stats)
{
	*stats = s->stats;
	stats->repeated = count_repeated(s);
	stats->lost = s->control->lost;
	stats->skipped = bpfsrc_count_skipped(&s->events, s->obj);
	stats->ends_skipped = bpfsrc_count_skipped_ends(s->obj);
	bpfsrc_tables_add_stats(s->tables, stats);
}

void bpfsrc_add_comms(const struct bpfsrc *s, struct text *t)
{
	size_t i;

	for (i = 0; i < s->comms.nr; i++)
		text_addf(t, "%u %.16s\n", s->comms.v[i].id, s->comms.v[i].name);
}

uint64_t bpfsrc_get_skipped(const struct bpfsrc *s, int id)
{
	return bpfsrc_count_skipped_event(&s->events, s->obj, id);
}

bool bpfsrc_get_file(const struct bpfsrc *s, uint32_t dev_major, uint32_t dev_minor, uint64_t ino,
		     struct bpfsrc_file *file)
{
	/* @dev_major says which vDSO is meant: see VDSO32_DEV */
	if (!ino && dev_minor == MSG_VDSO)
		dev_minor = 0;
	else if (!ino)
		return false;
	return bpfsrc_tables_get(s->tables, dev_major << 20 | dev_minor, ino, file);
}
