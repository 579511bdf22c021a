/* SPDX-License-Identifier: GPL-2.0 */
/* near.h - the names that are most similar to one that does not exist */
#ifndef TRACE_USTACK_NEAR_H
#define TRACE_USTACK_NEAR_H

#include <stdbool.h>
#include <stddef.h>

#define NEAR_MAX	3

struct near {
	struct near_name {
		unsigned int distance;
		char name[200];
	} v[NEAR_MAX];
	size_t nr;
};

/*
 * Keep @name if it is similar to @wanted, and more similar than the names in @near. Start with a
 * zeroed @near. In "SYSTEM:NAME" the part after the colon alone may be similar.
 */
void near_consider(struct near *near, const char *wanted, const char *name);
/* "a, b, c" into @list; false if nothing is near. */
#define NEAR_LIST	(NEAR_MAX * 208)
bool near_list(const struct near *near, char list[NEAR_LIST]);

#endif
