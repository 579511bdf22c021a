// SPDX-License-Identifier: GPL-2.0
/*
 * events.c - which events -e selects, and how each one is configured
 *
 * A pattern is "SYSTEM:NAME" with shell wildcards in both; "NAME" for any system; or "SYSTEM" for
 * all of its events. If several -e select an event, the last of them configures it.
 *
 * The option userstacktrace_deferred gives each event of the instance a stack. As soon as some
 * event gets no stack, or gets one only sometimes, the recorder uses triggers on the other events
 * instead: then only those events pay.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "impl.h"
#include "libunwind-user/base/base.h"

/* Triggers */
#define STACK		"stacktrace"

/* ------------------------------- selection ------------------------------- */

static bool matches_pattern(const char *pattern, const char *system, const char *name)
{
	const char *colon = strchr(pattern, ':');
	char *first;
	bool ret;

	if (!colon)
		return !strcmp(pattern, system) || !fnmatch(pattern, name, 0);
	first = strndup(pattern, colon - pattern);
	ret = first && !fnmatch(first, system, 0) &&
	      (!colon[1] || !fnmatch(colon + 1, name, 0));
	free(first);
	return ret;
}

static int add_event(struct rec *r, const char *system, const char *name,
		     const struct rec_select *sel)
{
	struct rec_event *ev;

	ev = realloc(r->event, (r->nr_events + 1) * sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	r->event = ev;
	ev = &r->event[r->nr_events];
	*ev = (struct rec_event){ .system = strdup(system), .name = strdup(name), .sel = sel };
	if (!ev->system || !ev->name)
		return -ENOMEM;
	r->nr_events++;
	return 0;
}

static int report_unknown(const char *pattern, const char *const *line, size_t nr)
{
	struct near near = {};
	char list[NEAR_LIST];
	size_t i;

	if (!strncmp(pattern, "ftrace:", 7)) {
		tool_error("%s: events of the system ftrace cannot be switched on; they follow "
			   "other events", pattern);
		return TOOL_FAIL;
	}
	for (i = 0; i < nr; i++)
		near_consider(&near, pattern, line[i]);
	if (near_list(&near, list))
		tool_error("%s: this kernel has no such event; similar events: %s", pattern, list);
	else
		tool_error("%s: this kernel has no such event; `trace-cmd list -e` shows all",
			   pattern);
	return TOOL_FAIL;
}

static int select_lines(struct rec *r, char **line, size_t nr)
{
	const struct rec_select *meant;
	size_t i, s;
	char *colon;

	for (i = 0; i < nr; i++) {
		colon = strchr(line[i], ':');
		*colon = '\0';
		meant = NULL;
		for (s = 0; s < r->opts.nr_sel; s++) {
			if (matches_pattern(r->opts.sel[s].pattern, line[i], colon + 1)) {
				meant = &r->opts.sel[s];
				r->opts.sel[s].used = true;
			}
		}
		if (meant && add_event(r, line[i], colon + 1, meant))
			return tool_report_no_memory();
		*colon = ':';
	}
	for (s = 0; s < r->opts.nr_sel; s++) {
		if (!r->opts.sel[s].used)
			return report_unknown(r->opts.sel[s].pattern,
					      (const char *const *)line, nr);
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct rec_event *x = a, *y = b;
	int ret = strcmp(x->system, y->system);

	return ret ? ret : strcmp(x->name, y->name);
}

int rec_select_events(struct rec *r)
{
	char *text = rec_tracefs_read(NULL, "available_events", NULL);
	char *save, *one, **line = NULL, **new;
	int ret = TOOL_FAIL;
	size_t nr = 0;

	if (!text) {
		tool_error("%s/available_events: %s; run it as root", tracefs_tracing_dir(),
			   strerror(errno));
		return TOOL_FAIL;
	}
	for (one = strtok_r(text, "\n", &save); one; one = strtok_r(NULL, "\n", &save)) {
		if (!strchr(one, ':'))
			continue;
		new = array_add(line, nr);
		if (!new) {
			tool_report_no_memory();
			goto out;
		}
		*new = one;
	}
	ret = select_lines(r, line, nr);
	if (r->nr_events)		/* qsort() takes no NULL */
		qsort(r->event, r->nr_events, sizeof(*r->event), compare_names);
out:
	free(line);
	free(text);
	return ret;
}

/* ----------------------------- configuration ----------------------------- */

static int write_event_file(struct rec *r, const struct rec_event *ev, const char *file,
			    const char *value, const char *option)
{
	struct tracefs_instance *in = r->buf[BUF_EVENTS].instance;
	char path[PATH_MAX], *says = NULL;
	int ret;

	snprintf(path, sizeof(path), "events/%s/%s/%s", ev->system, ev->name, file);
	ret = (strcmp(file, "trigger") ? rec_tracefs_write : rec_tracefs_append)(in, path, value);
	if (!ret)
		return 0;
	if (ret == -EINVAL || ret == -ENOENT)
		says = rec_tracefs_read_error(in);
	if (ret == -EBUSY)
		tool_error("%s:%s: %s: no more than 62 tracers can have deferred user stacks at a "
			   "time; end another one", ev->system, ev->name, value);
	else if (option && says)
		tool_error("%s:%s: %s '%s': %s; its fields are in %s/events/%s/%s/format",
			   ev->system, ev->name, option, value, says, tracefs_tracing_dir(),
			   ev->system, ev->name);
	else
		tool_error("%s:%s: %s '%s': %s", ev->system, ev->name, option ? option : file,
			   value, strerror(-ret));
	free(says);
	return TOOL_FAIL;
}

/* "(A) && (B)" of the conditions that are not NULL; one is not. NULL: not enough memory */
static char *join_conditions(const char *a, const char *b, const char *c)
{
	const char *part[] = { a, b, c };
	struct text t = {};
	size_t i;

	for (i = 0; i < 3; i++) {
		if (!part[i])
			continue;
		text_add(&t, t.nr ? " && (" : "(");
		text_add(&t, part[i]);
		text_add(&t, ")");
	}
	if (!t.failed)
		return t.v;
	free(t.v);
	return NULL;
}

/*
 * A trigger works on an event that the filter drops, too, and would then leave a stack without an
 * event. So the trigger gets the filter's condition, too.
 */
static char *make_trigger_text(const struct rec_event *ev, const char *name, const char *own)
{
	const struct rec_select *sel = ev->sel;
	char *cond = NULL, *text;

	if (!sel->filter && !sel->stack_if && !own)
		return strdup(name);
	cond = join_conditions(sel->filter, sel->stack_if, own);
	if (!cond || asprintf(&text, "%s if %s", name, cond) < 0)
		text = NULL;
	free(cond);
	return text;
}

static int add_trigger(struct rec *r, const struct rec_event *ev, const char *name)
{
	char *text = make_trigger_text(ev, name, NULL);
	int ret;

	ret = text ? write_event_file(r, ev, "trigger", text,
				      ev->sel->stack_if ? "--stack-if" : NULL) : TOOL_FAIL;
	free(text);
	return ret;
}

int rec_configure_events(struct rec *r)
{
	const struct rec_event *ev;
	int ret = 0;

	for (ev = r->event; !ret && ev < r->event + r->nr_events; ev++) {
		if (ev->sel->filter)
			ret = write_event_file(r, ev, "filter", ev->sel->filter, "--filter");
		if (ret || !r->triggers || ev->sel->no_stack)
			continue;
		if (r->opts.kernel_stack)
			ret = add_trigger(r, ev, STACK);
		if (!ret && r->request_by == REQUEST_BY_TRIGGER)
			ret = add_trigger(r, ev, DEFERRED);
	}
	return ret;
}

/* Remove a trigger, and set it with one more condition. */
static int restrict_trigger(struct rec *r, const struct rec_event *ev, const char *path,
			    const char *name, const char *own)
{
	struct tracefs_instance *in = r->buf[BUF_EVENTS].instance;
	char *text = make_trigger_text(ev, name, own), *off = NULL;
	int ret = -ENOMEM;

	if (text && asprintf(&off, "!%s", name) > 0) {
		ret = rec_tracefs_append(in, path, off);
		if (!ret)
			ret = rec_tracefs_append(in, path, text);
		if (ret)
			add_trigger(r, ev, name);
	}
	free(off);
	free(text);
	return ret;
}

int rec_restrict_event(struct rec *r, const struct rec_event *ev, const char *own)
{
	struct tracefs_instance *in = r->buf[BUF_EVENTS].instance;
	char *cond = join_conditions(ev->sel->filter, own, NULL);
	bool triggers = r->triggers && !ev->sel->no_stack;
	char path[PATH_MAX];
	int ret;

	if (!cond)
		return -ENOMEM;
	snprintf(path, sizeof(path), "events/%s/%s/filter", ev->system, ev->name);
	ret = rec_tracefs_write(in, path, cond);
	free(cond);
	if (ret) {
		rec_tracefs_write(in, path, ev->sel->filter ? ev->sel->filter : "0");
		return ret;
	}
	snprintf(path, sizeof(path), "events/%s/%s/trigger", ev->system, ev->name);
	if (triggers && r->opts.kernel_stack)
		ret = restrict_trigger(r, ev, path, STACK, own);
	if (triggers && !ret && r->request_by == REQUEST_BY_TRIGGER)
		ret = restrict_trigger(r, ev, path, DEFERRED, own);
	return ret;
}

/* If all events of a system are selected, enable them at once: one write to the kernel. */
int rec_enable_events(struct rec *r)
{
	struct tracefs_instance *in = r->buf[BUF_EVENTS].instance;
	size_t i, end, count;
	char file[PATH_MAX], **names;
	int ret;

	for (i = 0; i < r->nr_events; i = end) {
		for (end = i; end < r->nr_events &&
		     !strcmp(r->event[end].system, r->event[i].system); end++)
			;
		names = tracefs_system_events(tracefs_tracing_dir(), r->event[i].system);
		for (count = 0; names && names[count]; count++)
			;
		tracefs_list_free(names);
		if (count == end - i) {
			snprintf(file, sizeof(file), "events/%s/enable", r->event[i].system);
			/* -EPERM: one event has conditions of its own; the other events are on */
			ret = rec_tracefs_write(in, file, "1");
			if (!ret)
				continue;
		}
		for (; i < end; i++) {
			snprintf(file, sizeof(file), "events/%s/%s/enable", r->event[i].system,
				 r->event[i].name);
			ret = rec_tracefs_write(in, file, "1");
			if (ret) {
				tool_error("%s:%s: cannot be switched on: %s", r->event[i].system,
					   r->event[i].name, strerror(-ret));
				return TOOL_FAIL;
			}
		}
	}
	return 0;
}
