// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * frames.c - make the text of a joined stack, and keep the text. See frames.h.
 *
 * There are two caches. The first keeps the line of a frame, by (file, offset, address), because
 * stacks share most of their frames. The second keeps the frames of a stack, as positions in the
 * first cache, by (address list, process, epoch of the process's maps): stacks that agree in these
 * read alike. Both caches have a budget and start empty again when it is spent, so a trace without
 * repetition takes more time, not more memory.
 */
#include "frames.h"
#include "libunwind-user/base/base.h"

#define BUDGET	(48u << 20)

static const char prefix[] = "=> [user] ";
static const char no_memory[] = "=> [user] <no memory>\n";

struct frame_key {
	uint64_t addr, offset;
	uint32_t file;		/* id + 1, 0: none */
	uint32_t exact;
	uint32_t jit;		/* process that may have compiled the code; 0: none */
	uint32_t unused;	/* zero: keys are compared as bytes */
};

struct frame_line {
	struct frame_key key;
	char *line;
	uint32_t len;
	bool signal;		/* a signal trampoline: the next address is exact */
};

struct stack_frames {
	uint32_t id, tgid, epoch, flags;
	uint32_t shown;			/* flags, and what the maps add */
	bool jit;			/* jit_knows() its process at its time */
	uint32_t first, nr;		/* in frames.index */
};

struct frames {
	struct maps *maps;
	struct frames_opts opts;
	struct uu_symbols *syms;
	VEC(struct frame_line) frames;
	struct hidx frame_idx;
	VEC(struct stack_frames) stacks;
	struct hidx stack_idx;
	VEC(uint32_t) index;		/* the stacks' frames, in frames.frames */
	size_t bytes;
	struct text out;
};

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
	text_clear(&f->out);
	if (!f->syms || f->out.failed) {
		frames_free(f);
		return NULL;
	}
	return f;
}

static void empty_caches(struct frames *f)
{
	size_t i;

	for (i = 0; i < f->frames.nr; i++)
		free(f->frames.v[i].line);
	f->frames.nr = f->stacks.nr = f->index.nr = 0;
	f->bytes = 0;
	hidx_clear(&f->frame_idx);
	hidx_clear(&f->stack_idx);
}

void frames_free(struct frames *f)
{
	if (!f)
		return;
	empty_caches(f);
	vec_free(&f->frames);
	vec_free(&f->stacks);
	vec_free(&f->index);
	hidx_free(&f->frame_idx);
	hidx_free(&f->stack_idx);
	uu_symbols_free(f->syms);
	free(f->out.v);
	free(f);
}

void frames_cut_at_non_code(struct maps *maps, struct jit *jit, struct uu_symbols *syms,
			    struct join_answer *ans)
{
	uint32_t tgid = join_get_pid(ans->tgid, ans->tid), nr = ans->nr;
	uint32_t i = join_find_unproved(ans);
	struct uu_symbol sym;
	bool may_jit;

	if (i >= nr)
		return;
	may_jit = jit && jit_knows(jit, tgid, ans->ts);
	for (; i < nr; i++) {
		i = maps_find_outside(maps, tgid, ans->addrs, i, nr);
		if (i < nr &&
		    !(may_jit && jit_find_symbol(jit, syms, tgid, ans->addrs[i] - 1, &sym)))
			break;
	}
	if (i >= nr)
		return;
	ans->nr = i;
	ans->flags |= STACK_INCOMPLETE | STACK_OUTSIDE;
}

/* A return address belongs to the call before it, also at a mapping's end. */
const struct maps_file *frames_find_file(struct maps *maps, const struct join_answer *ans,
					 uint64_t addr, bool exact, uint64_t *offset)
{
	const struct maps_file *file;

	*offset = 0;
	file = maps_find_file(maps, join_get_pid(ans->tgid, ans->tid), ans->ts, ans->cpu,
			      addr - !exact, offset);
	if (file)
		*offset += !exact;
	return file;
}

bool frames_find_symbol(struct uu_symbols *syms, const struct maps_file *file, uint64_t offset,
			bool exact, struct uu_symbol *sym)
{
	struct uu_file uf = {
		.path = file->path,
		.build_id = file->build_id,
		.build_id_size = file->build_id_size,
	};
	bool signal;

	if (file->python) {
		*sym = (struct uu_symbol){ .name = file->python, .start = offset };
		return false;
	}
	signal = uu_symbols_is_signal_return(syms, &uf, offset);
	if (uu_symbols_find(syms, &uf, exact || signal || !offset ? offset : offset - 1, sym))
		memset(sym, 0, sizeof(*sym));
	return signal;
}

/* NAME (FILE:LINE), or without symbols an address in place of the name */
static void add_python(struct frames *f, struct text *t, const struct frame_key *k,
		       const struct maps_file *file)
{
	uint32_t line = maps_get_python_line(k->offset);

	if (f->opts.no_symbols)
		text_addf(t, "0x%llx", (unsigned long long)k->addr);
	else
		text_add_escaped(t, file->python, strlen(file->python));
	if (*file->path) {
		text_add(t, " (");
		text_add_escaped(t, file->path, strlen(file->path));
		if (line && !f->opts.no_offsets)
			text_addf(t, ":%u", line);
		text_add(t, ")");
	}
	if (f->opts.raw)
		text_addf(t, " [0x%llx]", (unsigned long long)k->addr);
	text_add(t, "\n");
}

static void add_frame(struct frames *f, struct text *t, const struct frame_key *k,
		      const struct maps_file *file, bool *signal)
{
	struct uu_symbol sym;

	text_add(t, prefix);
	if (k->jit && !f->opts.no_symbols &&
	    jit_find_symbol(f->opts.jit, f->syms, k->jit, k->addr - !k->exact, &sym)) {
		text_add_escaped(t, sym.name, strlen(sym.name));
		if (!f->opts.no_offsets)
			text_addf(t, "+0x%llx", (unsigned long long)(k->addr - sym.start));
		text_addf(t, " (/tmp/perf-%u.map)", k->jit);
		if (f->opts.raw)
			text_addf(t, " [0x%llx]", (unsigned long long)k->addr);
		text_add(t, "\n");
		return;
	}
	if (!file) {
		text_addf(t, "0x%llx\n", (unsigned long long)k->addr);
		return;
	}
	if (file->python) {
		add_python(f, t, k, file);
		return;
	}
	*signal = frames_find_symbol(f->syms, file, k->offset, k->exact, &sym);
	if (f->opts.no_symbols)
		sym.name = NULL;
	if (sym.name) {
		text_add_escaped(t, sym.name, strlen(sym.name));
		if (!f->opts.no_offsets)
			text_addf(t, "+0x%llx", (unsigned long long)(k->offset - sym.start));
	} else {
		text_addf(t, "0x%llx", (unsigned long long)k->addr);
	}
	text_add(t, " (");
	text_add_escaped(t, file->path, strlen(file->path));
	if (!sym.name || !f->opts.no_offsets)
		text_addf(t, "+0x%llx", (unsigned long long)k->offset);
	text_add(t, ")");
	if (f->opts.raw)
		text_addf(t, " [0x%llx]", (unsigned long long)k->addr);
	text_add(t, "\n");
	if (f->opts.more)
		f->opts.more(f->opts.data, t, file,
			     k->offset - !(k->exact || *signal || !k->offset));
}

/*
 * Find or make the frame of one address; NULL if there is not enough memory. Valid until the next
 * call. @jit: the process, if there are names for its JIT code; or 0.
 */
static struct frame_line *get_frame(struct frames *f, const struct join_answer *ans, uint64_t addr,
				    bool exact, uint32_t jit)
{
	struct frame_key k = { .addr = addr, .exact = exact };
	const struct maps_file *file;
	struct text t = {};
	bool signal = false;
	struct frame_line *fr;
	uint64_t hash;
	uint32_t i;
	size_t pos;

	file = frames_find_file(f->maps, ans, addr, exact, &k.offset);
	if (file)
		k.file = file->id + 1;
	if (jit && jit_may_hold(file))
		k.jit = jit;
	hash = hash64(k.addr ^ hash64(k.offset ^ (uint64_t)k.file << 32 ^ (uint64_t)k.jit << 1 ^
				      k.exact));
	for_each_hidx(&f->frame_idx, hash, pos, i) {
		fr = &f->frames.v[i];
		if (!memcmp(&fr->key, &k, sizeof(k)))
			return fr;
	}
	add_frame(f, &t, &k, file, &signal);
	fr = t.failed ? NULL : vec_add_hashed(&f->frames, &f->frame_idx, hash);
	if (!fr) {
		free(t.v);
		return NULL;
	}
	fr->key = k;
	fr->line = t.v;
	fr->len = t.nr;
	fr->signal = signal;
	f->bytes += t.room + sizeof(*fr) + 24;
	return fr;
}

static void add_marks(struct text *t, const struct join_answer *ans)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} marks[] = {
		{ STACK_CUT_OUTER, "cut: outer frames are missing" },
		{ STACK_TRUNCATED, "truncated" },
		{ STACK_INCOMPLETE, "incomplete" },
		{ STACK_OUTSIDE, "the next address is not code" },
		{ STACK_FRAME_POINTER, "frame pointers: right only if the code keeps them" },
	};
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++) {
		if (!(ans->flags & marks[i].flag))
			continue;
		text_add(t, any ? "; " : prefix);
		text_add(t, any ? "" : "<");
		text_add(t, marks[i].text);
		any = true;
	}
	if (any) {
		text_add(t, ">\n");
	} else if (!ans->nr) {
		text_add(t, prefix);
		text_add(t, "<empty>\n");
	}
}

/* Append the frames of a stack to f->index. */
static bool append_frames(struct frames *f, const struct join_answer *ans, uint32_t jit)
{
	bool exact = !(ans->flags & STACK_NO_INNER);	/* innermost: where the task was */
	struct frame_line *fr;
	uint32_t i;

	if (vec_reserve(&f->index, (size_t)ans->nr + 1))
		return false;
	for (i = 0; i < ans->nr; i++) {
		fr = get_frame(f, ans, ans->addrs[i], exact, jit);
		if (!fr)
			return false;
		f->index.v[f->index.nr++] = fr - f->frames.v;
		exact = fr->signal;
	}
	f->bytes += ans->nr * sizeof(uint32_t) + sizeof(struct stack_frames) + 24;
	return true;
}

static void add_stack(struct frames *f, struct text *t, const struct join_answer *ans,
		      uint32_t first, uint32_t nr)
{
	const struct frame_line *fr;
	uint32_t i;

	if (ans->flags & STACK_NO_INNER) {
		text_add(t, prefix);
		text_add(t, "<cut: events were dropped, inner frames may be missing>\n");
	}
	for (i = 0; i < nr; i++) {
		fr = &f->frames.v[f->index.v[first + i]];
		text_add_bytes(t, fr->line, fr->len);
	}
	add_marks(t, ans);
}

static void add_missing(struct text *t, enum join_state state, bool damaged)
{
	text_add(t, prefix);
	text_add(t, "<");
	text_add(t, join_words[state].mark);
	if (damaged && state == JOIN_LOST)
		text_add(t, ": the file is damaged");
	text_add(t, ">\n");
}

static void format_stack(struct frames *f, const struct join_answer *ans)
{
	uint32_t tgid = join_get_pid(ans->tgid, ans->tid), epoch, first, i;
	struct stack_frames *frames;
	struct join_answer end = *ans;
	bool near, jit = jit_knows(f->opts.jit, tgid, ans->ts);
	uint64_t hash;
	size_t pos;

	epoch = maps_get_epoch(f->maps, tgid, ans->ts, &near);
	hash = hash64(((uint64_t)ans->id << 32 | tgid) ^
		      hash64((uint64_t)epoch << 32 | ans->flags));
	for_each_hidx(&f->stack_idx, hash, pos, i) {
		frames = &f->stacks.v[i];
		if (!near && frames->id == ans->id && frames->tgid == tgid &&
		    frames->epoch == epoch && frames->flags == ans->flags && frames->jit == jit) {
			end.nr = frames->nr;
			end.flags = frames->shown;
			add_stack(f, &f->out, &end, frames->first, frames->nr);
			return;
		}
	}
	if (f->bytes > BUDGET)
		empty_caches(f);
	first = f->index.nr;
	frames_cut_at_non_code(f->maps, f->opts.jit, f->syms, &end);
	if (!append_frames(f, &end, jit ? tgid : 0)) {
		f->index.nr = first;
		text_add(&f->out, no_memory);
		return;
	}
	add_stack(f, &f->out, &end, first, end.nr);
	frames = near ? NULL : vec_add_hashed(&f->stacks, &f->stack_idx, hash);
	if (!frames) {
		f->index.nr = first;
		return;
	}
	frames->id = ans->id;
	frames->tgid = tgid;
	frames->epoch = epoch;
	frames->flags = ans->flags;
	frames->jit = jit;
	frames->shown = end.flags;
	frames->first = first;
	frames->nr = end.nr;
}

const char *frames_format(struct frames *f, const struct join_answer *ans, bool damaged)
{
	text_clear(&f->out);
	if (ans->state == JOIN_STACK)
		format_stack(f, ans);
	else if (ans->state != JOIN_NONE)
		add_missing(&f->out, ans->state, damaged);
	return f->out.failed ? no_memory : f->out.v ? f->out.v : "";
}
