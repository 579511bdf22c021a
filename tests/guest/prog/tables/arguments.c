// SPDX-License-Identifier: GPL-2.0
/*
 * arguments ioctl LISTFILE TABLE	every kind of bad argument of UNWIND_TABLE_ADD
 * arguments many LISTFILE TABLE	more tables than an open file may have
 * arguments prctl TABLE		... of PR_ADD_SFRAME and PR_REMOVE_SFRAME, also in children
 * arguments crowd TABLE N		N tables in a process; after 8,192 one more
 * arguments damaged LISTFILE TABLE FILE START	tables with one byte changed, registered for all
 *					code of FILE while a child walks through it; START is 0 for
 *					the first bytes, each of them
 * `trace-ustack-tables make` wrote TABLE. LISTFILE is tracefs' user_unwind_tables. Prints a line
 * for each wrong answer; the exit status says whether there are wrong answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libunwind-user/abi/abi.h"

#define PAGE	4096ul

/* On s390x every address can be of a task: the kernel must look before it can refuse one */
#ifdef __s390x__
#define OUTSIDE	EFAULT
#else
#define OUTSIDE	EINVAL
#endif

/* Where there are 32-bit programs of i386, tracers register their tables, and programs do not. */
#ifdef __x86_64__
#define I386_BY_FILE	0
#else
#define I386_BY_FILE	EOPNOTSUPP
#endif

static unsigned char *table;
static size_t table_size;
static unsigned char *code;	/* two pages that may be executed */
static void *gap;		/* a page that may be read, before a page that may not */
static int fd = -1, self = -1;
static int checks, faults;

static void answer(const char *what, int ret, int wanted)
{
	int got = ret < 0 ? errno : 0;

	checks++;
	if (got == wanted)
		return;
	faults++;
	printf("%s: %s, wanted %s\n", what, strerrorname_np(got), strerrorname_np(wanted));
}

static void setup(const char *path)
{
	struct stat st;
	int f = open(path, O_RDONLY | O_CLOEXEC);

	if (f < 0 || fstat(f, &st)) {
		perror(path);
		exit(2);
	}
	table_size = st.st_size;
	table = malloc(table_size + 1);
	code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	gap = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!table || code == MAP_FAILED || gap == MAP_FAILED ||
	    read(f, table, table_size) != (ssize_t)table_size ||
	    mprotect(gap + PAGE, PAGE, PROT_NONE))
		exit(2);
	close(f);
	memcpy(gap, table, table_size < PAGE ? table_size : PAGE);
	self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

/* The ABI of i386, with RA at CFA - 4 */
static void make_i386(unsigned char *copy)
{
	memcpy(copy, table, table_size);
	copy[4] = 0x83;
	copy[6] = (unsigned char)-4;
}

/* --------------------------------- ioctl --------------------------------- */

static struct unwind_table_file good_file(void)
{
	return (struct unwind_table_file) {
		.size = sizeof(struct unwind_table_file), .fd = self,
		.table = (uintptr_t)table, .table_size = table_size,
		.text_offset = 0x1000, .text_size = 0x1000, .text_vaddr = 0x1000,
	};
}

static int add_file(struct unwind_table_file *arg)
{
	return ioctl(fd, UNWIND_TABLE_ADD, arg);
}

#define FILE_ADD(wanted, change) do {					\
	struct unwind_table_file arg = good_file();			\
	change;								\
	answer("ioctl: " #change, add_file(&arg), wanted);		\
} while (0)

static void sizes_of_ioctl(void)
{
	struct {
		struct unwind_table_file arg;
		char more[2 * PAGE];
	} big;
	char *edge = (char *)gap + PAGE - sizeof(big.arg);

	memset(&big, 0, sizeof(big));
	big.arg = good_file();
	big.arg.size = sizeof(big.arg) + 8;
	answer("ioctl: a larger structure of zeroes", add_file(&big.arg), 0);
	big.more[3] = 1;
	answer("ioctl: a larger structure with contents", add_file(&big.arg), E2BIG);
	big.arg.size = sizeof(big);
	answer("ioctl: a structure of pages", add_file(&big.arg), EINVAL);
	memcpy(edge, &big.arg, sizeof(big.arg));
	((struct unwind_table_file *)edge)->size = sizeof(big.arg);
	answer("ioctl: a structure at the end of memory", add_file((void *)edge), 0);
	((struct unwind_table_file *)edge)->size = sizeof(big.arg) + 8;
	answer("ioctl: a structure past the end of memory", add_file((void *)edge), EFAULT);
}

static void test_ioctl(const char *list)
{
	int pipes[2], dir = open("/", O_RDONLY | O_DIRECTORY), rd = open(list, O_RDONLY);
	int out = open("out", O_WRONLY | O_CREAT, 0600), path = open("out", O_PATH);
	unsigned char *copy = malloc(table_size);

	fd = open(list, O_RDWR | O_CLOEXEC);
	if (fd < 0 || rd < 0 || pipe(pipes) || !copy)
		exit(2);
	FILE_ADD(0, arg.flags = 0);
	FILE_ADD(0, (arg.flags = UNWIND_TABLE_VDSO, arg.fd = -1));
	FILE_ADD(EINVAL, arg.flags = 2);
	FILE_ADD(EINVAL, arg.flags = ~0u);
	FILE_ADD(EINVAL, arg.reserved = 1);
	FILE_ADD(EINVAL, arg.size = 0);
	FILE_ADD(EINVAL, arg.size = sizeof(arg) - 1);
	FILE_ADD(EINVAL, arg.size = ~0u);
	FILE_ADD(EBADF, arg.fd = -1);
	FILE_ADD(EBADF, arg.fd = 999);
	FILE_ADD(EBADF, arg.fd = path);
	FILE_ADD(EINVAL, arg.fd = dir);
	FILE_ADD(EINVAL, arg.fd = pipes[0]);
	FILE_ADD(EINVAL, arg.fd = out);
	FILE_ADD(EINVAL, arg.build_id_size = 21);
	FILE_ADD(0, arg.build_id_size = 20);
	FILE_ADD(EINVAL, arg.text_size = 0);
	FILE_ADD(EINVAL, arg.text_offset = ~0ull);
	FILE_ADD(EINVAL, arg.text_size = ~0ull);
	FILE_ADD(EINVAL, arg.text_vaddr = ~0ull);
	FILE_ADD(EINVAL, arg.table_vaddr = ~0ull);
	FILE_ADD(EFAULT, arg.table = 0);
	FILE_ADD(EFAULT, arg.table = ~0ull - 8);
	FILE_ADD(EFAULT, arg.table = 1ull << 63);
	FILE_ADD(EFAULT, (arg.table = (uintptr_t)gap + PAGE - 40));
	FILE_ADD(EINVAL, arg.table_size = 0);
	FILE_ADD(EBADMSG, arg.table_size = 27);
	FILE_ADD(EBADMSG, arg.table_size = 28);
	FILE_ADD(EBADMSG, arg.table_size = table_size - 1);
	FILE_ADD(EFBIG, arg.table_size = (256ull << 20) + 1);
	FILE_ADD(EFBIG, arg.table_size = ~0ull);
	memcpy(copy, table, table_size);
	copy[0] ^= 1;
	FILE_ADD(EINVAL, arg.table = (uintptr_t)copy);
	memcpy(copy, table, table_size);
	copy[2] = 2;
	FILE_ADD(EOPNOTSUPP, arg.table = (uintptr_t)copy);
	copy[2] = 4;
	FILE_ADD(EOPNOTSUPP, arg.table = (uintptr_t)copy);
	copy[2] = table[2];
	copy[4] = table[4] == 2 ? 3 : 2;
	FILE_ADD(EOPNOTSUPP, arg.table = (uintptr_t)copy);
	make_i386(copy);
	FILE_ADD(I386_BY_FILE, arg.table = (uintptr_t)copy);
	sizes_of_ioctl();
	answer("ioctl: no structure", add_file(NULL), EFAULT);
	answer("ioctl: a structure of the kernel", add_file((void *)(1ul << 63)), EFAULT);
	answer("ioctl: another request", ioctl(fd, UNWIND_TABLE_ADD + 1, NULL), ENOTTY);
	/* The structure may grow */
	answer("ioctl: a request of another size",
	       ioctl(fd, _IOW('R', 0x30, struct unwind_table_user), NULL), EFAULT);
	close(fd);
	fd = rd;
	FILE_ADD(EBADF, (void)arg);
}

static void test_many(const char *list)
{
	struct unwind_table_file arg;
	int i, ret = 0;

	fd = open(list, O_RDWR | O_CLOEXEC);
	arg = good_file();
	for (i = 0; i < 65536 && !ret; i++) {
		ret = add_file(&arg);
		arg.text_offset += 0x1000;
	}
	answer("65,536 tables", ret, 0);
	answer("one more", add_file(&arg), ENOSPC);
}

/* --------------------------------- prctl --------------------------------- */

static struct unwind_table_user good_user(void)
{
	return (struct unwind_table_user) {
		.size = sizeof(struct unwind_table_user), .table = (uintptr_t)table,
		.table_size = table_size, .text_start = (uintptr_t)code, .text_size = PAGE,
	};
}

static int add_user(struct unwind_table_user *arg)
{
	return prctl(PR_ADD_SFRAME, arg, (long)sizeof(*arg), 0L, 0L);
}

static int remove_user(struct unwind_table_user *arg)
{
	return prctl(PR_REMOVE_SFRAME, arg, (long)sizeof(*arg), 0L, 0L);
}

#define USER_ADD(wanted, change) do {					\
	struct unwind_table_user arg = good_user();			\
	change;								\
	answer("prctl: " #change, add_user(&arg), wanted);		\
} while (0)

#define USER_REMOVE(wanted, change) do {				\
	struct unwind_table_user arg = good_user();			\
	change;								\
	answer("remove: " #change, remove_user(&arg), wanted);		\
} while (0)

static void sizes_of_prctl(void)
{
	struct {
		struct unwind_table_user arg;
		char more[2 * PAGE];
	} big;

	memset(&big, 0, sizeof(big));
	big.arg = good_user();
	answer("prctl: size 0", prctl(PR_ADD_SFRAME, &big, 0L, 0L, 0L), EINVAL);
	answer("prctl: size 47", prctl(PR_ADD_SFRAME, &big, 47L, 0L, 0L), EINVAL);
	answer("prctl: size -1", prctl(PR_ADD_SFRAME, &big, -1L, 0L, 0L), EINVAL);
	answer("prctl: size 56, not in it", prctl(PR_ADD_SFRAME, &big, 56L, 0L, 0L), EINVAL);
	answer("prctl: fourth argument", prctl(PR_ADD_SFRAME, &big, 48L, 1L, 0L), EINVAL);
	answer("prctl: fifth argument", prctl(PR_ADD_SFRAME, &big, 48L, 0L, 1L), EINVAL);
	big.arg.size = 56;
	answer("prctl: size 56 of zeroes", prctl(PR_ADD_SFRAME, &big, 56L, 0L, 0L), 0);
	big.more[1] = 1;
	answer("prctl: size 56 with more", prctl(PR_ADD_SFRAME, &big, 56L, 0L, 0L), E2BIG);
	big.arg.size = sizeof(big);
	answer("prctl: size of pages", prctl(PR_ADD_SFRAME, &big, (long)sizeof(big), 0L, 0L),
	       EINVAL);
	answer("prctl: no structure", prctl(PR_ADD_SFRAME, NULL, 48L, 0L, 0L), EFAULT);
	answer("prctl: a structure of the kernel",
	       prctl(PR_ADD_SFRAME, 1ul << 63, 48L, 0L, 0L), EFAULT);
}

static void damaged_headers(void)
{
	unsigned char *copy = malloc(table_size);
	struct unwind_table_user arg = good_user();
	unsigned int i, v;

	arg.table = (uintptr_t)copy;
	for (i = 0; i < 28; i++) {
		for (v = 0; v < 256; v++) {
			memcpy(copy, table, table_size);
			copy[i] = v;
			if (add_user(&arg) && errno != EINVAL && errno != EOPNOTSUPP &&
			    errno != EBADMSG && errno != EFAULT)
				answer("prctl: a damaged header", -1, 0);
		}
	}
	remove_user(&arg);
	free(copy);
}

/* Children start with the tables of their parent, and do not change those of the parent. */
static void children(char *path)
{
	int status;

	USER_ADD(0, arg.flags = 0);
	if (!fork()) {
		faults = 0;
		USER_REMOVE(0, arg.flags = 0);
		USER_REMOVE(ENOENT, arg.flags = 0);
		exit(faults != 0);
	}
	wait(&status);
	errno = ECHILD;
	answer("a child has its parent's tables", status ? -1 : 0, 0);
	if (!fork()) {
		char text[32];

		/* The address may be free there: then there is nothing to remove */
		snprintf(text, sizeof(text), "%lx", (long)code);
		execl("/proc/self/exe", "arguments", "after-exec", path, text, NULL);
		exit(9);
	}
	wait(&status);
	errno = ECHILD;
	answer("a program that is executed has none", status ? -1 : 0, 0);
	USER_REMOVE(0, arg.flags = 0);
}

#define NR_PAGES	64

/* The table of each page: its number, or 0 */
static int owner[NR_PAGES];

/* All tables go that have a page of these. Were there any? */
static int lose(int first, int nr)
{
	int i, k, id, ret = 0;

	for (i = first; i < first + nr; i++) {
		id = owner[i];
		for (k = 0; id && k < NR_PAGES; k++)
			if (owner[k] == id)
				owner[k] = 0;
		ret |= id;
	}
	return ret;
}

static void remove_pages(char *text, int first, int nr)
{
	USER_REMOVE(lose(first, nr) ? 0 : ENOENT,
		    arg.text_start = (uintptr_t)text + first * PAGE; arg.text_size = nr * PAGE);
}

static void add_pages(char *text, int first, int nr, int id)
{
	int i;

	USER_ADD(0, arg.text_start = (uintptr_t)text + first * PAGE; arg.text_size = nr * PAGE);
	lose(first, nr);
	for (i = first; i < first + nr; i++)
		owner[i] = id;
}

/* Tables of all sizes, over one another: all have gone that had to go, and no other. */
static void test_overlaps(void)
{
	char *text = mmap(NULL, NR_PAGES * PAGE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int round, id, first, nr, i, status;

	srand(1);
	for (round = 0; round < 20; round++) {
		for (id = 1; id <= 40; id++) {
			first = rand() % NR_PAGES;
			nr = 1 + rand() % (rand() % 8 ? 4 : NR_PAGES);
			nr = nr > NR_PAGES - first ? NR_PAGES - first : nr;
			if (rand() % 4)
				add_pages(text, first, nr, id);
			else
				remove_pages(text, first, nr);
		}
		if (!fork()) {
			faults = 0;
			for (i = 0; i < NR_PAGES; i++)
				remove_pages(text, i, 1);
			exit(faults != 0);
		}
		wait(&status);
		errno = ECHILD;
		answer("a child has the same tables", status ? -1 : 0, 0);
		for (i = 0; i < NR_PAGES; i++)
			remove_pages(text, i, 1);
	}
}

static void test_prctl(char *path)
{
	void *plain = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *copy = malloc(table_size);

	USER_REMOVE(ENOENT, arg.flags = 0);
	USER_ADD(0, arg.flags = 0);
	USER_ADD(0, arg.text_start += 8);
	USER_REMOVE(0, arg.text_size = 2 * PAGE);
	USER_REMOVE(ENOENT, arg.flags = 0);
	USER_ADD(EINVAL, arg.flags = 1);
	USER_ADD(EINVAL, arg.size = 0);
	USER_ADD(EINVAL, arg.size = 47);
	USER_ADD(EINVAL, arg.size = 56);
	USER_ADD(EINVAL, arg.text_size = 0);
	USER_ADD(EINVAL, arg.text_size = ~0ull);
	USER_ADD(EINVAL, arg.text_start = 0);
	USER_ADD(EINVAL, arg.text_start = (uintptr_t)plain);
	USER_ADD(EINVAL, arg.text_start = ~0ull - 100);
	USER_ADD(EINVAL, arg.text_start = 1ull << 63);
	USER_ADD(OUTSIDE, arg.table = 1ull << 63);
	USER_ADD(EINVAL, arg.table_size = ~0ull);
	USER_ADD(EINVAL, arg.table_size = 0);
	USER_ADD(EBADMSG, arg.table_size = 27);
	USER_ADD(EBADMSG, arg.table_size = 28);
	USER_ADD(EFAULT, arg.table = 64);
	USER_ADD(EFAULT, arg.table = (uintptr_t)gap + PAGE);
	memcpy(copy, table, table_size);
	copy[0] ^= 1;
	USER_ADD(EINVAL, arg.table = (uintptr_t)copy);
	memcpy(copy, table, table_size);
	copy[2] = 2;
	USER_ADD(EOPNOTSUPP, arg.table = (uintptr_t)copy);
	make_i386(copy);
	USER_ADD(EOPNOTSUPP, arg.table = (uintptr_t)copy);
	USER_REMOVE(EINVAL, arg.flags = 1);
	USER_REMOVE(EINVAL, arg.text_size = 0);
	USER_REMOVE(EINVAL, arg.text_size = ~0ull);
	sizes_of_prctl();
	damaged_headers();
	test_overlaps();
	children(path);
	USER_ADD(0, arg.flags = 0);
	munmap(code, 2 * PAGE);
	USER_REMOVE(0, arg.flags = 0);
}

static void test_crowd(int nr)
{
	struct unwind_table_user arg = good_user();
	int i, ret = 0;
	char *text = mmap(NULL, (nr + 1) * PAGE, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (i = 0; i < nr && !ret; i++) {
		arg.text_start = (uintptr_t)text + i * PAGE;
		ret = add_user(&arg);
	}
	answer("tables of a process", ret, 0);
	arg.text_start += PAGE;
	if (nr == 8192)
		answer("one more", add_user(&arg), ENOSPC);
	arg.text_start = (uintptr_t)text;
	arg.text_size = nr * PAGE;
	answer("all removed", remove_user(&arg), 0);
}

/* ----------------------------- damaged tables ---------------------------- */

static int __attribute__((noinline)) walk(int n)
{
	int ret = n ? walk(n - 1) : getppid();

	__asm__ volatile("" : "+r"(ret));
	return ret;
}

/* The kernel must survive all of them. Wrong stacks are then the fault of the tracer. */
static void test_damaged(const char *list, const char *file, long first)
{
	struct unwind_table_file arg;
	int target = open(file, O_RDONLY | O_CLOEXEC), added = 0;
	unsigned long i, step;
	pid_t child;

	child = fork();
	if (!child) {
		for (;;) {
			walk(20);
			system("true");
		}
	}
	step = first ? table_size / 300 + 1 : 1;
	for (i = first; i < (first ? table_size : 300) && i < table_size; i += step) {
		fd = open(list, O_RDWR | O_CLOEXEC);
		table[i] ^= 1u << (i & 7);
		arg = good_file();
		arg.fd = target;
		arg.text_offset = 0;
		arg.text_vaddr = 0;
		arg.text_size = 1ull << 40;
		added += !add_file(&arg);
		table[i] ^= 1u << (i & 7);
		usleep(3000);
		close(fd);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	printf("%d damaged tables were taken\n", added);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setbuf(stdout, NULL);
	if (argc == 4 && !strcmp(what, "ioctl")) {
		setup(argv[3]);
		test_ioctl(argv[2]);
	} else if (argc == 4 && !strcmp(what, "many")) {
		setup(argv[3]);
		test_many(argv[2]);
	} else if (argc == 3 && !strcmp(what, "prctl")) {
		setup(argv[2]);
		test_prctl(argv[2]);
	} else if (argc == 4 && !strcmp(what, "after-exec")) {
		setup(argv[2]);
		code = (void *)strtoul(argv[3], NULL, 16);
		USER_REMOVE(ENOENT, arg.text_start &= ~0xffffull);
	} else if (argc == 4 && !strcmp(what, "crowd")) {
		setup(argv[2]);
		test_crowd(atoi(argv[3]));
	} else if (argc == 6 && !strcmp(what, "damaged")) {
		setup(argv[3]);
		test_damaged(argv[2], argv[4], atol(argv[5]));
	} else {
		return 2;
	}
	printf("%d answers, %d wrong\n", checks, faults);
	return faults != 0;
}
