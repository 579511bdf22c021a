// SPDX-License-Identifier: GPL-2.0
/*
 * dat.c - write the trace.dat file
 *
 * The file has version 6, which every trace-cmd and KernelShark reads. trace-cmd.dat.v6(5)
 * describes it: formats of events, symbols of the kernel, names of tasks; then options, and the
 * pages of the ring buffers, CPU by CPU. The events are in the top buffer, so that reports show
 * them without the name of an instance. The records of mappings are in an instance "maps".
 *
 * The recorder writes the head before the recording and reserves room for the rest. So a disk that
 * gets full in between ends the recording but leaves it readable: data is moved to the file piece
 * by piece, and each piece is given back. The file has another name (FILE.part) until it is
 * complete.
 *
 * So at each moment all recorded data is in the file or next to it. After an error, or after
 * someone killed the recorder and its guard, resume.c can find out which of the two it is. The
 * table of the CPUs' data is written at once, before any data, and says where the data belongs.
 * Data that was moved leaves a hole in the file it came from, and that file is removed when all of
 * its data was moved.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "impl.h"
#include "bytes.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/record/bpf/bpf.h"

#define PIECE		(4u << 20)	/* bytes moved at a time */
/* Bytes kept free for names, options and a piece. */
#define ROOM		(2 * PIECE)

/*
 * Add the size of a file of tracefs, then its content. A file that cannot be read has size 0; then
 * this returns false.
 */
static bool add_file(struct text *b, const char *file, unsigned int size_bytes)
{
	size_t len = 0;
	char *text = *file == '/' ?
		rec_tracefs_read_path(file, &len) : rec_tracefs_read(NULL, file, &len);

	if (size_bytes == 8)
		add8(b, len);
	else
		add4(b, len);
	if (text)
		text_add_bytes(b, text, len);
	free(text);
	return text;
}

/* --------------------------------- head ---------------------------------- */

int dat_open(struct rec *r)
{
	const char *why = NULL;
	struct stat st;

	if (strlen(r->opts.out) + 32 > sizeof(r->part))
		why = "its name is too long";
	else if (!stat(r->opts.out, &st) && !S_ISREG(st.st_mode))
		why = "it exists and is not a regular file";
	if (why) {
		tool_error("%s: %s; name another one with -o", r->opts.out, why);
		return TOOL_OUTPUT;
	}
	if (getrandom(&r->id, sizeof(r->id), GRND_NONBLOCK) != sizeof(r->id))
		r->id = 0;
	snprintf(r->part, sizeof(r->part), "%s.part%d", r->opts.out, (int)getpid());
	r->out_fd = open(r->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (r->out_fd < 0 && errno == EEXIST)
		tool_error("%s: a recorder was killed and left it; trace-ustack check --repair %s "
			   "completes it", r->part, r->part);
	else if (r->out_fd < 0)
		tool_error("%s: %s; name another one with -o", r->opts.out, strerror(errno));
	if (r->out_fd < 0)
		return TOOL_OUTPUT;
	/* held while the recorder or its guard lives; some file systems have no locks */
	flock(r->out_fd, LOCK_SH);
	return 0;
}

static bool add_own_format(struct text *b, const struct rec *r, enum format f)
{
	size_t size;
	char *text = format_read(r, f, &size);

	if (text) {
		add8(b, size);
		text_add_bytes(b, text, size);
	}
	free(text);
	return text;
}

/* With REQUEST_BY_BPF, the events of these names are ours. */
static bool is_own_format(const struct rec *r, const char *name)
{
	int f;

	for (f = 0; r->request_by == REQUEST_BY_BPF && f < FORMAT_FTRACE; f++)
		if (!strcmp(name, format_get_name(f)))
			return true;
	return false;
}

static void add_ftrace_formats(struct text *b, const struct rec *r)
{
	char **names = tracefs_system_events(tracefs_tracing_dir(), "ftrace"), file[PATH_MAX];
	size_t at = b->nr, i;
	uint32_t nr = 0;

	add4(b, 0);
	for (i = 0; names && names[i]; i++) {
		snprintf(file, sizeof(file), "events/ftrace/%s/format", names[i]);
		if (!rec_tracefs_exists(file) || is_own_format(r, names[i]))
			continue;
		add_file(b, file, 8);
		nr++;
	}
	for (i = 0; r->request_by == REQUEST_BY_BPF && i < FORMAT_FTRACE; i++)
		nr += add_own_format(b, r, i);
	if (!b->failed)
		memcpy(b->v + at, &nr, sizeof(nr));
	tracefs_list_free(names);
}

/* Add the formats of the recorded events; these are in the order of their systems. */
static void add_formats(struct text *b, const struct rec *r)
{
	uint32_t systems;
	size_t i, end, k;
	char file[PATH_MAX];

	systems = !!r->opts.freq;
	for (i = 0; i < r->nr_events; i++)
		systems += !i || strcmp(r->event[i].system, r->event[i - 1].system);
	add4(b, systems);
	for (i = 0; i < r->nr_events; i = end) {
		for (end = i; end < r->nr_events &&
		     !strcmp(r->event[end].system, r->event[i].system); end++)
			;
		add_string(b, r->event[i].system);
		add4(b, end - i);
		for (k = i; k < end; k++) {
			snprintf(file, sizeof(file), "events/%s/%s/format", r->event[k].system,
				 r->event[k].name);
			add_file(b, file, 8);
		}
	}
	if (r->opts.freq) {
		add_string(b, SAMPLE_SYSTEM);
		add4(b, 1);
		add_own_format(b, r, FORMAT_SAMPLE);
	}
}

/* Remove the stacks of BPF programs that a killed recorder left. */
static void unlink_stacks(const struct rec *r)
{
	char raw[PATH_MAX], path[PATH_MAX];
	int cpu;

	if (rec_bpf_get_path(r, path))
		unlink(path);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		rec_get_raw_path(r, BUF_EVENTS, cpu, raw);
		insert_path(raw, path, sizeof(path));
		unlink(path);
	}
}

static void unlink_raw(const struct rec *r)
{
	char path[PATH_MAX];
	int i, cpu;

	for (i = 0; i < NR_BUFS; i++) {
		for (cpu = 0; cpu < r->nr_cpus; cpu++) {
			rec_get_raw_path(r, i, cpu, path);
			unlink(path);
		}
	}
}

int dat_write_header(struct rec *r)
{
	struct text b = {};
	const uint16_t one = 1;
	int ret;

	/* of an earlier recorder with this PID, whose recording was removed without them */
	unlink_raw(r);
	text_add_bytes(&b, DAT_MAGIC, sizeof(DAT_MAGIC));
	text_add_bytes(&b, *(const char *)&one ? "\0" : "\1", 1);
	text_add_bytes(&b, (char[]){ sizeof(long) }, 1);
	add4(&b, r->page_size);
	add_string(&b, "header_page");
	if (!add_file(&b, "events/header_page", 8))
		goto unreadable;
	add_string(&b, "header_event");
	if (!add_file(&b, "events/header_event", 8))
		goto unreadable;
	add_ftrace_formats(&b, r);
	add_formats(&b, r);
	add_file(&b, "/proc/kallsyms", 4);
	add_file(&b, "printk_formats", 4);
	if (b.failed) {
		tool_error("not enough memory for the formats of the events");
		free(b.v);
		return TOOL_FAIL;
	}
	ret = fd_pwrite_all(r->out_fd, b.v, b.nr, 0);
	/* EOPNOTSUPP: the file system cannot reserve room */
	if (!ret && fallocate(r->out_fd, FALLOC_FL_KEEP_SIZE, b.nr, ROOM) && errno == ENOSPC)
		ret = -ENOSPC;
	if (ret) {
		tool_error("%s: %s; make room, or put the file elsewhere with -o", r->opts.out,
			   strerror(-ret));
		ret = TOOL_OUTPUT;
	}
	r->shared->header_end = b.nr;
	free(b.v);
	return ret;

unreadable:
	tool_error("%s/events: header_page or header_event cannot be read: %s",
		   tracefs_tracing_dir(), strerror(errno));
	free(b.v);
	return TOOL_FAIL;
}

/* -------------------------------- options -------------------------------- */

static void add_option(struct text *b, uint16_t id, const void *data, size_t len)
{
	add2(b, id);
	add4(b, len);
	text_add_bytes(b, data, len);
}

static void add_stats(struct text *b, const struct rec *r, const struct rec_buffer *buf)
{
	char head[80];
	int cpu;

	if (!buf->stats)
		return;
	if (*buf->label) {
		snprintf(head, sizeof(head), "\nBuffer: %s\n\n", buf->label);
		add_option(b, OPTION_CPUSTAT, head, strlen(head) + 1);
	}
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		struct text text = {};
		char title[24];

		if (!buf->stats[cpu])
			continue;
		/* as trace-cmd writes it: the CPU, then the lines of the file */
		text_add_bytes(&text, title, snprintf(title, sizeof(title), "CPU: %d\n", cpu));
		add_string(&text, buf->stats[cpu]);
		add_option(b, OPTION_CPUSTAT, text.v, text.nr);
		free(text.v);
	}
}

/* Add all from the names of tasks to the data; @instance_at: offset of the instance's part. */
static void add_options(struct text *b, const struct rec *r, uint64_t instance_at)
{
	const struct rec_buffer *maps = &r->buf[BUF_MAPS];
	struct text option = {};
	struct utsname u;
	char text[512];

	add4(b, r->nr_cpus);
	text_add_bytes(b, "options  ", 10);
	add_stats(b, r, &r->buf[BUF_EVENTS]);
	if (maps->recorded)
		add_stats(b, r, maps);
	/* readers look for the clock in brackets, as in the file trace_clock */
	snprintf(text, sizeof(text), "[%s]", r->opts.clock);
	/* the clock of a left recording is not known if its instance is gone */
	if (*r->opts.clock)
		add_option(b, OPTION_TRACECLOCK, text, strlen(text) + 1);
	if (!uname(&u)) {
		snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release,
			 u.machine);
		add_option(b, OPTION_UNAME, text, strlen(text) + 1);
	}
	add_option(b, OPTION_VERSION, "trace-ustack", sizeof("trace-ustack"));
	if (r->id)
		add_option(b, OPTION_TRACEID, &r->id, sizeof(r->id));
	if (maps->recorded) {
		add8(&option, instance_at);
		add_string(&option, maps->label);
		add_option(b, OPTION_BUFFER, option.v, option.nr);
		free(option.v);
	}
	add2(b, OPTION_DONE);
}

/* --------------------------------- data ---------------------------------- */

int dat_lay_out(const struct rec *r, int buffer, uint64_t at, struct dat_layout *l)
{
	uint64_t page = r->page_size;
	char path[PATH_MAX];
	struct stat st;
	int cpu;

	l->size = calloc(r->nr_cpus, sizeof(*l->size));
	if (!l->size)
		return -ENOMEM;
	l->data = at + 10 + 16ull * r->nr_cpus;
	l->data += -l->data % page;
	l->end = l->data;
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		rec_get_raw_path(r, buffer, cpu, path);
		/* a disk that got full may have cut a page */
		if (!stat(path, &st))
			l->size[cpu] = st.st_size / page * page;
		l->end += l->size[cpu];
	}
	return 0;
}

static void add_table(struct text *b, const struct rec *r, const struct dat_layout *l)
{
	uint64_t at = l->data;
	int cpu;

	text_add_bytes(b, "flyrecord", 10);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		add8(b, at);
		add8(b, l->size[cpu]);
		at += l->size[cpu];
	}
}

/* Open @path; *@from is the offset of the first data that was not moved. */
static int open_raw(const char *path, uint64_t *from)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	off_t at = fd < 0 ? -1 : lseek(fd, 0, SEEK_DATA);

	if (fd < 0)
		return -1;
	/* ENXIO: only a hole is left; any other error: a file system without holes */
	if (at < 0 && errno == ENXIO)
		at = lseek(fd, 0, SEEK_END);
	*from = at < 0 ? 0 : at;
	return fd;
}

struct move {
	char *piece;
	uint64_t done, total;		/* bytes of the CPUs before; of all CPUs */
};

/* 0, -errno if a write to the file fails, or an exit code after printing the error. */
static int move_cpu(struct rec *r, const char *path, uint64_t size, uint64_t at,
		    const struct move *move)
{
	uint64_t from;
	int fd = open_raw(path, &from), ret = 0;
	ssize_t n;

	/* if the file is gone, its data was moved */
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0) {
		tool_error("%s: %s", path, strerror(errno));
		return TOOL_OUTPUT;
	}
	for (; from < size; from += n) {
		n = pread(fd, move->piece, size - from < PIECE ? size - from : PIECE, from);
		if (n <= 0) {
			tool_error("%s: %s", path, n ? strerror(errno) : "it is too short");
			ret = TOOL_OUTPUT;
			break;
		}
		ret = fd_pwrite_all(r->out_fd, move->piece, n, at + from);
		if (ret)
			break;
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, n);
		if (!r->opts.quiet)
			tool_show_progress("writing", move->done + from, move->total);
	}
	close(fd);
	if (!ret)
		unlink(path);
	return ret;
}

static int move_data(struct rec *r, int buffer, const struct dat_layout *l, struct move *move)
{
	char path[PATH_MAX];
	uint64_t at = l->data;
	int cpu, ret = 0;

	move->piece = malloc(PIECE);
	if (!move->piece)
		return tool_report_no_memory();
	for (cpu = 0; cpu < r->nr_cpus && !ret; cpu++) {
		rec_get_raw_path(r, buffer, cpu, path);
		if (l->size[cpu])
			ret = move_cpu(r, path, l->size[cpu], at, move);
		else
			unlink(path);
		at += l->size[cpu];
		move->done += l->size[cpu];
	}
	free(move->piece);
	return ret;
}

/* Print the error, and what happens to the recording. */
static int print_unfinished(const struct rec *r, int error)
{
	if (error < 0)
		tool_error("%s: %s; the recording is in this file and next to it: make room, then "
			   "trace-ustack check --repair %s completes it", r->part, strerror(-error),
			   r->part);
	return error < 0 ? TOOL_OUTPUT : error;
}

/* Does the file have its final name already? Its process may have been killed after that. */
static bool has_final_name(const struct rec *r)
{
	struct stat file, named;

	return !fstat(r->out_fd, &file) && !stat(r->opts.out, &named) &&
	       file.st_dev == named.st_dev && file.st_ino == named.st_ino;
}

int dat_move_data(struct rec *r, struct dat_layout *top, struct dat_layout *maps)
{
	struct move move = {
		.total = top->end - top->data + (maps ? maps->end - maps->data : 0),
	};
	struct text b = {};
	int ret;

	ret = move_data(r, BUF_EVENTS, top, &move);
	if (!ret && maps) {
		text_add_bytes(&b, "options  ", 10);
		add2(&b, OPTION_DONE);
		add_table(&b, r, maps);
		ret = b.failed ? -ENOMEM : fd_pwrite_all(r->out_fd, b.v, b.nr, top->end);
		if (!ret)
			ret = move_data(r, BUF_MAPS, maps, &move);
		free(b.v);
	}
	/* give back the reserved room */
	if (!ret && ftruncate(r->out_fd, maps ? maps->end : top->end))
		ret = -errno;
	tool_end_progress();
	if (!ret)
		unlink_stacks(r);
	ret = print_unfinished(r, ret);
	if (!ret && !has_final_name(r) && rename(r->part, r->opts.out)) {
		tool_error("%s: %s; the recording is in %s", r->opts.out, strerror(errno), r->part);
		ret = TOOL_OUTPUT;
	}
	r->buf[BUF_EVENTS].data = top->data;
	r->buf[BUF_EVENTS].size = top->size;
	if (maps) {
		r->buf[BUF_MAPS].data = maps->data;
		r->buf[BUF_MAPS].size = maps->size;
	}
	return ret;
}

int dat_finish(struct rec *r)
{
	struct dat_layout top = {}, maps = {};
	bool instance = r->buf[BUF_MAPS].recorded;
	struct text names = {}, options = {}, b = {};
	uint64_t head = r->shared->header_end;
	int ret = -ENOMEM;

	/* an option holds the offset of the instance: compute the sizes first */
	names_add_section(&names, r);
	add_options(&options, r, 0);
	if (names.failed || options.failed || dat_lay_out(r, BUF_EVENTS, head + names.nr +
							  options.nr, &top))
		goto out;
	if (instance && dat_lay_out(r, BUF_MAPS, top.end + DAT_MAPS_HEAD, &maps))
		goto out;
	text_add_bytes(&b, names.v, names.nr);
	add_options(&b, r, top.end);
	if (b.failed || b.nr != names.nr + options.nr)
		goto out;
	add_table(&b, r, &top);
	if (!b.failed)
		ret = fd_pwrite_all(r->out_fd, b.v, b.nr, head);
out:
	free(names.v);
	free(options.v);
	free(b.v);
	if (!ret)
		return dat_move_data(r, &top, instance ? &maps : NULL);
	free(top.size);
	free(maps.size);
	return print_unfinished(r, ret);
}

void dat_discard(struct rec *r)
{
	if (r->out_fd < 0)
		return;
	unlink(r->part);
	unlink_raw(r);
	unlink_stacks(r);
}
