// SPDX-License-Identifier: GPL-2.0
/* check_left - instances that recorders left behind; recorders at work are told, and left alone */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "rec.h"

void check_left(struct check *c)
{
	struct left *left;
	size_t nr, i;
	int ret;

	if (!c->traces || left_list(&left, &nr))
		return;
	for (i = 0; i < nr; i++) {
		char name[sizeof(left->name) + 16];

		snprintf(name, sizeof(name), "instances/%s", left[i].name);
		if (left[i].alive) {
			check_add(c, CHECK_OK, "recorders", name, NULL,
				  "process %d is recording", (int)left[i].pid);
			continue;
		}
		ret = c->repair ? left_remove(left[i].name) : 0;
		if (!c->repair)
			check_add(c, CHECK_MISSING, "recorders", name,
				  "trace-ustack check --repair, or the next trace-ustack record, "
				  "removes it", "left behind by process %d, which is gone",
				  (int)left[i].pid);
		else if (ret)
			check_add(c, CHECK_MISSING, "recorders", name,
				  "end whoever reads its files, and try again",
				  "left behind by process %d, and it cannot be removed: %s",
				  (int)left[i].pid, strerror(-ret));
		else
			check_add(c, CHECK_OK, "recorders", name, NULL,
				  "left behind by process %d, removed", (int)left[i].pid);
	}
	free(left);
}
