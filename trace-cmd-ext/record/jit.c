// SPDX-License-Identifier: GPL-2.0
/*
 * jit.c - keep the symbols of JIT code
 *
 * No file has such code. Its compiler writes the places of its functions to /tmp/perf-PID.map,
 * which is valid only while the process lives, and on this machine. The recorder copies the maps of
 * traced processes to FILE.jit/perf-PID.map, where PID is the process's number in the recording.
 * FILE.jit/index says from which time on each map counts (plugin/join/jit.h).
 *
 * A map must be the work of the recorded process: PIDs are used again, and files in /tmp stay. So:
 *
 *  - PIDs here are those of the recording: rec_tracefs_in_other_pid_namespace().
 *  - The map was made after the process started. On a file system that keeps no time of birth, no
 *    map counts.
 *  - The map counts from its birth on. Before that, another process may have had the PID, or this
 *    process may have run another program before its exec. A map that existed before the recording
 *    started counts for the whole recording.
 *  - A process that is gone must have been the only process with its PID during the recording. PIDs
 *    are given in a circle: those given meanwhile lie between the last one before and the last one
 *    now, if there were not too many for that. A PID among these that was also in use at the start
 *    may have belonged to two processes.
 *  - If a map existed at the start, find_map_owners() checked then that it was made after its
 *    process started. For a process that is gone when the recording ends, this check counts.
 *  - Anyone can put a file into /tmp: the map must be a regular file of the process's user or of
 *    root. If the process is gone, and with it its user, the file must belong to the recorder's
 *    user or to root.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"

#define MAX_BYTES	(128ull << 20)	/* what libunwind-user/symbols/perfmap.c reads */

#define RESERVED_PIDS	300		/* PIDs below this are given out once: kernel/pid.c */
/* Start times count ticks of 10 ms, and times of files are as old as the last tick. */
#define START_SLACK	(20 * NS_PER_SECOND / 1000)

/* The state when the recording started. */
struct rec_jit {
	uint64_t start_time;			/* CLOCK_REALTIME, ns */
	uint64_t forks;			/* since the machine started */
	uint32_t last_pid;
	uint32_t *owner;		/* processes whose maps are theirs */
	size_t nr_owners;
};

/* ---- numbers of processes ---- */

static uint64_t read_number(const char *path, const char *label)
{
	char *text = rec_tracefs_read_path(path, NULL), *at = text ? strstr(text, label) : NULL;
	uint64_t n = at ? strtoull(at + strlen(label), NULL, 10) : 0;

	free(text);
	return n;
}

/* The newest PID: the last word of /proc/loadavg. */
static uint32_t read_last_pid(void)
{
	char *text = rec_tracefs_read_path("/proc/loadavg", NULL);
	char *at = text ? strrchr(text, ' ') : NULL;
	uint32_t n = at ? strtoul(at, NULL, 10) : 0;

	free(text);
	return n;
}

static bool was_running(const struct rec *r, uint32_t pid)
{
	char line[16];
	size_t len = snprintf(line, sizeof(line), "%u ", pid);
	const char *at;

	for (at = r->comms; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, line, len))
			return true;
	return false;
}

/* Did only one process have this PID while recording? */
static bool had_one_process(const struct rec *r, uint32_t pid)
{
	uint64_t max = read_number("/proc/sys/kernel/pid_max", ""), tasks = 0;
	uint64_t forks = read_number("/proc/stat", "\nprocesses ") - r->jit->forks;
	uint32_t from = r->jit->last_pid, to = read_last_pid();
	const char *at;

	for (at = r->comms; at && *at; at++)
		tasks += *at == '\n';
	/* each fork takes a PID and skips those in use, which are a few for each task */
	if (!r->comms || !from || !to || forks + 4 * tasks + RESERVED_PIDS >= max)
		return false;
	if (from <= to ? pid <= from || pid > to : pid <= from && pid > to)
		return true;
	return !was_running(r, pid);
}

/* ---- whose map it is ---- */

struct process {
	bool lives;
	uint32_t inner;			/* its PID in its own namespace */
	uid_t uid;
	uint64_t start;			/* CLOCK_REALTIME, ns; at most 20 ms early */
};

static void read_process(uint32_t tgid, struct process *p)
{
	char path[64], *text, *at;
	uint64_t ticks;
	int i;

	*p = (struct process){ .inner = tgid, .uid = geteuid() };
	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	text = rec_tracefs_read_path(path, NULL);
	if (!text)
		return;
	at = strstr(text, "\nUid:");
	p->uid = at ? strtoul(at + 5, NULL, 10) : (uid_t)-1;
	at = strstr(text, "\nNSpid:");
	if (at) {
		at += 7;
		at[strcspn(at, "\n")] = '\0';
		while (*at)
			p->inner = strtoul(at, &at, 10);
	}
	free(text);
	/* proc(5): the 22nd word is its start, counted from the name in parentheses */
	snprintf(path, sizeof(path), "/proc/%u/stat", tgid);
	text = rec_tracefs_read_path(path, NULL);
	at = text ? strrchr(text, ')') : NULL;
	for (i = 2; at && i < 22; i++)
		at = strchr(at + 1, ' ');
	if (at) {
		ticks = strtoull(at, NULL, 10);
		p->start = clock_get_ns(CLOCK_REALTIME) - clock_get_ns(CLOCK_BOOTTIME) +
			   ticks * NS_PER_SECOND / sysconf(_SC_CLK_TCK) - START_SLACK;
		p->lives = true;
	}
	free(text);
}

/* Open a regular file, not empty, that @p's user or root owns; @birth in ns, 0: not known. */
static int open_map(uint32_t tgid, const struct process *p, uint64_t *birth)
{
	char path[96];
	struct statx st;
	int fd;

	if (p->lives)
		snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", tgid, p->inner);
	else
		snprintf(path, sizeof(path), "/tmp/perf-%u.map", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &st) &&
	    S_ISREG(st.stx_mode) && st.stx_size && (st.stx_uid == p->uid || !st.stx_uid)) {
		*birth = st.stx_mask & STATX_BTIME ?
			 st.stx_btime.tv_sec * NS_PER_SECOND + st.stx_btime.tv_nsec : 0;
		return fd;
	}
	close(fd);
	return -1;
}

/* Find all processes with a map in /tmp; the end of the recording finds later maps. */
static void find_map_owners(struct rec_jit *j)
{
	DIR *dir = opendir("/tmp");
	struct dirent *e;
	struct process p;
	uint32_t pid, *owner;
	uint64_t birth;
	char end;
	int fd;

	while (dir && (e = readdir(dir))) {
		if (sscanf(e->d_name, "perf-%u.ma%c", &pid, &end) != 2)
			continue;
		read_process(pid, &p);
		fd = p.lives ? open_map(pid, &p, &birth) : -1;
		if (fd < 0)
			continue;
		close(fd);
		owner = birth >= p.start ? array_add(j->owner, j->nr_owners) : NULL;
		if (owner)
			*owner = pid;
	}
	if (dir)
		closedir(dir);
}

static bool owned_map_at_start(const struct rec_jit *j, uint32_t pid)
{
	size_t i;

	for (i = 0; i < j->nr_owners; i++)
		if (j->owner[i] == pid)
			return true;
	return false;
}

void rec_jit_start(struct rec *r)
{
	struct rec_jit *j = rec_tracefs_in_other_pid_namespace() ? NULL : calloc(1, sizeof(*j));

	if (!j)
		return;
	j->last_pid = read_last_pid();
	j->forks = read_number("/proc/stat", "\nprocesses ");
	/* file times use the coarse clock: by a finer clock, new files would seem older */
	j->start_time = clock_get_ns(CLOCK_REALTIME_COARSE);
	find_map_owners(j);
	r->jit = j;
}

/* A time of day as a time stamp of the recording; false if that is not known. */
static bool convert_to_clock(const struct rec *r, uint64_t ns, uint64_t *ts)
{
	static const struct {
		const char *name;
		clockid_t id;
	} clocks[] = {
		{ "mono", CLOCK_MONOTONIC }, { "boot", CLOCK_BOOTTIME },
		{ "mono_raw", CLOCK_MONOTONIC_RAW }, { "tai", CLOCK_TAI },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (strcmp(clocks[i].name, r->opts.clock))
			continue;
		*ts = clock_get_ns(clocks[i].id) - (clock_get_ns(CLOCK_REALTIME) - ns);
		return true;
	}
	return false;
}

/* Open the map of a process; *@from: the time from which it counts. -1: no valid map. */
static int open_valid_map(const struct rec *r, uint32_t tgid, uint64_t *from)
{
	struct process p;
	uint64_t birth;
	bool valid;
	int fd;

	read_process(tgid, &p);
	fd = open_map(tgid, &p, &birth);
	if (fd < 0)
		return -1;
	*from = 0;
	if (p.lives)
		valid = birth >= p.start;
	else
		valid = had_one_process(r, tgid) &&
			(birth >= r->jit->start_time || owned_map_at_start(r->jit, tgid));
	if (valid && birth >= r->jit->start_time)
		valid = convert_to_clock(r, birth, from);
	if (valid)
		return fd;
	close(fd);
	return -1;
}

static bool copy_map(int from, int dir, const char *name)
{
	int to = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	uint64_t done = 0;
	char buf[65536];
	ssize_t n = -1;

	if (to < 0)
		return false;
	while (done < MAX_BYTES && (n = read(from, buf, sizeof(buf))) > 0) {
		if (fd_write_all(to, buf, n)) {
			n = -1;
			break;
		}
		done += n;
	}
	close(to);
	if (n >= 0)
		return true;
	unlinkat(dir, name, 0);
	return false;
}

/* Open the directory, and make it first if needed; a descriptor, or -1. */
static int open_directory(const char *path)
{
	if (mkdir(path, 0755) && errno != EEXIST)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Remove the maps of an earlier recording with this name: they are of other processes. */
static void remove_old_maps(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, "perf-", 5) || !strcmp(e->d_name, "index"))
			unlinkat(dir, e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

/* Make FILE.jit/index; NULL with errno. */
static FILE *open_index(const struct rec *r, int dir)
{
	int fd = openat(dir, "index", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f)
		fprintf(f, "trace-ustack-jit 1 %016llx\n", (unsigned long long)r->id);
	return f;
}

size_t rec_jit_find_maps(const struct rec *r, const uint32_t *tgids, size_t nr,
			 struct rec_jit_map **maps)
{
	struct rec_jit_map *map;
	size_t i, nr_maps = 0;
	uint64_t from;
	int fd;

	*maps = NULL;
	for (i = 0; r->jit && i < nr; i++) {
		fd = open_valid_map(r, tgids[i], &from);
		if (fd < 0)
			continue;
		close(fd);
		map = array_add(*maps, nr_maps);
		if (!map)
			break;
		map->tgid = tgids[i];
		map->from = from;
	}
	return nr_maps;
}

void rec_jit_save_maps(struct rec *r, struct rec_jit_map *maps, size_t nr)
{
	char path[PATH_MAX + 8], name[32];
	FILE *index = NULL;
	int fd, dir = -1;
	size_t i;

	snprintf(path, sizeof(path), "%s.jit", r->opts.out);
	remove_old_maps(path);
	for (i = 0; i < nr; i++) {
		/* check again: the path may lead to another file by now */
		fd = open_valid_map(r, maps[i].tgid, &maps[i].from);
		if (fd < 0)
			continue;
		if (dir < 0)
			dir = open_directory(path);
		if (dir >= 0 && !index)
			index = open_index(r, dir);
		snprintf(name, sizeof(name), "perf-%u.map", maps[i].tgid);
		if (index && copy_map(fd, dir, name) &&
		    fprintf(index, "%u %llu\n", maps[i].tgid,
			    (unsigned long long)maps[i].from) > 0)
			maps[i].saved = true;
		else
			tool_error("%s/%s: %s; the names of functions that process %u compiled "
				   "are not saved", path, name, strerror(errno), maps[i].tgid);
		close(fd);
	}
	if (index && fclose(index))
		tool_error("%s/index: %s; the names of JIT code are not saved", path,
			   strerror(errno));
	if (dir >= 0)
		close(dir);
}

void rec_jit_stop(struct rec *r)
{
	if (r->jit)
		free(r->jit->owner);
	free(r->jit);
	r->jit = NULL;
}
