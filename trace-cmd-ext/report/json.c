// SPDX-License-Identifier: GPL-2.0
/*
 * json.c - write an event as one line of JSON, which trace-ustack-report(1) describes
 *
 * The text of a frame is made once and kept: most stacks share most of their frames.
 */
#include <stdlib.h>
#include <string.h>

#include "libunwind-user/base/base.h"
#include "report.h"

static void make_frame(struct report *r, struct jsonw *j, uint32_t frame)
{
	const struct model_frame *f = model_get_frame(r->m, frame);
	const struct model_line *lines;
	uint32_t i, nr;

	jsonw_object(j, NULL);
	jsonw_address(j, "addr", f->addr);
	if (f->func) {
		jsonw_string(j, "func", f->func);
		jsonw_number(j, "func_offset", f->func_offset);
	}
	if (f->jit)
		jsonw_bool(j, "jit", true);
	if (f->file && f->file->python)
		jsonw_bool(j, "python", true);
	if (f->file) {
		jsonw_string(j, "file", f->file->path);
		if (f->file->python)
			jsonw_number(j, "line", maps_get_python_line(f->offset));
		else
			jsonw_number(j, "offset", f->offset);
		if (f->file->build_id_size)
			jsonw_hex(j, "build_id", f->file->build_id, f->file->build_id_size);
	}
	nr = r->lines ? model_get_lines(r->m, frame, &lines) : 0;
	if (nr)
		jsonw_array(j, "lines");
	for (i = 0; i < nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "func", lines[i].func ? lines[i].func : "");
		jsonw_string(j, "file", lines[i].file ? lines[i].file : "");
		jsonw_number(j, "line", lines[i].line);
		jsonw_bool(j, "inlined", lines[i].inlined);
		jsonw_end(j);
	}
	if (nr)
		jsonw_end(j);
	jsonw_end(j);
}

static const char *get_frame_text(struct report *r, uint32_t frame)
{
	struct text t = {};
	struct jsonw j = { .text = &t };

	while (r->frame_texts.nr <= frame)
		if (!vec_add(&r->frame_texts))
			return NULL;
	if (!r->frame_texts.v[frame]) {
		make_frame(r, &j, frame);
		if (t.failed) {
			free(t.v);
			return NULL;
		}
		r->frame_texts.v[frame] = t.v;
	}
	return r->frame_texts.v[frame];
}

void json_free(struct report *r)
{
	size_t i;

	for (i = 0; i < r->frame_texts.nr; i++)
		free(r->frame_texts.v[i]);
	vec_free(&r->frame_texts);
}

static void add_frames(struct report *r, struct jsonw *j, const char *name, const uint32_t *frames,
		       uint32_t nr)
{
	const char *text;
	uint32_t i;

	jsonw_array(j, name);
	for (i = 0; i < nr; i++) {
		text = frames ? get_frame_text(r, frames[i]) : NULL;
		if (!text) {
			j->text->failed = true;
			return;
		}
		jsonw_value(j, NULL, text);
	}
	jsonw_end(j);
}

static void add_ustack(struct report *r, struct jsonw *j, uint32_t ustack)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = {
		{ STACK_TRUNCATED, "truncated" },   { STACK_COMPAT, "32-bit" },
		{ STACK_INCOMPLETE, "incomplete" }, { STACK_FRAME_POINTER, "frame-pointer" },
		{ STACK_OUTSIDE, "outside" },	    { STACK_CUT_OUTER, "cut" },
		{ STACK_NO_INNER, "no-start" },
	};
	const struct model_ustack *u = model_get_ustack(r->m, ustack);
	uint32_t state = u->state, set = u->flags, nr;
	const uint32_t *frames;
	bool any = false;
	size_t i;

	jsonw_string(j, "user_state", join_words[state].name);
	if (state != JOIN_STACK)
		return;
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(set & flags[i].flag))
			continue;
		if (!any)
			jsonw_array(j, "user_flags");
		jsonw_string(j, NULL, flags[i].name);
		any = true;
	}
	if (any)
		jsonw_end(j);
	frames = model_get_uframes(r->m, ustack, &nr);
	add_frames(r, j, "user", frames, nr);
}

static void add_number(struct jsonw *j, const char *name, const struct decode_field *f,
		       uint64_t val)
{
	if (f->is_signed && f->size < 8 && val >> (8 * f->size - 1) & 1)
		val |= ~0ull << 8 * f->size;
	if (f->is_signed)
		jsonw_signed(j, name, val);
	else
		jsonw_number(j, name, val);
}

static void add_array(struct report *r, struct jsonw *j, const struct tep_format_field *field,
		      const char *p, uint32_t len)
{
	struct decode_field elem = { .size = field->elementsize };
	uint32_t i;

	elem.is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	if (elem.size != 2 && elem.size != 4 && elem.size != 8)
		elem.size = 1;
	jsonw_array(j, NULL);
	for (i = 0; i + elem.size <= len; i += elem.size)
		add_number(j, NULL, &elem, decode_read_int(r->decode, p + i, elem.size));
	jsonw_end(j);
}

static void add_field(struct report *r, struct jsonw *j, const struct model_event *ev,
		      const struct tep_format_field *field)
{
	struct decode_field f;
	const void *p;
	uint32_t len;
	uint64_t val;

	jsonw_name(j, field->name, strlen(field->name));
	decode_set_field(&f, field);
	if (!(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) &&
	    decode_read_number(r->decode, ev->rec, &f, &val))
		add_number(j, NULL, &f, val);
	else if (!decode_find_bytes(r->decode, ev->rec, &f, &p, &len))
		jsonw_null(j, NULL);
	else if (field->flags & TEP_FIELD_IS_STRING)
		jsonw_bytes(j, NULL, p, strnlen(p, len));
	else
		add_array(r, j, field, p, len);
}

void json_add_event(struct report *r, const struct model_event *ev)
{
	const struct model_type *type = model_get_type(r->m, ev->type);
	const struct tep_format_field *field;
	struct jsonw j = { .text = &r->out };
	const uint32_t *frames;
	uint32_t nr, tgid;

	jsonw_object(&j, NULL);
	jsonw_number(&j, "ts", ev->ts);
	jsonw_number(&j, "cpu", ev->cpu);
	if (ev->buffer)
		jsonw_string(&j, "instance", model_get_buffer_name(r->m, ev->buffer));
	if (ev->missed)
		jsonw_signed(&j, "dropped", ev->missed);
	jsonw_string(&j, "comm", model_get_comm(r->m, ev->tid));
	jsonw_signed(&j, "tid", (int)ev->tid);
	tgid = model_get_tgid(r->m, ev->tid);
	if (tgid)
		jsonw_number(&j, "pid", tgid);
	jsonw_string(&j, "system", type->system);
	jsonw_string(&j, "event", type->name);
	jsonw_object(&j, "fields");
	for (field = type->event ? type->event->format.fields : NULL; field; field = field->next)
		add_field(r, &j, ev, field);
	jsonw_end(&j);
	if (ev->kstack != MODEL_NONE) {
		frames = model_get_kframes(r->m, ev->kstack, &nr);
		add_frames(r, &j, "kernel", frames, nr);
	}
	if (ev->ustack != MODEL_NONE)
		add_ustack(r, &j, ev->ustack);
	jsonw_end(&j);
	text_add(&r->out, "\n");
}
