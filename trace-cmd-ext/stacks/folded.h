/* SPDX-License-Identifier: GPL-2.0 */
/*
 * folded.h - a fold as text, one path a line: task;outermost;...;innermost WEIGHT
 *
 * flamegraph.pl, inferno and others read this text. Kernel frames end in _[k] and inlined ones in
 * _[i], as their collapsing scripts write them on demand. A semicolon or a line feed in a name is
 * written as a colon or a blank. With a difference there are two numbers: before, after.
 */
#ifndef TRACE_USTACK_FOLDED_H
#define TRACE_USTACK_FOLDED_H

#include <stdbool.h>
#include <stdio.h>

#include "fold.h"

/* Write the finished fold @f: value[@by], or with @diff both. 0 or -ENOMEM; check ferror(@out). */
int folded_write(FILE *out, const struct fold *f, int by, bool diff);

#endif
