// SPDX-License-Identifier: GPL-2.0
/*
 * perf.c - write the text of perf script
 *
 *	COMM PID/TID [CPU] SECONDS: 1 SYSTEM:NAME:
 *		ADDRESS FUNCTION+0xOFFSET (FILE)
 *
 * An empty line follows each stack. stackcollapse-perf.pl and the Firefox Profiler read this text.
 * They split lines at blanks and parentheses, so a line feed in a name is written as a blank.
 */
#include <errno.h>
#include <inttypes.h>

#include "export.h"
#include "libunwind-user/base/base.h"

#define FLUSH	(1 << 16)

struct perf {
	struct export *e;
	struct text t;
};

static void add_name(struct text *t, const char *s)
{
	for (; *s; s++) {
		char c = (unsigned char)*s < ' ' || *s == 0x7f ? ' ' : *s;

		text_add_bytes(t, &c, 1);
	}
}

static void add_frame(struct perf *p, uint32_t entry)
{
	struct export_entry ent;

	export_get_entry(p->e, entry, &ent);
	if (!ent.frame) {
		/* no address, no file: as perf prints an unknown address */
		text_add(&p->t, "\t               0 ");
		add_name(&p->t, ent.name);
		text_add(&p->t, " ([unknown])\n");
		return;
	}
	text_addf(&p->t, "\t%16" PRIx64 " ", ent.frame->addr);
	add_name(&p->t, ent.name ? ent.name : "[unknown]");
	if (ent.depth) {
		text_add(&p->t, " (inlined)\n");
		return;
	}
	if (ent.name)
		text_addf(&p->t, "+0x%" PRIx64, ent.frame->func_offset);
	text_add(&p->t, " (");
	if (ent.frame->kernel)
		text_add(&p->t, "[kernel.kallsyms]");
	else if (ent.frame->jit)
		text_addf(&p->t, "/tmp/perf-%u.map", ent.frame->tgid);
	else
		add_name(&p->t, ent.frame->file ? ent.frame->file->path : "[unknown]");
	text_add(&p->t, ")\n");
}

static int add_event(void *data, const struct model_event *ev)
{
	const struct model_type *type;
	struct perf *p = data;
	const uint32_t *v;
	uint32_t nr, i;

	v = export_get_stack(p->e, ev->kstack, ev->ustack, &nr);
	if (!v)
		return -ENOMEM;
	type = model_get_type(p->e->m, ev->type);
	add_name(&p->t, model_get_comm(p->e->m, ev->tid));
	/* stackcollapse-perf.pl expects two characters at least */
	text_addf(&p->t, "%s %u/%u [%03u] %" PRIu64 ".%09u: 1 ",
		  model_get_comm(p->e->m, ev->tid)[1] ? "" : " ", export_get_pid(p->e, ev->tid),
		  ev->tid, ev->cpu, ev->ts / 1000000000, (unsigned int)(ev->ts % 1000000000));
	add_name(&p->t, type->system);
	text_add(&p->t, ":");
	add_name(&p->t, type->name);
	text_add(&p->t, ":\n");
	for (i = 0; i < nr; i++)
		add_frame(p, v[i]);
	text_add(&p->t, "\n");
	if (p->t.nr >= FLUSH) {
		fwrite(p->t.v, 1, p->t.nr, p->e->out);
		p->t.nr = 0;
	}
	return p->t.failed ? -ENOMEM : ferror(p->e->out) ? -EIO : 0;
}

int export_perf(struct export *e)
{
	struct perf p = { .e = e };
	int ret = model_for_each(e->m, MODEL_BY_TIME, add_event, &p);

	if (p.t.nr)
		fwrite(p.t.v, 1, p.t.nr, e->out);
	vec_free(&p.t);
	return ret;
}
