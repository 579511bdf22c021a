// SPDX-License-Identifier: GPL-2.0
/*
 * fake_tracefs - a preloaded library: a directory behaves like tracefs
 *
 * DIR is FAKE_TRACEFS in the environment.
 *
 * ioctl() of the file user_unwind_tables accepts every table. With FAKE_ADD_MS=N it takes N ms for
 * the table of a file in a directory "known", and appends a line for each file to DIR/added: "0"
 * until it has seen an instance trace, then "1"; and the file's path.
 *
 * mkdir() in DIR/tracing/instances fills the new directory from DIR/instance, or DIR/instance.maps;
 * rmdir() removes the directory with all its files. With FAKE_BUSY=N the first N calls of rmdir()
 * fail, as they do while someone reads the instance. With FAKE_SLOW=N a mkdir() takes N more
 * seconds after it has made all files, and DIR/slow says so.
 *
 * With FAKE_LAST=1, splice() leaves the last page of trace_pipe_raw, as if it was not full: read()
 * takes it. With FAKE_NO_LOCK=1, no instance can be locked.
 *
 * /proc/kallsyms is DIR/kallsyms if that exists: the kernel's own changes while tests run.
 *
 * All files: with FAKE_FULL=N, pwrite() finds no room after the first N bytes of a file. With
 * FAKE_STALL=N, the first pwrite() that goes further than N bytes takes forever, and DIR/stalled
 * says so. With FAKE_STALL=rename, the first rename() renames the file and then takes forever.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libunwind-user/abi/abi.h"

static int is_instance(const char *path)
{
	const char *dir = getenv("FAKE_TRACEFS");
	char prefix[4096];
	size_t len;

	if (!dir)
		return 0;
	len = snprintf(prefix, sizeof(prefix), "%s/tracing/instances/", dir);
	return !strncmp(path, prefix, len) && path[len] && !strchr(path + len, '/');
}

int open(const char *path, int flags, ...)
{
	int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	const char *dir = getenv("FAKE_TRACEFS");
	char own[4096];
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (dir && !strcmp(path, "/proc/kallsyms")) {
		snprintf(own, sizeof(own), "%s/kallsyms", dir);
		if (!access(own, R_OK))
			path = own;
	}
	return next(path, flags, mode);
}

static int run_command(const char *const *argv)
{
	pid_t pid = fork();
	struct rlimit size;
	int status;

	if (!pid) {
		/* a limit is for the recorder */
		getrlimit(RLIMIT_FSIZE, &size);
		size.rlim_cur = size.rlim_max;
		setrlimit(RLIMIT_FSIZE, &size);
		unsetenv("LD_PRELOAD");
		execv(argv[0], (char **)argv);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int mkdir(const char *path, mode_t mode)
{
	int (*real)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
	size_t len = strlen(path);
	char from[4096];

	if (real(path, mode))
		return -1;
	if (!is_instance(path))
		return 0;
	snprintf(from, sizeof(from), "%s/instance%s/.", getenv("FAKE_TRACEFS"),
		 len > 5 && !strcmp(path + len - 5, ".maps") ? ".maps" : "");
	run_command((const char *const[]){ "/bin/cp", "-r", from, path, NULL });
	if (getenv("FAKE_SLOW")) {
		snprintf(from, sizeof(from), "%s/slow", getenv("FAKE_TRACEFS"));
		real(from, mode);
		sleep(atoi(getenv("FAKE_SLOW")));
	}
	return 0;
}

int rmdir(const char *path)
{
	int (*real)(const char *) = dlsym(RTLD_NEXT, "rmdir");
	static int calls;

	if (!is_instance(path))
		return real(path);
	if (getenv("FAKE_BUSY") && calls++ < atoi(getenv("FAKE_BUSY"))) {
		errno = EBUSY;
		return -1;
	}
	run_command((const char *const[]){ "/bin/rm", "-rf", path, NULL });
	return 0;
}

/* The path that is open at @fd */
static void path_of(int fd, char path[4096])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, 4095);
	path[n < 0 ? 0 : n] = '\0';
}

int flock(int fd, int operation)
{
	int (*real)(int, int) = dlsym(RTLD_NEXT, "flock");
	char path[4096];

	path_of(fd, path);
	if (!getenv("FAKE_NO_LOCK") || !is_instance(path))
		return real(fd, operation);
	errno = ENOLCK;
	return -1;
}

ssize_t splice(int in, off_t *off_in, int out, off_t *off_out, size_t len, unsigned int flags)
{
	ssize_t (*real)(int, off_t *, int, off_t *, size_t, unsigned int) =
		dlsym(RTLD_NEXT, "splice");
	char path[4096];
	struct stat st;
	off_t full;

	path_of(in, path);
	if (getenv("FAKE_LAST") && strstr(path, "/trace_pipe_raw") && !fstat(in, &st)) {
		full = st.st_size - 4096 - lseek(in, 0, SEEK_CUR);
		if (full <= 0) {
			errno = EAGAIN;
			return -1;
		}
		if ((off_t)len > full)
			len = full;
	}
	return real(in, off_in, out, off_out, len, flags);
}

static int is_tracing(const char *dir)
{
	char pattern[4096], state = '0';
	glob_t g;
	size_t i;
	FILE *f;

	snprintf(pattern, sizeof(pattern), "%s/tracing/instances/*/tracing_on", dir);
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc && state != '1'; i++) {
		f = fopen(g.gl_pathv[i], "re");
		if (f && fread(&state, 1, 1, f) != 1)
			state = '0';
		if (f)
			fclose(f);
	}
	globfree(&g);
	return state == '1';
}

static void note_table(const struct unwind_table_file *arg)
{
	const char *dir = getenv("FAKE_TRACEFS"), *ms = getenv("FAKE_ADD_MS");
	char path[4096], log[4096];
	static int tracing;
	FILE *f;

	if (!dir || !ms)
		return;
	path_of(arg->fd, path);
	if (strstr(path, "/known/"))
		usleep(atoi(ms) * 1000);
	tracing |= is_tracing(dir);
	snprintf(log, sizeof(log), "%s/added", dir);
	f = fopen(log, "ae");
	if (!f)
		return;
	fprintf(f, "%d %s\n", tracing, path);
	fclose(f);
}

int ioctl(int fd, unsigned long request, ...)
{
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	char path[4096];
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	path_of(fd, path);
	if (!strstr(path, "/tracing/user_unwind_tables"))
		return real(fd, request, arg);
	note_table(arg);
	return 0;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
	const char *full = getenv("FAKE_FULL"), *stall = getenv("FAKE_STALL");
	char path[4096];

	if (full && at + (off_t)len > atoll(full)) {
		errno = ENOSPC;
		return -1;
	}
	snprintf(path, sizeof(path), "%s/stalled", getenv("FAKE_TRACEFS"));
	/* once only */
	if (stall && isdigit(*stall) && at + (off_t)len > atoll(stall) && !mkdir(path, 0755))
		pause();
	return real(fd, data, len, at);
}

int rename(const char *from, const char *to)
{
	int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
	const char *stall = getenv("FAKE_STALL");
	int ret = real(from, to);
	char path[4096];

	snprintf(path, sizeof(path), "%s/stalled", getenv("FAKE_TRACEFS"));
	if (stall && !strcmp(stall, "rename") && !mkdir(path, 0755))
		pause();
	return ret;
}
