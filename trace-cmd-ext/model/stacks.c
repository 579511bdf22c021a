// SPDX-License-Identifier: GPL-2.0
/*
 * stacks.c - intern stacks and frames, and resolve them to files and functions
 *
 * The key of a user stack is its address list (the join stores equal lists once), its process, the
 * epoch of that process's mappings, and its flags: stacks with equal keys resolve alike. Requests
 * of one run share one answer, so the number of its run is enough to find the stack of an event.
 */
#include <string.h>

#include "impl.h"

/* ---- kernel stacks ---- */

uint32_t model_add_kstack(struct model *m, uint32_t nr)
{
	const uint64_t *addrs = m->kaddrs.v + m->kaddrs.nr;
	uint64_t hash = hash_words(addrs, nr, 0);
	struct kernel_stack *k;
	uint32_t i;
	size_t pos;

	for_each_hidx(&m->kstack_idx, hash, pos, i) {
		k = &m->kstacks.v[i];
		if (k->hash == hash && k->nr == nr &&
		    !memcmp(m->kaddrs.v + k->off, addrs, nr * sizeof(*addrs)))
			return i;
	}
	k = vec_add_hashed(&m->kstacks, &m->kstack_idx, hash);
	if (!k)
		return MODEL_NONE;
	k->hash = hash;
	k->off = m->kaddrs.nr;
	k->nr = nr;
	k->frames = NOT_MADE;
	m->kaddrs.nr += nr;
	return m->kstacks.nr - 1;
}

/* Copy addresses up to the end mark; returns their number. Inlined for speed in each case. */
static inline __attribute__((always_inline))
uint32_t copy_kaddrs(const struct decode *d, const char *p, uint32_t max, uint64_t *to)
{
	uint32_t nr;

	for (nr = 0; nr < max; nr++) {
		to[nr] = decode_read_addr(d, p, nr);
		/* libtraceevent ends a stack the same way */
		if ((int)to[nr] == -1)
			break;
	}
	return nr;
}

uint32_t model_intern_kstack(struct model *m, const struct tep_record *rec)
{
	static const struct decode native = { .long_size = 8 };
	const struct decode_field *f = &m->dec.kstack_caller;
	const char *p = (const char *)rec->data + f->offset;
	uint32_t max;
	uint64_t *to;

	if (!f->present || f->offset > rec->size)
		return MODEL_NONE;
	/* the format says 8 entries, the record has as many as fit */
	max = (rec->size - f->offset) / m->dec.long_size;
	if (vec_reserve(&m->kaddrs, max + 1))
		return MODEL_NONE;
	to = m->kaddrs.v + m->kaddrs.nr;
	if (m->dec.long_size == 8 && !m->dec.swap)
		return model_add_kstack(m, copy_kaddrs(&native, p, max, to));
	return model_add_kstack(m, copy_kaddrs(&m->dec, p, max, to));
}

/* ---- user stacks ---- */

static uint32_t get_missing_ustack(struct model *m, enum join_state state, uint32_t run)
{
	struct user_stack *u;

	if (!m->missing[state]) {
		u = vec_add(&m->ustacks);
		if (!u)
			return MODEL_NONE;
		u->pub.state = state;
		u->run = run;
		u->frames = NOT_MADE;
		u->alike = m->ustacks.nr - 1;
		m->missing[state] = m->ustacks.nr;
	}
	return m->missing[state] - 1;
}

static uint32_t intern_ustack(struct model *m, const struct join_answer *ans, uint32_t run)
{
	struct ustack_key key = { .id = ans->id, .tgid = ans->tgid, .flags = ans->flags };
	struct user_stack *u;
	uint32_t tgid = join_get_pid(ans->tgid, ans->tid), i;
	uint64_t hash;
	bool near;
	size_t pos;

	key.tid = ans->tgid ? 0 : ans->tid;
	key.jit = jit_knows(m->jit, tgid, ans->ts);
	key.epoch = maps_get_epoch(m->maps, tgid, ans->ts, &near);
	key.own = near ? run + 1 : 0;
	hash = hash64(((uint64_t)key.id << 32 | (key.tgid ^ key.tid)) ^
		      hash64((uint64_t)key.epoch << 32 | key.flags) ^ hash64(key.own));
	for_each_hidx(&m->ustack_idx, hash, pos, i)
		if (!memcmp(&m->ustacks.v[i].key, &key, sizeof(key)))
			return i;
	u = vec_add_hashed(&m->ustacks, &m->ustack_idx, hash);
	if (!u)
		return MODEL_NONE;
	u->ans = *ans;
	frames_cut_at_non_code(m->maps, m->jit, m->syms, &u->ans);
	u->pub.state = JOIN_STACK;
	u->pub.flags = u->ans.flags;
	u->pub.tgid = ans->tgid;
	u->pub.tid = ans->tid;
	u->pub.nr = u->ans.nr;
	u->pub.addrs = ans->addrs;
	u->run = run;
	u->key = key;
	u->frames = NOT_MADE;
	u->alike = m->ustacks.nr - 1;
	return m->ustacks.nr - 1;
}

uint32_t model_get_run_ustack(struct model *m, uint32_t run)
{
	struct join_answer ans;
	uint32_t u;

	if (run == JOIN_NO_RUN)
		return MODEL_NONE;
	if (m->run_ustack[run])
		return m->run_ustack[run] - 1;
	join_get_run(m->join, run, &ans, NULL);
	if (ans.state == JOIN_NONE)
		return MODEL_NONE;
	u = ans.state == JOIN_STACK ? intern_ustack(m, &ans, run) :
				      get_missing_ustack(m, ans.state, run);
	m->run_ustack[run] = u + 1;		/* 0 again for MODEL_NONE */
	return u;
}

/* In the order of the runs, neighbours are mostly of one task, whose data is in the CPU's cache. */
void model_make_ustacks(struct model *m, uint64_t events)
{
	uint32_t i, nr = join_get_nr_runs(m->join);

	for (i = 0; i < nr && events >= nr / 2; i++)
		model_get_run_ustack(m, i);
}

const struct model_ustack *model_get_ustack(struct model *m, uint32_t ustack)
{
	return &m->ustacks.v[ustack].pub;
}

/* ---- frames ---- */

static uint64_t hash_frame(const struct model_frame *f)
{
	uint64_t what = (uint64_t)(f->file ? f->file->id + 1 : 0) << 40 ^
			(uint64_t)f->tgid << 8 ^ f->exact << 1 ^ f->kernel;

	return hash64(f->addr ^ (f->offset ^ what) * 0x9e3779b97f4a7c15ull);
}

/* The number of this frame, new if it has no hash yet; MODEL_NONE: not enough memory */
static uint32_t get_frame(struct model *m, const struct model_frame *want, bool *new)
{
	uint64_t hash = hash_frame(want);
	struct frame_info *f;
	uint32_t i;
	size_t pos;

	*new = false;
	for_each_hidx(&m->frame_idx, hash, pos, i) {
		f = &m->frames.v[i];
		if (f->pub.addr == want->addr && f->pub.file == want->file &&
		    f->pub.offset == want->offset && f->pub.tgid == want->tgid &&
		    f->pub.exact == want->exact && f->pub.kernel == want->kernel &&
		    f->pub.jit == want->jit)
			return i;
	}
	f = vec_add_hashed(&m->frames, &m->frame_idx, hash);
	if (!f)
		return MODEL_NONE;
	f->pub = *want;
	*new = true;
	return m->frames.nr - 1;
}

/* the list of a stack without frames */
static const uint32_t none[1];

static uint32_t get_kernel_frame(struct model *m, uint64_t addr, bool exact)
{
	struct model_frame want = { .addr = addr, .kernel = true, .exact = exact };
	bool new;
	uint32_t i = get_frame(m, &want, &new);
	struct model_frame *f;

	if (i != MODEL_NONE && new) {
		f = &m->frames.v[i].pub;
		f->func = tep_find_function(m->tep, addr);
		f->func_offset = f->func ? addr - tep_find_function_address(m->tep, addr) : 0;
	}
	return i;
}

static uint32_t get_user_frame(struct model *m, const struct join_answer *ans, uint64_t addr,
			       bool exact)
{
	struct model_frame want = { .addr = addr, .exact = exact };
	uint32_t tgid = join_get_pid(ans->tgid, ans->tid), i;
	struct uu_symbol sym;
	struct frame_info *f;
	bool new;

	want.file = frames_find_file(m->maps, ans, addr, exact, &want.offset);
	if (m->jit && jit_may_hold(want.file) && jit_knows(m->jit, tgid, ans->ts) &&
	    jit_find_symbol(m->jit, m->syms, tgid, addr - !exact, &sym)) {
		want.jit = true;
		want.file = NULL;
		want.offset = 0;
	}
	if (!want.file)
		want.tgid = tgid;
	i = get_frame(m, &want, &new);
	if (i != MODEL_NONE && new && want.jit) {
		f = &m->frames.v[i];
		f->pub.func = sym.name;
		f->pub.func_offset = addr - sym.start;
	} else if (i != MODEL_NONE && new && want.file) {
		f = &m->frames.v[i];
		f->signal = frames_find_symbol(m->syms, want.file, want.offset, exact, &sym);
		f->pub.func = sym.name;
		f->pub.func_offset = sym.name ? want.offset - sym.start : 0;
	}
	return i;
}

const uint32_t *model_get_kframes(struct model *m, uint32_t kstack, uint32_t *nr)
{
	struct kernel_stack *k;
	uint32_t i, frame;

	*nr = 0;
	if (kstack == MODEL_NONE)
		return none;
	k = &m->kstacks.v[kstack];
	if (k->frames == NOT_MADE) {
		if (vec_reserve(&m->index, (size_t)k->nr + 1))
			return NULL;
		for (i = 0; i < k->nr; i++) {
			frame = get_kernel_frame(m, m->kaddrs.v[k->off + i], false);
			if (frame == MODEL_NONE)
				return NULL;
			m->index.v[m->index.nr + i] = frame;
		}
		k->frames = m->index.nr;
		m->index.nr += k->nr;
	}
	*nr = k->nr;
	return m->index.v + k->frames;
}

/*
 * Do the addresses of @b, which equal those of @a, lie in the same places of the same files? The
 * lookup of a return address is one byte before it. So for the first byte of a mapping this returns
 * false, and the caller resolves the frames.
 */
static bool has_same_places(struct model *m, const struct user_stack *a, const struct user_stack *b)
{
	uint32_t pids[2] = { a->key.tgid ^ a->key.tid, b->key.tgid ^ b->key.tid }, i;
	uint64_t from[2] = { 0 }, to[2] = { 0 }, offset[2] = { 0 }, addr;
	const struct maps_file *file[2];
	int k;

	if (a->pub.flags != b->pub.flags || a->pub.nr != b->pub.nr || a->key.own || b->key.own ||
	    a->key.jit || b->key.jit)
		return false;
	for (i = 0; i < b->pub.nr; i++) {
		addr = b->pub.addrs[i];
		if (addr > from[0] && addr > from[1] && addr < to[0] && addr < to[1])
			continue;
		for (k = 0; k < 2; k++)
			file[k] = maps_find_file_range(m->maps, &(struct maps_place){
				.tgid = pids[k], .addr = addr }, &offset[k], &from[k], &to[k]);
		if (!file[0] || file[0] != file[1] || offset[0] != offset[1] || addr == from[0] ||
		    addr == from[1])
			return false;
	}
	return true;
}

/* Use the frames of another stack with the same addresses and places; false if there is none. */
static bool take_frames(struct model *m, uint32_t ustack)
{
	struct user_stack *u = &m->ustacks.v[ustack], *like;

	while (m->list_ustack.nr <= u->key.id)
		if (!vec_add(&m->list_ustack))
			return false;
	if (!m->list_ustack.v[u->key.id]) {
		m->list_ustack.v[u->key.id] = ustack + 1;
		return false;
	}
	like = &m->ustacks.v[m->list_ustack.v[u->key.id] - 1];
	if (like->frames == NOT_MADE || !has_same_places(m, like, u))
		return false;
	u->frames = like->frames;
	u->alike = like->alike;
	return true;
}

uint32_t model_find_like_uframes(struct model *m, uint32_t ustack)
{
	uint32_t nr;

	return model_get_uframes(m, ustack, &nr) ? m->ustacks.v[ustack].alike : ustack;
}

const uint32_t *model_get_uframes(struct model *m, uint32_t ustack, uint32_t *nr)
{
	struct user_stack *u;
	uint32_t i, frame;
	bool exact;

	*nr = 0;
	if (ustack == MODEL_NONE || m->ustacks.v[ustack].pub.state != JOIN_STACK)
		return none;
	u = &m->ustacks.v[ustack];
	if (u->frames == NOT_MADE && !take_frames(m, ustack)) {
		if (vec_reserve(&m->index, (size_t)u->pub.nr + 1))
			return NULL;
		/* innermost: where the task was */
		exact = !(u->pub.flags & STACK_NO_INNER);
		for (i = 0; i < u->pub.nr; i++) {
			frame = get_user_frame(m, &u->ans, u->pub.addrs[i], exact);
			if (frame == MODEL_NONE)
				return NULL;
			m->index.v[m->index.nr + i] = frame;
			exact = m->frames.v[frame].signal;
		}
		u->frames = m->index.nr;
		m->index.nr += u->pub.nr;
	}
	*nr = u->pub.nr;
	return m->index.v + u->frames;
}

const struct model_frame *model_get_frame(struct model *m, uint32_t frame)
{
	return &m->frames.v[frame].pub;
}

/* ---- source lines ---- */

uint32_t model_get_lines_at(struct model *m, const struct maps_file *file, uint64_t offset,
			    const struct model_line **v)
{
	struct uu_file uf = {
		.path = file->path,
		.build_id = file->build_id,
		.build_id_size = file->build_id_size,
	};
	const struct uu_frame *frames;
	struct model_line *l;
	size_t nr, i;

	*v = NULL;
	m->lines.nr = 0;
	if (m->opts.lines && file->python && *file->path && maps_get_python_line(offset)) {
		l = vec_add(&m->lines);
		if (!l)
			return 0;
		l->func = file->python;
		l->file = file->path;
		l->line = maps_get_python_line(offset);
		*v = m->lines.v;
		return 1;
	}
	if (!m->opts.lines || file->python || uu_symbols_lines(m->syms, &uf, offset, &frames, &nr))
		return 0;
	/* without lines, only the function's name is known */
	if (nr == 1 && !frames[0].file)
		return 0;
	for (i = 0; i < nr; i++) {
		l = vec_add(&m->lines);
		if (!l)
			return 0;
		l->func = frames[i].name;
		l->file = frames[i].file;
		l->line = frames[i].line;
		l->inlined = frames[i].inlined;
	}
	*v = m->lines.v;
	return nr;
}

uint64_t model_get_lookup_offset(struct model *m, uint32_t frame)
{
	const struct frame_info *f = &m->frames.v[frame];
	bool here = f->pub.exact || f->signal || !f->pub.offset;

	/* a return address belongs to the call before it */
	return f->pub.offset - !here;
}

uint32_t model_get_lines(struct model *m, uint32_t frame, const struct model_line **v)
{
	const struct maps_file *file = m->frames.v[frame].pub.file;

	*v = NULL;
	return file ? model_get_lines_at(m, file, model_get_lookup_offset(m, frame), v) : 0;
}
