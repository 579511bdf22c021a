// SPDX-License-Identifier: GPL-2.0
/*
 * gate.c - programs wait at their start until their tables are there: --wait-tables
 *
 * The gate (gate_process.c) asks for a file that a recorded task executes. A thread makes its table
 * and those of the libraries that the file names, and answers.
 *
 * The gate is made before the recorder has a thread, and nothing waits until the file systems are
 * marked. The recorder marks them, because it may have to wait for that: the gate answers
 * meanwhile. After that, only the gate has the descriptor of fanotify. The kernel closes a killed
 * recorder's descriptors in ascending order. So it closes fanotify before the socket, and the gate
 * answers until then.
 *
 * File systems whose files come from a server or a process are not marked. Programs on an overlay
 * wait only if the kernel asks about the files below it.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"
#include "libunwind-user/tables/tables.h"

#define MIN_FILES	256		/* descriptors for the gate */
/* bits in CapEff */
#define READS_ALL	(1 << 1 | 1 << 2)	/* CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH */

struct rec_gate {
	const struct rec *r;
	struct tables_session *session;
	int fanotify, socket;		/* socket: to the gate */
	pid_t pid;			/* of the gate */
	pthread_t maker;
	bool has_maker;			/* the thread exists */
	atomic_bool stop;
	uint64_t since;			/* CLOCK_MONOTONIC, ns: when the maker was asked */
	struct gate_shared *shared;
};

/* ---------------------------------- maker --------------------------------- */

/* Wait for the next file: @fd, or -1 without a descriptor for it. False: the thread must end. */
static bool receive_question(int socket, struct gate_question *q, int *fd)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { .iov_base = q, .iov_len = sizeof(*q) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do {
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*q))
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

static bool has_time(void *ctx)
{
	const struct rec_gate *g = ctx;

	return !g->stop && clock_get_ns(CLOCK_MONOTONIC) - g->since < GATE_MAX_NS;
}

static void add_library(void *ctx, int fd, const char *path)
{
	struct rec_gate *g = ctx;

	tables_add_fd(g->session, fd, path);
}

/* The libraries as the waiting task finds them; false: not all of them have been looked for */
static bool add_libraries(struct rec_gate *g, int fd, const char *path, pid_t pid)
{
	char name[32], top[PATH_MAX];
	bool all = false;
	size_t len;
	int root;

	snprintf(name, sizeof(name), "/proc/%d/root", (int)pid);
	root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return false;
	fd_get_path(root, top, sizeof(top));
	len = strlen(top);
	/* a task whose root is a directory of ours */
	if (len > 1 && !strncmp(path, top, len) && path[len] == '/')
		path += len;
	all = libs_for_each(fd, path, root, &(struct libs_calls){ add_library, has_time, g });
	close(root);
	return all;
}

static struct gate_answer make_tables(struct rec_gate *g, int fd, const struct gate_question *q)
{
	struct gate_answer a = { .id = q->id };
	char path[PATH_MAX];
	Elf64_Ehdr eh;
	int ret;

	if (fd < 0)
		return a;
	g->since = clock_get_ns(CLOCK_MONOTONIC);
	/* a script: the gate asks about its interpreter separately */
	a.known = !libs_read_ehdr(fd, &eh);
	if (a.known)
		return a;
	a.elf = true;
	fd_get_path(fd, path, sizeof(path));
	ret = tables_add_fd(g->session, fd, path);
	a.known = ret == -EOPNOTSUPP || ret == -ENOEXEC || add_libraries(g, fd, path, q->pid);
	return a;
}

static void *run_maker(void *arg)
{
	struct rec_gate *g = arg;
	struct gate_question q;
	struct gate_answer a;
	int fd;

	while (receive_question(g->socket, &q, &fd)) {
		a = make_tables(g, fd, &q);
		if (fd >= 0)
			close(fd);
		if (send(g->socket, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			break;
	}
	/* No answers follow: the gate releases all programs */
	shutdown(g->socket, SHUT_RDWR);
	return NULL;
}

static int start_maker(struct rec_gate *g)
{
	int ret = thread_start(&g->maker, run_maker, g);

	g->has_maker = !ret;
	return ret;
}

/* ------------------------------- file systems ----------------------------- */

/* The types of mounts that are marked, if libs_is_local(): another file system may be over it. */
static bool may_be_local(const char *type)
{
	static const char *const local[] = {
		"btrfs", "ext2", "ext3", "ext4", "f2fs", "iso9660", "ramfs", "squashfs", "tmpfs",
		"xfs",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(local); i++)
		if (!strcmp(type, local[i]))
			return true;
	return false;
}

/* Mark the file system of a mount; 0, -errno, or 1 if it is not to be marked */
static int mark_mount(int fanotify, const char *dir)
{
	int fd = open(dir, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), ret = 1;

	if (fd < 0)
		return -errno;
	if (libs_is_local(fd))
		ret = fanotify_mark(fanotify, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
				    FAN_OPEN_EXEC_PERM, fd, NULL) ? -errno : 0;
	close(fd);
	return ret;
}

/* Returns 0 if any file system is marked; @root: that of the directory / is. */
static int mark_file_systems(int fanotify, bool *root)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	int ret = -EOPNOTSUPP, one;
	struct mntent *m;

	if (!f)
		return -errno;
	while ((m = getmntent(f))) {
		one = may_be_local(m->mnt_type) ? mark_mount(fanotify, m->mnt_dir) : 1;
		if (!one && !strcmp(m->mnt_dir, "/"))
			*root = true;
		if (one <= 0 && ret)
			ret = one;
	}
	endmntent(f);
	return ret;
}

/* ------------------------------ start and end ----------------------------- */

static bool may_read_all(void)
{
	char *text = rec_tracefs_read_path("/proc/self/status", NULL);
	char *at = text ? strstr(text, "\nCapEff:") : NULL;
	unsigned long long caps = at ? strtoull(at + 8, NULL, 16) : 0;

	free(text);
	return caps & READS_ALL;
}

/* Returns 0 or -errno. */
static int start_gate(struct rec_gate *g)
{
	struct rlimit files;
	int fds[2], ret;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur < MIN_FILES)
		return -EMFILE;
	if (!may_read_all())
		return -EPERM;
	/* O_NONBLOCK: the gate must not wait for the owner of a lease */
	g->fanotify = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK |
				    FAN_UNLIMITED_QUEUE, O_RDONLY | O_LARGEFILE | O_NONBLOCK |
				    O_CLOEXEC | O_NOATIME);
	if (g->fanotify < 0)
		return -errno;
	g->shared = mmap(NULL, sizeof(*g->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (g->shared == MAP_FAILED) {
		g->shared = NULL;
		return -ENOMEM;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -errno;
	fflush(NULL);
	g->pid = fork();
	if (!g->pid)
		gate_run(g->r, g->fanotify, fds[1], g->shared);
	ret = g->pid < 0 ? -errno : 0;
	close(fds[1]);
	g->socket = fds[0];
	return ret;
}

/* Returns TOOL_FAIL. */
static int stop_and_report(struct rec *r, int ret)
{
	rec_gate_stop(r);
	tool_error("--wait-tables: programs cannot be made to wait here (fanotify: %s); record "
		   "twice instead", strerror(-ret));
	return TOOL_FAIL;
}

int rec_gate_prepare(struct rec *r)
{
	int ret;

	if (!r->opts.wait_tables)
		return 0;
	r->gate = calloc(1, sizeof(*r->gate));
	if (!r->gate)
		return tool_report_no_memory();
	r->gate->r = r;
	r->gate->fanotify = r->gate->socket = r->gate->pid = -1;
	ret = start_gate(r->gate);
	return ret ? stop_and_report(r, ret) : 0;
}

void rec_gate_close_inherited(const struct rec *r)
{
	if (r->gate)
		close(r->gate->fanotify);
}

int rec_gate_start(struct rec *r)
{
	struct rec_gate *g = r->gate;
	bool root = false;
	int ret;

	if (!g)
		return 0;
	if (!r->tables) {
		tool_error("--wait-tables: there are no tables to wait for");
		return TOOL_FAIL;
	}
	g->session = rec_tables_get_session(r);
	g->shared->child = r->child;
	/* Programs depend on the gate from here on: it must live */
	ret = waitpid(g->pid, NULL, WNOHANG) ? -(g->shared->error ? g->shared->error : ESRCH) : 0;
	if (ret)
		g->pid = -1;
	else
		ret = start_maker(g);
	if (!ret)
		ret = mark_file_systems(g->fanotify, &root);
	close(g->fanotify);
	g->fanotify = -1;
	if (ret)
		return stop_and_report(r, ret);
	if (!root)
		tool_error("--wait-tables: programs below / do not wait: its file system is of a "
			   "type that trace-ustack does not watch");
	return 0;
}

pid_t rec_gate_get_pid(const struct rec *r)
{
	return r->gate ? r->gate->pid : -1;
}

/* The end of the gate, whose socket is shut down; its wait status, 0 if it had to be killed */
static int wait_for_gate(pid_t pid)
{
	int status = 0, i;
	pid_t ended = 0;

	for (i = 0; i < 100 && !ended; i++) {
		ended = waitpid(pid, &status, WNOHANG);
		if (!ended)
			usleep(10000);
	}
	if (ended)
		return ended == pid ? status : 0;
	/* The gate is probably stopped. Kill it, or every program would wait at its start */
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* The gate ends with the socket, which lets all programs go on. */
void rec_gate_stop(struct rec *r)
{
	struct rec_gate *g = r->gate;
	int status = 0;

	if (!g || g->stop)
		return;
	g->stop = true;
	if (g->fanotify >= 0)
		close(g->fanotify);
	if (g->socket >= 0)
		shutdown(g->socket, SHUT_RDWR);
	if (g->pid > 0)
		status = wait_for_gate(g->pid);
	/* the maker may be busy for long, but nothing waits for its answers any more */
	if (g->has_maker)
		pthread_join(g->maker, NULL);
	if (g->socket >= 0)
		close(g->socket);
	if (status)
		tool_error("--wait-tables: programs did not wait up to the end: %s",
			   WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) :
						 strerror(g->shared->error));
}

const struct gate_shared *rec_gate_get_shared(const struct rec *r)
{
	return r->gate ? r->gate->shared : NULL;
}

void rec_gate_free(struct rec *r)
{
	if (!r->gate)
		return;
	if (r->gate->shared)
		munmap(r->gate->shared, sizeof(*r->gate->shared));
	free(r->gate);
	r->gate = NULL;
}
