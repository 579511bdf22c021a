/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * impl.h - what the parts of the generator share
 *
 *	gen.c	the steps, from .eh_frame to a table
 *	check.c	finds rows that the code contradicts
 *	list.c	makes one ascending list of the rows of all FDEs, with padding and holes
 *	pack.c	cuts the list into functions so that the section is small
 *	write.c	writes the bytes of the section
 *
 * The generator uses three other directories: rows/ has the file and the rows of its FDEs, flow/
 * adds rows for code without .eh_frame, and arch/ has the parts that depend on the architecture.
 */
#ifndef GEN_IMPL_H
#define GEN_IMPL_H

#include "gen.h"
#include "libunwind-user/rows/rows.h"

/* gen_from_fd() for tests: @flags are ROWS_NO_FLOW and the like. */
int gen_from_fd_flags(int fd, unsigned int flags, struct gen_table *table);

/* ------------------------------ check.c ------------------------------ */

/* Turn rows of the sorted FDEs that cannot be right into holes. */
int gen_make_wrong_rows_holes(struct rows *r);

/* ------------------------------- list.c ------------------------------ */

/* Make the list from the sorted FDEs: resolve overlaps, fill padding. */
int gen_merge_rows(struct rows *r);

/* ------------------------------- pack.c ------------------------------ */

int gen_pack_rows(struct rows *r, struct gen_table *table);

#endif
