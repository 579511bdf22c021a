// SPDX-License-Identifier: LGPL-2.1-or-later
/* scan.c - read a file in a process of its own. See scan.h. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "sections.h"
#include "scan.h"
#include "libunwind-user/base/base.h"
#include "wire.h"

/* The limit of CPU time: a base, and a second more for so many bytes of the file. */
#define SECONDS_BASE	10
#define BYTES_PER_SECOND	(4u << 20)
/* Seconds of real time for each CPU second: the machine does other work too, and disks are slow. */
#define SECONDS_PER_CPU_SECOND	6

/*
 * libtracecmd's functions: those of the host program if it exports them, as trace-cmd and
 * KernelShark do, otherwise those of the library. Never both, because their versions may differ.
 */
struct api {
	__typeof__(tracecmd_open_fd) *open_fd;
	__typeof__(tracecmd_buffer_instances) *buffer_instances;
	__typeof__(tracecmd_buffer_instance_name) *buffer_instance_name;
	__typeof__(tracecmd_buffer_instance_handle) *buffer_instance_handle;
	__typeof__(tracecmd_get_tep) *get_tep;
	__typeof__(tracecmd_read_data) *read_data;
	__typeof__(tracecmd_free_record) *free_record;
	__typeof__(tracecmd_close) *close;
};

static int find_api_in(struct api *api, void *lib)
{
	api->open_fd = dlsym(lib, "tracecmd_open_fd");
	api->buffer_instances = dlsym(lib, "tracecmd_buffer_instances");
	api->buffer_instance_name = dlsym(lib, "tracecmd_buffer_instance_name");
	api->buffer_instance_handle = dlsym(lib, "tracecmd_buffer_instance_handle");
	api->get_tep = dlsym(lib, "tracecmd_get_tep");
	api->read_data = dlsym(lib, "tracecmd_read_data");
	api->free_record = dlsym(lib, "tracecmd_free_record");
	api->close = dlsym(lib, "tracecmd_close");
	return api->open_fd && api->buffer_instances && api->buffer_instance_name &&
	       api->buffer_instance_handle && api->get_tep && api->read_data &&
	       api->free_record && api->close ? 0 : -ENOSYS;
}

static int find_api(struct api *api)
{
	void *lib;

	if (!find_api_in(api, RTLD_DEFAULT))
		return 0;
	lib = dlopen("libtracecmd.so.1", RTLD_NOW | RTLD_LOCAL);
	return lib ? find_api_in(api, lib) : -ENOSYS;
}

/* Read one CPU of one buffer. The CPU's number is in the records; the index may be another one. */
static int read_cpu(const struct api *api, struct tracecmd_input *handle, uint32_t buffer, int i,
		    struct feed *feed)
{
	struct tep_record *rec;
	bool first = true;
	int ret = 0;

	while (!ret && (rec = api->read_data(handle, i))) {
		if (first)
			ret = feed_start_stream(feed, buffer, rec->cpu);
		first = false;
		if (!ret)
			ret = feed_record(feed, rec);
		api->free_record(rec);
	}
	return ret;
}

/* The handles of a file: that of the top buffer, then those of the instances; some are NULL. */
typedef VEC(struct tracecmd_input *) handles_t;

struct drop_search {
	const struct api *api;
	struct tracecmd_input *top;
	struct sink *sink;
};

static int note_dropped_buffer(void *data, const char *buffer)
{
	struct drop_search *d = data;
	int i, nr = d->api->buffer_instances(d->top);
	const char *name;

	if (!*buffer)
		return d->sink->dropped(d->sink->data, 0);
	for (i = 0; i < nr; i++) {
		name = d->api->buffer_instance_name(d->top, i);
		if (name && !strcmp(name, buffer))
			return d->sink->dropped(d->sink->data, i + 1);
	}
	return 0;
}

/*
 * The handles of the instances are taken before any record is read, because some versions of
 * libtracecmd break otherwise. No function returns the number of CPUs of an instance; reading a CPU
 * that does not exist returns no record.
 */
static int read_file(const struct api *api, int fd, struct sink *sink, handles_t *handles)
{
	struct drop_search drops = { .api = api, .sink = sink };
	struct tracecmd_input *top, **slot;
	struct tep_handle *tep;
	struct feed *feed;
	int i, nr, cpus, ret = 0, damaged = 0;
	size_t k;

	top = api->open_fd(fd, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top)
		return -EINVAL;
	drops.top = top;
	tep = api->get_tep(top);
	cpus = tep_get_cpus(tep);
	nr = api->buffer_instances(top);
	for (i = -1; i < nr; i++) {
		slot = vec_add(handles);
		if (!slot)
			return -ENOMEM;
		*slot = i < 0 ? top : api->buffer_instance_handle(top, i);
		if (tep_get_cpus(tep) > cpus)
			cpus = tep_get_cpus(tep);
	}
	feed = feed_new(tep, sink);
	if (!feed)
		return -ENOMEM;
	if (!feed_has_events(feed))
		return 0;
	for (k = 0; k < handles->nr && !ret; k++) {
		for (i = 0; handles->v[k] && i < cpus && !ret; i++) {
			ret = read_cpu(api, handles->v[k], k, i, feed);
			/* the pages of this CPU are broken, those of the others may be good */
			if (ret == -EILSEQ) {
				damaged = ret;
				ret = 0;
			}
		}
	}
	if (!ret)
		ret = feed_end_stream(feed);
	/* a file without readable statistics is read all the same */
	if (!ret && sections_read_drops(fd, note_dropped_buffer, &drops) == -ENOMEM)
		ret = -ENOMEM;
	/* the process ends soon, so it frees nothing */
	return ret ? ret : damaged;
}

/* CPU seconds that reading the file may take. */
static rlim_t get_cpu_seconds(int fd)
{
	struct stat st;

	return SECONDS_BASE + (fstat(fd, &st) ? 0 : st.st_size / BYTES_PER_SECOND);
}

static void __attribute__((noreturn)) scan_in_child(const struct api *api, pid_t parent, int fd,
						    struct wire *w, int out)
{
	static const int fatal[] = { SIGINT, SIGTERM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
	handles_t handles = {};
	char path[64];
	struct sink sink;
	size_t i;
	int null;

	limit_to_parent(parent);
	for (i = 0; i < ARRAY_SIZE(fatal); i++)
		signal(fatal[i], SIG_DFL);
	limit_cpu_time(get_cpu_seconds(fd));
	/* the host has already printed the messages of libtracecmd */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(1);
	/* a file position of its own */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		_exit(1);
	wire_make_sink(&sink, w, out);
	if (wire_write_end(w, read_file(api, fd, &sink, &handles)))
		_exit(1);
	/*
	 * Closing removes the files into which some builds of libtracecmd unpack. @out stays open,
	 * because the host takes its end for the end of this process.
	 */
	while (handles.nr-- > 0)
		if (handles.v[handles.nr])
			api->close(handles.v[handles.nr]);
	_exit(0);
}

static int run_child(const struct api *api, int fd, struct sink *sink, int64_t until)
{
	/* allocated before the fork: a child without memory can report that through it */
	struct wire *w = malloc(sizeof(*w));
	pid_t pid, parent = getpid();
	int ret, pipefd[2], status;

	if (!w)
		return -ENOMEM;
	if (pipe2(pipefd, O_CLOEXEC)) {
		ret = -errno;
		free(w);
		return ret;
	}
	fcntl(pipefd[1], F_SETPIPE_SZ, 1 << 20);
	pid = fork();
	if (!pid) {
		close(pipefd[0]);
		scan_in_child(api, parent, fd, w, pipefd[1]);
	}
	ret = pid < 0 ? -errno : 0;
	free(w);
	close(pipefd[1]);
	if (ret) {
		close(pipefd[0]);
		return ret;
	}
	ret = wire_read_all(pipefd[0], sink, until);
	/* the process has written all messages, and only cleans up */
	if (!ret)
		wire_wait(pipefd[0], until);
	close(pipefd[0]);
	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return ret;
}

static int note_clock(void *data, const char *buffer, const char *clock)
{
	if (!*buffer && sections_is_slow_clock(clock))
		join_set_slow_clock(data);
	return 0;
}

void scan_file_within(struct scan *s, int fd, int64_t ms)
{
	int64_t until = clock_get_ms() + ms;
	struct sections_sink clock = { .clock = note_clock };
	struct sink_target target;
	struct sink sink;
	struct stat st;
	struct api api;
	int ret;

	memset(s, 0, sizeof(*s));
	/* opening a pipe would wait for its writer, and reading a terminal for its user */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		s->problem = "it cannot be read twice, because it is not a regular file; "
			     "save it to a file first";
		return;
	}
	if (find_api(&api)) {
		s->problem = "libtracecmd is missing, which reads the file; install libtracecmd1";
		return;
	}
	target.join = s->join = join_new();
	target.maps = s->maps = maps_new();
	ret = -ENOMEM;
	if (s->join && s->maps) {
		clock.data = s->join;
		ret = sections_walk(fd, &clock);
		sink_set_to_join(&sink, &target);
		if (ret != -ENOMEM)
			ret = run_child(&api, fd, &sink, until);
	}
	if (ret == -ETIMEDOUT) {
		s->problem = "reading the file took too long and was given up, "
			     "so stacks may be missing";
		join_set_damaged(s->join);
		maps_set_incomplete(s->maps);
		ret = 0;
	} else if (ret && ret != -ENOMEM) {
		s->problem = "the file is damaged and was not read to its end, "
			     "so stacks may be missing";
		join_set_damaged(s->join);
		maps_set_incomplete(s->maps);
		ret = 0;
	}
	if (!ret)
		ret = join_finish(s->join);
	if (!ret)
		ret = maps_finish(s->maps);
	if (ret) {
		scan_free(s);
		s->problem = "there is not enough memory for its stacks";
	}
}

void scan_file(struct scan *s, int fd)
{
	scan_file_within(s, fd, 1000ll * SECONDS_PER_CPU_SECOND * get_cpu_seconds(fd));
}

void scan_free(struct scan *s)
{
	join_free(s->join);
	maps_free(s->maps);
	memset(s, 0, sizeof(*s));
}
