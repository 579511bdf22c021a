// SPDX-License-Identifier: GPL-2.0
/*
 * report_json - an event as one line of JSON; trace-ustack-report(1) says what is in it
 *
 * A frame's text is made once and kept: most stacks share most of their frames.
 */
#include <stdlib.h>
#include <string.h>

#include "trace-cmd-ext/tool/tool.h"
#include "trace-cmd-ext/model/model.h"
#include "report.h"

static void add_string(struct text *t, const char *s, size_t len)
{
	cmd_json_text(t, s, len);
}

static void add_member(struct text *t, const char *name, const char *value)
{
	text_addf(t, "\"%s\":", name);
	add_string(t, value, strlen(value));
}

static void make_frame(struct report *r, struct text *t, uint32_t frame)
{
	const struct model_frame *f = model_frame(r->m, frame);
	const struct model_line *lines;
	uint32_t i, nr;

	text_addf(t, "{\"addr\":\"0x%llx\"", (unsigned long long)f->addr);
	if (f->func) {
		text_add(t, ",");
		add_member(t, "func", f->func);
		text_addf(t, ",\"func_offset\":%llu", (unsigned long long)f->func_offset);
	}
	if (f->jit)
		text_add(t, ",\"jit\":true");
	if (f->file) {
		text_add(t, ",");
		add_member(t, "file", f->file->path);
		text_addf(t, ",\"offset\":%llu", (unsigned long long)f->offset);
		if (f->file->build_id_size) {
			text_add(t, ",\"build_id\":\"");
			for (i = 0; i < f->file->build_id_size; i++)
				text_addf(t, "%02x", f->file->build_id[i]);
			text_add(t, "\"");
		}
	}
	nr = r->lines ? model_lines(r->m, frame, &lines) : 0;
	for (i = 0; i < nr; i++) {
		text_add(t, i ? ",{" : ",\"lines\":[{");
		add_member(t, "func", lines[i].func ? lines[i].func : "");
		text_add(t, ",");
		add_member(t, "file", lines[i].file ? lines[i].file : "");
		text_addf(t, ",\"line\":%u,\"inlined\":%s}", lines[i].line,
			  lines[i].inlined ? "true" : "false");
	}
	text_add(t, nr ? "]}" : "}");
}

static const char *frame_text(struct report *r, uint32_t frame)
{
	struct text t = {};

	while (r->frame_texts.nr <= frame)
		if (!vec_add(&r->frame_texts))
			return NULL;
	if (!r->frame_texts.v[frame]) {
		make_frame(r, &t, frame);
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

static void add_frames(struct report *r, const char *name, const uint32_t *frames, uint32_t nr)
{
	struct text *t = &r->out;
	const char *text;
	uint32_t i;

	text_addf(t, ",\"%s\":[", name);
	for (i = 0; i < nr; i++) {
		text = frames ? frame_text(r, frames[i]) : NULL;
		if (!text) {
			t->failed = true;
			return;
		}
		if (i)
			text_bytes(t, ",", 1);
		text_add(t, text);
	}
	text_add(t, "]");
}

static void add_ustack(struct report *r, uint32_t ustack)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} flags[] = {
		{ STACK_TRUNCATED, "truncated" }, { STACK_COMPAT, "32-bit" },
		{ STACK_INCOMPLETE, "incomplete" }, { STACK_FRAME_POINTER, "frame-pointer" },
		{ STACK_OUTSIDE, "outside" }, { STACK_CUT, "cut" }, { STACK_NO_START, "no-start" },
	};
	const struct model_ustack *u = model_ustack(r->m, ustack);
	struct text *t = &r->out;
	uint32_t state = u->state, set = u->flags, nr;
	const uint32_t *frames;
	bool any = false;
	size_t i;

	text_add(t, ",");
	add_member(t, "user_state", model_state_name(state));
	if (state != JOIN_STACK)
		return;
	for (i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		if (!(set & flags[i].flag))
			continue;
		text_addf(t, "%s\"%s\"", any ? "," : ",\"user_flags\":[", flags[i].name);
		any = true;
	}
	if (any)
		text_add(t, "]");
	frames = model_uframes(r->m, ustack, &nr);
	add_frames(r, "user", frames, nr);
}

static void add_number(struct text *t, const struct decode_field *f, uint64_t val)
{
	if (f->is_signed && f->size < 8 && val >> (8 * f->size - 1) & 1)
		val |= ~0ull << 8 * f->size;
	if (f->is_signed)
		text_addf(t, "%lld", (long long)val);
	else
		text_addf(t, "%llu", (unsigned long long)val);
}

static void add_array(struct report *r, const struct tep_format_field *field, const char *p,
		      uint32_t len)
{
	struct decode_field elem = { .size = field->elementsize };
	struct text *t = &r->out;
	uint32_t i;

	elem.is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	if (elem.size != 2 && elem.size != 4 && elem.size != 8)
		elem.size = 1;
	text_add(t, "[");
	for (i = 0; i + elem.size <= len; i += elem.size) {
		if (i)
			text_add(t, ",");
		add_number(t, &elem, decode_read(r->decode, p + i, elem.size));
	}
	text_add(t, "]");
}

static void add_field(struct report *r, const struct model_event *ev,
		      const struct tep_format_field *field)
{
	struct text *t = &r->out;
	struct decode_field f;
	const void *p;
	uint32_t len;
	uint64_t val;

	decode_set_field(&f, field);
	if (!(field->flags & (TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC)) &&
	    decode_number(r->decode, ev->rec, &f, &val)) {
		add_number(t, &f, val);
	} else if (!decode_bytes(r->decode, ev->rec, &f, &p, &len)) {
		text_add(t, "null");
	} else if (field->flags & TEP_FIELD_IS_STRING) {
		add_string(t, p, strnlen(p, len));
	} else {
		add_array(r, field, p, len);
	}
}

static void add_fields(struct report *r, const struct model_event *ev)
{
	const struct tep_event *event = model_type(r->m, ev->type)->event;
	const struct tep_format_field *field;
	struct text *t = &r->out;

	text_add(t, ",\"fields\":{");
	for (field = event ? event->format.fields : NULL; field; field = field->next) {
		if (field != event->format.fields)
			text_add(t, ",");
		add_string(t, field->name, strlen(field->name));
		text_add(t, ":");
		add_field(r, ev, field);
	}
	text_add(t, "}");
}

void json_event(struct report *r, const struct model_event *ev)
{
	const struct model_type *type = model_type(r->m, ev->type);
	struct text *t = &r->out;
	const uint32_t *frames;
	uint32_t nr, tgid;

	text_addf(t, "{\"ts\":%llu,\"cpu\":%u,", (unsigned long long)ev->ts, ev->cpu);
	if (ev->buffer) {
		add_member(t, "instance", model_buffer(r->m, ev->buffer));
		text_add(t, ",");
	}
	if (ev->missed)
		text_addf(t, "\"dropped\":%lld,", (long long)ev->missed);
	add_member(t, "comm", model_comm(r->m, ev->tid));
	text_addf(t, ",\"tid\":%d", (int)ev->tid);
	tgid = model_tgid(r->m, ev->tid);
	if (tgid)
		text_addf(t, ",\"pid\":%u", tgid);
	text_add(t, ",");
	add_member(t, "system", type->system);
	text_add(t, ",");
	add_member(t, "event", type->name);
	add_fields(r, ev);
	if (ev->kstack != MODEL_NONE) {
		frames = model_kframes(r->m, ev->kstack, &nr);
		add_frames(r, "kernel", frames, nr);
	}
	if (ev->ustack != MODEL_NONE)
		add_ustack(r, ev->ustack);
	text_add(t, "}\n");
}
