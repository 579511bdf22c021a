// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * handlers.c - print kernel_stack and the user_unwind_* events
 *
 * The joined stack follows the kernel stack that was recorded with the request, or the cookie if
 * there is no kernel stack. The first of these records that is printed starts the scan of the file,
 * so a file without them costs nothing. A program may print from several threads: a lock lets one
 * in at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace-cmd.h"
#include "libunwind-user/base/base.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ustack_options opts;

int ustack_file_make_frames(struct ustack_file *u)
{
	options_read(&opts);
	if (!u->scan.join)
		return -1;
	u->frames = frames_new(u->scan.maps, &opts.frames);
	return u->frames ? 0 : -1;
}

/* Scan the file at the first call; false if there are no stacks to show. */
static bool make_ready(struct ustack_file *u)
{
	if (!u->scanned) {
		u->scanned = true;
		if (decode_init(&u->dec, u->tep) && u->fd >= 0) {
			scan_file(&u->scan, u->fd);
			close(u->fd);
			u->fd = -1;
		}
		if (u->scan.problem)
			fprintf(stderr, "plugin_ustack: %s: %s\n", u->path, u->scan.problem);
		ustack_file_make_frames(u);
	}
	return u->frames;
}

/* @cookie is 0 for a kernel stack. */
static bool find_answer(struct ustack_file *u, struct tep_record *rec, uint64_t cookie,
			struct join_answer *ans)
{
	struct join_question q = {
		.cpu = rec->cpu, .pos = rec->offset, .ts = rec->ts, .cookie = cookie,
	};

	if (!make_ready(u) || !decode_read_tid(&u->dec, rec, &q.tid))
		return false;
	join_find_answer(u->scan.join, &q, ans);
	return ans->state != JOIN_NONE;
}

static void add_kernel_frame(struct text *t, struct tep_handle *tep, unsigned long long addr)
{
	const char *func = tep_find_function(tep, addr);

	if (!func) {
		text_addf(t, "=> %llx\n", addr);
		return;
	}
	text_add(t, "=> ");
	text_add(t, func);
	if (opts.kernel_offset)
		text_addf(t, "+0x%x ", (int)(addr - tep_find_function_address(tep, addr)));
	text_addf(t, " (%llx)\n", addr);
}

/* Most addresses repeat, so a cache keeps one line for each hash of an address. */
static void add_cached_frame(struct text *t, struct ustack_file *u, unsigned long long addr)
{
	struct kernel_line *k = &u->kernel_lines[hash64(addr) % NR_KERNEL_LINES];
	size_t from = t->nr, len;

	if (k->len && k->addr == addr) {
		text_add_bytes(t, k->line, k->len);
		return;
	}
	add_kernel_frame(t, u->tep, addr);
	len = t->nr - from;
	if (t->failed || len > sizeof(k->line))
		return;
	k->addr = addr;
	k->len = len;
	memcpy(k->line, t->v + from, len);
}

/* Add a kernel stack in the format of libtraceevent's function plugin. */
static void add_kernel_frames(struct text *t, struct tep_record *rec, struct ustack_file *u,
			      struct tep_event *event)
{
	struct tep_format_field *field = tep_find_field(event, "caller");
	unsigned long long addr;
	int size, pos;

	if (!field) {
		text_add(t, "<CANT FIND FIELD caller>");
		return;
	}
	text_add(t, "<stack trace >\n");
	size = tep_get_long_size(u->tep);
	if (field->offset < 0 || (size != 4 && size != 8))
		return;
	for (pos = field->offset; pos <= rec->size - size; pos += size) {
		addr = tep_read_number(u->tep, (char *)rec->data + pos, size);
		if ((size == 8 && addr == (unsigned long long)-1) || (int)addr == -1)
			break;
		add_cached_frame(t, u, addr);
	}
}

static void put_text(struct trace_seq *s, const struct text *t)
{
	if (t->v)
		trace_seq_puts(s, t->v);
	if (t->failed)
		trace_seq_puts(s, "<no memory>\n");
}

static int print_kernel_stack(struct trace_seq *s, struct tep_record *rec,
			      struct tep_event *event, void *context)
{
	struct ustack_file *u = context;
	struct join_answer ans;
	bool found;

	pthread_mutex_lock(&lock);
	found = find_answer(u, rec, 0, &ans);
	text_clear(&u->text);
	add_kernel_frames(&u->text, rec, u, event);
	put_text(s, &u->text);
	if (found && ans.form != JOIN_FORM_COOKIE_ONLY)
		trace_seq_puts(s, frames_format(u->frames, &ans, u->scan.problem));
	pthread_mutex_unlock(&lock);
	return 0;
}

static int print_cookie(struct trace_seq *s, struct tep_record *rec, struct tep_event *event,
			void *context)
{
	struct ustack_file *u = context;
	struct join_answer ans;
	bool found = false;
	uint64_t cookie;

	(void)event;
	pthread_mutex_lock(&lock);
	make_ready(u);
	if (decode_read_cookie(&u->dec, rec, &cookie)) {
		found = cookie && find_answer(u, rec, cookie, &ans);
		trace_seq_printf(s, "cookie=%llx", (unsigned long long)cookie);
	} else {
		trace_seq_puts(s, "<no cookie in this record>");
	}
	if (found && ans.form == JOIN_FORM_COOKIE_ONLY) {
		trace_seq_putc(s, '\n');
		trace_seq_puts(s, frames_format(u->frames, &ans, u->scan.problem));
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int print_stack(struct trace_seq *s, struct tep_record *rec, struct tep_event *event,
		       void *context)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = {
		{ STACK_TRUNCATED, "truncated" }, { STACK_COMPAT, "32-bit" },
		{ STACK_MORE, "more" }, { STACK_INCOMPLETE, "incomplete" },
		{ STACK_FRAME_POINTER, "frame-pointer" },
	};
	struct ustack_file *u = context;
	struct decode_stack st;
	size_t i;

	(void)event;
	pthread_mutex_lock(&lock);
	make_ready(u);
	if (decode_read_stack(&u->dec, rec, &st)) {
		trace_seq_printf(s, "cookie=%llx", (unsigned long long)st.cookie);
		if (u->dec.stack_tgid.present)
			trace_seq_printf(s, " tgid=%u", st.tgid);
		trace_seq_printf(s, " frames=%u", st.nr);
		for (i = 0; i < ARRAY_SIZE(flags); i++)
			if (st.flags & flags[i].flag)
				trace_seq_printf(s, " %s", flags[i].name);
	} else {
		trace_seq_puts(s, "<no stack in this record>");
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int print_again(struct trace_seq *s, struct tep_record *rec, struct tep_event *event,
		       void *context)
{
	struct ustack_file *u = context;
	uint64_t cookie, first;

	(void)event;
	pthread_mutex_lock(&lock);
	make_ready(u);
	if (decode_read_again(&u->dec, rec, &cookie, &first))
		trace_seq_printf(s, "cookie=%llx first=%llx", (unsigned long long)cookie,
				 (unsigned long long)first);
	else
		trace_seq_puts(s, "<no cookies in this record>");
	pthread_mutex_unlock(&lock);
	return 0;
}

static int print_map(struct trace_seq *s, struct tep_record *rec, struct tep_event *event,
		     void *context)
{
	struct ustack_file *u = context;
	struct decode_map m;

	(void)event;
	pthread_mutex_lock(&lock);
	make_ready(u);
	if (decode_read_map(&u->dec, rec, &m)) {
		trace_seq_printf(s, "tgid=%u %llx-%llx pgoff=%llx ", m.tgid,
				 (unsigned long long)m.start, (unsigned long long)m.end,
				 (unsigned long long)m.pgoff);
		text_clear(&u->text);
		text_add_escaped(&u->text, m.path, m.path_len);
		put_text(s, &u->text);
	} else {
		trace_seq_puts(s, "<no mapping in this record>");
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static const struct {
	const char *name;
	tep_event_handler_func func;
} handlers[] = {
	{ "kernel_stack", print_kernel_stack },
	{ "user_unwind_cookie", print_cookie },
	{ "user_unwind_stack", print_stack },
	{ "user_unwind_again", print_again },
	{ "user_unwind_map", print_map },
};

void handlers_register(struct ustack_file *u)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		tep_register_event_handler(u->tep, -1, "ftrace", handlers[i].name,
					   handlers[i].func, u);
}

static void print_summary(struct ustack_file *u)
{
	struct join_stats st;

	join_get_stats(u->scan.join, &st);
	fprintf(stderr, "plugin_ustack: %s: %llu requests joined, %llu still in the kernel, "
		"%llu lost, %llu not recorded; %llu stacks, %llu different, %llu events dropped\n",
		u->path, (unsigned long long)st.requests[JOIN_STACK],
		(unsigned long long)st.requests[JOIN_PENDING],
		(unsigned long long)st.requests[JOIN_LOST],
		(unsigned long long)st.requests[JOIN_UNRECORDED],
		(unsigned long long)st.stacks, (unsigned long long)st.distinct,
		(unsigned long long)st.losses);
}

void ustack_file_close(struct ustack_file *u)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(handlers); i++)
		tep_unregister_event_handler(u->tep, -1, "ftrace", handlers[i].name,
					     handlers[i].func, u);
	if (u->scan.join && opts.summary)
		print_summary(u);
	frames_free(u->frames);
	scan_free(&u->scan);
	if (u->fd >= 0)
		close(u->fd);
	free(u->text.v);
	free(u->path);
	free(u);
}
