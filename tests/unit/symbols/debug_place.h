/* SPDX-License-Identifier: GPL-2.0 */
/*
 * debug_place.h - a directory in which tests of debug files build programs with shell commands
 *
 * A test fails if such a command fails.
 */
#ifndef DEBUG_PLACE_H
#define DEBUG_PLACE_H

#include <errno.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include "libunwind-user/unwind-user.h"

#include "tests/unit/unit.h"

static char place[] = "/tmp/ustack-debug-XXXXXX";
static struct uu_symbols *syms;
/* what uu_symbols_new_debug() gets, unless a test says otherwise */
static struct uu_symbols_opts opts;
static uint64_t in_hidden;	/* an offset in hidden() of "full" at which inner() is inlined */

/* The source: inner is inlined into outer at line 3, and only debug information says so. */
static const char source[] =
	"static inline __attribute__((always_inline)) int inner(int n) { return n * n + 7; }\n"
	"static __attribute__((noinline)) int hidden(int n) {\n"
	"\treturn inner(n) ^ 5; }\n"
	"int outer(int n) { return hidden(n) + 1; }\n"
	"int main(int argc, char **argv) { (void)argv; return outer(argc) == 0; }\n";

/* Run a command in the directory; its exit code. */
static __attribute__((format(printf, 1, 2))) int try(const char *fmt, ...)
{
	char cmd[4096];
	va_list ap;
	int n;

	n = snprintf(cmd, sizeof(cmd), "cd %s && exec 2>>log && ", place);
	va_start(ap, fmt);
	vsnprintf(cmd + n, sizeof(cmd) - n, fmt, ap);
	va_end(ap);
	return system(cmd);
}

#define sh(...) assert_int_equal(try(__VA_ARGS__), 0)

static char *in_place(const char *name)
{
	static char paths[4][128];
	static int i;

	i = (i + 1) % 4;
	snprintf(paths[i], sizeof(paths[i]), "%s/%s", place, name);
	return paths[i];
}

/* The offset of a function's first byte, from the symbols of a file that has them. */
static uint64_t offset_of(const char *file, const char *name)
{
	unsigned long long addr = 0, seg_addr = 0, seg_off = 0;
	char cmd[512];
	FILE *f;

	snprintf(cmd, sizeof(cmd),
		 "cd %s && nm %s | sed -n 's/^\\([0-9a-f]*\\) [tT] %s$/\\1/p' && "
		 "readelf -lW %s 2>/dev/null | sed -n 's/^ *LOAD *\\(0x[0-9a-f]*\\) "
		 "\\(0x[0-9a-f]*\\).*R E .*/\\1 \\2/p'", place, file, name, file);
	f = popen(cmd, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx %llx %llx", &addr, &seg_off, &seg_addr), 3);
	pclose(f);
	return addr - seg_addr + seg_off;
}

static void begin(void)
{
	uu_symbols_free(syms);
	syms = uu_symbols_new_debug(&opts);
	assert_non_null(syms);
}

/* The build-id of a file in the directory as text. */
static const char *id_text(const char *file)
{
	static char text[64];
	char cmd[256];
	FILE *f;

	snprintf(cmd, sizeof(cmd), "readelf -n %s/%s 2>/dev/null | sed -n 's/ *Build ID: //p'",
		 place, file);
	f = popen(cmd, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%63s", text), 1);
	pclose(f);
	return text;
}

static __attribute__((unused)) size_t id_of(const char *file, uint8_t id[32])
{
	const char *text = id_text(file);
	size_t n;

	for (n = 0; text[2 * n]; n++)
		assert_int_equal(sscanf(text + 2 * n, "%2hhx", &id[n]), 1);
	return n;
}

/* Make full, stripped and full.debug from p.c, for a group. */
static int build_place(void **state)
{
	FILE *f;

	(void)state;
	if (!mkdtemp(place))
		return -1;
	f = fopen(in_place("p.c"), "w");
	if (!f)
		return -1;
	fputs(source, f);
	fclose(f);
	sh("gcc -O2 -g -Wl,--build-id -o full p.c");
	sh("objcopy --only-keep-debug full full.debug && strip -o stripped full");
	in_hidden = offset_of("full", "hidden");
	return 0;
}

static int remove_place(void **state)
{
	(void)state;
	return getenv("KEEP") ? 0 : try("rm -rf %s", place);
}

/* Start each test with nothing known yet, and without the debug files of this machine. */
static int setup(void **state)
{
	static char debug_dir[128];

	(void)state;
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", place);
	memset(&opts, 0, sizeof(opts));
	opts.size = sizeof(opts);
	opts.debug_dir = debug_dir;
	begin();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	uu_symbols_free(syms);
	syms = NULL;
	return try("rm -rf debug .debug dir root");
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
