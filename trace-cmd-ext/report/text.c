// SPDX-License-Identifier: GPL-2.0
/*
 * text.c - print a record in exactly the bytes of trace-cmd report
 *
 * libtraceevent formats the contents of an event. This file formats the part before it (thread,
 * CPU, time) in the usual case, and libtraceevent in all others. The plugin's own handlers format
 * the stacks, with the join that the model has made.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace-cmd/trace-cmd.h>

#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/model/model.h"
#include "report.h"
#include "plugin/trace-cmd/trace-cmd.h"

/* trace-cmd prints the latency flags if its library has this function. It is never called. */
#pragma weak tracecmd_iterate_events_reverse
int tracecmd_iterate_events_reverse(struct tracecmd_input *handle, cpu_set_t *cpus, int cpu_size,
				    int (*callback)(struct tracecmd_input *handle,
						    struct tep_record *, int, void *),
				    void *callback_data, bool cont);

#define NR_COMMS	1024

struct cached_comm {
	uint32_t tid, len;		/* len 0: free */
	char text[64];
};

struct printer {
	struct model *m;
	struct tep_handle *tep;
	struct ustack_file *file;
	struct trace_seq seq;
	const char *time;		/* libtraceevent's format of a time stamp */
	bool usecs, latency, instances;
	int width;			/* of the longest name of an instance */
	struct cached_comm comms[NR_COMMS];
};

static struct ustack_options options;

/* The plugin's handlers call this; trace-cmd/options.c has the one for trace-cmd. */
void options_read(struct ustack_options *opts)
{
	*opts = options;
}

static void add_name(struct text *t, const char *name)
{
	text_add_escaped(t, name ? name : "?", strlen(name ? name : "?"));
}

/* Add the inlined functions at the place, then the function itself: innermost first. */
static void add_lines(void *data, struct text *t, const struct maps_file *file, uint64_t offset)
{
	const struct model_line *v;
	uint32_t i, nr = model_get_lines_at(data, file, offset, &v);

	for (i = 0; i < nr; i++) {
		text_add(t, v[i].inlined ? "     inlined " : "     ");
		if (v[i].inlined) {
			add_name(t, v[i].func);
			text_add(t, " ");
		}
		text_add(t, "at ");
		add_name(t, v[i].file);
		if (v[i].line)
			text_addf(t, ":%u", v[i].line);
		text_add(t, "\n");
	}
}

static struct ustack_file *new_file(struct model *m, struct tep_handle *tep, const struct report *r)
{
	struct ustack_file *u = calloc(1, sizeof(*u));
	struct model_parts parts = model_get_parts(m);

	if (!u)
		return NULL;
	options.frames.sysroot = parts.sysroot;
	options.frames.no_demangle = parts.no_demangle;
	options.frames.jit = jit_open(parts.path, reader_get_trace_id(parts.reader));
	options.frames.more = r->lines ? add_lines : NULL;
	options.frames.data = m;
	u->tep = tep;
	u->fd = -1;
	u->scanned = true;
	u->scan.join = parts.join;
	u->scan.maps = parts.maps;
	if (model_get_info(m)->damaged)
		u->scan.problem = "damaged";
	decode_init(&u->dec, tep);
	if (model_get_info(m)->joined)
		ustack_file_make_frames(u);
	handlers_register(u);
	return u;
}

/*
 * libtracecmd prints a call of the function graph and its return in one line if the return is the
 * next record. It looks for that record at the position of its own handle.
 */
bool printer_reads_ahead(struct model *m)
{
	static const char *const names[] = { "funcgraph_entry", "fgraph_retaddr_entry" };
	uint32_t type;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		type = model_find_type(m, "ftrace", names[i]);
		if (type != MODEL_NONE && model_get_type(m, type)->records)
			return true;
	}
	return false;
}

struct printer *printer_new(struct report *r)
{
	struct printer *p = calloc(1, sizeof(*p));
	struct model *m = r->m;
	uint32_t i;

	if (!p)
		return NULL;
	p->m = m;
	/* not the model's handle, because a rewind may have opened another one */
	p->tep = reader_get_data_tep(model_get_parts(m).reader);
	p->file = new_file(m, p->tep, r);
	if (!p->file) {
		free(p);
		return NULL;
	}
	trace_seq_init(&p->seq);
	p->usecs = model_get_info(m)->nsec;
	p->time = p->usecs ? " %6.1000d:" : "%12d:";
	p->latency = tracecmd_iterate_events_reverse;
	for (i = 1; i < model_get_info(m)->buffers; i++) {
		p->instances = true;
		if ((int)strlen(model_get_buffer_name(m, i)) > p->width)
			p->width = strlen(model_get_buffer_name(m, i));
	}
	return p;
}

void printer_free(struct printer *p)
{
	if (!p)
		return;
	trace_seq_destroy(&p->seq);
	/* the model owns the join and the maps */
	p->file->scan.join = NULL;
	p->file->scan.maps = NULL;
	ustack_file_close(p->file);
	jit_free(options.frames.jit);
	options.frames.jit = NULL;
	free(p);
}

void printer_add_head(struct printer *p, struct text *out)
{
	text_addf(out, "cpus=%d\n", tep_get_cpus(p->tep));
}

/* @n in decimal, with at least @digits digits, before @end. */
static char *put_digits(char *end, uint64_t n, int digits)
{
	do {
		*--end = '0' + n % 10;
		n /= 10;
	} while (--digits > 0 || n);
	return end;
}

/* Add the name and ID of a thread as libtraceevent does with "%16s-%-5d [". */
static void add_task(struct printer *p, struct text *out, uint32_t tid)
{
	struct cached_comm *c = &p->comms[tid % NR_COMMS];
	size_t from = out->nr, len;
	const char *comm;

	if (c->len && c->tid == tid) {
		text_add_bytes(out, c->text, c->len);
		return;
	}
	comm = tep_data_comm_from_pid(p->tep, tid);
	len = strlen(comm);
	if (len < 16)
		text_add_bytes(out, "                ", 16 - len);
	text_add_bytes(out, comm, len);
	text_addf(out, "-%-5d [", (int)tid);
	if (out->failed || out->nr - from > sizeof(c->text))
		return;
	c->tid = tid;
	c->len = out->nr - from;
	memcpy(c->text, out->v + from, c->len);
}

/* Add the text that libtraceevent put into p->seq; a zero byte ends it, as in trace-cmd. */
static void add_seq(struct printer *p, struct text *out)
{
	size_t len = p->seq.len;

	trace_seq_terminate(&p->seq);
	if (p->seq.state != TRACE_SEQ__GOOD)
		return;
	text_add_bytes(out, p->seq.buffer, strnlen(p->seq.buffer, len));
	trace_seq_reset(&p->seq);
}

/* Add thread, CPU, time and name, in the same bytes as add_slow_head(). */
static void add_fast_head(struct printer *p, struct text *out, struct tep_event *event,
			  struct tep_record *rec, uint32_t tid)
{
	static const char spaces[] = "                    ";	/* 20 */
	char buf[64], *end = buf + sizeof(buf), *s;
	uint64_t us = (rec->ts + 500) / 1000;
	size_t len = strlen(event->name);

	add_task(p, out, tid);
	s = end;
	*--s = ']';
	s = put_digits(s, rec->cpu, 3);
	text_add_bytes(out, s, end - s);
	if (p->latency) {
		tep_print_event(p->tep, &p->seq, rec, " %s", TEP_PRINT_LATENCY);
		add_seq(p, out);
	}
	/* " %5llu.%06llu: " */
	s = end;
	*--s = ' ';
	*--s = ':';
	s = put_digits(s, us % 1000000, 6);
	*--s = '.';
	s = put_digits(s, us / 1000000, 1);
	while (end - s < 5 + 1 + 6 + 2)
		*--s = ' ';
	*--s = ' ';
	text_add_bytes(out, s, end - s);
	text_add_bytes(out, event->name, len);
	text_add_bytes(out, ": ", 2);
	if (len < 20)
		text_add_bytes(out, spaces, 20 - len);
}

static void add_slow_head(struct printer *p, struct text *out, struct tep_event *event,
			  struct tep_record *rec)
{
	const char *name = event ? event->name : "(NULL)";

	tep_print_event(p->tep, &p->seq, rec, "%16s-%-5d [%03d]", TEP_PRINT_COMM, TEP_PRINT_PID,
			TEP_PRINT_CPU);
	if (p->latency)
		tep_print_event(p->tep, &p->seq, rec, " %s", TEP_PRINT_LATENCY);
	tep_print_event(p->tep, &p->seq, rec, p->time, TEP_PRINT_TIME);
	trace_seq_printf(&p->seq, " %s: ", name);
	if (strlen(name) < 20)
		trace_seq_printf(&p->seq, "%*s", 20 - (int)strlen(name), "");
	add_seq(p, out);
}

void printer_add_record(struct printer *p, struct text *out, uint32_t buffer,
			struct tep_record *rec)
{
	struct tep_event *event = tep_find_event_by_record(p->tep, rec);
	uint32_t tid;

	if (p->instances) {
		if (buffer)
			text_addf(out, "%*s: ", p->width, model_get_buffer_name(p->m, buffer));
		else
			text_addf(out, "%*s  ", p->width, "");
	}
	if (rec->missed_events > 0)
		text_addf(out, "CPU:%d [%lld EVENTS DROPPED]\n", rec->cpu,
			  (long long)rec->missed_events);
	else if (rec->missed_events < 0)
		text_addf(out, "CPU:%d [EVENTS DROPPED]\n", rec->cpu);
	if (event && event->name && p->usecs && rec->cpu >= 0 &&
	    decode_read_tid(&p->file->dec, rec, &tid))
		add_fast_head(p, out, event, rec, tid);
	else
		add_slow_head(p, out, event, rec);

	if (!event || !event->handler ||
	    event->flags & (TEP_EVENT_FL_NOHANDLE | TEP_EVENT_FL_PRINTRAW) ||
	    event->handler(&p->seq, rec, event, event->context)) {
		trace_seq_reset(&p->seq);
		tep_print_event(p->tep, &p->seq, rec, "%s", TEP_PRINT_INFO);
	}
	add_seq(p, out);
	if (out->nr && out->v[out->nr - 1] == '\n')
		out->nr--;
	text_add_bytes(out, "\n", 1);
}
