// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_files - damaged trace.dat files through libtracecmd, with and without the plugin
 *
 *	fuzz_files [-s SEED] [-k KEEP-DIR] COUNT FILE...
 *	fuzz_files -p FILE	only print it, with the plugin
 *
 * libtracecmd and libtraceevent have faults of their own with hostile files.
 * So the fuzzer prints each damaged file twice, each time in its own process:
 * first as trace-cmd report prints it without plugins, then with the plugin in
 * $TRACEEVENT_PLUGIN_DIR. A fault counts if the second process crashes, hangs
 * or is stopped by a sanitizer, and the first process is not. The fuzzer keeps
 * the file of such a fault. It only counts the faults of the first process.
 *
 * The damage: the fuzzer changes bits, bytes and words; it cuts out, doubles and
 * moves pieces; it cuts off the end. Half of the damage is anywhere in the file,
 * the other half in its last 12288 bytes, where the records are.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#define MAX_FILE	(1u << 20)
#define MAX_FILES	256
#define SECONDS		20

static uint64_t seed = 1;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? (seed >> 11) % n : 0;
}

static const uint32_t pointed[] = {
	0, 1, 0xff, 0x7f, 0x80, 0xffff, 0x7fff, 0x8000, 0xffffffff, 0x7fffffff, 0x80000000,
	4096, 4095, 8, 16, 0x40000000,
};

static size_t mutate(uint8_t *b, size_t len)
{
	int n = 1 + rnd(8);

	while (n--) {
		/* half of the damage is where records are: text takes most of a small file */
		size_t at = rnd(2) ? rnd(len) : len - 1 - rnd(len < 12288 ? len : 12288);
		size_t piece = 1 + rnd(64), to;
		uint32_t v;

		if (rnd(2))
			at &= ~3ul;
		switch (rnd(9)) {
		case 0:
			b[at] ^= 1 << rnd(8);
			break;
		case 1:
		case 2:
			b[at] = rnd(256);
			break;
		case 3:
		case 4:
			v = pointed[rnd(sizeof(pointed) / sizeof(*pointed))];
			if (at + 4 <= len)
				memcpy(b + at, &v, 4);
			break;
		case 5:
			if (at + 4 <= len) {
				memcpy(&v, b + at, 4);
				v += rnd(33) - 16;
				memcpy(b + at, &v, 4);
			}
			break;
		case 6:
			to = rnd(len);
			if (at + piece <= len && to + piece <= len)
				memmove(b + to, b + at, piece);
			break;
		case 7:
			if (at + piece < len && rnd(4) == 0) {
				memmove(b + at, b + at + piece, len - at - piece);
				len -= piece;
			}
			break;
		default:
			if (rnd(16) == 0 && len > 64)
				len = 16 + rnd(len - 16);
		}
	}
	return len;
}

static int print(struct tracecmd_input *handle, struct tep_record *rec, int cpu, void *data)
{
	struct tep_handle *tep = tracecmd_get_tep(handle);
	struct trace_seq s;

	(void)cpu;
	(void)data;
	trace_seq_init(&s);
	tep_print_event(tep, &s, rec, "%s-%d [%03d] %6.1000d %s: %s\n", TEP_PRINT_COMM,
			TEP_PRINT_PID, TEP_PRINT_CPU, TEP_PRINT_TIME, TEP_PRINT_NAME,
			TEP_PRINT_INFO);
	trace_seq_do_printf(&s);
	trace_seq_destroy(&s);
	return 0;
}

static void report(int fd, bool plugins)
{
	struct tracecmd_input *handles[32], *top;
	int i, n, nr = 1;

	top = tracecmd_open_fd(fd, plugins ? 0 : TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!top)
		_exit(0);
	handles[0] = top;
	n = tracecmd_buffer_instances(top);
	for (i = 0; i < n && nr < 32; i++) {
		handles[nr] = tracecmd_buffer_instance_handle(top, i);
		if (handles[nr])
			nr++;
	}
	tracecmd_iterate_events_multi(handles, nr, print, NULL);
	while (nr--)
		tracecmd_close(handles[nr]);
	fflush(stdout);
	_exit(0);
}

/* 0, or what ended the process: a signal, or 1000 + its exit code. */
static int run(const char *path, bool plugins, int log)
{
	struct rlimit cpu = { SECONDS, SECONDS + 1 }, none = { 0, 0 };
	int status, null;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, 1);
		dup2(log, 2);
		setrlimit(RLIMIT_CPU, &cpu);
		setrlimit(RLIMIT_CORE, &none);
		alarm(3 * SECONDS);
		report(open(path, O_RDONLY), plugins);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	return WEXITSTATUS(status) ? 1000 + WEXITSTATUS(status) : 0;
}

/* The plugin prints to standard error if its second reading broke off. */
static bool told_damage(int log)
{
	static char buf[1 << 16];
	ssize_t n = pread(log, buf, sizeof(buf) - 1, 0);

	buf[n < 0 ? 0 : n] = '\0';
	return strstr(buf, "plugin_ustack: ");
}

int main(int argc, char **argv)
{
	static uint8_t orig[MAX_FILES][MAX_FILE], bad[MAX_FILE];
	const char *keep = ".";
	int count, i, k, opt, nr, bare, with, log;
	int failed = 0, both = 0, cured = 0, printed = 0, told = 0;
	size_t len[MAX_FILES], size;
	char path[64], out[4096];

	while ((opt = getopt(argc, argv, "s:k:p:")) != -1) {
		if (opt == 'p')
			report(open(optarg, O_RDONLY), true);
		if (opt == 's')
			seed = strtoull(optarg, NULL, 0) * 2 + 1;
		else if (opt == 'k')
			keep = optarg;
	}
	nr = argc - optind - 1;
	if (nr < 1) {
		fprintf(stderr, "usage: fuzz_files [-s SEED] [-k KEEP-DIR] COUNT FILE...\n");
		return 2;
	}
	if (nr > MAX_FILES) {
		fprintf(stderr, "fuzz_files: %d files are too many: raise MAX_FILES\n", nr);
		return 2;
	}
	count = atoi(argv[optind]);
	for (i = 0; i < nr; i++) {
		int fd = open(argv[optind + 1 + i], O_RDONLY);
		ssize_t n = fd < 0 ? -1 : read(fd, orig[i], MAX_FILE);

		if (n <= 0) {
			fprintf(stderr, "fuzz_files: %s: %s\n", argv[optind + 1 + i],
				n ? strerror(errno) : "empty");
			return 2;
		}
		len[i] = n;
		close(fd);
	}
	snprintf(path, sizeof(path), "/tmp/fuzz_files-%d", getpid());
	log = memfd_create("log", 0);

	for (i = 0; i < count; i++) {
		int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);

		if (i && i % 500 == 0)
			fprintf(stderr, "fuzz_files: %d of %d, %d failed\n", i, count, failed);
		k = rnd(nr);
		memcpy(bad, orig[k], len[k]);
		size = mutate(bad, len[k]);
		if (fd < 0 || write(fd, bad, size) != (ssize_t)size) {
			fprintf(stderr, "fuzz_files: %s: %s\n", path, strerror(errno));
			return 2;
		}
		close(fd);

		if (ftruncate(log, 0) || lseek(log, 0, SEEK_SET))
			return 2;
		bare = run(path, false, log);
		if (ftruncate(log, 0) || lseek(log, 0, SEEK_SET))
			return 2;
		with = run(path, true, log);
		told += told_damage(log);
		printed += !with;
		both += bare && with;
		cured += bare && !with;
		if (!bare && with) {
			failed++;
			snprintf(out, sizeof(out), "%s/failed-%d.dat", keep, i);
			printf("FAIL: number %d of %s: ended by %d, kept as %s\n", i,
			       argv[optind + 1 + k], with, out);
			fd = open(out, O_CREAT | O_TRUNC | O_WRONLY, 0600);
			if (fd < 0 || write(fd, bad, size) != (ssize_t)size)
				perror(out);
			close(fd);
			lseek(log, 0, SEEK_SET);
			while ((opt = read(log, out, sizeof(out))) > 0)
				fwrite(out, 1, opt, stdout);
		}
	}
	unlink(path);
	printf("%d damaged files: %d printed with the plugin, of %d the plugin told that they are "
	       "damaged; %d crash libtracecmd with and without it, %d without it alone\n",
	       count, printed, told, both, cured);
	printf("%d passed, %d failed, 0 skipped\n", count - failed, failed);
	return failed ? 1 : 0;
}
