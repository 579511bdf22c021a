// SPDX-License-Identifier: GPL-2.0
/*
 * fail_malloc - a preloaded library: memory runs out
 *
 * Requests for memory fail from the FAIL_FROM-th on; with FAIL_ONCE only the FAIL_FROM-th fails.
 * The library counts only requests from the code of the file whose name ends in FAIL_IN. Other
 * libraries get their memory: the test is not about them. The library appends the number of
 * requests to the file FAIL_COUNT, if the environment has it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t nr, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static atomic_ulong nr_requests;
static unsigned long from;
static bool ready, once;
static const char *in;

static void __attribute__((constructor)) start(void)
{
	const char *s = getenv("FAIL_FROM");

	from = s ? strtoul(s, NULL, 10) : 0;
	once = getenv("FAIL_ONCE");
	in = getenv("FAIL_IN");
	ready = in;
}

/* The processes that read files end by _exit(), so a destructor would not run. */
static void count(void)
{
	const char *path = getenv("FAIL_COUNT");
	char line[32];
	int fd, n;

	fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%lu\n", atomic_load(&nr_requests));
	if (write(fd, line, n) != n)
		abort();
	close(fd);
}

static bool fails(void *caller)
{
	unsigned long nr;
	size_t len, of;
	Dl_info info;

	if (!ready || !dladdr(caller, &info) || !info.dli_fname)
		return false;
	len = strlen(in);
	of = strlen(info.dli_fname);
	if (of < len || strcmp(info.dli_fname + of - len, in))
		return false;
	nr = atomic_fetch_add(&nr_requests, 1) + 1;
	if (!from || nr < from || (once && nr > from))
		return false;
	errno = ENOMEM;
	return true;
}

#define FAILS	fails(__builtin_return_address(0))

void *malloc(size_t size)
{
	return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return FAILS ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *p, size_t size)
{
	return FAILS ? NULL : __libc_realloc(p, size);
}

char *strdup(const char *s)
{
	size_t size = strlen(s) + 1;
	char *new = FAILS ? NULL : __libc_malloc(size);

	return new ? memcpy(new, s, size) : NULL;
}

char *strndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *new = FAILS ? NULL : __libc_malloc(len + 1);

	if (new) {
		memcpy(new, s, len);
		new[len] = '\0';
	}
	return new;
}

static int format(char **to, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	*to = n < 0 ? NULL : __libc_malloc((size_t)n + 1);
	return *to ? vsnprintf(*to, (size_t)n + 1, fmt, ap) : -1;
}

/* With _FORTIFY_SOURCE, compilers call these in place of the first two. */
int __asprintf_chk(char **to, int flag, const char *fmt, ...);
int __vasprintf_chk(char **to, int flag, const char *fmt, va_list ap);

int vasprintf(char **to, const char *fmt, va_list ap)
{
	return FAILS ? -1 : format(to, fmt, ap);
}

int __vasprintf_chk(char **to, int flag, const char *fmt, va_list ap)
{
	(void)flag;
	return FAILS ? -1 : format(to, fmt, ap);
}

#define FORMAT(to, fmt) ({						\
	va_list ap;							\
	int n = -1;							\
									\
	va_start(ap, fmt);						\
	if (!FAILS)							\
		n = format(to, fmt, ap);				\
	va_end(ap);							\
	n;								\
})

int asprintf(char **to, const char *fmt, ...)
{
	return FORMAT(to, fmt);
}

int __asprintf_chk(char **to, int flag, const char *fmt, ...)
{
	(void)flag;
	return FORMAT(to, fmt);
}

void _exit(int code)
{
	void (*real)(int) = dlsym(RTLD_NEXT, "_exit");

	count();
	real(code);
	__builtin_unreachable();
}

static void __attribute__((destructor)) end(void)
{
	count();
}
