// SPDX-License-Identifier: GPL-2.0
/* reader.c - open a file, read its streams. See reader.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "reader_int.h"
#include "libunwind-user/base/base.h"

/* Files that users give by mistake, by their first bytes. */
static const struct {
	const char *magic, *what;
	size_t len;
} foreign[] = {
	{ "\177ELF", "is an ELF file, not a trace.dat", 4 },
	{ "PERFILE2", "is a perf.data file, not a trace.dat; perf script reads it", 8 },
	{ "2ELIFREP", "is a perf.data file, not a trace.dat; perf script reads it", 8 },
	{ "\037\213", "is compressed; unpack it with gunzip", 2 },
	{ "(\265/\375", "is compressed; unpack it with unzstd", 4 },
	{ "\3757zXZ", "is compressed; unpack it with unxz", 6 },
	{ "# tracer:", "is text of tracefs, not a trace.dat; record with trace-ustack record", 9 },
};

static int open_trace_dat(const char *path, uint64_t *bytes, int *version, char *why, size_t size)
{
	char head[16] = "";
	struct stat st;
	size_t i;
	ssize_t n;
	int fd;

	/* O_NONBLOCK: for a pipe without a writer, open() would wait */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		snprintf(why, size, "cannot be opened: %s%s", strerror(errno),
			 errno == ENOENT ? "; record a trace first, with trace-ustack record" :
			 errno == EACCES ? "; run as a user who may read it" : "");
		goto fail;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(why, size, "is %s, not a regular file; give the trace.dat itself",
			 S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
		goto fail;
	}
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0) {
		snprintf(why, size, "cannot be read: %s", strerror(errno));
		goto fail;
	}
	if (!n) {
		snprintf(why, size, "is empty; check that the recording ended without an error");
		goto fail;
	}
	if (n < 12 || memcmp(head, TRACE_DAT_MAGIC, TRACE_DAT_MAGIC_LEN)) {
		for (i = 0; i < ARRAY_SIZE(foreign); i++)
			if (n >= (ssize_t)foreign[i].len &&
			    !memcmp(head, foreign[i].magic, foreign[i].len))
				break;
		snprintf(why, size, "%s", i < ARRAY_SIZE(foreign) ?
			 foreign[i].what : "is not a trace.dat file of trace-cmd");
		goto fail;
	}
	*bytes = st.st_size;
	*version = head[11] ? 0 : head[10] - '0';
	if (*version != 6 && *version != 7) {
		snprintf(why, size, "is a trace.dat of a version other than 6 and 7; "
			 "convert it with trace-cmd convert");
		goto fail;
	}
	return fd;
fail:
	if (fd >= 0)
		close(fd);
	return -1;
}

static int reopen_file(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The real outputs of the process. libtracecmd prints messages, some of them on standard output. */
struct quiet {
	int out, err;
};

static struct quiet silence_output(void)
{
	struct quiet q = { fcntl(1, F_DUPFD_CLOEXEC, 3), fcntl(2, F_DUPFD_CLOEXEC, 3) };
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(NULL);
	if (null >= 0) {
		dup2(null, 1);
		dup2(null, 2);
		close(null);
	}
	return q;
}

static void restore_output(const struct quiet *q)
{
	fflush(NULL);
	if (q->out >= 0) {
		dup2(q->out, 1);
		close(q->out);
	}
	if (q->err >= 0) {
		dup2(q->err, 2);
		close(q->err);
	}
}

static void close_set(struct reader_set *set)
{
	/* instances first, because they use the handle of the top buffer */
	while (set->handles.nr-- > 0)
		if (set->handles.v[set->handles.nr])
			tracecmd_close(set->handles.v[set->handles.nr]);
	vec_free(&set->handles);
	memset(set, 0, sizeof(*set));
	set->fd = -1;
}

/* Take the handles of the instances before any record: some libtracecmd versions need that. */
static int open_set(struct reader *r, struct reader_set *set)
{
	struct tracecmd_input *top, **slot;
	struct quiet quiet;
	int i, nr;

	set->fd = reopen_file(r->fd);
	if (set->fd < 0)
		return -errno;
	quiet = silence_output();
	top = tracecmd_open_fd(set->fd, r->opts.plugins ? 0 : TRACECMD_FL_LOAD_NO_PLUGINS);
	nr = top ? tracecmd_buffer_instances(top) : -1;
	for (i = -1; i < nr; i++) {
		slot = vec_add(&set->handles);
		if (!slot)
			break;
		*slot = i < 0 ? top : tracecmd_buffer_instance_handle(top, i);
	}
	restore_output(&quiet);
	return !top ? -EINVAL : i < nr ? -ENOMEM : 0;
}

/* Allocate the rings of a stream, or double their size. */
static int double_room(struct input_stream *s)
{
	size_t room = s->room ? 2 * s->room : READER_HELD, i, from;
	struct tep_record **lib_records = calloc(room, sizeof(*lib_records));
	struct tep_record **raw_records = calloc(room, sizeof(*raw_records));
	struct tep_record **block = vec_add(&s->blocks);

	if (block)
		*block = calloc(room - s->room, sizeof(**block));
	if (!lib_records || !raw_records || !block || !*block) {
		free(lib_records);
		free(raw_records);
		return -ENOMEM;
	}
	/* each record keeps the slot of its number; new records take free slots */
	from = s->nr > s->room ? s->nr - s->room : 0;
	for (i = from; i < from + s->room; i++) {
		lib_records[i & (room - 1)] = s->lib_records[i & (s->room - 1)];
		raw_records[i & (room - 1)] = s->raw_records[i & (s->room - 1)];
	}
	for (i = 0; i < room - s->room; i++)
		raw_records[(from + s->room + i) & (room - 1)] = &(*block)[i];
	free(s->lib_records);
	free(s->raw_records);
	s->lib_records = lib_records;
	s->raw_records = raw_records;
	s->room = room;
	return 0;
}

int reader_hold_records(struct reader *r, uint32_t stream, size_t nr)
{
	struct input_stream *s = &r->streams.v[stream];
	int ret = 0;

	while (!ret && s->room < nr)
		ret = double_room(s);
	return ret;
}

/* Find the streams. The first record of each stream has its CPU's number. */
static int find_streams(struct reader *r)
{
	struct tep_record *rec;
	struct input_stream *s;
	uint32_t i;
	size_t k;

	for (k = 0; k < r->data.handles.nr; k++) {
		for (i = 0; r->data.handles.v[k] && i < r->cpus; i++) {
			rec = tracecmd_read_data(r->data.handles.v[k], i);
			if (!rec)
				continue;
			s = vec_add(&r->streams);
			if (!s || double_room(s)) {
				tracecmd_free_record(rec);
				return -ENOMEM;
			}
			s->pub.buffer = k;
			s->pub.cpu = rec->cpu;
			s->index = i;
			s->ahead = rec;
		}
	}
	return 0;
}

struct reader *reader_open(const char *path, const struct reader_opts *opts, char *why,
			   size_t size)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct tep_handle *tep;
	size_t k;
	int ret;

	if (!r) {
		snprintf(why, size, "cannot be read: not enough memory");
		return NULL;
	}
	if (opts)
		r->opts = *opts;
	r->meta.fd = r->data.fd = -1;
	r->fd = open_trace_dat(path, &r->bytes, &r->version, why, size);
	if (r->fd < 0) {
		free(r);
		return NULL;
	}
	tracecmd_set_loglevel(TEP_LOG_NONE);
	ret = open_set(r, &r->data);
	if (ret) {
		snprintf(why, size, ret == -EINVAL ?
			 "is truncated or damaged, its head cannot be read; record again" :
			 "cannot be read: %s", strerror(-ret));
		reader_close(r);
		return NULL;
	}
	r->tep = tracecmd_get_tep(r->data.handles.v[0]);
	tep = r->tep;
	/* an instance may have more CPUs than the top buffer, and no function returns its number */
	r->cpus = tep_get_cpus(tep);
	for (k = 1; k < r->data.handles.nr; k++)
		if (r->data.handles.v[k] &&
		    tep_get_cpus(tracecmd_get_tep(r->data.handles.v[k])) > (int)r->cpus)
			r->cpus = tep_get_cpus(tracecmd_get_tep(r->data.handles.v[k]));
	ret = find_streams(r);
	if (ret) {
		snprintf(why, size, "cannot be read: %s", strerror(-ret));
		reader_close(r);
		return NULL;
	}
	raw_open(r);
	return r;
}

static void drop_records(struct input_stream *s)
{
	size_t i;

	if (s->ahead)
		tracecmd_free_record(s->ahead);
	s->ahead = NULL;
	for (i = 0; i < s->room; i++) {
		if (s->lib_records[i])
			tracecmd_free_record(s->lib_records[i]);
		s->lib_records[i] = NULL;
	}
	s->nr = 0;
}

static void free_stream(struct input_stream *s)
{
	drop_records(s);
	while (s->blocks.nr)
		free(s->blocks.v[--s->blocks.nr]);
	vec_free(&s->blocks);
	free(s->lib_records);
	free(s->raw_records);
}

void reader_close(struct reader *r)
{
	size_t i;

	if (!r)
		return;
	raw_close(r);
	for (i = 0; i < r->streams.nr; i++)
		free_stream(&r->streams.v[i]);
	vec_free(&r->streams);
	close_set(&r->data);
	close_set(&r->meta);
	close(r->fd);
	free(r);
}

struct tep_record *reader_next(struct reader *r, uint32_t stream)
{
	struct input_stream *s = &r->streams.v[stream];
	struct tep_record **slot;

	if (r->raw)
		return raw_next(r, stream);
	slot = &s->lib_records[s->nr++ & (s->room - 1)];
	if (*slot)
		tracecmd_free_record(*slot);
	*slot = s->ahead;
	s->ahead = NULL;
	if (!*slot)
		*slot = tracecmd_read_data(r->data.handles.v[s->pub.buffer], s->index);
	return *slot;
}

void reader_will_iterate(struct reader *r)
{
	r->iterate = true;
}

struct iteration {
	struct reader *r;
	int (*event)(void *data, uint32_t buffer, struct tep_record *rec);
	void *data;
};

static int pass_record(struct tracecmd_input *handle, struct tep_record *rec, int cpu, void *data)
{
	struct iteration *it = data;
	uint32_t k;

	(void)cpu;
	for (k = 0; k < it->r->data.handles.nr && it->r->data.handles.v[k] != handle; k++)
		;
	return it->event(it->data, k, rec);
}

int reader_iterate(struct reader *r, int (*event)(void *data, uint32_t buffer,
						   struct tep_record *rec), void *data)
{
	struct iteration it = { r, event, data };
	struct tracecmd_input **handles;
	int nr = 0, ret;
	size_t k;

	handles = calloc(r->data.handles.nr + 1, sizeof(*handles));
	if (!handles)
		return -ENOMEM;
	for (k = 0; k < r->data.handles.nr; k++)
		if (r->data.handles.v[k])
			handles[nr++] = r->data.handles.v[k];
	ret = tracecmd_iterate_events_multi(handles, nr, pass_record, &it);
	free(handles);
	return ret;
}

/*
 * This opens new handles, because some versions of libtracecmd cannot go back on a handle. The
 * first handles stay open, because the caller may have pointers to their formats.
 */
int reader_rewind(struct reader *r)
{
	size_t i;
	int ret;

	if (r->raw && !r->iterate) {
		raw_rewind(r);
		return 0;
	}
	raw_close(r);
	for (i = 0; i < r->streams.nr; i++)
		drop_records(&r->streams.v[i]);
	if (r->meta.fd < 0) {
		r->meta = r->data;
		memset(&r->data, 0, sizeof(r->data));
	} else {
		close_set(&r->data);
	}
	ret = open_set(r, &r->data);
	return ret == -EINVAL ? -EIO : ret;
}

uint64_t reader_get_trace_id(struct reader *r)
{
	return tracecmd_get_traceid(r->data.handles.v[0]);
}

struct tep_handle *reader_get_tep(struct reader *r)
{
	return r->tep;
}

struct tep_handle *reader_get_data_tep(struct reader *r)
{
	return tracecmd_get_tep(r->data.handles.v[0]);
}

int reader_get_fd(struct reader *r)
{
	return r->fd;
}

uint64_t reader_get_bytes(struct reader *r)
{
	return r->bytes;
}

int reader_get_version(struct reader *r)
{
	return r->version;
}

bool reader_is_damaged(struct reader *r)
{
	return r->damaged;
}

uint32_t reader_get_nr_buffers(struct reader *r)
{
	return r->data.handles.nr;
}

const char *reader_get_buffer_name(struct reader *r, uint32_t buffer)
{
	const char *name = "";

	if (buffer && buffer < r->data.handles.nr)
		name = tracecmd_buffer_instance_name(r->data.handles.v[0], buffer - 1);
	return name ? name : "";
}

uint32_t reader_get_nr_cpus(struct reader *r)
{
	return r->cpus;
}

uint32_t reader_get_nr_streams(struct reader *r)
{
	return r->streams.nr;
}

const struct reader_stream *reader_get_stream(struct reader *r, uint32_t stream)
{
	return &r->streams.v[stream].pub;
}
