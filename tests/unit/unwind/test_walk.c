// SPDX-License-Identifier: GPL-2.0
/*
 * test_walk.c - compares walks over this program's stacks with glibc's backtrace()
 *
 * The walks use tables made of the loaded files. backtrace() reads .eh_frame. Both must give the
 * same frames, up to the outermost frame.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

#define MAX		256
#define NOINLINE	__attribute__((noinline, noclone))

static struct sframe_table tables[32];
static unsigned int nr_tables;

static void add_table(struct gen_table *g, u64 bias)
{
	struct sframe_table *t = &tables[nr_tables];

	assert_true(nr_tables < 32);
	*t = (struct sframe_table) {
		.mem = g->data, .size = g->size, .base = g->base + bias,
		.text_start = g->text_start + bias, .text_size = g->text_size,
	};
	assert_int_equal(sframe_open(t), 0);
	nr_tables++;
}

static int add_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct gen_table g;
	int fd = open(path, O_RDONLY);

	(void)size;
	(void)arg;
	if (fd < 0)
		return 0;		/* the vDSO */
	assert_int_equal(gen_from_fd(fd, &g), 0);
	add_table(&g, info->dlpi_addr);
	close(fd);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	dl_iterate_phdr(add_file, NULL);
	return nr_tables < 2;
}

static int teardown(void **state)
{
	(void)state;
	while (nr_tables)
		free((void *)tables[--nr_tables].mem);
	return 0;
}

/* Reads words of this program's own stack, all of which can be read. */
static __attribute__((no_sanitize("address"))) int read_own(void *ctx, u64 addr, u64 *words,
							    unsigned int nr)
{
	(void)ctx;
	while (nr--) {
		*words++ = *(u64 *)addr;
		addr += 8;
	}
	return 0;
}

static int read_code(void *ctx, u64 addr, void *to, unsigned int size)
{
	(void)ctx;
	memcpy(to, (void *)addr, size);
	return 0;
}

static u64 ours[MAX];
static void *theirs[MAX];
static int nr_ours, nr_theirs, end, by_code;

static int lookup(u64 pc, struct sframe_row *row)
{
	unsigned int i;

	for (i = 0; i < nr_tables; i++) {
		if (pc - tables[i].text_start < tables[i].text_size)
			return sframe_find(&tables[i], pc, row);
	}
	return -ENOENT;
}

/* Called where a stack is to be walked: by us first, as a read of it changes nothing. */
static NOINLINE void walk_both(void)
{
	struct ustep_env env = {
		.arch = sframe_arch(SFRAME_ABI_AMD64), .read = read_own, .read_code = read_code,
	};
	struct sframe_row row;
	struct ustep s;
	u64 ip, sp, fp;

	asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
		     : "=r" (ip), "=r" (sp), "=r" (fp));
	ustep_init(&s, ip, sp, fp);
	for (nr_ours = 0, end = 0; !end && nr_ours < MAX; ) {
		ours[nr_ours++] = s.ip;
		end = lookup(ustep_pc(&s), &row);
		if (end == -ENOENT || end == -ESRCH) {
			end = ustep_sigreturn(&s, &env, &row);
			by_code += !end;
		}
		if (!end)
			end = ustep_row(&s, &env, &row);
	}
	nr_theirs = backtrace(theirs, MAX);
}

/* The same from this function's caller on, and nothing after the last frame */
static void assert_same_frames(int at_least)
{
	int at = 0;

	assert_int_equal(end, USTEP_OUTERMOST);
	assert_true(nr_ours >= at_least);
	while (at < nr_theirs && (u64)theirs[at] != ours[1])
		at++;
	assert_int_equal(nr_theirs - at, nr_ours - 1);
	assert_memory_equal(theirs + at, ours + 1, (nr_ours - 1) * sizeof(u64));
}

/* ---------------------------------------------------------------------- */

static NOINLINE int deep(int n)
{
	volatile char room[100];

	room[n] = n;
	if (n)
		return deep(n - 1) + room[n];
	walk_both();
	return room[0];
}

/* A frame whose CFA is kept in memory: its stack is aligned at run time. */
static NOINLINE int aligned(int n)
{
	__attribute__((aligned(256))) volatile char room[512];

	room[n] = n;
	return deep(n) + room[n];
}

/* ... and one of a size that is known at run time only */
static NOINLINE int variable(int n)
{
	volatile char room[n * 16];

	room[n] = n;
	return aligned(n) + room[n];
}

static void walks_functions(void **state)
{
	(void)state;
	variable(20);
	assert_same_frames(24);
}

static jmp_buf back;

static NOINLINE __attribute__((noreturn)) void never_returns(void)
{
	deep(1);
	longjmp(back, 1);
}

/* The call is the last instruction, so the return address is the next function's first. */
static NOINLINE void ends_with_a_call(void)
{
	never_returns();
}

static void through_a_call_that_does_not_return(void **state)
{
	(void)state;
	if (!setjmp(back))
		ends_with_a_call();
	assert_same_frames(8);
}

static int compare_in_libc(const void *a, const void *b)
{
	if (!nr_ours)
		deep(3);
	return *(const int *)a - *(const int *)b;
}

static void walks_through_libc(void **state)
{
	int numbers[] = { 3, 1, 2, 5, 4 };

	(void)state;
	nr_ours = 0;
	qsort(numbers, 5, sizeof(int), compare_in_libc);
	assert_same_frames(10);
}

static void handler(int sig)
{
	(void)sig;
	aligned(4);
}

static void signal_with(int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	assert_int_equal(sigaction(SIGUSR1, &sa, NULL), 0);
	nr_ours = 0;
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	assert_same_frames(14);
}

static void out_of_a_signal_handler(void **state)
{
	(void)state;
	signal_with(0);
}

/* One below the stack that was left, and one above it: the outer part of that stack itself */
static void onto_another_stack_and_back(void **state)
{
	static char below[1 << 16];
	char above[1 << 16];
	stack_t ss = { .ss_size = 1 << 16 }, old;

	(void)state;
	ss.ss_sp = below;
	assert_int_equal(sigaltstack(&ss, &old), 0);
	signal_with(SA_ONSTACK);
	ss.ss_sp = above;
	assert_int_equal(sigaltstack(&ss, NULL), 0);
	signal_with(SA_ONSTACK | SA_SIGINFO);
	sigaltstack(&old, NULL);
}

/*
 * A function that faults in its first instruction, right after another function with a larger frame
 * at its end: a lookup of the byte before would find that frame.
 */
extern void faults_at_once(void);
asm("	.text\n"
    "	.type ends_in_a_frame, @function\n"
    "ends_in_a_frame:\n"
    "	.cfi_startproc\n"
    "	sub $40, %rsp\n"
    "	.cfi_def_cfa_offset 48\n"
    "	ud2\n"
    "	.cfi_endproc\n"
    "	.size ends_in_a_frame, . - ends_in_a_frame\n"
    "	.type faults_at_once, @function\n"
    "faults_at_once:\n"
    "	.cfi_startproc\n"
    "	ud2\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "	.size faults_at_once, . - faults_at_once\n");

static void skip_instruction(int sig, siginfo_t *info, void *ucontext)
{
	(void)info;
	handler(sig);
	((ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void a_frame_that_was_interrupted_is_walked(void **state)
{
	struct sigaction sa = { .sa_sigaction = skip_instruction, .sa_flags = SA_SIGINFO };

	(void)state;
	assert_int_equal(sigaction(SIGILL, &sa, NULL), 0);
	nr_ours = 0;
	faults_at_once();
	signal(SIGILL, SIG_DFL);
	assert_same_frames(12);
}

/* How musl returns from a handler: without a table. The nop before it has no table, either. */
extern void restorer(void);
asm("	.text\n"
    "	nop\n"
    "	.type restorer, @function\n"
    "restorer:\n"
    "	mov $15, %rax\n"
    "	syscall\n"
    "	.size restorer, . - restorer\n");

static void through_a_trampoline_without_a_table(void **state)
{
	struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} sa = { handler, 0x04000000, restorer, 0 };	/* SA_RESTORER */

	(void)state;
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR2, &sa, NULL, 8), 0);
	by_code = 0;
	raise(SIGUSR2);
	signal(SIGUSR2, SIG_DFL);
	assert_same_frames(14);
	assert_int_equal(by_code, 1);
}

static void *thread(void *arg)
{
	(void)arg;
	deep(2);
	return NULL;
}

static void walks_a_thread(void **state)
{
	pthread_t t;

	(void)state;
	assert_int_equal(pthread_create(&t, NULL, thread, NULL), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_same_frames(6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_functions),
		cmocka_unit_test(through_a_call_that_does_not_return),
		cmocka_unit_test(walks_through_libc),
		cmocka_unit_test(out_of_a_signal_handler),
		cmocka_unit_test(onto_another_stack_and_back),
		cmocka_unit_test(a_frame_that_was_interrupted_is_walked),
		cmocka_unit_test(through_a_trampoline_without_a_table),
		cmocka_unit_test(walks_a_thread),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
