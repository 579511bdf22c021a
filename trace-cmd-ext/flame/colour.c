// SPDX-License-Identifier: GPL-2.0
/* colour.c - choose the colour of a frame by its kind and file. See colour.h. */
#include <math.h>

#include "colour.h"

static struct colour from_hsl(double h, double s, double l)
{
	double c = (1 - fabs(2 * l - 1)) * s, x, m = l - c / 2, r = 0, g = 0, b = 0;

	h = fmod(h, 360) / 60;
	x = c * (1 - fabs(fmod(h, 2) - 1));
	switch ((int)h) {
	case 0: r = c; g = x; break;
	case 1: r = x; g = c; break;
	case 2: g = c; b = x; break;
	case 3: g = x; b = c; break;
	case 4: r = x; b = c; break;
	default: r = c; b = x; break;
	}
	return (struct colour){ lround((r + m) * 255), lround((g + m) * 255),
				lround((b + m) * 255) };
}

struct colour colour_frame(enum fold_kind kind, uint32_t hue, uint32_t shade)
{
	/* neighbours in this list differ clearly, and no hue is the blue of the kernel */
	static const double hues[COLOUR_FILES] = { 28, 48, 8, 85, 340, 150, 38, 62, 18, 110, 320,
						   172 };
	double vary = (shade % 4) * 0.022;

	switch (kind) {
	case FOLD_KERNEL:
		return from_hsl(211, 0.72, 0.74 + vary);
	case FOLD_USER:
		return from_hsl(hues[hue % COLOUR_FILES], 0.84, 0.69 + vary);
	case FOLD_INLINED:
		/* paler than the function that it is part of */
		return from_hsl(hues[hue % COLOUR_FILES], 0.70, 0.86 + vary);
	case FOLD_TASK:
		return from_hsl(220, 0.10, 0.83);
	case FOLD_NOTE:
		return from_hsl(0, 0, 0.90);
	case FOLD_MARK:
		return from_hsl(265, 0.65, 0.82);
	default:
		return from_hsl(188, 0.45, 0.76);
	}
}

struct colour colour_unknown(void)
{
	return from_hsl(40, 0.18, 0.80);
}

struct colour colour_diff(double before, double after)
{
	double big = before > after ? before : after;
	double change = big > 0 ? fabs(after - before) / big : 0;

	if (change < 0.005)
		return from_hsl(0, 0, 0.94);
	return from_hsl(after > before ? 8 : 214, 0.85, 0.94 - 0.21 * change);
}
