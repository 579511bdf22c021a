// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - which program for which event
 *
 * A program that is attached to many tracepoints cannot say which of them called it: the cookie
 * that says so is new in 6.10. So each event gets a copy of the small program on_event(), with the
 * id of the event as a constant.
 *
 * ftrace makes the events of all system calls out of two tracepoints. One program for each of the
 * two looks up the number of the system call. Only the kernel knows which number has which event.
 * So a program reads the kernel's table of functions. /proc/kallsyms names these functions, and the
 * events have the same names. Kernels without CONFIG_KALLSYMS_ALL do not say where the table is.
 * There the numbers come from the headers that this file was compiled with; an event that is newer
 * than these headers gets no stacks.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

#if defined(__aarch64__)
#define SYSCALL_PREFIX	"__arm64_"
#elif defined(__s390x__)
#define SYSCALL_PREFIX	"__s390x_"
#else
#define SYSCALL_PREFIX	"__x64_"
#endif

int bpfsrc_add_link(struct bpfsrc_attached *a, int fd)
{
	int *to = vec_add(&a->link);

	if (!to) {
		close(fd);
		return -ENOMEM;
	}
	*to = fd;
	return 0;
}

int bpfsrc_add_copy(struct bpfsrc_attached *a, int fd, int id, unsigned int counter)
{
	struct bpfsrc_copy *to = vec_add(&a->copy);

	if (!to) {
		close(fd);
		return -ENOMEM;
	}
	*to = (struct bpfsrc_copy){ fd, id, counter };
	return 0;
}

void bpfsrc_detach(struct bpfsrc_attached *a)
{
	while (a->link.nr)
		close(a->link.v[--a->link.nr]);
	while (a->copy.nr)
		close(a->copy.v[--a->copy.nr].fd);
	vec_free(&a->link);
	vec_free(&a->copy);
}

static int attach_to_tracepoint(struct bpfsrc_attached *a, const char *tracepoint, int prog)
{
	int fd = bpf_raw_tracepoint_open(tracepoint, prog);

	return fd < 0 ? -errno : bpfsrc_add_link(a, fd);
}

int bpfsrc_get_prog_fd(const struct bpf_object *obj, const char *name)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, name);

	return prog ? bpf_program__fd(prog) : -ENOENT;
}

/*
 * Note for a program how many of its runs the kernel skipped, on each CPU (count.bpf.h). false: not
 * all counts are known. If this kernel has no such counts, the program does without.
 */
static bool note_skipped(struct bpf_object *obj, int prog, unsigned int counter)
{
	uint64_t args[] = { prog, bpf_object__find_map_fd_by_name(obj, "counts"), counter };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	return !bpf_prog_test_run_opts(bpfsrc_get_prog_fd(obj, "read_skipped"), &run) &&
	       (int)run.retval == libbpf_num_possible_cpus();
}

static uint64_t count_skipped_executions(int prog)
{
	struct bpf_prog_info info = {};
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(prog, &info, &len) ? 0 : info.recursion_misses;
}

uint64_t bpfsrc_count_skipped(const struct bpfsrc_attached *a, struct bpf_object *obj)
{
	uint64_t sum = count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_sys_enter")) +
		       count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_sys_exit"));
	size_t i;

	for (i = 0; i < a->copy.nr; i++)
		sum += count_skipped_executions(a->copy.v[i].fd);
	return sum;
}

uint64_t bpfsrc_count_skipped_ends(struct bpf_object *obj)
{
	return count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_prepare_exec")) +
	       count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_begin_new_exec")) +
	       count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_exit")) +
	       count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_do_exit"));
}

uint64_t bpfsrc_count_skipped_functions(struct bpf_object *obj)
{
	return count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_function"));
}

uint64_t bpfsrc_count_skipped_event(const struct bpfsrc_attached *a, struct bpf_object *obj,
				    int id)
{
	size_t i;

	for (i = 0; i < a->copy.nr; i++)
		if (a->copy.v[i].id == id)
			return count_skipped_executions(a->copy.v[i].fd);
	/* a system call */
	return count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_sys_enter")) +
	       count_skipped_executions(bpfsrc_get_prog_fd(obj, "on_sys_exit"));
}

/* Pass on the counts of one program, if the kernel skipped executions of it. */
static int pass_skipped_executions(struct bpf_object *obj, int prog, unsigned int counter,
				   int (*fn)(void *ctx, const struct msg_skipped *m), void *ctx)
{
	int cpus = libbpf_num_possible_cpus(), ret = 0;
	struct msg_skipped m = {
		.head = { .type = MSG_SKIPPED, .size = sizeof(m) }, .counter = counter,
	};
	struct count *count;
	int fd = bpf_object__find_map_fd_by_name(obj, "counts");

	if (!count_skipped_executions(prog))
		return 0;
	count = calloc(cpus, sizeof(*count));
	if (!count)
		return -ENOMEM;
	if (!note_skipped(obj, prog, counter))
		ret = -EIO;
	else if (bpf_map_lookup_elem(fd, &counter, count))
		ret = -errno;
	for (; !ret && m.cpu < (uint32_t)cpus; m.cpu++) {
		m.skipped = count[m.cpu].seen;
		if (count[m.cpu].at && m.skipped)
			ret = fn(ctx, &m);
	}
	free(count);
	return ret;
}

int bpfsrc_for_each_skipped(const struct bpfsrc_attached *a, struct bpf_object *obj,
			    int (*fn)(void *ctx, const struct msg_skipped *m), void *ctx)
{
	int enter = bpfsrc_get_prog_fd(obj, "on_sys_enter");
	int exit = bpfsrc_get_prog_fd(obj, "on_sys_exit");
	int ret = pass_skipped_executions(obj, enter, COUNTER_ENTER, fn, ctx);
	size_t i;

	if (!ret)
		ret = pass_skipped_executions(obj, exit, COUNTER_EXIT, fn, ctx);
	for (i = 0; i < a->copy.nr && !ret; i++)
		if (a->copy.v[i].counter)
			ret = pass_skipped_executions(obj, a->copy.v[i].fd, a->copy.v[i].counter,
						      fn, ctx);
	return ret;
}

/* ---------------------------------- tasks -------------------------------- */

/* Arguments of a tracepoint, -1 if the kernel has no tracepoint of this name */
static int count_arguments(const struct btf *btf, const char *tracepoint)
{
	const struct btf_type *t;
	char name[64];
	int id;

	snprintf(name, sizeof(name), "btf_trace_%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	/* the first one is not the tracepoint's */
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

void bpfsrc_set_load(struct bpf_object *obj, const char *prog, bool load)
{
	bpf_program__set_autoload(bpf_object__find_program_by_name(obj, prog), load);
}

bool bpfsrc_choose_programs(struct bpf_object *obj, bool samples, bool functions)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool exec = btf && count_arguments(btf, "sched_prepare_exec") >= 0;
	/* since it has a second argument, it is before the task loses its memory */
	bool exit = btf && count_arguments(btf, "sched_process_exit") == 2;

	btf__free(btf);
	bpfsrc_set_load(obj, "on_sample", samples);
	bpfsrc_set_load(obj, "on_prepare_exec", exec);
	bpfsrc_set_load(obj, "on_exit", exit);
	bpfsrc_set_load(obj, "on_begin_new_exec", functions && !exec);
	bpfsrc_set_load(obj, "on_do_exit", functions && !exit);
	return functions && !(exec && exit);
}

int bpfsrc_attach_tasks(struct bpfsrc_attached *a, struct bpf_object *obj, char *why, size_t size)
{
	static const struct {
		const char *what, *tracepoint, *prog;
	} list[] = {
		{ "the tracepoint sched_process_fork", "sched_process_fork", "on_fork" },
		{ "the tracepoint sched_process_exec", "sched_process_exec", "on_exec" },
		{ "the tracepoint sched_process_free", "sched_process_free", "on_free" },
		/* one of each two is loaded; the programs name the functions that they attach to */
		{ "the tracepoint sched_prepare_exec", "sched_prepare_exec", "on_prepare_exec" },
		{ "begin_new_exec()", NULL, "on_begin_new_exec" },
		{ "the tracepoint sched_process_exit", "sched_process_exit", "on_exit" },
		{ "do_exit()", NULL, "on_do_exit" },
	};
	size_t i;
	int ret, fd;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		fd = bpfsrc_get_prog_fd(obj, list[i].prog);
		/* not loaded */
		if (fd < 0)
			continue;
		ret = attach_to_tracepoint(a, list[i].tracepoint, fd);
		/* without programs at functions, less is known of tasks that end */
		if (ret && list[i].tracepoint)
			return bpfsrc_set_error(why, size, ret,
						"a BPF program cannot be attached to %s: %s",
						list[i].what, strerror(-ret));
	}
	return 0;
}

/* ------------------------------ system calls ----------------------------- */

/* The address of a symbol, or the name at an address, for all addresses of @c->syscall */
struct symbols {
	struct control *c;
	const struct bpfsrc_opts *opts;
	uint64_t table;
};

static int for_each_symbol(struct symbols *s, void (*fn)(struct symbols *s, uint64_t addr,
							 const char *name))
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char *line = NULL, *name;
	size_t size = 0;
	uint64_t addr;

	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		addr = strtoull(line, &name, 16);
		if (strlen(name) < 4)
			continue;
		name += 3;
		name[strcspn(name, "\t\n")] = '\0';
		fn(s, addr, name);
	}
	free(line);
	fclose(f);
	return 0;
}

static void find_table(struct symbols *s, uint64_t addr, const char *name)
{
	if (!strcmp(name, "sys_call_table"))
		s->table = addr;
}

/* Is this event for the function "sys_NAME"? */
static bool is_event_of(const struct bpfsrc_event *e, const char *prefix, const char *function)
{
	size_t len = strlen(prefix);

	return !strcmp(e->system, "syscalls") && !strncmp(e->name, prefix, len) &&
	       !strcmp(e->name + len, function + strlen("sys_"));
}

static void set_event(struct control *c, const struct bpfsrc_opts *opts, unsigned int nr,
		      const char *function)
{
	const struct bpfsrc_event *e, *end = opts->event + opts->nr_events;

	for (e = opts->event; e < end; e++) {
		if (is_event_of(e, "sys_enter_", function))
			c->enter[nr] = e->id;
		else if (is_event_of(e, "sys_exit_", function))
			c->exit[nr] = e->id;
	}
}

static void find_event(struct symbols *s, uint64_t addr, const char *name)
{
	unsigned int nr;

	if (strncmp(name, SYSCALL_PREFIX "sys_", strlen(SYSCALL_PREFIX "sys_")))
		return;
	for (nr = 0; nr < MAX_SYSCALLS; nr++) {
		if (s->c->syscall[nr] == addr)
			set_event(s->c, s->opts, nr, name + strlen(SYSCALL_PREFIX));
	}
}

/* Names of the system calls in the headers, by number. */
static const char *const header_names[MAX_SYSCALLS] = {
#include "syscalls.inc"
#include "libunwind-user/base/base.h"
};

/* Functions whose names differ from those of their numbers */
static const char *find_function(const char *name)
{
	static const char *const other[][2] = {
		{ "stat", "newstat" }, { "fstat", "newfstat" }, { "lstat", "newlstat" },
		{ "uname", "newuname" }, { "sendfile", "sendfile64" }, { "umount2", "umount" },
		{ "fstatat", "newfstatat" },
#if defined(__aarch64__)
		{ "fadvise64", "fadvise64_64" }, { "personality", "arm64_personality" },
#elif defined(__s390x__)
		{ "fadvise64", "fadvise64_64" }, { "personality", "s390_personality" },
		{ "ipc", "s390_ipc" }, { "mmap", "old_mmap" },
#endif
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(other); i++) {
		if (!strcmp(name, other[i][0]))
			return other[i][1];
	}
	return name;
}

static void number_from_headers(struct control *c, const struct bpfsrc_opts *opts)
{
	char name[128];
	unsigned int nr;

	for (nr = 0; nr < MAX_SYSCALLS; nr++) {
		if (!header_names[nr])
			continue;
		snprintf(name, sizeof(name), "sys_%s", find_function(header_names[nr]));
		set_event(c, opts, nr, name);
	}
}

static int number_syscalls(struct bpf_object *obj, struct control *c,
			   const struct bpfsrc_opts *opts)
{
	struct symbols s = { .c = c, .opts = opts };
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int ret;

	ret = for_each_symbol(&s, find_table);
	if (!ret && !s.table)
		ret = -ENOENT;
	if (!ret) {
		c->syscall_table = s.table;
		ret = bpf_prog_test_run_opts(bpfsrc_get_prog_fd(obj, "read_syscalls"), &run);
	}
	if (ret)
		number_from_headers(c, opts);
	else
		ret = for_each_symbol(&s, find_event);
	return ret == -ENOMEM ? ret : 0;
}

static int attach_syscalls(struct bpfsrc_attached *a, struct bpf_object *obj, struct control *c,
			   const struct bpfsrc_opts *opts, char *why, size_t size)
{
	bool enter = false, exit = false;
	size_t i;
	int ret;

	for (i = 0; i < opts->nr_events; i++) {
		if (strcmp(opts->event[i].system, "syscalls"))
			continue;
		if (!strncmp(opts->event[i].name, "sys_enter_", 10))
			enter = true;
		else
			exit = true;
	}
	if (!enter && !exit)
		return 0;
	ret = number_syscalls(obj, c, opts);
	if (ret)
		return bpfsrc_set_error(why, size, ret, "not enough memory");
	note_skipped(obj, bpfsrc_get_prog_fd(obj, "on_sys_enter"), COUNTER_ENTER);
	note_skipped(obj, bpfsrc_get_prog_fd(obj, "on_sys_exit"), COUNTER_EXIT);
	if (enter)
		ret = attach_to_tracepoint(a, "sys_enter", bpfsrc_get_prog_fd(obj, "on_sys_enter"));
	if (!ret && exit)
		ret = attach_to_tracepoint(a, "sys_exit", bpfsrc_get_prog_fd(obj, "on_sys_exit"));
	if (ret)
		bpfsrc_set_error(why, size, ret, "the tracepoints of system calls: %s",
				 strerror(-ret));
	return ret;
}

/* ------------------------------- other events ---------------------------- */

int bpfsrc_load_copy(const struct bpf_program *prog, int id, unsigned int counter)
{
	const struct bpf_insn *from = bpf_program__insns(prog);
	size_t nr = bpf_program__insn_cnt(prog), i;
	struct bpf_insn *insn = calloc(nr, sizeof(*insn));
	int fd;

	if (!insn)
		return -ENOMEM;
	memcpy(insn, from, nr * sizeof(*insn));
	for (i = 0; i < nr; i++) {
		if (BPF_OP(insn[i].code) != BPF_MOV)
			continue;
		if (insn[i].imm == EVENT_ID)
			insn[i].imm = id;
		else if (insn[i].imm == COUNTER)
			insn[i].imm = counter;
	}
	fd = bpf_prog_load(bpf_program__type(prog), "ustack_event", "GPL", insn, nr, NULL);
	if (fd < 0)
		fd = -errno;
	free(insn);
	return fd;
}

static int attach_event(struct bpfsrc_attached *a, struct bpf_object *obj,
			const struct bpfsrc_event *e, unsigned int counter, char *why, size_t size)
{
	const struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_event");
	int fd, ret;

	if (!e->may_migrate)
		counter = 0;
	ret = fd = bpfsrc_load_copy(prog, e->id, counter);
	if (fd >= 0)
		ret = bpfsrc_add_copy(a, fd, e->id, counter);
	if (!ret && counter)
		note_skipped(obj, fd, counter);
	if (!ret)
		ret = attach_to_tracepoint(a, e->name, fd);
	if (ret == -ENOENT)
		return bpfsrc_set_error(why, size, -EOPNOTSUPP, "%s:%s has no tracepoint, so BPF "
					"cannot add user stacks to it", e->system, e->name);
	if (ret)
		bpfsrc_set_error(why, size, ret, "%s:%s: a BPF program cannot be attached: %s",
				 e->system, e->name, strerror(-ret));
	return ret;
}

int bpfsrc_attach_events(struct bpfsrc_attached *a, struct bpf_object *obj, struct control *control,
			 const struct bpfsrc_opts *opts, char *why, size_t size)
{
	size_t i;
	int ret;

	ret = attach_syscalls(a, obj, control, opts, why, size);
	for (i = 0; i < opts->nr_events && !ret; i++) {
		if (opts->event[i].kind == BPFSRC_KPROBE)
			ret = bpfsrc_attach_probe(a, obj, &opts->event[i], COUNTER_EVENTS + i, why,
						  size);
		else if (opts->event[i].kind == BPFSRC_TRACEPOINT &&
			 strcmp(opts->event[i].system, "syscalls"))
			ret = attach_event(a, obj, &opts->event[i], COUNTER_EVENTS + i, why, size);
	}
	return ret;
}
