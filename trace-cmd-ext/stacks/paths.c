// SPDX-License-Identifier: GPL-2.0
/* paths.c - spell stacks, tasks and events as segments of names. See paths.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "paths.h"
#include "libunwind-user/base/base.h"

/* The segments of a stack: segment + 1, or 0 before it is made. */
struct stack_segs {
	uint32_t seg, reversed;
	bool asked, matches;		/* do the names match? Not yet known unless @asked */
};

struct tid {
	uint32_t tid, seg, name;
};

typedef VEC(uint32_t) numbers_t;

struct paths {
	struct model *m;
	struct fold *f;
	struct paths_opts o;
	VEC(struct stack_segs) user, kernel;
	numbers_t frame_name;		/* by the model's frame: name + 1, or 0 */
	numbers_t type_seg;		/* by the model's type: segment + 1, or 0 */
	VEC(struct tid) tids;
	struct hidx tid_idx;
	VEC(uint32_t) tmp;
	bool joined;
	bool failed;			/* tmp lacks names: there was not enough memory */
};

struct paths *paths_new(struct model *m, struct fold *f, const struct paths_opts *o)
{
	struct paths *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->m = m;
	/* model_get_info() would count all requests, too */
	p->joined = model_find_type(m, "ftrace", "user_unwind_cookie") != MODEL_NONE ||
		    model_find_type(m, "ftrace", "user_unwind_stack") != MODEL_NONE;
	p->f = f;
	p->o = *o;
	return p;
}

void paths_free(struct paths *p)
{
	if (!p)
		return;
	vec_free(&p->user);
	vec_free(&p->kernel);
	vec_free(&p->frame_name);
	vec_free(&p->type_seg);
	vec_free(&p->tids);
	vec_free(&p->tmp);
	hidx_free(&p->tid_idx);
	free(p);
}

/* The segments of a stack; NULL if there is not enough memory. Valid until the next call. */
static struct stack_segs *get_segs(struct paths *p, bool user, uint32_t id)
{
	__typeof__(p->user) *segs = user ? &p->user : &p->kernel;

	while (segs->nr <= id && vec_add(segs))
		;
	return id < segs->nr ? &segs->v[id] : NULL;
}

/* Add zeros to @n until it has element @id; false if there is not enough memory. */
static bool grow_numbers(numbers_t *n, uint32_t id)
{
	while (n->nr <= id && vec_add(n))
		;
	return id < n->nr;
}

/* ---- names ---- */

static uint32_t make_name(struct paths *p, const struct model_frame *f)
{
	enum fold_kind kind = f->kernel ? FOLD_KERNEL : FOLD_USER;
	uint32_t file = f->file ? fold_add_file(p->f, f->file->path) :
			f->jit ? fold_add_file(p->f, "[JIT]") : FOLD_NONE;
	char text[300];

	if (f->func && *f->func)
		return fold_add_name(p->f, kind, f->func, file);
	if (f->file)
		snprintf(text, sizeof(text), "[%s]", text_base_name(f->file->path));
	else
		snprintf(text, sizeof(text), f->kernel ? "[kernel]" : "[no mapping]");
	return fold_add_name(p->f, kind, text, file);
}

static uint32_t get_frame_name(struct paths *p, uint32_t frame)
{
	if (!grow_numbers(&p->frame_name, frame))
		return UINT32_MAX;
	if (!p->frame_name.v[frame])
		p->frame_name.v[frame] = make_name(p, model_get_frame(p->m, frame)) + 1;
	return p->frame_name.v[frame] - 1;
}

static void add_name(struct paths *p, uint32_t name)
{
	uint32_t *n = vec_add(&p->tmp);

	if (n)
		*n = name;
	else
		p->failed = true;
}

/* Add the frames from @from on, outermost first. */
static void add_frames(struct paths *p, const uint32_t *frames, uint32_t from, uint32_t nr)
{
	if (vec_reserve(&p->tmp, nr)) {
		p->failed = true;
		return;
	}
	while (nr > from)
		p->tmp.v[p->tmp.nr++] = get_frame_name(p, frames[--nr]);
}

static void add_note(struct paths *p, const char *text)
{
	add_name(p, fold_add_name(p->f, FOLD_NOTE, text, FOLD_NONE));
}

/* ---- segments ---- */

static uint32_t finish_seg(struct paths *p, bool reversed)
{
	uint32_t *v = p->tmp.v, tmp, i, nr = p->tmp.nr;

	if (p->failed)
		return UINT32_MAX;
	for (i = 0; reversed && i < nr / 2; i++) {
		tmp = v[i];
		v[i] = v[nr - 1 - i];
		v[nr - 1 - i] = tmp;
	}
	return fold_add_seg(p->f, v, nr);
}

static const char *get_missing_note(struct model *m, enum join_state state)
{
	if (state == JOIN_LOST && model_get_info(m)->damaged)
		return "[lost: the file is damaged]";
	return join_words[state].frame;
}

void paths_get_notes(struct model *m, uint32_t ustack, struct paths_notes *n)
{
	const struct model_ustack *u = model_get_ustack(m, ustack);
	uint32_t flags = u->flags;

	memset(n, 0, sizeof(*n));
	if (u->state != JOIN_STACK) {
		n->outer[n->nr++] = get_missing_note(m, u->state);
		return;
	}
	if (flags & STACK_TRUNCATED)
		n->outer[n->nr++] = "[truncated]";
	if (flags & STACK_INCOMPLETE)
		n->outer[n->nr++] = u->nr ? "[incomplete]" : "[could not be read]";
	if (flags & STACK_CUT_OUTER)
		n->outer[n->nr++] = "[outer frames lost]";
	if (flags & STACK_FRAME_POINTER)
		n->outer[n->nr++] = "[by frame pointers]";
	if (!u->nr && !n->nr)
		n->outer[n->nr++] = "[empty]";
	if (flags & STACK_NO_INNER)
		n->inner = "[inner frames lost]";
}

/* Add the functions inlined at a place, outermost first; model_get_lines() is innermost first. */
static void add_inlined(struct paths *p, uint32_t frame)
{
	const struct model_line *v;
	uint32_t nr = model_get_lines(p->m, frame, &v), file;

	if (!nr)
		return;
	file = fold_add_file(p->f, model_get_frame(p->m, frame)->file->path);
	while (nr-- > 0)
		if (v[nr].inlined)
			add_name(p, fold_add_name(p->f, FOLD_INLINED, v[nr].func && *v[nr].func ?
					      v[nr].func : "[unknown]", file));
}

/* Spell the frames, outermost first, with notes where frames are missing. */
static bool spell_user(struct paths *p, uint32_t ustack)
{
	struct paths_notes n;
	const uint32_t *frames;
	uint32_t nr, i;

	frames = model_get_uframes(p->m, ustack, &nr);
	if (!frames)
		return false;
	paths_get_notes(p->m, ustack, &n);
	for (i = 0; i < n.nr; i++)
		add_note(p, n.outer[i]);
	if (!p->o.lines)
		add_frames(p, frames, 0, nr);
	for (i = nr; p->o.lines && i-- > 0; ) {
		add_name(p, get_frame_name(p, frames[i]));
		add_inlined(p, frames[i]);
	}
	if (n.inner)
		add_note(p, n.inner);
	return true;
}

/* Kernel functions that record an event are not part of the program's work. */
bool paths_is_tracer(const struct model_frame *f)
{
	static const char *const prefixes[] = { "trace_event_raw_event_", "__traceiter_",
						"__probestub_", "trace_event_buffer_" };
	size_t i;

	for (i = 0; f->func && i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(f->func, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static bool spell_kernel(struct paths *p, uint32_t kstack)
{
	uint32_t nr, from = 0;
	const uint32_t *frames = model_get_kframes(p->m, kstack, &nr);

	if (!frames)
		return false;
	while (from < nr && paths_is_tracer(model_get_frame(p->m, frames[from])))
		from++;
	add_frames(p, frames, from, nr);
	return true;
}

static uint32_t get_stack_seg(struct paths *p, bool user, uint32_t id, bool reversed)
{
	struct stack_segs *s = get_segs(p, user, id);
	uint32_t like, made;

	if (!s)
		return UINT32_MAX;
	made = reversed ? s->reversed : s->seg;
	if (made)
		return made - 1;
	like = user ? model_find_like_uframes(p->m, id) : id;
	if (like != id) {
		made = get_stack_seg(p, user, like, reversed);
	} else {
		p->tmp.nr = 0;
		if (!(user ? spell_user(p, id) : spell_kernel(p, id)))
			return UINT32_MAX;
		made = finish_seg(p, reversed);
	}
	/* the vector may have moved */
	s = get_segs(p, user, id);
	*(reversed ? &s->reversed : &s->seg) = made + 1;
	return made;
}

/*
 * A task whose outermost kernel function is one of these has no user program: a kernel thread, or
 * the idle task of a CPU. From kernel/fork.c, kernel/kthread.c, init/main.c and arch/: x86/kernel/
 * head_64.S, arm64/kernel/head.S and smp.c, s390/kernel/head.S, process.c and smp.c.
 */
static bool starts_kernel_thread(const char *func)
{
	static const char *const names[] = {
		"ret_from_fork", "kthread", "cpu_startup_entry", "rest_init", "start_kernel",
		"ret_from_fork_asm", "common_startup_64", "secondary_startup_64",
		"secondary_startup_64_no_verify", "start_secondary", "x86_64_start_kernel",
		"__primary_switched", "__secondary_switched", "secondary_start_kernel",
		"__ret_from_fork", "smp_start_secondary", "startup_continue",
	};
	size_t i;

	for (i = 0; func && i < ARRAY_SIZE(names); i++)
		if (!strcmp(func, names[i]))
			return true;
	return false;
}

const char *paths_explain_no_user(struct model *m, uint32_t kstack)
{
	const uint32_t *frames;
	uint32_t nr = 0;

	frames = model_get_kframes(m, kstack, &nr);
	if (frames && nr && starts_kernel_thread(model_get_frame(m, frames[nr - 1])->func))
		return NULL;
	return "[no user stack asked for]";
}

uint32_t paths_get_user(struct paths *p, uint32_t ustack, uint32_t kstack)
{
	const char *why;

	if (ustack != MODEL_NONE)
		return get_stack_seg(p, true, ustack, false);
	why = p->joined ? paths_explain_no_user(p->m, kstack) : NULL;
	if (!why)
		return FOLD_NONE;
	p->tmp.nr = 0;
	add_note(p, why);
	return finish_seg(p, false);
}

uint32_t paths_get_kernel(struct paths *p, uint32_t kstack)
{
	return kstack == MODEL_NONE ? FOLD_NONE : get_stack_seg(p, false, kstack, false);
}

static struct tid *get_tid(struct paths *p, uint32_t tid)
{
	struct tid *t = vec_find(&p->tids, &p->tid_idx, tid, tid);
	const char *comm;
	char text[300];

	if (t)
		return t;
	t = vec_get(&p->tids, &p->tid_idx, tid, tid);
	if (!t)
		return NULL;
	comm = model_get_comm(p->m, tid);
	if (p->o.threads)
		snprintf(text, sizeof(text), "%s-%u", comm, tid);
	else
		snprintf(text, sizeof(text), "%s", comm);
	t->name = fold_add_name(p->f, FOLD_TASK, text, FOLD_NONE);
	t->seg = fold_add_seg(p->f, &t->name, 1);
	return t;
}

uint32_t paths_get_task(struct paths *p, uint32_t tid)
{
	struct tid *t = get_tid(p, tid);

	return t ? t->seg : UINT32_MAX;
}

uint32_t paths_get_event(struct paths *p, uint32_t type)
{
	const struct model_type *t;
	char text[300];
	uint32_t name;

	if (!grow_numbers(&p->type_seg, type))
		return UINT32_MAX;
	if (!p->type_seg.v[type]) {
		t = model_get_type(p->m, type);
		snprintf(text, sizeof(text), "%s:%s", t->system, t->name);
		name = fold_add_name(p->f, FOLD_EVENT, text, FOLD_NONE);
		p->type_seg.v[type] = fold_add_seg(p->f, &name, 1) + 1;
	}
	return p->type_seg.v[type] - 1;
}

/* ---- wake-ups ---- */

static uint32_t spell_waker_kernel(struct paths *p, const struct waker *by)
{
	uint32_t mark = fold_add_name(p->f, FOLD_MARK, "woken by", FOLD_NONE);
	struct stack_segs *s;

	if (by->kstack == MODEL_NONE)
		return fold_add_seg(p->f, &mark, 1);
	s = get_segs(p, false, by->kstack);
	if (!s)
		return UINT32_MAX;
	if (!s->reversed) {
		p->tmp.nr = 0;
		if (!spell_kernel(p, by->kstack))
			return UINT32_MAX;
		add_name(p, mark);
		s->reversed = finish_seg(p, true) + 1;
	}
	return s->reversed - 1;
}

/* An interrupt is the waker, not the program that it interrupted: show only the task's name. */
static uint32_t spell_waker_user(struct paths *p, const struct waker *by)
{
	static const char *const context[] = {
		[WAKER_SOFTIRQ] = "[soft interrupt]",
		[WAKER_HARDIRQ] = "[hard interrupt]",
		[WAKER_NMI] = "[NMI]",
	};

	if (by->context == WAKER_TASK) {
		if (by->ustack != MODEL_NONE)
			return get_stack_seg(p, true, by->ustack, true);
		return paths_get_user(p, MODEL_NONE, by->kstack);
	}
	p->tmp.nr = 0;
	add_note(p, context[by->context]);
	add_note(p, "[interrupted]");
	return finish_seg(p, false);
}

void paths_get_wake_up(struct paths *p, const struct wait *w, const struct waker *by,
		       uint32_t seg[FOLD_SEGS])
{
	seg[SEG_TASK] = paths_get_task(p, w->tid);
	seg[SEG_USER] = paths_get_user(p, w->ustack, w->kstack);
	seg[SEG_KERNEL] = paths_get_kernel(p, w->kstack);
	seg[SEG_WAKER_KERNEL] = spell_waker_kernel(p, by);
	seg[SEG_WAKER_USER] = spell_waker_user(p, by);
	seg[SEG_WAKER_TASK] = paths_get_task(p, by->tid);
}

/* ---- which are wanted ---- */

static bool matches_symbol(struct paths *p, const uint32_t *frames, uint32_t nr)
{
	const struct model_frame *f;
	uint32_t i;
	size_t k;

	for (i = 0; frames && i < nr; i++) {
		f = model_get_frame(p->m, frames[i]);
		for (k = 0; f->func && k < p->o.nr_symbols; k++)
			if (!fnmatch(p->o.symbols[k], f->func, 0))
				return true;
	}
	return false;
}

static bool stack_has_symbol(struct paths *p, bool user, uint32_t id)
{
	struct stack_segs *s = get_segs(p, user, id);
	const uint32_t *frames;
	uint32_t nr;

	if (!s)
		return false;
	if (!s->asked) {
		frames = user ? model_get_uframes(p->m, id, &nr) : model_get_kframes(p->m, id, &nr);
		s->matches = matches_symbol(p, frames, nr);
		s->asked = true;
	}
	return s->matches;
}

bool paths_have_symbol(struct paths *p, uint32_t kstack, uint32_t ustack)
{
	if (!p->o.nr_symbols)
		return true;
	if (kstack != MODEL_NONE && stack_has_symbol(p, false, kstack))
		return true;
	return ustack != MODEL_NONE && stack_has_symbol(p, true, ustack);
}
