// SPDX-License-Identifier: GPL-2.0
/*
 * test_tables_cache.c - tables of files that are kept in a directory
 *
 * The tests check by what a file is known, damaged files, the limit of the directory's size, and
 * several writers.
 */
#include <dirent.h>
#include <elf.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#include "libunwind-user/sframe/sframe.h"
#include "tables_place.h"

static struct tables_cache *open_cache(uint64_t limit)
{
	struct tables_cache *c;

	assert_int_equal(tables_cache_open(cache_dir, limit, &c), 0);
	/* Let build IDs count for copies in /tmp, on any file system */
	assert_int_equal(tables_cache_trust(c, tmp), 0);
	return c;
}

/* The files in the cache: their number, bytes, and the path of one of them. */
static unsigned int cached(uint64_t *bytes, char *path)
{
	DIR *dir = opendir(cache_dir);
	unsigned int n = 0;
	struct dirent *d;
	struct stat st;

	*bytes = 0;
	while ((d = readdir(dir))) {
		if (*d->d_name == '.' && !d->d_name[1 + (d->d_name[1] == '.')])
			continue;
		assert_int_equal(fstatat(dirfd(dir), d->d_name, &st, 0), 0);
		*bytes += st.st_size;
		n++;
		if (path)
			snprintf(path, 512, "%s/%s", cache_dir, d->d_name);
	}
	closedir(dir);
	return n;
}

static bool make(struct tables_cache *c, const char *path)
{
	struct gen_table table;
	struct tables_id id;
	int fd = open_file(path);
	bool cached;

	assert_int_equal(tables_get_table(c, fd, &id, &table, &cached), 0);
	assert_true(table.size > 28 && table.stats.table_fdes);
	gen_free(&table);
	close(fd);
	return cached;
}

/* ------------------------------- identity -------------------------------- */

static void a_file_is_known_by_build_id_and_code_segments(void **state)
{
	struct tables_id id;
	int fd = open_file(libc);

	(void)state;
	assert_int_equal(tables_identify(fd, &id), 0);
	assert_int_equal(id.build_id_size, 20);
	assert_int_equal(id.nr_segs, 1);
	assert_true(id.seg[0].size > 1 << 20);
	close(fd);
}

static void what_is_no_program_is_refused(void **state)
{
	static uint8_t head[1024];
	struct tables_id id;
	unsigned int i;
	int fd;

	(void)state;
	memset(head, 'x', sizeof(head));
	write_file(in_tmp("text"), head, sizeof(head));
	fd = open_file(in_tmp("text"));
	assert_int_equal(tables_identify(fd, &id), -ENOEXEC);
	close(fd);
	fd = open_file(tmp);
	assert_int_equal(tables_identify(fd, &id), -ENOEXEC);
	close(fd);
	fd = open_file(libc);
	assert_int_equal(read(fd, head, sizeof(head)), sizeof(head));
	close(fd);
	for (i = 0; i < 960; i += 7) {
		write_file(in_tmp("short"), head, i);
		fd = open_file(in_tmp("short"));
		assert_true(tables_identify(fd, &id) == -ENOEXEC || i > 500);
		close(fd);
	}
	/* Change each byte of the headers: any answer is fine, a crash is not */
	for (i = 0; i < sizeof(head); i++) {
		head[i] ^= 0xff;
		write_file(in_tmp("odd"), head, sizeof(head));
		fd = open_file(in_tmp("odd"));
		tables_identify(fd, &id);
		assert_true(id.nr_segs <= TABLES_MAX_SEGS);
		assert_true(id.build_id_size <= sizeof(id.build_id));
		close(fd);
		head[i] ^= 0xff;
	}
	/* 32 bits (x32); the other byte order; another architecture */
	for (i = 4; i < 20; i = i == 4 ? 5 : i + 13) {
		head[i] ^= 3;
		write_file(in_tmp("foreign"), head, sizeof(head));
		fd = open_file(in_tmp("foreign"));
		assert_int_equal(tables_identify(fd, &id), -EOPNOTSUPP);
		close(fd);
		head[i] ^= 3;
	}
}

/* A program of @nr code segments, with a note of a build-id of @len bytes that claims @says. */
static int odd_program(unsigned int nr, uint32_t len, uint32_t says, struct tables_id *id)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[300];
		Elf64_Nhdr note;
		char name[4];
		uint8_t desc[64];
	} f = {
		.eh = { .e_ident = { 127, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
			.e_type = ET_DYN, .e_machine = EM_X86_64, .e_phnum = nr + 1,
			.e_phentsize = sizeof(Elf64_Phdr), .e_phoff = sizeof(Elf64_Ehdr) },
		.note = { 4, says, NT_GNU_BUILD_ID }, .name = "GNU",
	};
	unsigned int i;
	int fd, ret;

	memset(f.desc, 0xa5, sizeof(f.desc));
	for (i = 0; i < nr && i < 299; i++)
		f.ph[i] = (Elf64_Phdr) { .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = 8 };
	f.ph[i] = (Elf64_Phdr) {
		.p_type = PT_NOTE, .p_offset = (char *)&f.note - (char *)&f,
		.p_filesz = sizeof(f.note) + 4 + len, .p_align = 4,
	};
	write_file(in_tmp("odd"), &f, sizeof(f));
	fd = open_file(in_tmp("odd"));
	ret = tables_identify(fd, id);
	close(fd);
	return ret;
}

static void odd_headers_are_refused_or_cut(void **state)
{
	struct tables_id id;

	(void)state;
	assert_int_equal(odd_program(1, 20, 20, &id), 0);
	assert_true(id.nr_segs == 1 && id.build_id_size == 20);
	assert_int_equal(odd_program(1, 8, 8, &id), 0);
	assert_int_equal(id.build_id_size, 8);
	assert_int_equal(odd_program(1, 64, 64, &id), 0);
	assert_true(id.build_id_size == 20 && id.build_id[19] == 0xa5);
	assert_int_equal(odd_program(1, 20, 24, &id), 0);
	assert_int_equal(id.build_id_size, 0);
	assert_int_equal(odd_program(1, 20, UINT32_MAX, &id), 0);
	assert_int_equal(id.build_id_size, 0);
	assert_int_equal(odd_program(TABLES_MAX_SEGS, 20, 20, &id), 0);
	assert_int_equal(id.nr_segs, TABLES_MAX_SEGS);
	assert_int_equal(odd_program(TABLES_MAX_SEGS + 1, 20, 20, &id), -ENOEXEC);
	assert_int_equal(odd_program(299, 20, 20, &id), -ENOEXEC);
	assert_int_equal(odd_program(0, 20, 20, &id), 0);
	assert_int_equal(id.nr_segs, 0);
}

/* ------------------------------- the cache ------------------------------- */

static void a_table_is_made_once_for_all_copies(void **state)
{
	struct tables_cache *c = open_cache(0);
	struct gen_table made, kept;
	struct tables_id id;
	bool cached;
	int fd;

	(void)state;
	copy_file(libc, in_tmp("copy"));
	chmod(in_tmp("copy"), 0644);
	fd = open_file(libc);
	assert_int_equal(tables_get_table(NULL, fd, &id, &made, &cached), 0);
	assert_false(cached);
	assert_false(make(c, libc));
	assert_true(make(c, in_tmp("copy")));
	assert_int_equal(tables_get_table(c, fd, &id, &kept, &cached), 0);
	assert_true(cached);
	assert_int_equal(made.size, kept.size);
	assert_memory_equal(made.data, kept.data, made.size);
	assert_true(made.base == kept.base && made.text_start == kept.text_start &&
		    made.text_size == kept.text_size);
	assert_memory_equal(&made.stats, &kept.stats, sizeof(made.stats));
	gen_free(&made);
	gen_free(&kept);
	close(fd);
	tables_cache_close(c);
}

static void the_vdso_is_kept_too(void **state)
{
	struct tables_cache *c = open_cache(0);
	struct gen_table made, kept;
	struct tables_id id;
	uint64_t bytes;
	bool cached_now;

	(void)state;
	assert_int_equal(tables_get_vdso_table(c, &id, &made, &cached_now), 0);
	assert_false(cached_now);
	assert_true(id.is_vdso && made.stats.table_fdes);
	assert_int_equal(tables_get_vdso_table(c, &id, &kept, &cached_now), 0);
	assert_true(cached_now);
	assert_int_equal(made.size, kept.size);
	assert_memory_equal(made.data, kept.data, made.size);
	assert_int_equal(cached(&bytes, NULL), 1);
	gen_free(&made);
	gen_free(&kept);
	tables_cache_close(c);
}

/* The base must not be 0, which has another meaning for a program that is not relocated */
static void a_kept_table_is_made_for_the_start_of_the_code(void **state)
{
	struct gen_table plain, kept;
	struct sframe_table a, b;
	struct sframe_row x, y;
	unsigned int found = 0;
	struct tables_id id;
	int fd = open_file(libc);
	uint64_t pc;

	(void)state;
	assert_int_equal(gen_from_fd(fd, &plain), 0);
	assert_int_equal(tables_get_table(NULL, fd, &id, &kept, NULL), 0);
	close(fd);
	assert_true(kept.base && kept.base == kept.text_start);
	b = (struct sframe_table) { .mem = kept.data, .size = kept.size, .base = kept.base,
				    .text_start = kept.text_start, .text_size = kept.text_size };
	assert_int_equal(gen_open(&plain, &a), 0);
	assert_int_equal(sframe_open(&b), 0);
	for (pc = kept.text_start; pc < kept.text_start + kept.text_size; pc += 61) {
		int ret = sframe_find(&a, pc, &x);

		assert_int_equal(sframe_find(&b, pc, &y), ret);
		if (ret)
			continue;
		found++;
		assert_true(x.start == y.start && x.size == y.size);
		assert_memory_equal(&x.cfa, &y.cfa, sizeof(x.cfa));
		assert_memory_equal(&x.ra, &y.ra, sizeof(x.ra));
		assert_memory_equal(&x.fp, &y.fp, sizeof(x.fp));
	}
	assert_true(found > 1000);
	gen_free(&plain);
	gen_free(&kept);
}

/* Root's tables are for all users, except tables of files that not all may read */
static void others_may_read_what_they_could_make_themselves(void **state)
{
	struct tables_cache *c;
	mode_t mask = umask(022);
	char path[512];
	uint64_t bytes;
	struct stat st;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		copy_file(libc, in_tmp("copy"));
		chmod(in_tmp("copy"), i ? 0640 : 0644);
		c = open_cache(0);
		make(c, in_tmp("copy"));
		tables_cache_close(c);
		assert_int_equal(cached(&bytes, path), 1);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, !geteuid() && !i ? 0644 : 0600);
		unlink(path);
	}
	umask(mask);
}

static void a_build_id_that_anyone_could_have_written_is_not_believed(void **state)
{
	struct tables_cache *c = open_cache(0);
	uint64_t bytes;

	(void)state;
	copy_file(libc, in_tmp("copy"));
	chmod(in_tmp("copy"), 0666);
	assert_false(make(c, in_tmp("copy")));
	assert_false(make(c, libc));
	assert_true(make(c, in_tmp("copy")));
	assert_int_equal(cached(&bytes, NULL), 2);
	/* The same inode with other contents is another file */
	copy_file("/proc/self/exe", in_tmp("copy"));
	assert_false(make(c, in_tmp("copy")));
	tables_cache_close(c);
}

static void a_damaged_file_is_made_again(void **state)
{
	struct tables_cache *c = open_cache(0);
	struct gen_table table;
	struct tables_id id;
	static uint8_t buf[1 << 20];
	char path[512];
	uint64_t bytes;
	size_t len, i;
	FILE *f;
	int fd;

	(void)state;
	make(c, libc);
	fd = open_file(libc);
	assert_int_equal(tables_identify(fd, &id), 0);
	close(fd);
	assert_int_equal(cached(&bytes, path), 1);
	f = fopen(path, "rbe");
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	assert_int_equal(len, bytes);
	for (i = 0; i < len; i += i < 600 ? 1 : len / 50) {
		buf[i] ^= 0x20;
		write_file(path, buf, len);
		assert_int_equal(tables_cache_load(c, &id, &table), -ENOENT);
		buf[i] ^= 0x20;
	}
	for (i = 0; i < len; i += i < 600 ? 37 : len / 20) {
		write_file(path, buf, i);
		assert_int_equal(tables_cache_load(c, &id, &table), -ENOENT);
	}
	assert_false(make(c, libc));
	assert_true(make(c, libc));
	/* Intact, but of a file with its code elsewhere */
	id.layout++;
	assert_int_equal(tables_cache_load(c, &id, &table), -ENOENT);
	id.layout--;
	chmod(path, 0666);
	assert_int_equal(tables_cache_load(c, &id, &table), -ENOENT);
	chmod(path, 0600);
	unlink(path);
	assert_int_equal(symlink(in_tmp("elsewhere"), path), 0);
	write_file(in_tmp("elsewhere"), buf, len);
	assert_int_equal(tables_cache_load(c, &id, &table), -ENOENT);
	tables_cache_close(c);
}

static void a_directory_that_others_may_write_to_is_not_used(void **state)
{
	struct tables_cache *c;

	(void)state;
	assert_int_equal(mkdir(cache_dir, 0700), 0);
	chmod(cache_dir, 0777);
	assert_int_equal(tables_cache_open(cache_dir, 0, &c), -EPERM);
	chmod(cache_dir, 0770);
	assert_int_equal(tables_cache_open(cache_dir, 0, &c), -EPERM);
	chmod(cache_dir, 0755);
	assert_int_equal(tables_cache_open(cache_dir, 0, &c), 0);
	tables_cache_close(c);
	if (geteuid())
		return;
	assert_int_equal(chown(cache_dir, 65534, 65534), 0);
	assert_int_equal(tables_cache_open(cache_dir, 0, &c), -EPERM);
}

static void put(struct tables_cache *c, unsigned int n, size_t size)
{
	struct gen_table table = { .size = size };
	struct tables_id id = { .build_id_size = 4, .st = { .st_mode = 0100644 } };

	stat(tmp, &id.st);
	id.st.st_mode = S_IFREG | 0644;
	memcpy(id.build_id, &n, sizeof(n));
	table.data = calloc(1, size);
	assert_int_equal(tables_cache_store(c, &id, &table), 0);
	free(table.data);
}

static int get(struct tables_cache *c, unsigned int n)
{
	struct gen_table table;
	struct tables_id id = { .build_id_size = 4 };
	int ret;

	stat(tmp, &id.st);
	id.st.st_mode = S_IFREG | 0644;
	memcpy(id.build_id, &n, sizeof(n));
	ret = tables_cache_load(c, &id, &table);
	if (!ret)
		gen_free(&table);
	return ret;
}

static void use_long_ago(void)
{
	struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_nsec = UTIME_OMIT } };
	DIR *dir = opendir(cache_dir);
	struct dirent *d;

	while ((d = readdir(dir))) {
		if (d->d_type == DT_REG)
			utimensat(dirfd(dir), d->d_name, old, 0);
	}
	closedir(dir);
}

static void the_directory_is_bounded_and_the_oldest_goes_first(void **state)
{
	struct tables_cache *c = open_cache(100000);
	uint64_t bytes;
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++)
		put(c, i, 15000);
	/* All were used long ago; then one was used again */
	use_long_ago();
	assert_int_equal(get(c, 2), 0);
	for (i = 10; i < 100; i++) {
		put(c, i, 15000);
		assert_int_equal(get(c, i), 0);
		assert_true(cached(&bytes, NULL) && bytes <= 100000);
		if (i == 13) {
			assert_int_equal(get(c, 2), 0);
			assert_int_equal(get(c, 0), -ENOENT);
		}
	}
	tables_cache_close(c);
	/* Uses by another process count, too */
	c = open_cache(50000);
	put(c, 200, 15000);
	cached(&bytes, NULL);
	assert_true(bytes <= 50000);
	assert_int_equal(get(c, 200), 0);
	tables_cache_close(c);
}

static void writers_at_the_same_time_do_not_disturb_readers(void **state)
{
	struct tables_cache *c = open_cache(0);
	int i, n, status, bad = 0;
	uint64_t bytes;

	(void)state;
	put(c, 7, 30000);
	for (n = 0; n < 4; n++) {
		if (!fork()) {
			struct tables_cache *own;

			if (tables_cache_open(cache_dir, 0, &own) || tables_cache_trust(own, tmp))
				_exit(1);
			for (i = 0; i < 100; i++)
				put(own, 7, 30000);
			_exit(0);
		}
	}
	for (i = 0; i < 200; i++)
		bad += get(c, 7) != 0;
	for (n = 0; n < 4; n++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(bad, 0);
	assert_int_equal(cached(&bytes, NULL), 1);
	tables_cache_close(c);
}

/* Others see the names of files: the names must not show addresses of memory. */
static void a_file_that_is_written_has_no_address_in_its_name(void **state)
{
	char events[4096], heap[32];
	struct inotify_event *e;
	struct tables_cache *c;
	unsigned int nr = 0;
	ssize_t n, at;
	int watch;

	(void)state;
	assert_int_equal(tables_cache_open(cache_dir, 0, &c), 0);
	watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	assert_true(inotify_add_watch(watch, cache_dir, IN_CREATE) >= 0);
	assert_int_equal(tables_cache_put_list(c, "/bin/a\n", 7), 0);
	assert_int_equal(tables_cache_put_list(c, "/bin/b\n", 7), 0);
	/* the upper digits are those of the heap as a whole */
	snprintf(heap, sizeof(heap), "%lx", (long)c >> 16);
	n = read(watch, events, sizeof(events));
	for (at = 0; at < n; at += sizeof(*e) + e->len, nr++) {
		e = (struct inotify_event *)(events + at);
		assert_true(!strncmp(e->name, ".tmp-", 5));
		assert_null(strstr(e->name, heap));
	}
	assert_int_equal(nr, 2);
	close(watch);
	tables_cache_close(c);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_file_is_known_by_build_id_and_code_segments),
		T(what_is_no_program_is_refused),
		T(odd_headers_are_refused_or_cut),
		T(a_table_is_made_once_for_all_copies),
		T(the_vdso_is_kept_too),
		T(a_kept_table_is_made_for_the_start_of_the_code),
		T(others_may_read_what_they_could_make_themselves),
		T(a_build_id_that_anyone_could_have_written_is_not_believed),
		T(a_damaged_file_is_made_again),
		T(a_directory_that_others_may_write_to_is_not_used),
		T(the_directory_is_bounded_and_the_oldest_goes_first),
		T(writers_at_the_same_time_do_not_disturb_readers),
		T(a_file_that_is_written_has_no_address_in_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
