// SPDX-License-Identifier: GPL-2.0
/*
 * gate_process.c - the process that lets programs start: --wait-tables
 *
 * fanotify asks for permission when the kernel opens a file to execute it: a program, a script, or
 * the dynamic loader. The gate always says yes. For files that are known and for tasks that are not
 * recorded it says so at once. The other files go to the recorder, one after the other. The gate
 * says yes when the recorder has made their tables, or after some seconds.
 *
 * All programs of the machine depend on these answers, so nothing may keep the gate back:
 *
 *  - It is a process of its own, with a session of its own, and in no cgroup that can be frozen or
 *    limited. It goes on while the recorder waits for a lock, a disk or a server, or is stopped.
 *  - After its start it opens no file except in /proc. It reads no file that is executed, and has
 *    no descriptors but two, and those of the files. Its memory is locked.
 *  - If it dies, the kernel closes the descriptor of fanotify, and all programs go on. If the
 *    recorder dies, the gate ends.
 *  - Programs that the kernel starts, such as a helper for core dumps, never wait.
 *  - The kernel refuses to execute a file that it cannot open for the gate. The gate ends if it has
 *    no descriptor or not enough memory for that.
 *  - If the recorder takes too long for one file, nothing waits until it has answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define MAX_WAITING	128
#define CHECK_MS	250		/* how often the gate checks who waited too long */
#define MAX_DEPTH	64		/* of parents that are looked at */
#define MAX_KNOWN	1000000		/* known files: at this number the gate forgets them all */
#define NICE		-10
#define PF_KTHREAD	0x00200000	/* include/linux/sched.h */

/* The gate's only descriptors, below those of the files */
enum { FANOTIFY, RECORDER, FIRST_FILE };

/* A file with its contents */
struct file_id {
	dev_t dev;
	ino_t ino;
	struct stamp stamp;
	bool elf;
};

struct waiting {
	int fd;
	pid_t pid;
	uint64_t since;			/* CLOCK_MONOTONIC, ns */
	uint64_t id;
	struct file_id file;
};

struct gate {
	const struct rec *r;
	struct gate_shared *shared;
	struct waiting waiting[MAX_WAITING];	/* programs, in the order in which they came */
	size_t nr_waiting;
	uint64_t last_id;
	uint64_t asked;			/* id of the program that the recorder works for; 0: none */
	struct file_id asked_file;	/* file of that program */
	bool overdue;			/* the recorder takes too long for that file */
	VEC(struct file_id) known;
	struct hidx idx;
};

/* -------------------------------- who waits ------------------------------ */

/* Returns the PID of the parent, 0 if the process is gone. Sets @kernel for a kernel thread. */
static pid_t read_parent_pid(pid_t pid, bool *kernel)
{
	char name[32], text[512], *at;
	unsigned int flags = 0;
	int parent = 0, fd;
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	at = strrchr(text, ')');
	if (at)
		sscanf(at, ") %*c %d %*d %*d %*d %*d %u", &parent, &flags);
	*kernel = flags & PF_KTHREAD;
	return parent;
}

static bool is_chosen(const struct gate *g, pid_t pid)
{
	size_t i;

	for (i = 0; i < g->r->opts.nr_pids; i++)
		if (g->r->opts.pids[i] == (uint32_t)pid)
			return true;
	return pid == g->shared->child;
}

/*
 * Is the task recorded, and started by a process? A task whose parent has died is not found, so it
 * does not wait.
 */
static bool is_recorded(const struct gate *g, pid_t pid)
{
	bool kernel;
	int depth;

	/* in a PID namespace outside of ours */
	if (pid <= 0)
		return false;
	for (depth = 0; pid > 0 && depth < MAX_DEPTH; depth++) {
		if (is_chosen(g, pid))
			return true;
		if (!g->r->opts.inherit && !g->r->opts.all)
			return false;
		pid = read_parent_pid(pid, &kernel);
		if (kernel)
			return false;
	}
	return g->r->opts.all;
}

/* ---------------------------------- files -------------------------------- */

static struct file_id get_identity(const struct stat *st)
{
	return (struct file_id) {
		.dev = st->st_dev, .ino = st->st_ino, .stamp = get_stamp(st),
	};
}

static uint64_t hash_identity(const struct file_id *k)
{
	return hash64(k->ino ^ hash64(k->dev));
}

/* The entry of the file, which may be of other contents, or NULL */
static struct file_id *find_entry(struct gate *g, const struct file_id *k)
{
	uint32_t i;
	size_t pos;

	for_each_hidx(&g->idx, hash_identity(k), pos, i) {
		if (g->known.v[i].dev == k->dev && g->known.v[i].ino == k->ino)
			return &g->known.v[i];
	}
	return NULL;
}

static const struct file_id *find_known(struct gate *g, const struct file_id *k)
{
	const struct file_id *v = find_entry(g, k);

	return v && is_same_stamp(v->stamp, k->stamp) ? v : NULL;
}

/* If there is not enough memory, the gate asks the recorder about the file again. */
static void remember_file(struct gate *g, const struct file_id *k)
{
	struct file_id *v = find_entry(g, k);

	if (!v && g->known.nr == MAX_KNOWN) {
		g->known.nr = 0;
		hidx_clear(&g->idx);
	}
	if (!v)
		v = vec_add_hashed(&g->known, &g->idx, hash_identity(k));
	if (v)
		*v = *k;
}

/* --------------------------------- answers -------------------------------- */

static void allow_open(int fd)
{
	struct fanotify_response yes = { .fd = fd, .response = FAN_ALLOW };

	while (write(FANOTIFY, &yes, sizeof(yes)) < 0 && errno == EINTR)
		;
	close(fd);
}

/* Release program number @i of the queue. */
static void release_program(struct gate *g, size_t i)
{
	uint64_t ns = clock_get_ns(CLOCK_MONOTONIC) - g->waiting[i].since;

	allow_open(g->waiting[i].fd);
	memmove(&g->waiting[i], &g->waiting[i + 1], (--g->nr_waiting - i) * sizeof(*g->waiting));
	if (ns > g->shared->longest)
		g->shared->longest = ns;
}

static void release_overdue(struct gate *g)
{
	uint64_t now = clock_get_ns(CLOCK_MONOTONIC);

	while (g->nr_waiting && (g->overdue || now - g->waiting[0].since > GATE_MAX_NS)) {
		g->overdue |= g->waiting[0].id == g->asked;
		release_program(g, 0);
		g->shared->released_early++;
	}
}

/* Send the file to the recorder. Returns whether it was sent. */
static bool ask_recorder(const struct waiting *w)
{
	struct gate_question q = { .id = w->id, .pid = w->pid };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct iovec iov = { .iov_base = &q, .iov_len = sizeof(q) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &w->fd, sizeof(int));
	return sendmsg(RECORDER, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(q);
}

/* Ask the recorder about the first program in the queue, if it has answered all questions. */
static void ask_next(struct gate *g)
{
	const struct file_id *k;

	while (!g->asked && g->nr_waiting) {
		k = find_known(g, &g->waiting[0].file);
		if (k) {
			release_program(g, 0);
			g->shared->programs += k->elf;
		} else if (ask_recorder(&g->waiting[0])) {
			g->asked = g->waiting[0].id;
			g->asked_file = g->waiting[0].file;
		} else {
			release_program(g, 0);
			g->shared->released_early++;
		}
	}
}

/* The gate may already have released the program, because the program waited too long. */
static void take_answer(struct gate *g, const struct gate_answer *a)
{
	size_t i;

	if (a->id != g->asked)
		return;
	g->asked = 0;
	g->overdue = false;
	g->asked_file.elf = a->elf;
	if (a->known)
		remember_file(g, &g->asked_file);
	for (i = 0; i < g->nr_waiting; i++) {
		if (g->waiting[i].id == a->id) {
			release_program(g, i);
			g->shared->programs += a->elf;
			return;
		}
	}
}

/* -------------------------------- questions ------------------------------- */

/* Queue the program; false if the program need not wait. */
static bool queue_program(struct gate *g, int fd, pid_t pid)
{
	struct waiting w = { .fd = fd, .pid = pid, .since = clock_get_ns(CLOCK_MONOTONIC) };
	struct stat st;

	if (fstat(fd, &st))
		return false;
	w.file = get_identity(&st);
	if (find_known(g, &w.file) || !is_recorded(g, pid))
		return false;
	if (g->nr_waiting == MAX_WAITING || g->overdue) {
		g->shared->released_early++;
		return false;
	}
	w.id = ++g->last_id;
	g->waiting[g->nr_waiting++] = w;
	return true;
}

/* Returns 0, or the error after which the gate must end. */
static int read_questions(struct gate *g)
{
	struct fanotify_event_metadata events[16], *m;
	ssize_t n = read(FANOTIFY, events, sizeof(events));

	/* EIO and the like are of one file: the kernel has refused to execute it */
	if (n < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EACCES ||
		      errno == EPERM))
		return errno;
	for (m = events; n > 0 && FAN_EVENT_OK(m, n); m = FAN_EVENT_NEXT(m, n))
		if (m->fd >= 0 && !queue_program(g, m->fd, m->pid))
			allow_open(m->fd);
	return 0;
}

static int answer_all(struct gate *g)
{
	struct pollfd fds[] = {
		{ .fd = FANOTIFY, .events = POLLIN }, { .fd = RECORDER, .events = POLLIN },
	};
	struct gate_answer a;
	ssize_t n;
	int error;

	for (;;) {
		poll(fds, 2, g->nr_waiting ? CHECK_MS : -1);
		n = recv(RECORDER, &a, sizeof(a), MSG_DONTWAIT);
		if (n == sizeof(a))
			take_answer(g, &a);
		else if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return 0;
		error = read_questions(g);
		if (error)
			return error;
		release_overdue(g);
		ask_next(g);
	}
}

/* Leave the recorder's limits where that is possible, so that they do not limit all programs. */
static void leave_limits(void)
{
	static const char *const root[] = {
		"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs",
		"/sys/fs/cgroup/freezer/cgroup.procs", "/sys/fs/cgroup/cpu/cgroup.procs",
	};
	struct sched_param param = {};
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(root); i++) {
		fd = open(root[i], O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (write(fd, "0", 1) < 0)
			errno = 0;
		close(fd);
	}
	sched_setscheduler(0, SCHED_OTHER, &param);
	setpriority(PRIO_PROCESS, 0, NICE);
}

void gate_run(const struct rec *r, int fanotify, int recorder, struct gate_shared *shared)
{
	struct gate g = { .r = r, .shared = shared };

	rec_leave_session("trace-ustack-wt");
	leave_limits();
	/* a core dump would keep the descriptors open */
	prctl(PR_SET_DUMPABLE, 0);
	if (dup2(fanotify, FANOTIFY) < 0 || dup2(recorder, RECORDER) < 0 ||
	    close_range(FIRST_FILE, ~0u, 0)) {
		shared->error = errno;
		_exit(1);
	}
	mlockall(MCL_CURRENT);
	shared->error = answer_all(&g);
	_exit(shared->error != 0);
}
