// SPDX-License-Identifier: GPL-2.0
/*
 * memory - a request for memory that failed is not forgotten
 *
 * Most of what the subcommands call goes on without what it has no memory for: a name cannot be
 * kept, a list stays short. Then the output is not what is in the file, and the exit code has to
 * say so. The linker leads all requests of the program and of the archives in it through
 * here (TOOL_WRAP in sources.mk), and cmd_finish() looks at what was noted.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **to, const char *fmt, va_list ap);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_vasprintf(char **to, const char *fmt, va_list ap);
int __wrap_asprintf(char **to, const char *fmt, ...);

static void *note(void *p)
{
	if (!p)
		cmd_no_memory = true;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return note(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return note(__real_calloc(nr, size));
}

/* Of 0 bytes it frees. */
void *__wrap_realloc(void *p, size_t size)
{
	void *new = __real_realloc(p, size);

	return size ? note(new) : new;
}

char *__wrap_strdup(const char *s)
{
	return note(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return note(__real_strndup(s, n));
}

int __wrap_vasprintf(char **to, const char *fmt, va_list ap)
{
	int n = __real_vasprintf(to, fmt, ap);

	if (n < 0)
		note(NULL);
	return n;
}

int __wrap_asprintf(char **to, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap_vasprintf(to, fmt, ap);
	va_end(ap);
	return n;
}
