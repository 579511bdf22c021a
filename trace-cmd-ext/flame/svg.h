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
	const char *unit;		/* unit of the width; "ns" is printed as time too */
	const char *other_unit;		/* unit of the other value, such as "waits"; or NULL */
	unsigned int width;		/* in pixels, for viewers without scripts */
	bool icicle;			/* the outermost frame is on top */
	bool diff;			/* value[0] is before, value[1] is after */
	double scale;			/* with diff: factor for value[0], for the colours */
	int by;				/* the index of the value that is the width */
};

void svg_write(FILE *out, const struct tree *t, const struct fold *f, const struct svg_opts *o);

/* Write @s as XML text. */
void svg_put_text(FILE *out, const char *s);
/* Format numbers for people: 1,234,567; 12.3 ms. @buf has 64 bytes. */
const char *svg_format_number(char *buf, uint64_t n);
const char *svg_format_time(char *buf, uint64_t ns);

#endif
