// SPDX-License-Identifier: GPL-2.0
/* kinds.c - what an event is made of: a tracepoint, or something that a user has defined */
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/* Is the event on a line of this file? "p:SYSTEM/NAME ...", with other letters and numbers for p */
static bool is_listed(const char *file, const char *system, const char *name)
{
	char *text = tfs_read(NULL, file, NULL), *line, *save, *at;
	size_t len = strlen(system);
	bool found = false;

	for (line = text ? strtok_r(text, "\n", &save) : NULL; line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		at = strchr(line, ':');
		if (!at++ || strncmp(at, system, len) || at[len] != '/')
			continue;
		at += len + 1;
		at[strcspn(at, " ")] = '\0';
		found = !strcmp(at, name);
	}
	free(text);
	return found;
}

enum bpf_kind rec_event_kind(const char *system, const char *name)
{
	if (is_listed("kprobe_events", system, name))
		return BPF_KPROBE;
	if (is_listed("uprobe_events", system, name))
		return BPF_UPROBE;
	if (is_listed("dynamic_events", system, name) || !strcmp(system, "synthetic") ||
	    !strncmp(system, "user_events", strlen("user_events")))
		return BPF_OTHER;
	return BPF_TRACEPOINT;
}
