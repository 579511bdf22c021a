/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flat.h - from an SFrame section to the rows that BPF programs read
 *
 * struct flat holds a table: rows by offset in the file, cut into parts (rule.h). flat_make() makes
 * it with what the SFrame reader says for each address, so both always say the same.
 */
#ifndef TRACE_USTACK_RECORD_BPF_FLAT_H
#define TRACE_USTACK_RECORD_BPF_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/base/base.h"
#include "libunwind-user/tables/tables.h"
#include "rule.h"

struct row {
	uint32_t off;			/* in the part */
	uint32_t rule;
};

struct flat_part {
	uint32_t nr;			/* offset in the file >> PART_SHIFT */
	uint32_t nr_rows;
	size_t first;			/* in flat.row */
};

struct flat {
	VEC(struct row) row;
	VEC(struct flat_part) part;
	enum part_abi abi;
};

/* All rules that do not fit 32 bits: @rule has room for MAX_FULL */
struct full_rules {
	struct full_rule *rule;
	uint32_t nr;
};

/*
 * Make the rows of @table, for the segments of code of @id. Returns 0, -ENOMEM, -EBADMSG for a
 * broken table, or -EOPNOTSUPP for a table of another architecture than this machine's; on amd64,
 * i386 is no other architecture.
 */
int flat_make(struct flat *rows, struct full_rules *full, const struct gen_table *table,
	      const struct tables_id *id);
/* The same for tables of all architectures. The ABI of others is ABI_OTHER: no task has it. */
int flat_make_any(struct flat *rows, struct full_rules *full, const struct gen_table *table,
		  const struct tables_id *id);
void flat_free(struct flat *rows);

/* The words that a part takes in a chunk, and how to write them there; sets the numbers of @part */
uint32_t flat_words(const struct flat_part *p);
void flat_write(const struct flat *rows, const struct flat_part *p, uint32_t *chunk, uint32_t at,
		struct part *part);

/* The rule at @off of a part, as the programs find it */
uint32_t flat_find(const uint32_t *chunk, const struct part *part, uint32_t off);

#endif
