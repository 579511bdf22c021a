// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * plugin.c - the interface to KernelShark. See kernelshark.h.
 *
 * KernelShark calls the initializer for each stream (buffer) of a file. Then it announces each
 * record whose event the initializer registered, and later asks for the plots. After a change of
 * filters it may load a stream again without a notice; the model finds out by itself.
 */
#include <stdio.h>
#include <stdlib.h>

#include <libkshark.h>
#include <libkshark-plugin.h>
#include <libkshark-tepdata.h>

#include "plugin/recording/recording.h"
#include "plugin/join/join.h"
#include "kernelshark.h"
#include "libunwind-user/base/base.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream);
EXPORT int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream);
EXPORT void *KSHARK_MENU_PLUGIN_INITIALIZER(void *window);

struct shark_stream {
	int sd;
	bool problem_shown;		/* shark_get_problem() was printed */
	struct decode dec;
	struct shark_model *model;
};

static VEC(struct shark_stream *) streams;
static void *main_window;

static struct shark_stream *find_stream(int sd)
{
	size_t i;

	for (i = 0; i < streams.nr; i++)
		if (streams.v[i]->sd == sd)
			return streams.v[i];
	return NULL;
}

struct shark_model *shark_get_model(int sd)
{
	struct shark_stream *s = find_stream(sd);

	if (!s)
		return NULL;
	shark_prepare(s->model);
	if (shark_get_problem(s->model) && !s->problem_shown) {
		s->problem_shown = true;
		fprintf(stderr, "plugin-ustack: %s\n", shark_get_problem(s->model));
	}
	return s->model;
}

void *shark_get_window(void)
{
	return main_window;
}

static void on_record(struct kshark_data_stream *stream, void *record, struct kshark_entry *entry)
{
	struct shark_stream *s = find_stream(stream->stream_id);
	const struct tep_record *rec = record;
	struct shark_record r = { .entry = entry };
	struct decode_common c;
	struct decode_stack stack;
	uint64_t first;

	if (!s)
		return;
	decode_read_common(&s->dec, rec, &c);
	if (!c.has_tid || !c.has_flags)
		return;
	switch (decode_get_kind(&s->dec, &c)) {
	case DECODE_KERNEL_STACK:
		r.kind = SHARK_KERNEL_STACK;
		break;
	case DECODE_COOKIE:
		r.kind = SHARK_COOKIE;
		if (!decode_read_cookie(&s->dec, rec, &r.cookie))
			return;
		break;
	case DECODE_STACK:
		r.kind = SHARK_STACK;
		if (!decode_read_stack(&s->dec, rec, &stack))
			return;
		r.cookie = stack.cookie;
		r.more = stack.flags & STACK_MORE;
		break;
	case DECODE_AGAIN:
		r.kind = SHARK_STACK;
		if (!decode_read_again(&s->dec, rec, &r.cookie, &first))
			return;
		break;
	default:
		return;
	}
	r.pos = rec->offset;
	r.ts = rec->ts;
	r.cpu = rec->cpu;
	r.tid = c.tid;
	r.flags = c.flags;
	/* without memory, some marks are missing */
	shark_add_record(s->model, s->sd, &r);
}

static const int *get_event_id(const struct shark_stream *s, int i)
{
	const int *all[] = { &s->dec.id_kernel_stack, &s->dec.id_cookie, &s->dec.id_stack,
			     &s->dec.id_again };

	return i < (int)ARRAY_SIZE(all) ? all[i] : NULL;
}

static void close_stream(struct shark_stream *s)
{
	size_t i;

	for (i = 0; i < streams.nr; i++)
		if (streams.v[i] == s)
			streams.v[i] = streams.v[--streams.nr];
	if (!streams.nr)
		vec_free(&streams);
	if (s->model) {
		shark_forget_stream(s->model, s->sd);
		shark_put(s->model);
	}
	free(s);
}

/* Returns the number of registered handlers; 0 if the stream has nothing to show. */
int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream)
{
	struct shark_stream *s, **slot;
	const int *id;
	int i;

	if (!kshark_is_tep(stream) || find_stream(stream->stream_id))
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return 0;
	s->sd = stream->stream_id;
	if (!decode_init(&s->dec, kshark_get_tep(stream)) || s->dec.id_cookie < 0) {
		free(s);
		return 0;
	}
	s->model = shark_get(stream->file);
	slot = s->model ? vec_add(&streams) : NULL;
	if (!slot) {
		shark_put(s->model);
		free(s);
		return 0;
	}
	*slot = s;
	for (i = 0; (id = get_event_id(s, i)); i++)
		if (*id >= 0)
			kshark_register_event_handler(stream, *id, on_record);
	kshark_register_draw_handler(stream, shark_draw);
	return 1;
}

int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream)
{
	struct shark_stream *s = find_stream(stream->stream_id);
	const int *id;
	int i;

	if (!s)
		return 0;
	for (i = 0; (id = get_event_id(s, i)); i++)
		if (*id >= 0)
			kshark_unregister_event_handler(stream, *id, on_record);
	kshark_unregister_draw_handler(stream, shark_draw);
	close_stream(s);
	return 1;
}

/* Adds no menu. It exists because KernelShark gives a plugin its window only here. */
void *KSHARK_MENU_PLUGIN_INITIALIZER(void *window)
{
	main_window = window;
	return NULL;
}
