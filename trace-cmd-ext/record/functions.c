// SPDX-License-Identifier: GPL-2.0
/*
 * functions.c - -l: which kernel functions it names
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

/* A NAME of -l */
struct pattern {
	const char *name;
	bool doubtful;			/* it may be another name of functions in the list */
	bool symbol;			/* the kernel has a function of this name */
	bool found;			/* ftrace lists it */
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

static int compare_lines(const void *a, const void *b)
{
	const struct line *l = a, *m = b;

	return cmp_int(l->address, m->address);
}

/* Find the function that starts at a symbol, maybe after an ENDBR instruction. */
static struct line *find_at(struct line *line, size_t nr, uint64_t symbol)
{
	struct line key = { .address = symbol }, *l;

	l = bsearch(&key, line, nr, sizeof(*line), compare_lines);
	key.address += ENDBR_SIZE;
	return l ? l : bsearch(&key, line, nr, sizeof(*line), compare_lines);
}

/*
 * ftrace lists a function with several names under one of them. So look for the patterns among the
 * symbols of the kernel, too. 0, or -errno: the kernel hides its addresses
 */
static int mark_symbols(struct pattern *pattern, size_t nr_patterns, struct line *line, size_t nr)
{
	char *text = rec_tracefs_read_path("/proc/kallsyms", NULL), *save, *one, *name;
	struct pattern *p;
	bool known = false;
	struct line *l;
	uint64_t address;

	if (!text)
		return -errno;
	for (one = strtok_r(text, "\n", &save); one; one = strtok_r(NULL, "\n", &save)) {
		address = strtoull(one, &name, 16);
		if (strlen(name) < 4 || !strchr("tTwW", name[1]))
			continue;
		known |= address != 0;
		name += 3;
		name[strcspn(name, "\t")] = '\0';
		for (p = pattern; p < pattern + nr_patterns; p++) {
			if (!p->doubtful || fnmatch(p->name, name, 0))
				continue;
			p->symbol = true;
			l = find_at(line, nr, address);
			if (l)
				p->found = l->meant = true;
		}
	}
	free(text);
	return known ? 0 : -EACCES;
}

static int report_unknown(const struct pattern *p, const struct line *line, size_t nr)
{
	struct near near = {};
	char list[NEAR_LIST];
	size_t i;

	if (p->symbol) {
		tool_error("-l %s: ftrace cannot trace this kernel function; a function "
			   "that calls it, or is called by it, may do", p->name);
		return TOOL_FAIL;
	}
	for (i = 0; i < nr; i++)
		near_consider(&near, p->name, line[i].name);
	if (near_list(&near, list))
		tool_error("-l %s: this kernel has no such function; similar functions: %s",
			   p->name, list);
	else
		tool_error("-l %s: this kernel has no such function; %s/" FUNCTIONS " lists all",
			   p->name, tracefs_tracing_dir());
	return TOOL_FAIL;
}

static int mark_functions(struct pattern *pattern, size_t nr_patterns, struct line *line, size_t nr)
{
	const struct pattern *doubtful = NULL;
	struct pattern *p;
	int error;
	size_t i;

	for (p = pattern; p < pattern + nr_patterns; p++) {
		for (i = 0; i < nr; i++)
			if (!fnmatch(p->name, line[i].name, 0))
				p->found = line[i].meant = true;
		p->doubtful = !p->found || strpbrk(p->name, "*?[\\");
		if (p->doubtful && !doubtful)
			doubtful = p;
	}
	if (!doubtful)
		return 0;
	error = mark_symbols(pattern, nr_patterns, line, nr);
	if (error) {
		tool_error("-l %s: /proc/kallsyms does not say where the kernel functions "
			   "are: %s; set kernel.kptr_restrict to 0, or give the names that "
			   "%s/" FUNCTIONS " lists, without wildcards", doubtful->name,
			   error == -EACCES ? "the addresses are hidden" : strerror(-error),
			   tracefs_tracing_dir());
		return TOOL_FAIL;
	}
	for (p = pattern; p < pattern + nr_patterns; p++)
		if (!p->found)
			return report_unknown(p, line, nr);
	return 0;
}

static int select_functions(struct rec *r, struct line *line, size_t nr)
{
	size_t nr_patterns = r->opts.nr_functions, i;
	struct pattern *pattern = calloc(nr_patterns, sizeof(*pattern));
	int ret;

	r->function = calloc(nr + 1, sizeof(*r->function));
	if (!pattern || !r->function) {
		free(pattern);
		return tool_report_no_memory();
	}
	for (i = 0; i < nr_patterns; i++)
		pattern[i].name = r->opts.functions[i];
	qsort(line, nr, sizeof(*line), compare_lines);
	ret = mark_functions(pattern, nr_patterns, line, nr);
	for (i = 0; i < nr; i++)
		if (line[i].meant)
			r->function[r->nr_functions++] = line[i].address;
	free(pattern);
	return ret;
}

static int set_why_unreadable(struct tool_why *why, int error)
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
		return set_why_unreadable(why, error);
	close(fd);
	return bpfsrc_check_functions(why);
}

int rec_find_functions(struct rec *r)
{
	VEC(struct line) lines = {};
	char *text = NULL, *save, *one;
	struct tool_why why;
	int ret = functions_check(&why);

	if (!ret) {
		text = rec_tracefs_read(NULL, FUNCTIONS, NULL);
		if (!text)
			ret = set_why_unreadable(&why, errno);
	}
	if (ret) {
		tool_error("-l: %s", why.text);
		return TOOL_FAIL;
	}
	for (one = strtok_r(text, "\n", &save); one; one = strtok_r(NULL, "\n", &save)) {
		if (vec_reserve(&lines, 1)) {
			ret = tool_report_no_memory();
			goto out;
		}
		lines.nr += parse_line(one, &lines.v[lines.nr]);
	}
	ret = select_functions(r, lines.v, lines.nr);
	if (!ret && r->nr_functions > MAX_FUNCTIONS) {
		tool_error("-l matches %zu functions, and each call of each of them would be an "
			   "event with both stacks: name at most %d, as in -l vfs_read -l 'tcp_*'",
			   r->nr_functions, MAX_FUNCTIONS);
		ret = TOOL_FAIL;
	}
out:
	vec_free(&lines);
	free(text);
	return ret;
}
