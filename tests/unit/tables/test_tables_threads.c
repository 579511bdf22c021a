// SPDX-License-Identifier: GPL-2.0
/*
 * test_tables_threads.c - tables that several threads use at once
 *
 * One thread follows new files. Others add, recall and list files. `make check-threads` runs this
 * test under ThreadSanitizer, which also reports races that do no harm in this run.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "tables_place.h"

#define ROUNDS	20

static atomic_uint nr_adds, nr_calls;
static pthread_t main_thread;
static atomic_bool waited, called_late;

static int add(struct tables_session *t, const struct unwind_table_file *arg)
{
	(void)t;
	(void)arg;
	atomic_fetch_add(&nr_adds, 1);
	return 0;
}

static int count_calls(void *ctx, uint64_t done, uint64_t all)
{
	(void)ctx;
	(void)done;
	(void)all;
	atomic_fetch_add(&nr_calls, 1);
	if (atomic_load(&waited) && !pthread_equal(pthread_self(), main_thread))
		atomic_store(&called_late, true);
	return 0;
}

static int interrupt(void *ctx, uint64_t done, uint64_t all)
{
	(void)done;
	(void)all;
	return atomic_load((atomic_bool *)ctx) ? -EINTR : 0;
}

static struct tables_session *session(int (*progress)(void *ctx, uint64_t done, uint64_t all),
				      void *ctx)
{
	struct tables_opts opts = {
		.size = sizeof(opts), .cache_dir = cache_dir, .progress = progress, .ctx = ctx,
	};
	struct tables_session *t;

	nr_adds = 0;
	nr_calls = 0;
	assert_int_equal(tables_open_with(&opts, add, &t), 0);
	free(t->proc);
	t->proc = strdup(in_tmp("proc"));
	assert_non_null(t->proc);
	mkdir(t->proc, 0755);
	return t;
}

static void a_recall_can_be_ended_while_another_thread_follows(void **state)
{
	atomic_bool interrupted = false;
	struct tables_session *t = session(interrupt, &interrupted);

	(void)state;
	assert_int_equal(tables_add_path(t, libc), 0);
	assert_int_equal(tables_remember(t), 0);
	assert_int_equal(tables_follow(t, true), 0);
	assert_int_equal(tables_follow_wait(t), 0);
	/* enough time for the other thread to go on */
	usleep(100000);
	assert_int_equal(tables_recall(t), 0);
	atomic_store(&interrupted, true);
	assert_int_equal(tables_recall(t), -EINTR);
	tables_close(t);
}

/* Executable mappings of new files, for the thread that follows */
static void *map_files(void *arg)
{
	char path[256];
	void *mem;
	int i, fd;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		snprintf(path, sizeof(path), "%s/mapped%d", tmp, i);
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
		if (fd < 0 || ftruncate(fd, 4096))
			continue;
		mem = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		if (mem != MAP_FAILED)
			munmap(mem, 4096);
		close(fd);
	}
	return NULL;
}

static void *add_files(void *arg)
{
	char path[256];
	int i;

	for (i = 0; i < ROUNDS; i++) {
		snprintf(path, sizeof(path), "%s/added%d", tmp, i % 4);
		tables_add_path(arg, path);
	}
	return NULL;
}

/* Count files of our directory only: the session follows other programs of the machine, too. */
static void count_covered(void *ctx, const struct tables_file *file)
{
	*(unsigned int *)ctx += !strncmp(file->path, tmp, strlen(tmp)) &&
				file->cause == TABLES_COVERED && file->table_size;
}

static void one_follows_while_others_add_recall_and_ask(void **state)
{
	struct tables_session *t = session(count_calls, NULL);
	struct tables_summary sum;
	pthread_t thread[3];
	char path[256];
	unsigned int seen = 0;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/added%d", tmp, i);
		copy_file(libc, path);
	}
	main_thread = pthread_self();
	assert_int_equal(tables_follow(t, true), 0);
	assert_int_equal(tables_follow_wait(t), 0);
	atomic_store(&waited, true);
	assert_int_equal(pthread_create(&thread[0], NULL, map_files, NULL), 0);
	assert_int_equal(pthread_create(&thread[1], NULL, add_files, t), 0);
	assert_int_equal(pthread_create(&thread[2], NULL, add_files, t), 0);
	for (i = 0; i < ROUNDS; i++) {
		assert_int_equal(tables_recall(t), 0);
		tables_get_summary(t, &sum);
		tables_for_each(t, count_covered, &seen);
		assert_int_equal(tables_remember(t), 0);
	}
	for (i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	tables_follow_stop(t);
	tables_get_summary(t, &sum);
	seen = 0;
	tables_for_each(t, count_covered, &seen);
	assert_int_equal(seen, 4);
	/* each file once, and the vDSO */
	assert_true(sum.files[TABLES_COVERED] >= 4 + 1);
	assert_int_equal(nr_adds, sum.files[TABLES_COVERED]);
	assert_true(nr_calls > 0);
	assert_false(called_late);
	tables_close(t);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_recall_can_be_ended_while_another_thread_follows),
		T(one_follows_while_others_add_recall_and_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
