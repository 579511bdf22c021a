// SPDX-License-Identifier: GPL-2.0
/*
 * test_scan.c - scans a file while libtracecmd crashes, exits, hangs or loops
 *
 * This program has its own libtracecmd functions. They fail as each test wants.
 */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <trace-cmd/trace-cmd.h>
#include <unistd.h>

#include "plugin/recording/scan.h"
#include "tests/unit/unit.h"

#define EXPORT __attribute__((visibility("default")))

static const char format[] =
	"name: user_unwind_cookie\nID: 21\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->cookie\n";

static const char map_format[] =
	"name: user_unwind_map\nID: 23\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:u64 start;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 end;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 pgoff;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 tgid;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%llx\", REC->start\n";

static struct {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint64_t start, end, pgoff;
	uint32_t tgid, path;
	char text[8];
} map = {
	.type = 23, .pid = 10, .start = 0x1000, .end = 0x2000, .tgid = 10, .path = 40 | 3 << 16,
	.text = "/a",
};

/* HANG writes this many records, so that the first ones are through the pipe. */
#define MANY	5000

static struct {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	uint64_t cookie;
} cookie = { .type = 21, .pid = 10, .cookie = 2 };

static enum { GOOD, CRASH, LOOP, FLOOD, EXIT, NO_OPEN, HANG, HANG_AT_END } mode;
static struct tep_handle *tep;
static int nr_read;

EXPORT struct tracecmd_input *tracecmd_open_fd(int fd, int flags)
{
	(void)fd;
	assert_int_equal(flags, TRACECMD_FL_LOAD_NO_PLUGINS);
	return mode == NO_OPEN ? NULL : (struct tracecmd_input *)&mode;
}

EXPORT void tracecmd_close(struct tracecmd_input *handle)
{
	(void)handle;
	while (mode == HANG_AT_END)
		pause();
}

EXPORT int tracecmd_buffer_instances(struct tracecmd_input *handle)
{
	(void)handle;
	return 0;
}

EXPORT const char *tracecmd_buffer_instance_name(struct tracecmd_input *handle, int i)
{
	(void)handle;
	(void)i;
	return NULL;
}

EXPORT struct tracecmd_input *tracecmd_buffer_instance_handle(struct tracecmd_input *handle, int i)
{
	(void)handle;
	(void)i;
	return NULL;
}

EXPORT struct tep_handle *tracecmd_get_tep(struct tracecmd_input *handle)
{
	(void)handle;
	return tep;
}

EXPORT void tracecmd_free_record(struct tep_record *rec)
{
	free(rec);
}

/* Three records, then the failure of the test. */
EXPORT struct tep_record *tracecmd_read_data(struct tracecmd_input *handle, int cpu)
{
	struct tep_record *rec;

	(void)handle;
	if (cpu)
		return NULL;
	nr_read++;
	if (nr_read > 3 && (mode == GOOD || mode == HANG_AT_END))
		return NULL;
	if (nr_read > 3 && mode == CRASH) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	if (nr_read > 3 && mode == EXIT)
		_exit(0);
	while (nr_read > 3 && mode == LOOP)
		;
	while (nr_read > MANY && mode == HANG)
		pause();
	rec = calloc(1, sizeof(*rec));
	/* FLOOD: the same for ever */
	rec->offset = rec->ts = nr_read > 3 && mode != HANG ? 3 : nr_read;
	rec->data = &cookie;
	rec->size = sizeof(cookie);
	if (mode == HANG && nr_read == 1) {
		rec->data = &map;
		rec->size = sizeof(map);
	} else if (mode == HANG) {
		cookie.cookie += 2;
	}
	return rec;
}

static struct scan scan;
static int fd;

static int setup(void **state)
{
	(void)state;
	tep = tep_alloc();
	tep_set_long_size(tep, 8);
	tep_set_cpus(tep, 1);
	nr_read = 0;
	fd = memfd_create("trace.dat", 0);
	if (tep_parse_event(tep, map_format, strlen(map_format), "ftrace"))
		return 1;
	return tep_parse_event(tep, format, strlen(format), "ftrace");
}

static int teardown(void **state)
{
	(void)state;
	scan_free(&scan);
	tep_free(tep);
	close(fd);
	return 0;
}

static void scan_as(int how)
{
	mode = how;
	scan_file(&scan, fd);
}

static enum join_state state_of_the_first(void)
{
	struct join_answer a;

	join_find_answer(scan.join, &(struct join_question){ 0, 10, 1, 1, 0 }, &a);
	return a.state;
}

static void a_good_file_gives_its_requests(void **state)
{
	(void)state;
	scan_as(GOOD);
	assert_null(scan.problem);
	assert_int_equal(state_of_the_first(), JOIN_PENDING);
}

/* Records read before the crash may still be in the process: only these are lost. */
static void assert_survived(void)
{
	assert_non_null(scan.join);
	assert_non_null(scan.maps);
	assert_non_null(strstr(scan.problem, "damaged"));
}

static void a_crash_of_libtracecmd_is_survived(void **state)
{
	(void)state;
	scan_as(CRASH);
	assert_survived();
}

static void an_exit_of_libtracecmd_is_survived(void **state)
{
	(void)state;
	scan_as(EXIT);
	assert_survived();
}

static void a_file_that_cannot_be_opened_is_reported(void **state)
{
	(void)state;
	scan_as(NO_OPEN);
	assert_survived();
}

/* A page that is read over and over ends at its first record that comes again. */
static void a_flood_of_the_same_records_ends(void **state)
{
	(void)state;
	scan_as(FLOOD);
	assert_survived();
	assert_int_equal(state_of_the_first(), JOIN_LOST);
}

/* The limit is 10 s of CPU time; a lower limit of the program, 1 s, stays. */
static void a_loop_in_libtracecmd_ends(void **state)
{
	struct rlimit old, mine = { 1, RLIM_INFINITY };
	struct rusage used;

	(void)state;
	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_CPU, &old);
	mine.rlim_cur += used.ru_utime.tv_sec + used.ru_stime.tv_sec;
	mine.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_CPU, &mine);
	scan_as(LOOP);
	setrlimit(RLIMIT_CPU, &old);
	assert_survived();
}

/* It sleeps, which no limit of CPU time ends. */
static void a_hanging_reader_is_given_up(void **state)
{
	const uint64_t addrs[] = { 0x1010, 0x9010 };
	uint64_t offset;
	int ms;

	(void)state;
	alarm(120);
	mode = HANG;
	/* a busy machine may need longer to read what there is */
	for (ms = 1000;; ms *= 2) {
		scan_file_within(&scan, fd, ms);
		if (maps_find_file(scan.maps, 10, 1, 0, 0x1010, &offset) || ms > 30000)
			break;
		scan_free(&scan);
	}
	alarm(0);
	assert_non_null(scan.join);
	assert_non_null(strstr(scan.problem, "took too long"));
	/* what was read counts; a mapping that was not read may hold the second address */
	assert_non_null(maps_find_file(scan.maps, 10, 1, 0, 0x1010, &offset));
	assert_int_equal(maps_find_outside(scan.maps, 10, addrs, 1, 2), 2);
}

static void a_reader_that_hangs_after_its_end_is_killed(void **state)
{
	int ms;

	(void)state;
	alarm(120);
	mode = HANG_AT_END;
	for (ms = 500;; ms *= 2) {
		scan_file_within(&scan, fd, ms);
		if (!scan.problem || ms > 30000)
			break;
		scan_free(&scan);
	}
	alarm(0);
	assert_null(scan.problem);
	assert_int_equal(state_of_the_first(), JOIN_PENDING);
}

/* Opening it again, or reading from it, would wait. */
static void what_is_no_regular_file_is_not_read(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	alarm(120);
	mode = GOOD;
	scan_file(&scan, ends[0]);
	alarm(0);
	assert_null(scan.join);
	assert_non_null(strstr(scan.problem, "not a regular file"));
	assert_int_equal(nr_read, 0);
	close(ends[0]);
	close(ends[1]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_good_file_gives_its_requests),
		T(a_crash_of_libtracecmd_is_survived),
		T(an_exit_of_libtracecmd_is_survived),
		T(a_file_that_cannot_be_opened_is_reported),
		T(a_flood_of_the_same_records_ends),
		T(a_loop_in_libtracecmd_ends),
		T(a_hanging_reader_is_given_up),
		T(a_reader_that_hangs_after_its_end_is_killed),
		T(what_is_no_regular_file_is_not_read),
	};

	return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
