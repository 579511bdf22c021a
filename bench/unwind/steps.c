// SPDX-License-Identifier: GPL-2.0
/*
 * steps - what does one unwind step cost in user space? Ours next to libunwind, glibc and frame
 * pointers
 *
 *	steps [LIBRARY]
 *
 * Warm: every walk sees the same stack: DEPTH functions with frame pointers, below them main() and
 * libc. The measurement counts only if all unwinders see the same return addresses and ours also
 * reaches _start. Each walk is timed many times, and the fastest walk counts.
 *
 * Cold: one step each from random addresses all over LIBRARY, so that little of its table is in a
 * cache. The stack holds made-up numbers there, so no walk can go on. "cold.ours" is a search in
 * the table and a step; "cold.library" is uu_unwind() for one step.
 *
 * Prints "NAME NUMBER" lines, times in ns per step. libunwind is loaded at run time, because a
 * program that links it gets its backtrace() in place of glibc's.
 */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <libunwind.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"
#include "libunwind-user/unwind-user.h"

#define DEPTH		45
#define MAX		128
#define WALKS		2000
#define ROUNDS		25
#define COLD_ROUNDS	20
#define RANDOM		(1 << 16)
#define NOINLINE	__attribute__((noinline, noclone, noipa))

static double now(void)
{
	struct timespec t;

	/* CPU time of this thread: the time of other programs does not count */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* ------------------------------- our tables ----------------------------- */

static struct sframe_table tables[8];
static struct sframe_index indexes[8];
static unsigned int nr_tables;
static size_t table_bytes;

static struct sframe_table *add_table(const char *path, u64 bias)
{
	struct sframe_table *t = &tables[nr_tables];
	int fd = open(path, O_RDONLY);
	struct gen_table g;
	int ret = fd < 0 ? -errno : gen_from_fd(fd, &g);

	if (!ret) {
		*t = (struct sframe_table) {
			.mem = g.data, .size = g.size, .base = g.base + bias,
			.text_start = g.text_start + bias, .text_size = g.text_size,
		};
		ret = sframe_open(t);
	}
	if (!ret)
		ret = sframe_make_index(t, &indexes[nr_tables], calloc(t->nr_fdes + 1, sizeof(u32)),
					t->nr_fdes);
	if (ret) {
		fprintf(stderr, "steps: no table for %s: %s\n", path, strerror(-ret));
		exit(1);
	}
	close(fd);
	table_bytes = g.size;
	nr_tables++;
	return t;
}

static int add_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	if (!*(bool *)arg) {	/* the first one is the program */
		add_table("/proc/self/exe", info->dlpi_addr);
		*(bool *)arg = true;
	} else if (strstr(info->dlpi_name, "/libc.so")) {
		add_table(info->dlpi_name, info->dlpi_addr);
	}
	return 0;
}

static inline const struct sframe_table *table_at(u64 pc)
{
	unsigned int i;

	for (i = 0; i < nr_tables; i++) {
		if (pc - tables[i].text_start < tables[i].text_size)
			return &tables[i];
	}
	return NULL;
}

static inline int find(const struct sframe_table *t, u64 pc, struct sframe_row *row)
{
	return sframe_find_indexed(t, &indexes[t - tables], pc, row);
}

static int read_own(void *ctx, u64 addr, u64 *words, unsigned int nr)
{
	(void)ctx;
	words[0] = *(u64 *)addr;
	if (nr == 2)
		words[1] = *((u64 *)addr + 1);
	return 0;
}

static struct ustep_env env = { .read = read_own };

static struct uu_unwinder *unwinder;

/* ------------------------------- unwinders ------------------------------ */

struct regs {
	u64 ip, sp, fp;
};

static int last;		/* what ended the last walk */
extern void *__libc_stack_end;

static int ours(const struct regs *r, void **to, int max)
{
	const struct sframe_table *t;
	struct sframe_row row;
	struct ustep s;
	int n = 0;

	ustep_init(&s, r->ip, r->sp, r->fp);
	do {
		to[n++] = (void *)s.ip;
		t = table_at(ustep_pc(&s));
		last = t ? find(t, ustep_pc(&s), &row) : -ESRCH;
		if (!last)
			last = ustep_row(&s, &env, &row);
	} while (!last && n < max);
	return n;
}

/* The library as a user of it sees it */
static int library(const struct regs *r, void **to, int max)
{
	struct uu_start start = {
		.ip = r->ip, .sp = r->sp, .fp = r->fp,
		.low = r->sp, .high = (u64)__libc_stack_end + 64,
	};
	unsigned int n;

	last = uu_unwind(unwinder, &start, (u64 *)to, max, &n) ? -1 : USTEP_OUTERMOST;
	return n;
}

static int frame_pointers(const struct regs *r, void **to, int max)
{
	u64 *fp = (u64 *)r->fp, sp = r->sp;
	int n = 0;

	to[n++] = (void *)r->ip;
	while (n < max && n <= DEPTH && (u64)fp >= sp) {
		to[n++] = (void *)fp[1];
		sp = (u64)fp;
		fp = (u64 *)fp[0];
	}
	return n;
}

static int glibc(const struct regs *r, void **to, int max)
{
	(void)r;
	return backtrace(to, max);
}

static int (*p_getcontext)(unw_tdep_context_t *);
static int (*p_init_local)(unw_cursor_t *, unw_context_t *);
static int (*p_step)(unw_cursor_t *);
static int (*p_get_reg)(unw_cursor_t *, int, unw_word_t *);
static int (*p_set_reg)(unw_cursor_t *, int, unw_word_t);
static int (*p_backtrace)(void **, int);

static void load_libunwind(void)
{
	void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);

	if (lib) {
		p_getcontext = dlsym(lib, "_Ux86_64_getcontext");
		p_init_local = dlsym(lib, "_ULx86_64_init_local");
		p_step = dlsym(lib, "_ULx86_64_step");
		p_get_reg = dlsym(lib, "_ULx86_64_get_reg");
		p_set_reg = dlsym(lib, "_ULx86_64_set_reg");
		p_backtrace = dlsym(lib, "unw_backtrace");
	}
	if (!p_getcontext || !p_init_local || !p_step || !p_get_reg || !p_set_reg || !p_backtrace) {
		fprintf(stderr, "steps: no libunwind: %s\n", dlerror());
		exit(1);
	}
}

static int libunwind_step(const struct regs *r, void **to, int max)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t ip;
	int n = 0;

	(void)r;
	p_getcontext(&context);
	p_init_local(&cursor, &context);
	do {
		p_get_reg(&cursor, UNW_REG_IP, &ip);
		to[n++] = (void *)ip;
	} while (n < max && p_step(&cursor) > 0);
	return n;
}

static int libunwind_fast(const struct regs *r, void **to, int max)
{
	(void)r;
	return p_backtrace(to, max);
}

/* --------------------------------- warm --------------------------------- */

static const struct unwinder {
	const char *name;
	int (*walk)(const struct regs *r, void **to, int max);
} unwinders[] = {
	{ "ours", ours }, { "ours.library", library }, { "frame-pointers", frame_pointers },
	{ "libunwind.step", libunwind_step }, { "libunwind.backtrace", libunwind_fast },
	{ "glibc.backtrace", glibc },
};

#define NR (sizeof(unwinders) / sizeof(unwinders[0]))

/* Returns where the return addresses of the chain begin in @to; some begin further in. */
static int find_start(void **to, int n, const void *first)
{
	int i;

	for (i = 0; i < n && to[i] != first; i++)
		;
	return i;
}

static void compare(void *stacks[NR][MAX], const int *n)
{
	void **want = stacks[0] + 1;	/* [0] is the place itself */
	unsigned int u;
	int at;

	if (last != USTEP_OUTERMOST || n[0] < DEPTH + 3) {
		fprintf(stderr, "steps: our walk ends after %d frames with %d\n", n[0], last);
		exit(1);
	}
	for (u = 0; u < NR; u++) {
		at = find_start(stacks[u], n[u], want[0]);
		if (n[u] - at < DEPTH || memcmp(stacks[u] + at, want, DEPTH * sizeof(void *))) {
			fprintf(stderr, "steps: %s sees another stack\n", unwinders[u].name);
			exit(1);
		}
	}
}

static NOINLINE void measure_warm(const struct regs *r)
{
	double best[NR], start, ns;
	void *stacks[NR][MAX];
	unsigned int u;
	int n[NR], i, round;

	/* ours last: what it ended with is looked at */
	for (u = NR; u--; )
		n[u] = unwinders[u].walk(r, stacks[u], MAX);
	compare(stacks, n);
	for (round = 0; round < ROUNDS; round++) {
		for (u = 0; u < NR; u++) {
			start = now();
			for (i = 0; i < WALKS; i++)
				unwinders[u].walk(r, stacks[u], MAX);
			ns = (now() - start) / WALKS / n[u];
			if (!round || ns < best[u])
				best[u] = ns;
		}
	}
	printf("warm.frames %d\n", n[0]);
	for (u = 0; u < NR; u++)
		printf("warm.%s %.1f\n", unwinders[u].name, best[u]);
}

/* Functions with frames of several sizes */
#define LINK(name, words, next)							\
	static NOINLINE u64 name(int depth)					\
	{									\
		volatile u64 room[words];					\
										\
		room[0] = depth;						\
		return next + room[0];						\
	}

static NOINLINE u64 leaf(void)
{
	struct regs r;

	asm volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"
		     : "=r" (r.ip), "=r" (r.sp), "=r" (r.fp));
	measure_warm(&r);
	return r.ip;
}

static u64 chain(int depth);
LINK(link_a, 1, chain(depth - 1))
LINK(link_b, 5, link_a(depth - 1))
LINK(link_c, 30, link_b(depth - 1))
LINK(link_d, 2, link_c(depth - 1))

static NOINLINE u64 chain(int depth)
{
	volatile u64 room = depth;

	if (depth <= 1)
		return leaf() + room;
	return (depth % 5 == 0 ? link_d(depth - 1) : chain(depth - 1)) + room;
}

/* --------------------------------- cold --------------------------------- */

static u64 seed = 1;

static u64 random_below(u64 n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 16) % n;
}

static u64 fake_stack[1 << 16];

static void cold_ours(const struct sframe_table *t, const u64 *pcs)
{
	struct sframe_row row;
	double start, best = 0;
	struct ustep s;
	int i, round, good = 0;

	for (round = 0; round < COLD_ROUNDS; round++) {
		start = now();
		for (i = 0; i < RANDOM; i++) {
			ustep_init(&s, pcs[i], (u64)fake_stack, (u64)(fake_stack + 64));
			if (!find(t, pcs[i], &row) && !ustep_row(&s, &env, &row))
				good++;
		}
		if (!round || now() - start < best)
			best = now() - start;
	}
	printf("cold.steps %d\n", good / COLD_ROUNDS);
	printf("cold.ours %.1f\n", best / RANDOM);
}

static void cold_library(const u64 *pcs)
{
	struct uu_start start = {
		.sp = (u64)fake_stack, .fp = (u64)(fake_stack + 64),
		.low = (u64)fake_stack, .high = (u64)(fake_stack + (1 << 16)),
	};
	double begin, best = 0;
	unsigned int n;
	int i, round;
	u64 to[2];

	for (round = 0; round < COLD_ROUNDS; round++) {
		begin = now();
		for (i = 0; i < RANDOM; i++) {
			start.ip = pcs[i];
			uu_unwind(unwinder, &start, to, 2, &n);
		}
		if (!round || now() - begin < best)
			best = now() - begin;
	}
	printf("cold.library %.1f\n", best / RANDOM);
}

static void cold_libunwind(const u64 *pcs)
{
	unw_context_t context;
	unw_cursor_t cursor;
	double start;
	int i;

	start = now();
	for (i = 0; i < RANDOM / 16; i++) {
		p_getcontext(&context);
		p_init_local(&cursor, &context);
		p_set_reg(&cursor, UNW_REG_IP, pcs[i]);
		p_step(&cursor);
	}
	printf("cold.libunwind.step %.1f\n", (now() - start) / (RANDOM / 16));
}

struct loaded {
	const char *path;
	u64 bias;
};

static int bias_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loaded *lib = arg;

	struct stat one, two;

	(void)size;
	if (stat(info->dlpi_name, &one) || stat(lib->path, &two) || one.st_dev != two.st_dev ||
	    one.st_ino != two.st_ino)
		return 0;
	lib->bias = info->dlpi_addr;
	return 1;
}

static void measure_cold(const char *path)
{
	struct loaded lib = { .path = path };
	static u64 pcs[RANDOM];
	struct sframe_table *t;
	struct sframe_row row;
	double start;
	size_t i;

	if (!dlopen(path, RTLD_LAZY | RTLD_LOCAL) || !dl_iterate_phdr(bias_of, &lib)) {
		fprintf(stderr, "steps: %s: %s\n", path, dlerror());
		exit(1);
	}
	for (i = 0; i < sizeof(fake_stack) / sizeof(fake_stack[0]); i++)
		fake_stack[i] = i + 1;
	start = now();
	t = add_table(path, lib.bias);
	printf("cold.make-ms %.1f\n", (now() - start) / 1e6);
	printf("cold.functions %u\n", t->nr_fdes);
	printf("cold.table-KiB %.0f\n", table_bytes / 1024.);
	for (i = 0; i < RANDOM; ) {
		pcs[i] = t->text_start + random_below(t->text_size);
		i += !find(t, pcs[i], &row);
	}
	cold_ours(t, pcs);
	if (uu_unwinder_add_loaded(unwinder) < 3)
		exit(1);
	cold_library(pcs);
	cold_libunwind(pcs);
}

int main(int argc, char **argv)
{
	bool seen = false;

	env.arch = sframe_arch(SFRAME_ABI_AMD64);
	load_libunwind();
	dl_iterate_phdr(add_loaded, &seen);
	unwinder = uu_unwinder_new();
	if (!unwinder || uu_unwinder_add_loaded(unwinder) < 3) {
		fprintf(stderr, "steps: no tables for what is loaded\n");
		exit(1);
	}
	chain(DEPTH - 1);
	if (argc > 1)
		measure_cold(argv[1]);
	return 0;
}
