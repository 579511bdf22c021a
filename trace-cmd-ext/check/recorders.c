// SPDX-License-Identifier: GPL-2.0
/*
 * recorders.c - what recorders left: files that are not complete, and instances
 *
 * Files are completed first, because the data left in their instances belongs in them. The check
 * looks for files in the current directory, where a recorder puts its file by default. It reports
 * recorders at work and leaves them alone.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "trace-cmd-ext/record/record.h"

static void repair_file(struct check *c, const char *path, const struct unfinished *u)
{
	char out[PATH_MAX];

	if (unfinished_complete(path, c->traces, out))
		check_add(c, CHECK_MISSING, "recorders", path,
			  "fix what standard error says, and try again",
			  "left by process %d, and it cannot be completed", (int)u->pid);
	else if (*out)
		check_add(c, CHECK_OK, "recorders", path, NULL,
			  "left by process %d, completed: %s", (int)u->pid, out);
	else
		check_add(c, CHECK_OK, "recorders", path, NULL,
			  "left by process %d before it recorded anything, removed",
			  (int)u->pid);
}

bool check_unfinished(struct check *c, const char *path)
{
	struct unfinished u;
	int ret;

	if (!unfinished_is_name(path))
		return false;
	ret = unfinished_examine(path, &u);
	if (ret == -EPERM)
		check_add(c, CHECK_NOTE, "recorders", path,
			  "ask its owner to run trace-ustack check --repair",
			  "a recording that is not complete, of another user");
	else if (ret == -EMEDIUMTYPE)
		check_add(c, CHECK_MISSING, "recorders", path,
			  "give FILE.part* of trace-ustack record",
			  "it is not a recording, and was left as it is");
	else if (ret)
		check_add(c, CHECK_MISSING, "recorders", path, NULL, "%s", strerror(-ret));
	else if (u.alive)
		check_add(c, CHECK_OK, "recorders", path, NULL, "process %d is recording",
			  (int)u.pid);
	else if (c->repair)
		repair_file(c, path, &u);
	else
		check_add(c, CHECK_MISSING, "recorders", path,
			  "trace-ustack check --repair completes it",
			  "left by process %d, which is gone; %.1f MiB were recorded",
			  (int)u.pid, u.bytes / 1048576.0);
	return true;
}

static void check_directory(struct check *c)
{
	DIR *dir = opendir(".");
	struct unfinished u;
	struct dirent *d;

	/* the user did not name this file: its contents must show that a recorder made it */
	while (dir && (d = readdir(dir))) {
		if (unfinished_is_name(d->d_name) &&
		    unfinished_examine(d->d_name, &u) != -EMEDIUMTYPE && !u.empty)
			check_unfinished(c, d->d_name);
	}
	if (dir)
		closedir(dir);
}

void check_recorders(struct check *c)
{
	struct recorder_instance *left;
	size_t nr, i;
	int ret;

	check_directory(c);
	if (!c->traces || instance_list(&left, &nr))
		return;
	for (i = 0; i < nr; i++) {
		char name[sizeof(left->name) + 16];

		snprintf(name, sizeof(name), "instances/%s", left[i].name);
		if (left[i].alive) {
			check_add(c, CHECK_OK, "recorders", name, NULL,
				  "process %d is recording", (int)left[i].pid);
			continue;
		}
		ret = c->repair ? instance_remove(left[i].name) : 0;
		if (!c->repair)
			check_add(c, CHECK_MISSING, "recorders", name,
				  "trace-ustack check --repair, or the next trace-ustack record, "
				  "removes it", "left by process %d, which is gone",
				  (int)left[i].pid);
		else if (ret)
			check_add(c, CHECK_MISSING, "recorders", name,
				  "end whoever reads its files, and try again",
				  "left by process %d, and it cannot be removed: %s",
				  (int)left[i].pid, strerror(-ret));
		else
			check_add(c, CHECK_OK, "recorders", name, NULL,
				  "left by process %d, removed", (int)left[i].pid);
	}
	free(left);
}
