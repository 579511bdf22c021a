/* SPDX-License-Identifier: GPL-2.0 */
/*
 * colour.h - the colour of each frame of a flame graph
 *
 * Kernel frames are blue, user frames warm or green by their file, and notes and other frames
 * without code grey or violet. All colours are light enough for black text: a contrast of 7 at
 * least (WCAG 2 level AAA), which a test computes.
 */
#ifndef TRACE_USTACK_COLOUR_H
#define TRACE_USTACK_COLOUR_H

#include <stdint.h>

#include "trace-cmd-ext/stacks/stacks.h"

#define COLOUR_FILES	12		/* files with a hue of their own; then hues are shared */

struct colour {
	uint8_t r, g, b;
};

/* @hue is the file's number among those in the picture; @shade varies it a little. */
struct colour colour_frame(enum fold_kind kind, uint32_t hue, uint32_t shade);
/* The colour of a user frame whose file is not known. */
struct colour colour_unknown(void);
/* The colour of a frame whose share went from @before to @after: red is more, blue is less. */
struct colour colour_diff(double before, double after);

#endif
