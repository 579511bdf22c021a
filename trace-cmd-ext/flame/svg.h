/* SPDX-License-Identifier: GPL-2.0 */
/*
 * svg.h - a flame graph as one file that needs no other file
 *
 * Any viewer of SVG shows the picture; a browser also runs the script in it (flame.js). Texts are
 * bytes from a recording: a byte that XML cannot hold is replaced.
 */
#ifndef TRACE_USTACK_SVG_H
#define TRACE_USTACK_SVG_H

#include <stdbool.h>
#include <stdio.h>

#include "trace-cmd-ext/stacks/stacks.h"

#define SVG_NOTES	8

struct svg_opts {
	const char *title;
	const char *notes[SVG_NOTES];	/* lines below the title; NULL ends them */
	const char *unit;		/* "ns" is printed as time too */
	const char *number;		/* what the other value counts, such as "waits"; or NULL */
	unsigned int width;		/* without a script */
	bool icicle;			/* outermost on top */
	bool diff;			/* value[0] is before, value[1] after */
	double scale;			/* with diff: before is multiplied by this for colours */
	int by;				/* which value is the width */
};

void svg_write(FILE *out, const struct tree *t, const struct fold *f, const struct svg_opts *o);

/* @s as XML text. */
void svg_text(FILE *out, const char *s);
/* Numbers as people read them: 1,234,567; 12.3 ms. @buf of 64. */
const char *svg_number(char *buf, uint64_t n);
const char *svg_time(char *buf, uint64_t ns);

#endif
