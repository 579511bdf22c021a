// SPDX-License-Identifier: GPL-2.0
/*
 * functions.c - -l: which functions of the kernel it names
 *
 * ftrace lists the functions that it can trace, with their addresses. So functions of the same name
 * are all there.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"

#define FUNCTIONS	"available_filter_functions_addrs"	/* since 6.5 */
/* Each of them is patched while programs run, and each call is an event with both stacks. */
#define MAX_FUNCTIONS	4096

#define ENDBR_SIZE	4

struct line {
	uint64_t address;
	char *name;
	bool meant;			/* by -l */
};

/* "ADDRESS NAME [MODULE]". false: no function; the kernel keeps a line for code that is gone */
static bool parse_line(char *text, struct line *l)
{
	char *end;

	l->address = strtoull(text, &end, 16);
	if (end == text || *end != ' ')
		return false;
	l->meant = false;
	l->name = end + 1;
	l->name[strcspn(l->name, " \t")] = '\0';
	return strncmp(l->name, "__ftrace_invalid_address__", 26) != 0;
}

/* Find the function that starts at a symbol, maybe after an ENDBR instruction. */
static struct line *find_at(struct line *line, size_t nr, uint64_t symbol)
{
	struct line *l;

	for (l = line; l < line + nr; l++)
		if (l->address == symbol || l->address == symbol + ENDBR_SIZE)
			return l;
	return NULL;
}

/*
 * ftrace lists a function with several names under one of them. So look for the pattern among the
 * symbols of the kernel, too. Is it one of these? *@found: at a function that ftrace lists
 */
static bool mark_symbols(const char *pattern, struct line *line, size_t nr, bool *found)
{
	char *text = tfs_read_path("/proc/kallsyms", NULL), *save, *one, *name;
	struct line *l;
	bool symbol = false;
	uint64_t address;

	for (one = text ? strtok_r(text, "\n", &save) : NULL; one;
	     one = strtok_r(NULL, "\n", &save)) {
		address = strtoull(one, &name, 16);
		if (strlen(name) < 4 || !strchr("tTwW", name[1]))
			continue;
		name += 3;
		name[strcspn(name, "\t")] = '\0';
		if (fnmatch(pattern, name, 0))
			continue;
		symbol = true;
		l = find_at(line, nr, address);
		if (l)
			*found = l->meant = true;
	}
	free(text);
	return symbol;
}

static int report_unknown(const char *pattern, bool symbol, const struct line *line, size_t nr)
{
	struct near near = {};
	char list[NEAR_LIST];
	size_t i;

	if (symbol) {
		tool_error("-l %s: ftrace cannot trace this function of the kernel; a function "
			   "that calls it, or is called by it, may do", pattern);
		return TOOL_FAIL;
	}
	for (i = 0; i < nr; i++)
		near_consider(&near, pattern, line[i].name);
	if (near_list(&near, list))
		tool_error("-l %s: this kernel has no such function; near it: %s", pattern, list);
	else
		tool_error("-l %s: this kernel has no such function; %s/" FUNCTIONS " lists all",
			   pattern, tracefs_tracing_dir());
	return TOOL_FAIL;
}

static int select_functions(struct rec *r, struct line *line, size_t nr)
{
	const char *pattern;
	bool found, symbol;
	size_t i, k;

	for (k = 0; k < r->opts.nr_functions; k++) {
		pattern = r->opts.functions[k];
		found = false;
		for (i = 0; i < nr; i++)
			if (!fnmatch(pattern, line[i].name, 0))
				found = line[i].meant = true;
		symbol = !found && mark_symbols(pattern, line, nr, &found);
		if (!found)
			return report_unknown(pattern, symbol, line, nr);
	}
	r->function = calloc(nr + 1, sizeof(*r->function));
	if (!r->function) {
		tool_error("not enough memory");
		return TOOL_FAIL;
	}
	for (i = 0; i < nr; i++)
		if (line[i].meant)
			r->function[r->nr_functions++] = line[i].address;
	return 0;
}

static int say_unreadable(struct tool_why *why, int error)
{
	return tool_set_why(why, -error, error == ENOENT ? "boot Linux 6.5 or newer" :
			    "make kprobe events of the functions and record these",
			    "%s/" FUNCTIONS " cannot be read: %s", tracefs_tracing_dir(),
			    strerror(error));
}

int functions_check(struct tool_why *why)
{
	char *path = tracefs_get_tracing_file(FUNCTIONS);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, error = errno;

	tracefs_put_tracing_file(path);
	if (fd < 0)
		return say_unreadable(why, error);
	close(fd);
	return bpf_check_functions(why);
}

int rec_find_functions(struct rec *r)
{
	struct line *line = NULL, *bigger;
	char *text = NULL, *save, *one;
	size_t nr = 0, room = 0;
	struct tool_why why;
	int ret = functions_check(&why);

	if (!ret) {
		text = tfs_read(NULL, FUNCTIONS, NULL);
		if (!text)
			ret = say_unreadable(&why, errno);
	}
	if (ret) {
		tool_error("-l: %s", why.text);
		return TOOL_FAIL;
	}
	for (one = strtok_r(text, "\n", &save); one; one = strtok_r(NULL, "\n", &save)) {
		if (nr == room) {
			room = room ? 2 * room : 4096;
			bigger = realloc(line, room * sizeof(*line));
			if (!bigger)
				break;
			line = bigger;
		}
		nr += parse_line(one, &line[nr]);
	}
	ret = select_functions(r, line, nr);
	if (!ret && r->nr_functions > MAX_FUNCTIONS) {
		tool_error("-l matches %zu functions, and each call of each of them would be an "
			   "event with both stacks: name at most %d, as in -l vfs_read -l 'tcp_*'",
			   r->nr_functions, MAX_FUNCTIONS);
		ret = TOOL_FAIL;
	}
	free(line);
	free(text);
	return ret;
}
