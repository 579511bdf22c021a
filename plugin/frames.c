// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * frames - see frames.h
 *
 * Two caches. A stack's text under (address list, process, epoch of the
 * process's maps): equal ones read alike. And a frame's text under (file,
 * offset, address), because different stacks share most of their frames. Both
 * have a budget; one that is full is emptied and begins again, so that a trace
 * without repetition costs time, not memory.
 *
 * Paths and names come from the trace and from files: bytes that a terminal
 * would obey are written as \ooo.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unwind-user.h>

#include "frames.h"
#include "vec.h"

#define STACK_BUDGET	(24u << 20)
#define FRAME_BUDGET	(24u << 20)

static const char prefix[] = "=> [user] ";

struct text {
	char *v;
	size_t nr, room;
	bool failed;		/* without memory: what is there is cut */
};

struct frame_key {
	uint64_t addr, offset;
	uint32_t file;		/* id + 1, 0: none */
	uint32_t exact;
};

struct frame {
	struct frame_key key;
	char *line;
	bool signal;		/* a signal trampoline: the next address is exact */
};

struct stack_text {
	uint32_t id, tgid, epoch;
	uint32_t flags;
	char *lines;
};

struct frames {
	struct maps *maps;
	struct frames_opts opts;
	struct uu_symbols *syms;
	VEC(struct frame) frames;
	struct hidx frame_idx;
	size_t frame_bytes;
	VEC(struct stack_text) stacks;
	struct hidx stack_idx;
	size_t stack_bytes;
	struct text out;
};

static void add_bytes(struct text *t, const char *s, size_t len)
{
	if (t->failed || vec_reserve(t, len + 1)) {
		t->failed = true;
		return;
	}
	memcpy(t->v + t->nr, s, len);
	t->nr += len;
	t->v[t->nr] = '\0';
}

static void add(struct text *t, const char *s)
{
	add_bytes(t, s, strlen(s));
}

static void __attribute__((format(printf, 2, 3))) addf(struct text *t, const char *fmt, ...)
{
	char buf[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	add(t, buf);
}

static void add_name(struct text *t, const char *s)
{
	size_t n;

	while (*s) {
		for (n = 0; (unsigned char)s[n] >= ' ' && s[n] != 0x7f; n++)
			;
		add_bytes(t, s, n);
		s += n;
		if (*s)
			addf(t, "\\%03o", (unsigned char)*s++);
	}
}

struct frames *frames_new(struct maps *maps, const struct frames_opts *opts)
{
	struct frames *f = calloc(1, sizeof(*f));
	struct uu_symbols_opts so = { .size = sizeof(so) };

	if (!f)
		return NULL;
	f->maps = maps;
	f->opts = *opts;
	f->opts.sysroot = NULL;
	so.sysroot = opts->sysroot;
	so.no_demangle = opts->no_demangle;
	f->syms = uu_symbols_new(&so);
	add(&f->out, "");
	if (!f->syms || f->out.failed) {
		frames_free(f);
		return NULL;
	}
	return f;
}

static void drop_frames(struct frames *f)
{
	size_t i;

	for (i = 0; i < f->frames.nr; i++)
		free(f->frames.v[i].line);
	f->frames.nr = 0;
	f->frame_bytes = 0;
	hidx_clear(&f->frame_idx);
}

static void drop_stacks(struct frames *f)
{
	size_t i;

	for (i = 0; i < f->stacks.nr; i++)
		free(f->stacks.v[i].lines);
	f->stacks.nr = 0;
	f->stack_bytes = 0;
	hidx_clear(&f->stack_idx);
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	drop_frames(f);
	drop_stacks(f);
	vec_free(&f->frames);
	vec_free(&f->stacks);
	hidx_free(&f->frame_idx);
	hidx_free(&f->stack_idx);
	uu_symbols_free(f->syms);
	free(f->out.v);
	free(f);
}

static void add_frame(struct frames *f, struct text *t, const struct frame_key *k,
		      const struct maps_file *file, bool *signal)
{
	struct uu_symbol sym = { .name = NULL };
	struct uu_file uf;
	uint64_t ask;

	add(t, prefix);
	if (!file) {
		addf(t, "0x%llx\n", (unsigned long long)k->addr);
		return;
	}
	uf.path = file->path;
	uf.build_id = file->build_id;
	uf.build_id_size = file->build_id_size;
	*signal = uu_symbols_is_signal_return(f->syms, &uf, k->offset);
	if (!f->opts.no_symbols) {
		/* a return address belongs to the call before it */
		ask = k->exact || *signal || !k->offset ? k->offset : k->offset - 1;
		if (uu_symbols_find(f->syms, &uf, ask, &sym))
			sym.name = NULL;
	}
	if (sym.name) {
		add_name(t, sym.name);
		if (!f->opts.no_offsets)
			addf(t, "+0x%llx", (unsigned long long)(k->offset - sym.start));
	} else {
		addf(t, "0x%llx", (unsigned long long)k->addr);
	}
	add(t, " (");
	add_name(t, file->path);
	if (!sym.name || !f->opts.no_offsets)
		addf(t, "+0x%llx", (unsigned long long)k->offset);
	add(t, ")");
	if (f->opts.raw)
		addf(t, " [0x%llx]", (unsigned long long)k->addr);
	add(t, "\n");
}

/* Append the line of one address; returns whether the next one is exact. */
static bool frame_line(struct frames *f, struct text *out, const struct join_answer *ans,
		       uint64_t addr, bool exact)
{
	struct frame_key k = { .addr = addr, .exact = exact };
	const struct maps_file *file;
	struct text t = {};
	bool signal = false;
	struct frame *fr;
	uint64_t hash;
	uint32_t i;
	size_t pos;

	file = maps_find(f->maps, ans->tgid ? ans->tgid : ans->tid, ans->ts, ans->cpu, addr,
			 &k.offset);
	if (file)
		k.file = file->id + 1;
	hash = hash64(k.addr ^ hash64(k.offset ^ (uint64_t)k.file << 32 ^ k.exact));
	for_each_hidx(&f->frame_idx, hash, pos, i) {
		fr = &f->frames.v[i];
		if (!memcmp(&fr->key, &k, sizeof(k))) {
			add(out, fr->line);
			return fr->signal;
		}
	}
	add_frame(f, &t, &k, file, &signal);
	if (t.failed) {
		free(t.v);
		out->failed = true;
		return signal;
	}
	add_bytes(out, t.v, t.nr);
	if (f->frame_bytes > FRAME_BUDGET)
		drop_frames(f);
	fr = vec_add(&f->frames);
	if (!fr || hidx_add(&f->frame_idx, hash, f->frames.nr - 1)) {
		free(t.v);
		if (fr)
			f->frames.nr--;
		return signal;
	}
	fr->key = k;
	fr->line = t.v;
	fr->signal = signal;
	f->frame_bytes += t.room + sizeof(*fr);
	return signal;
}

static void add_marks(struct text *t, const struct join_answer *ans)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} marks[] = {
		{ STACK_CUT, "cut: outer frames are missing" },
		{ STACK_TRUNCATED, "truncated" },
		{ STACK_INCOMPLETE, "incomplete" },
		{ STACK_FRAME_POINTER, "frame pointers: right only if the code keeps them" },
	};
	bool any = false;
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		if (!(ans->flags & marks[i].flag))
			continue;
		add(t, any ? "; " : prefix);
		add(t, any ? "" : "<");
		add(t, marks[i].text);
		any = true;
	}
	if (any) {
		add(t, ">\n");
	} else if (!ans->nr) {
		add(t, prefix);
		add(t, "<empty>\n");
	}
}

static void add_stack(struct frames *f, struct text *t, const struct join_answer *ans)
{
	bool exact = true;	/* the innermost frame is where the task was */
	uint32_t i;

	if (ans->flags & STACK_NO_START) {
		add(t, prefix);
		add(t, "<cut: events were dropped, inner frames may be missing>\n");
		exact = false;
	}
	for (i = 0; i < ans->nr; i++)
		exact = frame_line(f, t, ans, ans->addrs[i], exact);
	add_marks(t, ans);
}

static void add_missing(struct text *t, enum join_state state, bool damaged)
{
	static const char *const why[JOIN_NR_STATES] = {
		[JOIN_PENDING] = "still in the kernel at the end",
		[JOIN_LOST] = "lost",
		[JOIN_UNRECORDED] = "not recorded",
		[JOIN_UNSURE] =
			"not recorded: two buffers of the file say different things here",
	};

	add(t, prefix);
	add(t, "<");
	add(t, why[state]);
	if (damaged && state == JOIN_LOST)
		add(t, ": the file is damaged");
	add(t, ">\n");
}

static const char *cached_stack(struct frames *f, const struct join_answer *ans)
{
	uint32_t tgid = ans->tgid ? ans->tgid : ans->tid, epoch, i;
	struct stack_text *st;
	uint64_t hash;
	bool near;
	size_t pos;

	epoch = maps_epoch(f->maps, tgid, ans->ts, &near);
	hash = hash64(((uint64_t)ans->id << 32 | tgid) ^ hash64((uint64_t)epoch << 32 | ans->flags));
	for_each_hidx(&f->stack_idx, hash, pos, i) {
		st = &f->stacks.v[i];
		if (!near && st->id == ans->id && st->tgid == tgid && st->epoch == epoch &&
		    st->flags == ans->flags)
			return st->lines;
	}
	add_stack(f, &f->out, ans);
	if (near || f->out.failed)
		return f->out.v;
	if (f->stack_bytes > STACK_BUDGET)
		drop_stacks(f);
	st = vec_add(&f->stacks);
	if (!st)
		return f->out.v;
	st->lines = malloc(f->out.nr + 1);
	if (!st->lines || hidx_add(&f->stack_idx, hash, f->stacks.nr - 1)) {
		free(st->lines);
		f->stacks.nr--;
		return f->out.v;
	}
	memcpy(st->lines, f->out.v, f->out.nr + 1);
	st->id = ans->id;
	st->tgid = tgid;
	st->epoch = epoch;
	st->flags = ans->flags;
	f->stack_bytes += f->out.nr + 1 + sizeof(*st);
	return st->lines;
}

const char *frames_text(struct frames *f, const struct join_answer *ans, bool damaged)
{
	f->out.nr = 0;
	f->out.failed = false;
	f->out.v[0] = '\0';
	if (ans->state == JOIN_STACK)
		return cached_stack(f, ans);
	if (ans->state != JOIN_NONE)
		add_missing(&f->out, ans->state, damaged);
	return f->out.v;
}
