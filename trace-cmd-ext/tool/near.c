// SPDX-License-Identifier: GPL-2.0
/* near.c - find names that are similar */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "near.h"

/* How many changes turn one name into the other; UINT_MAX if a name has more than 127 bytes */
static unsigned int edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned int row[128], diag, old;

	if (la > 127 || lb > 127)
		return UINT_MAX;
	for (j = 0; j <= lb; j++)
		row[j] = j;
	for (i = 1; i <= la; i++) {
		diag = row[0];
		row[0] = i;
		for (j = 1; j <= lb; j++) {
			old = row[j];
			row[j] = old < row[j - 1] ? old + 1 : row[j - 1] + 1;
			if (diag + (a[i - 1] != b[j - 1]) < row[j])
				row[j] = diag + (a[i - 1] != b[j - 1]);
			diag = old;
		}
	}
	return row[lb];
}

void near_consider(struct near *near, const char *wanted, const char *name)
{
	const char *last = strchr(wanted, ':'), *end = strchr(name, ':');
	unsigned int distance = edit_distance(wanted, name), other, limit;
	size_t i;

	/* two colons are part of a C++ name */
	last = last && last[1] != ':' ? last + 1 : wanted;
	end = end && end[1] != ':' ? end + 1 : name;
	other = edit_distance(last, end);
	if (other < distance)
		distance = other;
	/* a part of a name is similar, too */
	if (strlen(last) > 3 && strstr(end, last) && distance > 2)
		distance = 2;
	limit = strlen(last) / 3 < 2 ? 2 : strlen(last) / 3;
	if (distance > limit)
		return;
	for (i = 0; i < near->nr; i++)
		if (!strncmp(near->v[i].name, name, sizeof(near->v[i].name) - 1))
			return;
	for (i = near->nr; i > 0 && near->v[i - 1].distance > distance; i--)
		if (i < NEAR_MAX)
			near->v[i] = near->v[i - 1];
	if (i == NEAR_MAX)
		return;
	near->v[i].distance = distance;
	snprintf(near->v[i].name, sizeof(near->v[i].name), "%s", name);
	near->nr += near->nr < NEAR_MAX;
}

bool near_list(const struct near *near, char list[NEAR_LIST])
{
	size_t i;

	*list = '\0';
	for (i = 0; i < near->nr; i++) {
		strcat(list, i ? ", " : "");
		strcat(list, near->v[i].name);
	}
	return near->nr;
}
