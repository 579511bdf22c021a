// SPDX-License-Identifier: GPL-2.0
/* kinds.c - what an event is made of: a tracepoint, or something that a user has defined */
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/*
 * The first line about the event, without a line end: "p:SYSTEM/NAME ...", with other letters and
 * numbers for p. *@after is set to the text after the line.
 */
static char *find_line(char *text, const char *system, const char *name, char **after)
{
	size_t system_len = strlen(system), name_len = strlen(name);
	char *line, *at;

	for (line = text; line && *line; line = *after) {
		*after = line + strcspn(line, "\n");
		if (**after)
			*(*after)++ = '\0';
		at = strchr(line, ':');
		if (at && !strncmp(at + 1, system, system_len) && at[1 + system_len] == '/') {
			at += system_len + 2;
			if (!strncmp(at, name, name_len) && (!at[name_len] || at[name_len] == ' '))
				return line;
		}
	}
	return NULL;
}

static bool is_listed(const char *file, const char *system, const char *name)
{
	char *text = rec_tracefs_read(NULL, file, NULL), *after;
	bool found = find_line(text, system, name, &after);

	free(text);
	return found;
}

enum bpfsrc_kind rec_find_event_kind(const char *system, const char *name)
{
	if (is_listed("kprobe_events", system, name))
		return BPFSRC_KPROBE;
	if (is_listed("uprobe_events", system, name))
		return BPFSRC_UPROBE;
	if (is_listed("dynamic_events", system, name) || !strcmp(system, "synthetic") ||
	    !strncmp(system, "user_events", strlen("user_events")))
		return BPFSRC_OTHER;
	return BPFSRC_TRACEPOINT;
}

/* "r:SYSTEM/NAME PATH:0xOFFSET(0xREF_CTR) ..."; the path has no blanks */
static bool parse_site(char *line, struct bpfsrc_site *site)
{
	char *path = strchr(line, ' '), *colon;

	if (!path)
		return false;
	path++;
	path[strcspn(path, " ")] = '\0';
	colon = strrchr(path, ':');
	if (!colon)
		return false;
	*colon++ = '\0';
	*site = (struct bpfsrc_site){ .path = path, .returns = *line == 'r' };
	site->offset = strtoull(colon, &colon, 16);
	if (*colon == '(')
		site->ref_ctr = strtoull(colon + 1, NULL, 16);
	return true;
}

size_t rec_find_uprobe_sites(const char *system, const char *name, char **text,
			     struct bpfsrc_site site[MAX_SITES])
{
	char *after = *text = rec_tracefs_read(NULL, "uprobe_events", NULL), *line;
	size_t nr = 0;

	while (nr < MAX_SITES && (line = find_line(after, system, name, &after)))
		nr += parse_site(line, &site[nr]);
	return nr;
}
