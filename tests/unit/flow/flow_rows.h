/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flow_rows.h - assertions that flow_build.h and flow_arch.h share
 *
 * The assertions look up a pc in the table of @reader. The result is in @row. Both headers define
 * these variables.
 */
#ifndef FLOW_ROWS_H
#define FLOW_ROWS_H

/* Followed code has rows or nothing: the table states no hole for it. */
#define assert_hole(pc)		assert_int_equal(sframe_find(&reader, pc, &row), -ESRCH)

#define assert_outermost(pc) do {					\
	assert_int_equal(sframe_find(&reader, pc, &row), 0);		\
	assert_int_equal(row.ra.base, SFRAME_UNDEFINED);		\
} while (0)

#endif
