// SPDX-License-Identifier: GPL-2.0
/* tool.c - messages, progress, options. See tool.h; run.c has the processes. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"
#include "libunwind-user/base/base.h"

static bool progress_shown, progress_none;

void tool_error(const char *fmt, ...)
{
	char buf[8192];
	va_list ap;
	char *p;

	tool_end_progress();
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fflush(stdout);
	fputs("trace-ustack: ", stderr);
	for (p = buf; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			fprintf(stderr, "\\%03o", (unsigned char)*p);
		else
			putc(*p, stderr);
	}
	putc('\n', stderr);
}

int tool_set_why(struct tool_why *why, int error, const char *remedy, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	why->cause_len = strlen(why->text);
	why->remedy = remedy;
	if (remedy)
		snprintf(why->text + why->cause_len, sizeof(why->text) - why->cause_len, "; %s",
			 remedy);
	return error;
}

int tool_report_no_memory(void)
{
	tool_error("not enough memory");
	return TOOL_FAIL;
}

int tool_usage(const char *cmd, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	tool_error("%s: %s; trace-ustack %s --help lists its options", cmd, buf, cmd);
	return TOOL_USAGE;
}

char **tool_argv;

int tool_bad_option(const char *cmd)
{
	const char *arg = tool_argv && optind > 0 ? tool_argv[optind - 1] : "";

	if (strncmp(arg, "--", 2) && optopt)
		return tool_usage(cmd, "-%c is not an option, or needs a value", optopt);
	if (!optopt)
		return tool_usage(cmd, "%s is unknown or ambiguous", arg);
	return tool_usage(cmd, "%s %s", arg, strchr(arg, '=') ? "takes no value" : "needs a value");
}

int tool_help(const char *text)
{
	tool_start_pager();
	fputs(text, stdout);
	return tool_finish(TOOL_OK);
}

atomic_bool tool_no_memory;

static const char *incomplete;

void tool_note_incomplete(const char *file)
{
	incomplete = file;
}

int tool_finish(int code)
{
	tool_end_progress();
	if (fflush(stdout) || ferror(stdout)) {
		tool_error("standard output cannot be written: %s", strerror(errno));
		return TOOL_OUTPUT;
	}
	if (code == TOOL_OK && tool_no_memory) {
		tool_error("not enough memory: the output may not be complete; choose fewer "
			   "events, or free some memory");
		return TOOL_FAIL;
	}
	if (code != TOOL_OK || !incomplete)
		return code;
	tool_error("%s: is damaged and was not read to its end, so events and stacks may be "
		   "missing; record again", incomplete);
	return TOOL_INPUT;
}

/* ---- progress ---- */

void tool_show_progress(const char *what, uint64_t done, uint64_t total)
{
	static double start, last;
	static int terminal = -1;
	double t;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || progress_none)
		return;
	t = clock_get_seconds();
	if (!start)
		start = t;
	if (t - start < 1 || t - last < 0.2)
		return;
	last = t;
	progress_shown = true;
	if (total)
		fprintf(stderr, "\rtrace-ustack: %s %3.0f%% \033[K", what,
			done < total ? 100.0 * done / total : 100.0);
	else
		fprintf(stderr, "\rtrace-ustack: %s %llu \033[K", what, (unsigned long long)done);
}

void tool_end_progress(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

void tool_disable_progress(void)
{
	tool_end_progress();
	progress_none = true;
}

/* ---- options ---- */

static int add_number(uint32_t **v, size_t *nr, uint32_t n)
{
	uint32_t *new = array_add(*v, *nr);

	if (!new)
		return -1;
	*new = n;
	return 0;
}

static int parse_number(const char **s, uint32_t *n)
{
	unsigned long long val;
	char *end;

	if (!isdigit((unsigned char)**s))
		return -1;
	errno = 0;
	val = strtoull(*s, &end, 10);
	if (errno || val > UINT32_MAX)
		return -1;
	*s = end;
	*n = val;
	return 0;
}

int tool_parse_numbers(const char *arg, uint32_t **v, size_t *nr)
{
	uint32_t from, to;

	for (;;) {
		if (parse_number(&arg, &from))
			return -1;
		to = from;
		if (*arg == '-') {
			arg++;
			if (parse_number(&arg, &to) || to < from || to - from > 65535)
				return -1;
		}
		do {
			if (add_number(v, nr, from))
				return -1;
		} while (from++ < to);
		if (!*arg)
			return 0;
		if (*arg++ != ',')
			return -1;
	}
}

static int parse_seconds(const char **s, uint64_t *ns)
{
	uint64_t unit = 1000000000, whole = 0, digits = 0;

	*ns = 0;
	for (; isdigit((unsigned char)**s); (*s)++, digits++) {
		if (whole > UINT64_MAX / 20 / unit)
			return -1;
		whole = whole * 10 + (**s - '0');
	}
	*ns = whole * unit;
	if (**s == '.') {
		for ((*s)++; isdigit((unsigned char)**s); (*s)++, digits++) {
			unit /= 10;
			*ns += unit * (**s - '0');
		}
	}
	return digits ? 0 : -1;
}

int tool_parse_times(const char *arg, uint64_t *from, uint64_t *to)
{
	*from = 0;
	*to = UINT64_MAX;
	if (*arg != '-' && parse_seconds(&arg, from))
		return -1;
	if (*arg++ != '-')
		return -1;
	if (*arg && parse_seconds(&arg, to))
		return -1;
	return *arg || *to < *from ? -1 : 0;
}
