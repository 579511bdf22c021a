// SPDX-License-Identifier: GPL-2.0
/*
 * test_tables.c - registers tables of files with the kernel
 *
 * A table is registered once. The running programs say which tables are needed. A file that gets
 * no table gets a reason.
 */
#include "tables_place.h"
#include "tests/unit/gen/elf32_build.h"

/* ------------------------------ the session ------------------------------ */

static struct unwind_table_file last;
static unsigned int nr_adds;
static int add_error;

static int add(struct tables_session *t, const struct unwind_table_file *arg)
{
	(void)t;
	last = *arg;
	nr_adds += !add_error;
	return add_error;
}

static struct tables_session *session(bool no_cache)
{
	struct tables_opts opts = {
		.size = sizeof(opts), .cache_dir = cache_dir, .no_cache = no_cache,
	};
	struct tables_session *t;

	nr_adds = 0;
	add_error = 0;
	assert_int_equal(tables_open_with(&opts, add, &t), 0);
	return t;
}

static void a_file_is_registered_once_and_again_when_it_changed(void **state)
{
	struct tables_session *t = session(false);
	struct timespec when[2];
	struct stat st;
	struct tables_summary sum;
	struct tables_id id;
	int fd = open_file(libc);

	(void)state;
	assert_int_equal(tables_identify(fd, &id), 0);
	assert_int_equal(tables_add_path(t, libc), 0);
	assert_int_equal(nr_adds, 1);
	assert_true(last.size == sizeof(last) && !last.flags && !last.reserved);
	assert_true(last.text_offset == id.seg[0].offset && last.text_size == id.seg[0].size &&
		    last.text_vaddr == id.seg[0].vaddr);
	assert_memory_equal(last.build_id, id.build_id, 20);
	assert_int_equal(tables_add_fd(t, fd, "again"), 0);
	assert_int_equal(nr_adds, 1);
	copy_file(libc, in_tmp("copy"));
	assert_int_equal(tables_add_path(t, in_tmp("copy")), 0);
	assert_int_equal(nr_adds, 2);
	assert_int_equal(stat(in_tmp("copy"), &st), 0);
	when[0] = when[1] = (struct timespec) { st.st_mtim.tv_sec + 1, st.st_mtim.tv_nsec };
	utimensat(AT_FDCWD, in_tmp("copy"), when, 0);
	assert_int_equal(tables_add_path(t, in_tmp("copy")), 0);
	assert_int_equal(tables_add_path(t, in_tmp("copy")), 0);
	assert_int_equal(nr_adds, 3);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_COVERED], 2);
	assert_true(sum.covered_bytes > id.seg[0].size && sum.covered_bytes <= sum.text_bytes);
	close(fd);
	tables_close(t);
}

struct taken {
	unsigned int nr;
	int result;
	char path[256];
};

static int take_file(void *ctx, int fd, const char *path)
{
	struct taken *taken = ctx;
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	taken->nr++;
	snprintf(taken->path, sizeof(taken->path), "%s", path);
	return taken->result;
}

/* The kernel may refuse tables of 32-bit files. If it takes one, it gets that of their vDSO. */
static void a_32_bit_file_brings_its_vdso(void **state)
{
	struct taken taken = {};
	struct tables_opts opts = {
		.size = sizeof(opts), .no_cache = true, .add_file = take_file, .ctx = &taken,
	};
	struct tables_session *t = session(true);
	struct tables_summary sum;
	struct gen_table table;
	struct tables_id id;
	bool has_vdso;
	int fd;

	(void)state;
	start_file();
	func(0x1000, 0x10, DW_CFA_nop);
	end_file();
	fd = open_file32();
	add_error = -EOPNOTSUPP;
	assert_int_equal(tables_add_fd(t, fd, "of 32 bits"), -EOPNOTSUPP);
	assert_int_equal(nr_adds, 0);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_OTHER_ARCH], 1);
	tables_close(t);
	if (!tables_identify(fd, &id)) {
		has_vdso = !tables_make_vdso32_table(&id, &table);
		gen_free(&table);
		t = session(true);
		assert_int_equal(tables_add_fd(t, fd, "of 32 bits"), 0);
		assert_int_equal(nr_adds, 1 + has_vdso);
		assert_int_equal(last.flags, has_vdso ? UNWIND_TABLE_VDSO : 0);
		close(fd);
		fd = open_file32();
		assert_int_equal(tables_add_fd(t, fd, "another"), 0);
		assert_int_equal(nr_adds, 2 + has_vdso);
		tables_get_summary(t, &sum);
		assert_int_equal(sum.files[TABLES_COVERED], 2 + has_vdso);
		tables_close(t);
	}
	assert_int_equal(tables_open_with(&opts, NULL, &t), 0);
	if (tables_identify(fd, &id)) {
		assert_int_equal(tables_add_fd(t, fd, "of 32 bits"), -EOPNOTSUPP);
	} else {
		assert_true(id.compat && id.nr_segs == 1 && id.seg[0].vaddr == TEXT);
		assert_int_equal(tables_add_fd(t, fd, "of 32 bits"), 0);
		assert_int_equal(taken.nr, 1);
	}
	tables_close(t);
	close(fd);
}

static void the_caller_takes_files_in_place_of_the_kernel(void **state)
{
	struct taken taken = {};
	struct tables_opts opts = {
		.size = sizeof(opts), .no_cache = true, .add_file = take_file, .ctx = &taken,
	};
	struct tables_summary sum;
	struct tables_session *t;

	(void)state;
	nr_adds = 0;
	assert_int_equal(tables_open_with(&opts, NULL, &t), 0);
	assert_int_equal(tables_add_path(t, libc), 0);
	assert_int_equal(tables_add_path(t, libc), 0);
	assert_int_equal(taken.nr, 1);
	assert_string_equal(taken.path, libc);
	/* also a file without a table: it still has no table */
	assert_int_equal(tables_add_path(t, "/etc/passwd"), -ENOEXEC);
	assert_int_equal(taken.nr, 2);
	assert_int_equal(tables_add_vdso(t), 0);
	assert_int_equal(taken.nr, 2);
	taken.result = -ENOSPC;
	copy_file(libc, in_tmp("copy"));
	assert_int_equal(tables_add_path(t, in_tmp("copy")), -ENOSPC);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_COVERED], 1);
	assert_int_equal(sum.files[TABLES_NO_ELF], 1);
	assert_int_equal(sum.files[TABLES_NO_ROOM], 1);
	assert_int_equal(nr_adds, 0);
	tables_close(t);
}

static void what_cannot_be_registered_says_why(void **state)
{
	struct tables_session *t = session(true);
	struct tables_summary sum;

	(void)state;
	write_file(in_tmp("text"), "text", 4);
	assert_int_equal(tables_add_path(t, in_tmp("text")), -ENOEXEC);
	assert_int_equal(tables_add_path(t, in_tmp("nothing")), -ENOENT);
	add_error = -ENOSPC;
	assert_int_equal(tables_add_path(t, libc), -ENOSPC);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_NO_ELF], 1);
	assert_int_equal(sum.files[TABLES_NO_ROOM], 1);
	assert_int_equal(sum.files[TABLES_COVERED], 0);
	tables_close(t);
}

static void without_a_directory_tables_are_made_all_the_same(void **state)
{
	struct tables_session *t;

	(void)state;
	write_file(cache_dir, "in the way", 10);
	t = session(false);
	assert_true(tables_get_cache_error(t) < 0);
	assert_int_equal(tables_add_path(t, libc), 0);
	assert_int_equal(nr_adds, 1);
	tables_close(t);
}

static void the_vdso_has_a_table_for_its_own_code(void **state)
{
	struct tables_session *t = session(true);

	(void)state;
	assert_int_equal(tables_add_vdso(t), 0);
	assert_int_equal(tables_add_vdso(t), 0);
	assert_int_equal(nr_adds, 1);
	assert_int_equal(last.flags, UNWIND_TABLE_VDSO);
	assert_true(last.text_offset < 0x4000 && last.text_size && last.text_size < 0x4000);
	tables_close(t);
}

/* The leak sanitizer looks for the table. */
static void a_refused_table_of_the_vdso_is_freed(void **state)
{
	struct tables_session *t = session(true);

	(void)state;
	add_error = -ENOSPC;
	assert_int_equal(tables_add_vdso(t), -ENOSPC);
	tables_close(t);
}

/* -------------------------------- scanning ------------------------------- */

static void fake_process(int pid, const char *root, const char *maps)
{
	char path[64];

	mkdir(in_tmp("proc"), 0755);
	snprintf(path, sizeof(path), "proc/%d", pid);
	mkdir(in_tmp(path), 0755);
	snprintf(path, sizeof(path), "proc/%d/maps", pid);
	write_file(in_tmp(path), maps, strlen(maps));
	snprintf(path, sizeof(path), "proc/%d/root", pid);
	if (symlink(root, in_tmp(path)))
		assert_int_equal(errno, EEXIST);
}

static bool lacks_memory;

/* In place of the C library's, for all files of this program */
char *strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	char *copy = lacks_memory ? NULL : malloc(size);

	return copy ? memcpy(copy, s, size) : NULL;
}

static int count_files(void *ctx, uint64_t done, uint64_t all)
{
	(void)done;
	*(uint64_t *)ctx = all;
	return 0;
}

static void all_that_runs_is_registered_and_later_what_is_new(void **state)
{
	struct tables_session *t = session(true);
	struct tables_summary sum;
	char maps[2048];
	uint64_t all = 0;

	(void)state;
	t->opts.progress = count_files;
	t->opts.ctx = &all;
	copy_file(libc, in_tmp("copy"));
	write_file(in_tmp("text"), "text", 4);
	snprintf(maps, sizeof(maps),
		 "1000-2000 rw-p 00000000 fe:01 10                  /not/code\n"
		 "2000-3000 r-xp 00001000 fe:01 11                  %s\n"
		 "3000-4000 r-xp 00000000 fe:01 12                  %s/text\n"
		 "4000-5000 r-xp 00000000 fe:01 13                  /no/where (deleted)\n"
		 "5000-6000 rwxp 00000000 00:00 0 \n"
		 "6000-8000 rwxp 00000000 00:00 0                   [anon:jit]\n"
		 "8000-9000 r-xp 00000000 00:00 0                   [vdso]\n"
		 "9000-a000 r-xp 00000000 00:00 0                   [vsyscall]\n"
		 "odd line\n\n"
		 "ffffffffffffffffff-1 r-xp zz\n", libc, tmp);
	fake_process(12, "/", maps);
	fake_process(13, "/", maps);
	fake_process(2, "/", "");
	free(t->proc);
	t->proc = strdup(in_tmp("proc"));
	assert_int_equal(tables_scan(t), 0);
	tables_get_summary(t, &sum);
	/* libc and the vDSO */
	assert_int_equal(nr_adds, 2);
	assert_int_equal(sum.files[TABLES_COVERED], 2);
	assert_int_equal(sum.files[TABLES_NO_ELF], 1);
	assert_int_equal(sum.files[TABLES_VANISHED], 1);
	assert_int_equal(sum.processes, 2);
	assert_int_equal(sum.anon_processes, 2);
	assert_int_equal(sum.anon_bytes, 2 * 0x3000);

	/* Only that process sees it, under a name of its own */
	fake_process(14, tmp, "2000-3000 r-xp 00001000 fe:01 21    /copy\n");
	assert_int_equal(tables_scan(t), 0);
	assert_int_equal(nr_adds, 3);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_VANISHED], 1);
	/* Each file is opened once, however many have it mapped */
	assert_int_equal(all, 4);
	tables_close(t);
}

static void a_scan_without_memory_for_a_mapping_fails(void **state)
{
	struct tables_session *t = session(true);
	char maps[512];
	int ret;

	(void)state;
	snprintf(maps, sizeof(maps), "2000-3000 r-xp 00001000 fe:01 11    %s\n", libc);
	fake_process(12, "/", maps);
	free(t->proc);
	t->proc = strdup(in_tmp("proc"));
	lacks_memory = true;
	ret = tables_scan(t);
	lacks_memory = false;
	assert_int_equal(ret, -ENOMEM);
	assert_int_equal(nr_adds, 0);
	/* and a later scan finds it */
	assert_int_equal(tables_scan(t), 0);
	assert_true(nr_adds > 0);
	tables_close(t);
}

static int stop_at_once(void *ctx, uint64_t done, uint64_t all)
{
	*(unsigned int *)ctx = all;
	return done ? 0 : -EINTR;
}

static void a_scan_can_be_ended(void **state)
{
	struct tables_session *t = session(true);
	unsigned int all = 0;

	(void)state;
	t->opts.progress = stop_at_once;
	t->opts.ctx = &all;
	assert_int_equal(tables_scan(t), -EINTR);
	assert_true(all > 0);
	tables_close(t);
}

static void what_is_started_later_is_followed_until_it_is_stopped(void **state)
{
	struct tables_session *t = session(true);

	(void)state;
	fake_process(12, "/", "");
	free(t->proc);
	t->proc = strdup(in_tmp("proc"));
	assert_int_equal(tables_follow_wait(t), -EINVAL);
	assert_int_equal(tables_follow(t, true), 0);
	assert_int_equal(tables_follow(t, true), -EBUSY);
	assert_int_equal(tables_follow_wait(t), 0);
	tables_follow_stop(t);
	tables_follow_stop(t);
	assert_int_equal(tables_follow(t, false), 0);
	assert_int_equal(tables_follow_wait(t), 0);
	tables_close(t);
}

/* ------------------------------- recalling ------------------------------- */

/* Run a session with these files; it leaves its list. */
static void session_with(const char *a, const char *b)
{
	struct tables_session *t = session(false);

	assert_int_equal(tables_recall(t), 0);
	assert_int_equal(tables_add_path(t, a), 0);
	if (b)
		assert_int_equal(tables_add_path(t, b), 0);
	assert_int_equal(tables_remember(t), 0);
	tables_close(t);
}

static void assert_list(const char *first, const char *second)
{
	struct tables_session *t = session(false);
	char want[600], *list = tables_cache_get_list(t->cache);

	snprintf(want, sizeof(want), "%s%s%s%s", first, *first ? "\n" : "", second,
		 *second ? "\n" : "");
	assert_non_null(list);
	assert_string_equal(list, want);
	free(list);
	tables_close(t);
}

/* How many tables a session has before anything runs. */
static unsigned int recalled(void)
{
	struct tables_session *t = session(false);

	assert_int_equal(tables_recall(t), 0);
	tables_close(t);
	return nr_adds;
}

static void what_ran_before_is_registered_before_it_runs_again(void **state)
{
	char one[256], two[256];
	struct tables_summary sum;
	struct tables_session *t;

	(void)state;
	strcpy(one, in_tmp("one"));
	strcpy(two, in_tmp("two"));
	copy_file(libc, one);
	copy_file(libc, two);
	assert_int_equal(recalled(), 0);
	session_with(one, two);
	assert_list(one, two);
	assert_int_equal(recalled(), 2);
	/* the last file that ran comes first; files that did not run are kept */
	session_with(two, NULL);
	assert_list(two, one);
	t = session(false);
	assert_int_equal(tables_recall(t), 0);
	tables_get_summary(t, &sum);
	assert_int_equal(sum.files[TABLES_COVERED], 2);
	assert_int_equal(sum.cached, 2);
	/* and runs now, without being registered twice */
	assert_int_equal(tables_add_path(t, one), 0);
	assert_int_equal(nr_adds, 2);
	assert_int_equal(tables_remember(t), 0);
	tables_close(t);
	assert_list(one, two);
	unlink(one);
	assert_int_equal(recalled(), 1);
	session_with(two, NULL);
	assert_list(two, "");
}

static void only_what_is_there_now_and_in_the_directory_is_recalled(void **state)
{
	struct tables_session *t;
	char one[256];

	(void)state;
	strcpy(one, in_tmp("one"));
	copy_file(libc, one);
	session_with(one, NULL);
	assert_int_equal(recalled(), 1);
	/* another file by now, whose table was not made */
	write_file(one, "text", 4);
	assert_int_equal(recalled(), 0);
	/* opening it would wait for someone who writes */
	unlink(one);
	assert_int_equal(mkfifo(one, 0644), 0);
	assert_int_equal(recalled(), 0);
	/* a file that the kernel refuses is not an error, and is not reported */
	unlink(one);
	copy_file(libc, one);
	session_with(one, NULL);
	t = session(false);
	add_error = -ENOSPC;
	assert_int_equal(tables_recall(t), 0);
	assert_int_equal(t->entries.nr, 0);
	tables_close(t);
	/* nor is a file that others can write to */
	assert_int_equal(chmod(in_tmp("cache/.paths"), 0666), 0);
	assert_int_equal(recalled(), 0);
	t = session(true);
	assert_int_equal(tables_recall(t), -ENOENT);
	assert_int_equal(tables_remember(t), -ENOENT);
	tables_close(t);
}

static void a_recall_can_be_ended(void **state)
{
	struct tables_session *t;
	unsigned int all;

	(void)state;
	session_with(libc, NULL);
	t = session(false);
	t->opts.progress = stop_at_once;
	t->opts.ctx = &all;
	assert_int_equal(tables_recall(t), -EINTR);
	assert_int_equal(nr_adds, 0);
	tables_close(t);
}

static void the_rest_of_a_recall_is_done_by_who_follows(void **state)
{
	struct tables_summary sum;
	struct tables_session *t;
	char one[256];
	int i;

	(void)state;
	strcpy(one, in_tmp("one"));
	copy_file(libc, one);
	session_with(libc, one);
	t = session(false);
	fake_process(12, "/", "");
	free(t->proc);
	t->proc = strdup(in_tmp("proc"));
	/* with no time, all files are left */
	assert_int_equal(tables_recall_within(t, 0), 1);
	assert_int_equal(nr_adds, 0);
	assert_int_equal(tables_follow(t, false), 0);
	assert_int_equal(tables_recall_rest(t), 0);
	for (i = 0; i < 2400; i++) {
		tables_get_summary(t, &sum);
		/* or more: what is started on this machine meanwhile */
		if (sum.files[TABLES_COVERED] >= 2)
			break;
		usleep(50000);
	}
	assert_true(sum.files[TABLES_COVERED] >= 2);
	/* there is nothing left */
	assert_int_equal(tables_recall_rest(t), 0);
	tables_close(t);
	/* without a following thread, the caller does the work */
	t = session(false);
	assert_int_equal(tables_recall_within(t, 0), 1);
	assert_int_equal(tables_recall_rest(t), 0);
	assert_int_equal(nr_adds, 2);
	tables_close(t);
	/* the rest goes with the session */
	t = session(false);
	assert_int_equal(tables_recall_within(t, 0), 1);
	tables_close(t);
	assert_int_equal(nr_adds, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_is_registered_once_and_again_when_it_changed),
		T(a_32_bit_file_brings_its_vdso),
		T(the_caller_takes_files_in_place_of_the_kernel),
		T(what_cannot_be_registered_says_why),
		T(without_a_directory_tables_are_made_all_the_same),
		T(the_vdso_has_a_table_for_its_own_code),
		T(a_refused_table_of_the_vdso_is_freed),
		T(all_that_runs_is_registered_and_later_what_is_new),
		T(a_scan_without_memory_for_a_mapping_fails),
		T(a_scan_can_be_ended),
		T(what_is_started_later_is_followed_until_it_is_stopped),
		T(what_ran_before_is_registered_before_it_runs_again),
		T(only_what_is_there_now_and_in_the_directory_is_recalled),
		T(a_recall_can_be_ended),
		T(the_rest_of_a_recall_is_done_by_who_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
