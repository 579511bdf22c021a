// SPDX-License-Identifier: GPL-2.0
/* folded.c - write a fold as text, one line for each path. See folded.h. */
#include <errno.h>

#include "folded.h"
#include "libunwind-user/base/base.h"

#define FLUSH	(1 << 18)

/* The text of a segment, in text.v; made at its first use. */
struct spelled {
	size_t off;
	uint32_t len;			/* 0: not made, or empty */
};

struct writer {
	const struct fold *f;
	struct spelled *segs;
	struct text text;		/* of all segments */
	struct text out;
};

static void add_name(struct text *t, const struct fold_name *n)
{
	const char *s;

	for (s = n->text; *s; s++) {
		char c = *s == ';' ? ':' : (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s;

		text_add_bytes(t, &c, 1);
	}
	if (!*n->text)
		text_add(t, "?");
	if (n->kind == FOLD_KERNEL)
		text_add(t, "_[k]");
	else if (n->kind == FOLD_INLINED)
		text_add(t, "_[i]");
}

static const struct spelled *spell_seg(struct writer *w, uint32_t seg)
{
	struct spelled *s = &w->segs[seg];
	const uint32_t *names;
	uint32_t nr, i;

	if (s->len || !seg)
		return s;
	names = fold_get_names(w->f, seg, &nr);
	s->off = w->text.nr;
	for (i = 0; i < nr; i++) {
		if (i)
			text_add_bytes(&w->text, ";", 1);
		add_name(&w->text, fold_get_name(w->f, names[i]));
	}
	s->len = w->text.nr - s->off;
	return s;
}

static void add_number(struct text *t, uint64_t n)
{
	char buf[24], *p = buf + sizeof(buf);

	do
		*--p = '0' + n % 10;
	while (n /= 10);
	*--p = ' ';
	text_add_bytes(t, p, buf + sizeof(buf) - p);
}

static void write_line(struct writer *w, const struct fold_sample *s, int by, bool diff)
{
	const struct spelled *sp;
	bool any = false;
	int i;

	for (i = 0; i < FOLD_SEGS; i++) {
		sp = spell_seg(w, s->seg[i]);
		if (!sp->len)
			continue;
		if (any)
			text_add_bytes(&w->out, ";", 1);
		text_add_bytes(&w->out, w->text.v + sp->off, sp->len);
		any = true;
	}
	if (diff)
		add_number(&w->out, s->value[0]);
	add_number(&w->out, s->value[diff ? 1 : by]);
	text_add_bytes(&w->out, "\n", 1);
}

int folded_write(FILE *out, const struct fold *f, int by, bool diff)
{
	struct writer w = { .f = f, .segs = calloc(fold_get_nr_segs(f), sizeof(*w.segs)) };
	bool failed = !w.segs;
	size_t i;

	for (i = 0; i < fold_get_nr_samples(f) && !failed; i++) {
		write_line(&w, fold_get_sample(f, i), by, diff);
		if (w.out.nr >= FLUSH) {
			fwrite(w.out.v, 1, w.out.nr, out);
			w.out.nr = 0;
		}
		failed = w.out.failed || w.text.failed;
	}
	if (w.out.nr)
		fwrite(w.out.v, 1, w.out.nr, out);
	free(w.segs);
	vec_free(&w.text);
	vec_free(&w.out);
	return failed ? -ENOMEM : 0;
}
