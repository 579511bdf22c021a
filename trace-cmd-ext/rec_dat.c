// SPDX-License-Identifier: GPL-2.0
/*
 * rec_dat - the trace.dat file
 *
 * Version 6, which every trace-cmd and KernelShark reads, as trace-cmd.dat.v6(5) describes it:
 * formats of events, symbols of the kernel, names of tasks; then options, and the pages of the
 * ring buffers, CPU by CPU. The events are in the top buffer, so that reports show them without
 * the name of an instance; the records of mappings are in an instance "maps".
 *
 * The head is written before the recording, and room for the rest is kept, so that a disk that
 * gets full in between ends the recording but leaves it readable: data is moved to the file piece
 * by piece, and each piece given back. The file has another name (FILE.part) until it is complete.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "rec.h"

/* As the format numbers them */
enum {
	OPTION_DONE, OPTION_DATE, OPTION_CPUSTAT, OPTION_BUFFER, OPTION_TRACECLOCK, OPTION_UNAME,
	OPTION_HOOK, OPTION_OFFSET, OPTION_CPUCOUNT, OPTION_VERSION, OPTION_PROCMAPS,
	OPTION_TRACEID,
};

#define PIECE		(4u << 20)	/* moved at a time */
/* Kept free for names, options and a piece. */
#define ROOM		(2 * PIECE)

/* ------------------------------- a buffer -------------------------------- */

struct bytes {
	char *s;
	size_t len, room;
	bool failed;			/* no memory */
};

static void add(struct bytes *b, const void *data, size_t len)
{
	size_t room = b->room ? b->room : 4096;
	char *bigger;

	while (room - b->len < len)
		room *= 2;
	if (room != b->room) {
		bigger = realloc(b->s, room);
		if (!bigger) {
			b->failed = true;
			return;
		}
		b->s = bigger;
		b->room = room;
	}
	memcpy(b->s + b->len, data, len);
	b->len += len;
}

static void add2(struct bytes *b, uint16_t n)
{
	add(b, &n, sizeof(n));
}

static void add4(struct bytes *b, uint32_t n)
{
	add(b, &n, sizeof(n));
}

static void add8(struct bytes *b, uint64_t n)
{
	add(b, &n, sizeof(n));
}

static void add_string(struct bytes *b, const char *s)
{
	add(b, s, strlen(s) + 1);
}

/* A file of tracefs with its size in front; nothing of it if it cannot be read. */
static bool add_file(struct bytes *b, const char *file, unsigned int size_bytes)
{
	size_t len = 0;
	char *text = *file == '/' ? rt_read_path(file, &len) : rt_read(NULL, file, &len);

	if (size_bytes == 8)
		add8(b, len);
	else
		add4(b, len);
	if (text)
		add(b, text, len);
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
		why = "it is there and no regular file";
	if (why) {
		cmd_error("%s: %s; name another one with -o", r->opts.out, why);
		return CMD_OUTPUT;
	}
	if (getrandom(&r->id, sizeof(r->id), GRND_NONBLOCK) != sizeof(r->id))
		r->id = 0;
	snprintf(r->part, sizeof(r->part), "%s.part%d", r->opts.out, (int)getpid());
	unlink(r->part);
	r->out = open(r->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (r->out < 0) {
		cmd_error("%s: %s; name another one with -o", r->opts.out, strerror(errno));
		return CMD_OUTPUT;
	}
	return 0;
}

static void add_ftrace_formats(struct bytes *b)
{
	char **names = tracefs_system_events(tracefs_tracing_dir(), "ftrace"), file[PATH_MAX];
	size_t at = b->len, i;
	uint32_t nr = 0;

	add4(b, 0);
	for (i = 0; names && names[i]; i++) {
		snprintf(file, sizeof(file), "events/ftrace/%s/format", names[i]);
		if (!rt_exists(file))
			continue;
		add_file(b, file, 8);
		nr++;
	}
	if (!b->failed)
		memcpy(b->s + at, &nr, sizeof(nr));
	tracefs_list_free(names);
}

/* The events that are recorded; they lie in the order of their systems. */
static void add_formats(struct bytes *b, const struct rec *r)
{
	uint32_t systems = 0;
	size_t i, end, k;
	char file[PATH_MAX];

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
}

static int write_all(struct rec *r, const void *data, size_t len, uint64_t at)
{
	ssize_t n;

	while (len) {
		n = pwrite(r->out, data, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			cmd_error("%s: %s", r->part, n ? strerror(errno) : "nothing is written");
			return CMD_OUTPUT;
		}
		data = (const char *)data + n;
		len -= n;
		at += n;
	}
	return 0;
}

int dat_head(struct rec *r)
{
	static const char magic[] = "\x17\x08\x44tracing6";
	struct bytes b = {};
	const uint16_t one = 1;
	int ret;

	add(&b, magic, sizeof(magic));
	add(&b, *(const char *)&one ? "\0" : "\1", 1);
	add(&b, (char[]){ sizeof(long) }, 1);
	add4(&b, r->page_size);
	add_string(&b, "header_page");
	if (!add_file(&b, "events/header_page", 8))
		goto unreadable;
	add_string(&b, "header_event");
	if (!add_file(&b, "events/header_event", 8))
		goto unreadable;
	add_ftrace_formats(&b);
	add_formats(&b, r);
	add_file(&b, "/proc/kallsyms", 4);
	add_file(&b, "printk_formats", 4);
	if (b.failed) {
		cmd_error("not enough memory for the formats of the events");
		free(b.s);
		return CMD_FAIL;
	}
	ret = write_all(r, b.s, b.len, 0);
	/* EOPNOTSUPP: the file system cannot keep room */
	if (!ret && fallocate(r->out, FALLOC_FL_KEEP_SIZE, b.len, ROOM) && errno == ENOSPC) {
		cmd_error("%s: %s; make room, or put the file elsewhere with -o", r->opts.out,
			  strerror(errno));
		ret = CMD_OUTPUT;
	}
	r->shared->head_end = b.len;
	free(b.s);
	return ret;

unreadable:
	cmd_error("%s/events: the layout of its pages cannot be read: %s", tracefs_tracing_dir(),
		  strerror(errno));
	free(b.s);
	return CMD_FAIL;
}

/* ------------------------------ names of tasks --------------------------- */

static void add_comm(struct bytes *b, const char *tid)
{
	char path[64], line[64], comm[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.16s/comm", tid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(comm, sizeof(comm), f)) {
		comm[strcspn(comm, "\n")] = '\0';
		add(b, line, snprintf(line, sizeof(line), "%.16s %s\n", tid, comm));
	}
	fclose(f);
}

static void add_threads(struct bytes *b, const char *pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_comm(b, d->d_name);
	if (dir)
		closedir(dir);
}

char *dat_comms(void)
{
	DIR *dir = opendir("/proc");
	struct bytes b = {};
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_threads(&b, d->d_name);
	if (dir)
		closedir(dir);
	add(&b, "", 1);
	if (!b.failed)
		return b.s;
	free(b.s);
	return NULL;
}

struct comm {
	long tid;
	size_t order;			/* where it stood: the later, the better */
	const char *name;
	size_t len;
};

static int by_tid(const void *a, const void *b)
{
	const struct comm *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->order > y->order ? -1 : x->order < y->order;
}

/*
 * The kernel remembers the names of the tasks that recorded something, of the last few hundred or
 * thousand. Those that run at the beginning or the end have theirs in /proc. Of several names of
 * a task the kernel's wins.
 */
static void add_comms(struct bytes *b, const struct rec *r)
{
	char *now = dat_comms(), *saved = rt_read(NULL, "saved_cmdlines", NULL), *line, *end;
	char *text[] = { r->comms, now, saved };
	struct comm *comm = NULL, *bigger;
	size_t i, nr = 0, room = 0, at = b->len, len;

	for (i = 0; i < 3; i++) {
		for (line = text[i]; line && *line; line = *end ? end + 1 : end) {
			end = line + strcspn(line, "\n");
			if (nr == room) {
				room = room ? 2 * room : 256;
				bigger = realloc(comm, room * sizeof(*comm));
				if (!bigger)
					goto out;
				comm = bigger;
			}
			comm[nr].tid = strtol(line, &line, 10);
			comm[nr].order = nr;
			comm[nr].name = line;
			comm[nr].len = end - line;
			nr += *line == ' ' && end - line > 1 && memcmp(line, " <...>", 6);
		}
	}
out:
	qsort(comm, nr, sizeof(*comm), by_tid);
	add8(b, 0);
	for (i = 0; i < nr; i++) {
		char number[24];

		if (i && comm[i].tid == comm[i - 1].tid)
			continue;
		add(b, number, sprintf(number, "%ld", comm[i].tid));
		add(b, comm[i].name, comm[i].len);
		add(b, "\n", 1);
	}
	len = b->len - at - 8;
	if (!b->failed)
		memcpy(b->s + at, &len, 8);
	free(comm);
	free(now);
	free(saved);
}

/* -------------------------------- options -------------------------------- */

static void add_option(struct bytes *b, uint16_t id, const void *data, size_t len)
{
	add2(b, id);
	add4(b, len);
	add(b, data, len);
}

static void add_stats(struct bytes *b, const struct rec *r, const struct rec_buffer *buf)
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
		struct bytes text = {};
		char title[24];

		if (!buf->stats[cpu])
			continue;
		/* as trace-cmd has it: the file's lines, below the CPU */
		add(&text, title, snprintf(title, sizeof(title), "CPU: %d\n", cpu));
		add_string(&text, buf->stats[cpu]);
		add_option(b, OPTION_CPUSTAT, text.s, text.len);
		free(text.s);
	}
}

/* What is behind the names of tasks, up to the data; @instance_at: where the instance's part is. */
static void add_options(struct bytes *b, const struct rec *r, uint64_t instance_at)
{
	char *clock = rt_read(NULL, "trace_clock", NULL), text[512], *at;
	const struct rec_buffer *maps = &r->buf[REC_MAPS];
	struct bytes option = {};
	struct utsname u;

	add4(b, r->nr_cpus);
	add(b, "options  ", 10);
	add_stats(b, r, &r->buf[REC_EVENTS]);
	if (maps->stream)
		add_stats(b, r, maps);
	/* the file of the top instance with the brackets moved to our clock */
	for (at = clock; at && *at; at++)
		if (*at == '[' || *at == ']')
			*at = ' ';
	snprintf(text, sizeof(text), "[%s]", r->opts.clock);
	add_option(b, OPTION_TRACECLOCK, text, strlen(text) + 1);
	free(clock);
	if (!uname(&u)) {
		snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename, u.release,
			 u.machine);
		add_option(b, OPTION_UNAME, text, strlen(text) + 1);
	}
	add_option(b, OPTION_VERSION, "trace-ustack", sizeof("trace-ustack"));
	if (r->id)
		add_option(b, OPTION_TRACEID, &r->id, sizeof(r->id));
	if (maps->stream) {
		add8(&option, instance_at);
		add_string(&option, maps->label);
		add_option(b, OPTION_BUFFER, option.s, option.len);
		free(option.s);
	}
	add2(b, OPTION_DONE);
}

/* --------------------------------- data ---------------------------------- */

struct layout {
	uint64_t at;			/* "flyrecord" */
	uint64_t data;			/* the first page */
	uint64_t end;
	uint64_t *size;			/* one a CPU */
};

static int lay_out(const struct rec *r, int buffer, uint64_t at, struct layout *l)
{
	uint64_t page = r->page_size;
	char path[PATH_MAX];
	struct stat st;
	int cpu;

	l->at = at;
	l->size = calloc(r->nr_cpus, sizeof(*l->size));
	if (!l->size)
		return -ENOMEM;
	l->data = at + 10 + 16ull * r->nr_cpus;
	l->data += -l->data % page;
	l->end = l->data;
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		rec_raw_path(r, buffer, cpu, path);
		/* a disk that got full may have cut a page */
		if (!stat(path, &st))
			l->size[cpu] = st.st_size / page * page;
		l->end += l->size[cpu];
	}
	return 0;
}

static void add_table(struct bytes *b, const struct rec *r, const struct layout *l)
{
	uint64_t at = l->data;
	int cpu;

	add(b, "flyrecord", 10);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		add8(b, at);
		add8(b, l->size[cpu]);
		at += l->size[cpu];
	}
}

static int move_data(struct rec *r, int buffer, const struct layout *l, uint64_t done,
		     uint64_t total)
{
	char path[PATH_MAX], *piece = malloc(PIECE);
	uint64_t at = l->data, from;
	int cpu, fd, ret = 0;
	ssize_t n;

	if (!piece) {
		cmd_error("not enough memory");
		return CMD_FAIL;
	}
	for (cpu = 0; cpu < r->nr_cpus && !ret; cpu++) {
		rec_raw_path(r, buffer, cpu, path);
		fd = l->size[cpu] ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
		for (from = 0; !ret && from < l->size[cpu]; from += n, at += n, done += n) {
			size_t len = l->size[cpu] - from < PIECE ? l->size[cpu] - from : PIECE;

			n = fd < 0 ? -1 : pread(fd, piece, len, from);
			if (n <= 0) {
				cmd_error("%s: %s", path, strerror(errno));
				ret = CMD_OUTPUT;
				break;
			}
			ret = write_all(r, piece, n, at);
			fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, n);
			if (!r->opts.quiet)
				cmd_progress("writing", done, total);
		}
		if (fd >= 0)
			close(fd);
		if (!ret)
			unlink(path);
	}
	free(piece);
	return ret;
}

static void unlink_raw(const struct rec *r)
{
	char path[PATH_MAX];
	int i, cpu;

	for (i = 0; i < REC_NR_BUFFERS; i++) {
		for (cpu = 0; cpu < r->nr_cpus; cpu++) {
			rec_raw_path(r, i, cpu, path);
			unlink(path);
		}
	}
}

int dat_finish(struct rec *r)
{
	struct layout top = {}, maps = {};
	bool instance = r->buf[REC_MAPS].stream;
	struct bytes names = {}, options = {}, b = {};
	uint64_t head = r->shared->head_end, total;
	int ret = CMD_FAIL;

	/* an option holds the offset of the instance: sizes first */
	add_comms(&names, r);
	add_options(&options, r, 0);
	if (names.failed || options.failed || lay_out(r, REC_EVENTS, head + names.len +
						      options.len, &top))
		goto no_memory;
	if (instance && lay_out(r, REC_MAPS, top.end + 10 + 2, &maps))
		goto no_memory;
	add(&b, names.s, names.len);
	add_options(&b, r, top.end);
	if (b.failed || b.len != names.len + options.len)
		goto no_memory;
	add_table(&b, r, &top);
	ret = write_all(r, b.s, b.len, head);
	total = top.end - top.data + (instance ? maps.end - maps.data : 0);
	if (!ret)
		ret = move_data(r, REC_EVENTS, &top, 0, total);
	b.len = 0;
	if (!ret && instance) {
		add(&b, "options  ", 10);
		add2(&b, OPTION_DONE);
		add_table(&b, r, &maps);
		ret = write_all(r, b.s, b.len, top.end);
		if (!ret)
			ret = move_data(r, REC_MAPS, &maps, top.end - top.data, total);
	}
	/* gives back the room that was kept */
	if (!ret && ftruncate(r->out, instance ? maps.end : top.end)) {
		cmd_error("%s: %s", r->part, strerror(errno));
		ret = CMD_OUTPUT;
	}
	if (!ret && rename(r->part, r->opts.out)) {
		cmd_error("%s: %s; the recording is in %s", r->opts.out, strerror(errno), r->part);
		ret = CMD_OUTPUT;
	}
	r->buf[REC_EVENTS].data = top.data;
	r->buf[REC_EVENTS].size = top.size;
	r->buf[REC_MAPS].data = maps.data;
	r->buf[REC_MAPS].size = maps.size;
	goto out;
no_memory:
	cmd_error("not enough memory; the recording is in %s.cpu*", r->part);
out:
	cmd_progress_end();
	free(names.s);
	free(options.s);
	free(b.s);
	return ret;
}

void dat_discard(struct rec *r)
{
	if (r->out < 0)
		return;
	unlink(r->part);
	unlink_raw(r);
}
