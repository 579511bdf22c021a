/* SPDX-License-Identifier: GPL-2.0 */
/*
 * saved_tables.h - FILE.tables: which files had an unwind table while FILE was recorded
 *
 * FILE.tables is text, one file a line. Its first line names the recording by the ID in its
 * trace.dat (option TRACEID), so that the tables of another recording with the same name do not
 * count:
 *
 *	trace-ustack-tables 1 ID
 *	CAUSE \t BUILD-ID \t TEXT \t COVERED \t HOLES \t ERRNO \t PATH
 *
 * CAUSE is tables_get_cause_name(). BUILD-ID is hexadecimal, "-" without a build ID. TEXT and
 * COVERED are bytes of code. HOLES are the ranges that a table cannot describe. ERRNO is the cause
 * of "error". A line feed in PATH is \012, as in /proc/PID/maps. Nothing in the text depends on the
 * recorded machine: files are known by their build IDs.
 */
#ifndef TRACE_USTACK_SAVED_TABLES_H
#define TRACE_USTACK_SAVED_TABLES_H

#include <stdint.h>

#include "plugin/join/join.h"
#include "libunwind-user/tables/tables.h"
#include "libunwind-user/base/base.h"

struct saved_table {
	enum tables_cause cause;
	int error;			/* errno for TABLES_ERROR, else 0 */
	uint32_t build_id_size;
	uint8_t build_id[20];
	uint64_t text_bytes, covered_bytes, holes;
	char *path;
};

struct saved_tables {
	VEC(struct saved_table) v;
};

/* Write FILE.tables of the recording @dat with this ID. 0, or -errno and no FILE.tables is left. */
int saved_tables_write(const char *dat, uint64_t id, struct tables_session *t);
/* Remove FILE.tables of an earlier recording with this name. */
void saved_tables_remove(const char *dat);

/*
 * Read FILE.tables of @dat into a zeroed @s. 0; -ENOENT; -ESTALE if it is of another recording;
 * -EINVAL if it is something else; or -ENOMEM.
 */
int saved_tables_read(struct saved_tables *s, const char *dat, uint64_t id);
void saved_tables_free(struct saved_tables *s);
/* The entry of a file: by its build ID, or by its path if one of the two has none; or NULL. */
const struct saved_table *saved_tables_find(const struct saved_tables *s,
					    const struct maps_file *file);

#endif
