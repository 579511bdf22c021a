// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * demangle.c - C++ and Rust names as people write them, by libiberty
 *
 * Names come without parameters, as in the rest of a stack. A mangled name of a hundred bytes can
 * stand for a name of gigabytes. When a name gets longer than anyone reads, the callback leaves
 * libiberty's function with longjmp(). The function leaks nothing then, because libiberty's
 * functions with a callback allocate nothing.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define MAX_MANGLED	65536
#define MAX_PLAIN	65536

struct out {
	jmp_buf too_long;
	size_t len;
	char text[MAX_PLAIN];
};

static void append_piece(const char *piece, size_t len, void *arg)
{
	struct out *o = arg;

	if (len >= sizeof(o->text) - o->len)
		longjmp(o->too_long, 1);
	memcpy(o->text + o->len, piece, len);
	o->len += len;
}

char *symbols_demangle(const char *name)
{
	char *demangled = NULL;
	struct out *o;

	/* mangled names start with _Z, _R or _GLOBAL__I_ */
	if (name[0] != '_' || !strchr("ZRG", name[1]) || !name[1] ||
	    strnlen(name, MAX_MANGLED) == MAX_MANGLED)
		return NULL;
	o = malloc(sizeof(*o));
	if (!o)
		return NULL;
	o->len = 0;
	if (!setjmp(o->too_long) &&
	    (rust_demangle_callback(name, DMGL_AUTO, append_piece, o) ||
	     (o->len = 0, cplus_demangle_v3_callback(name, DMGL_AUTO, append_piece, o)))) {
		o->text[o->len] = '\0';
		demangled = strdup(o->text);
	}
	free(o);
	return demangled;
}
