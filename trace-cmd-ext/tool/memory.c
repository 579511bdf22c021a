// SPDX-License-Identifier: GPL-2.0
/*
 * memory.c - remember that a request for memory failed
 *
 * Most functions that the subcommands call go on after a failed request: a name cannot be kept, a
 * list stays short. Then the output is not what is in the file, and the exit code has to say so.
 * The linker leads all requests of the program and of the archives in it through this file
 * (TOOL_WRAP in sources.mk), and tool_finish() looks at the result.
 */
#include <stdarg.h>
#include <stdio.h>

#include "tool.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
int __real_vasprintf(char **to, const char *fmt, va_list ap);
int __real___vasprintf_chk(char **to, int flag, const char *fmt, va_list ap);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t nr, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_vasprintf(char **to, const char *fmt, va_list ap);
int __wrap_asprintf(char **to, const char *fmt, ...);
int __wrap___vasprintf_chk(char **to, int flag, const char *fmt, va_list ap);
int __wrap___asprintf_chk(char **to, int flag, const char *fmt, ...);

static void *note_failure(void *p)
{
	if (!p)
		tool_no_memory = true;
	return p;
}

static int note_length(int n)
{
	if (n < 0)
		tool_no_memory = true;
	return n;
}

void *__wrap_malloc(size_t size)
{
	return note_failure(__real_malloc(size));
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return note_failure(__real_calloc(nr, size));
}

/* With 0 bytes, realloc() frees the memory. */
void *__wrap_realloc(void *p, size_t size)
{
	void *new = __real_realloc(p, size);

	return size ? note_failure(new) : new;
}

char *__wrap_strdup(const char *s)
{
	return note_failure(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return note_failure(__real_strndup(s, n));
}

int __wrap_vasprintf(char **to, const char *fmt, va_list ap)
{
	return note_length(__real_vasprintf(to, fmt, ap));
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

/* Compilers call these for the two above with _FORTIFY_SOURCE. */
int __wrap___vasprintf_chk(char **to, int flag, const char *fmt, va_list ap)
{
	return note_length(__real___vasprintf_chk(to, flag, fmt, ap));
}

int __wrap___asprintf_chk(char **to, int flag, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __wrap___vasprintf_chk(to, flag, fmt, ap);
	va_end(ap);
	return n;
}
