/* SPDX-License-Identifier: GPL-2.0 */
/*
 * python.bpf.h - the functions of Python, between the C frames that run them
 *
 * A call of _PyEval_EvalFrameDefault(), here: the interpreter, runs one or several Python frames: a
 * run. Each frame leads to the frame that called it, also from the last frame of a run to the first
 * one of the run before. Where a run ends, there is a structure on the C stack, a local variable of
 * the interpreter: the marker.
 *
 *	3.11	struct _PyCFrame. Markers are linked, and lead to the innermost frame of their run.
 *		The outermost frame of a run has is_entry set. The last marker is not on the stack
 *		and has no frames.
 *	3.13	a struct _PyInterpreterFrame, which is in the chain of frames. Its owner says that
 *		it is none of Python's.
 *
 * So the address of a marker says which C frame the run belongs to: the marker is between the stack
 * pointer and the CFA of this frame. Nothing depends on where the code of the interpreter is, and
 * into how many pieces the compiler has cut it.
 *
 * The task finds its own struct PyThreadState in the list of the interpreter by the address of its
 * thread descriptor, as pthread_self() returns it: the base of FS. Where the structures are, and
 * where their fields, depends on the version (python.c).
 *
 * The runs are read when the walk first comes to code of the file with Python. The task is in the
 * kernel then, and nobody else changes its frames. When the walk leaves the C frame with a marker,
 * its run is added, so the frames of Python come after the C frame that runs them. Each of them is
 * an address, MSG_PYTHON_BASE plus twice a number plus one. A number stands for the name of the
 * function, its file and the instruction. The recorder gets these with the first stack that has the
 * number: struct msg_python.
 *
 * Why a name is right: the programs read names, line table and frame in the same entry to the
 * kernel, each time. The frame holds a reference to the code object, and the code object to the
 * texts, and all of them are immutable. Numbers belong to the contents, not to addresses: a code
 * object that takes the place of another one has other contents, and so another number, or the same
 * contents. If anything cannot be read or contradicts, MSG_PYTHON_UNKNOWN takes the place of the
 * run and of all runs further out.
 *
 * The recorder cannot read the names instead of the programs: when it gets a stack, the task runs
 * again or has ended, and the code object may have gone.
 *
 * Frames change while the interpreter itself executes. If it was interrupted, its run is not
 * certain, and has MSG_PYTHON_UNKNOWN in its place; runs further out are certain.
 *
 * A frame before its first traceable instruction is not shown. Python does not show it either:
 * _PyFrame_IsIncomplete().
 */
#ifndef TRACE_USTACK_RECORD_BPF_PYTHON_H
#define TRACE_USTACK_RECORD_BPF_PYTHON_H

#include "send.bpf.h"
#include "state.bpf.h"

#define MAX_THREADS	1024
#define UNKNOWN_FRAME	(MSG_PYTHON_BASE + 2 * MSG_PYTHON_UNKNOWN + 1)

/* In all versions: struct _object, PyVarObject, PyASCIIObject, PyBytesObject */
#define TYPE_AT		8
#define SIZE_AT		16
#define STATE_AT	32
#define BYTES_AT	32
#define UNIT		2		/* bytes of an instruction */
#define TEXT_HEAD	40

static __always_inline int read_user(void *to, u32 size, u64 from)
{
	return bpf_probe_read_user(to, size, (void *)from);
}

#define WORD_OF(array, off)	((array)[(off) / WORD & (sizeof(array) / WORD - 1)])

static __always_inline u32 half_of(u64 word, u32 off)
{
	return word >> (off & 4) * 8;
}

static __always_inline u8 byte_of(u64 word, u32 off)
{
	return word >> (off & 7) * 8;
}

/* As add_hash(), of the words of the message from @from on */
__noinline int hash_words(struct walk *w, u32 from, u32 nr)
{
	struct python_walk *p;
	u64 a, b, v;
	u32 i;

	if (!w)
		return 0;
	p = &w->python;
	a = p->hash[0] + nr;
	b = p->hash[1] ^ nr;
	for (i = 0; i < PYTHON_TABLE_WORDS; i++) {
		if (i >= nr)
			break;
		v = p->text[(from + i) & (PYTHON_TEXT_WORDS - 1)];
		a = (a ^ v) * 0x9e3779b97f4a7c15ull;
		a ^= a >> 32;
		b = ((b << 23 | b >> 41) ^ v) * 0xd6e8feb86659fd93ull;
	}
	p->hash[0] = a;
	p->hash[1] = b;
	return 0;
}

/*
 * Read @size bytes of the program, at most @max, into the message, and add them to the hash. @from:
 * the word of the message. The bytes after them are zero up to the end of a word.
 */
static __always_inline int read_bytes(struct walk *w, u64 addr, u32 size, u32 from, const u32 max)
{
	struct python_walk *p = &w->python;
	u32 words;

	if (size > max)
		size = max;
	words = (size + WORD - 1) / WORD;
	if (size) {
		p->text[(from + (size - 1) / WORD) & (PYTHON_TEXT_WORDS - 1)] = 0;
		if (from > PYTHON_TEXT_WORDS - max / WORD ||
		    read_user(&p->text[from], size, addr))
			return -1;
	}
	hash_words(w, from, words);
	return 0;
}

static __always_inline int read_text(struct walk *w, const struct python *file, u64 addr,
				     struct msg_text *t, u32 from, const u32 max)
{
	u64 *head = w->python.object, size;
	u32 state, kind;

	if (read_user(head, TEXT_HEAD, addr))
		return -1;
	state = (u32)head[STATE_AT / WORD] >> (file->kind_shift & 31);
	kind = state & 7;
	/* PyUnicode_1BYTE_KIND etc.; compact */
	if ((kind != 1 && kind != 2 && kind != 4) || !(state & 8))
		return -1;
	size = head[SIZE_AT / WORD] * kind;
	if (head[SIZE_AT / WORD] >> 32)
		return -1;
	t->size = size;
	t->kind = kind;
	w->python.hash[0] ^= size << 8 | kind;
	return read_bytes(w, addr + (state & 16 ? file->ascii_size : file->compact_size), size,
			  from, max);
}

__noinline int read_name(struct walk *w, u64 addr)
{
	u32 number;
	struct python *file;

	if (!w)
		return -1;
	number = w->python.file;
	file = bpf_map_lookup_elem(&pythons, &number);
	return file ? read_text(w, file, addr, &w->python.head.name, PYTHON_NAME_AT,
				MSG_MAX_NAME) : -1;
}

__noinline int read_file_name(struct walk *w, u64 addr)
{
	u32 number;
	struct python *file;

	if (!w)
		return -1;
	number = w->python.file;
	file = bpf_map_lookup_elem(&pythons, &number);
	return file ? read_text(w, file, addr, &w->python.head.file, PYTHON_FILE_AT,
				MSG_MAX_FILE) : -1;
}

/* A longer table is left out: the frame then has no line. */
__noinline int read_table(struct walk *w, u64 addr)
{
	u64 size;

	if (!w || read_user(&w->python.object[0], WORD, addr + SIZE_AT))
		return -1;
	size = w->python.object[0];
	w->python.head.table = size > MSG_MAX_TABLE ? 0 : size;
	w->python.hash[1] ^= size << 4;
	return size > MSG_MAX_TABLE ? 0 : read_bytes(w, addr + BYTES_AT, size, PYTHON_TABLE_AT,
						     MSG_MAX_TABLE);
}

/* The number of the contents in the message. 0: the recorder has no room for them */
__noinline u32 number_python(struct walk *w)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct python_key key;
	struct msg_python *m;
	u32 *known, number, size;

	if (!w || !c)
		return 0;
	key.hash[0] = w->python.hash[0];
	key.hash[1] = w->python.hash[1];
	known = bpf_map_lookup_elem(&python_numbers, &key);
	if (known)
		return *known;
	number = __sync_fetch_and_add(&c->pythons, 1) + MSG_PYTHON_FIRST;
	m = &w->python.head;
	size = w->python.head.table;
	if (size > MSG_MAX_TABLE || number < MSG_PYTHON_FIRST)
		return 0;
	size = sizeof(*m) + MSG_MAX_NAME + MSG_MAX_FILE + ((size + WORD - 1) & -WORD);
	m->head.type = MSG_PYTHON;
	m->head.reserved = 0;
	m->head.size = size;
	m->number = number;
	if (bpf_ringbuf_output(&ring, m, size, wake_up(c))) {
		__sync_fetch_and_add(&c->lost, 1);
		return 0;
	}
	if (bpf_map_update_elem(&python_numbers, &key, &number, BPF_ANY))
		return 0;
	return number;
}

static __always_inline void add_chain(struct python_walk *p, u64 value)
{
	p->chain[0] = (p->chain[0] ^ value) * 0x9e3779b97f4a7c15ull;
	p->chain[0] ^= p->chain[0] >> 32;
	p->chain[1] = ((p->chain[1] << 23 | p->chain[1] >> 41) ^ value) * 0xd6e8feb86659fd93ull;
}

static __always_inline int add_entry(struct python_walk *p, u64 value)
{
	u32 nr = p->nr;

	if (nr >= MAX_PYTHON)
		return -1;
	add_chain(p, value);
	p->entry[nr & (MAX_PYTHON - 1)] = value;
	p->nr = nr + 1;
	return 0;
}

/* Read what the frame in p->frame executes, and add it to the run. */
static __always_inline int add_python_frame(struct walk *w, const struct python *file)
{
	struct python_walk *p = &w->python;
	u64 code = WORD_OF(p->frame, file->frame_code) & ~(u64)file->code_tag, instr, start;
	u32 size = file->instructions, number;

	if (size > sizeof(p->code) || read_user(p->code, size, code) ||
	    p->code[TYPE_AT / WORD] != p->base + file->code_type)
		return -1;
	start = code + size;
	instr = WORD_OF(p->frame, file->frame_instr);
	if (byte_of(WORD_OF(p->frame, file->frame_owner), file->frame_owner) != PYTHON_GENERATOR &&
	    (s64)(instr - start) < (s32)half_of(WORD_OF(p->code, file->first_traceable),
						file->first_traceable) * UNIT)
		return 0;
	if (instr - start >= p->code[SIZE_AT / WORD] * UNIT)
		return -1;
	p->head.instr = instr - start;
	p->head.line = half_of(WORD_OF(p->code, file->first_line), file->first_line);
	p->hash[0] = p->head.instr;
	p->hash[1] = p->head.line;
	if (read_name(w, WORD_OF(p->code, file->name)) ||
	    read_file_name(w, WORD_OF(p->code, file->file_name)) ||
	    read_table(w, WORD_OF(p->code, file->table)))
		return -1;
	number = number_python(w);
	return number ? add_entry(p, MSG_PYTHON_BASE + 2 * (u64)number + 1) : -1;
}

/* The marker of a run was reserved before the run: set it. Without frames, it is not needed. */
static __always_inline void end_run(struct python_walk *p, u64 marker)
{
	u32 at = p->reserved;

	add_chain(p, marker);
	if (p->nr == at + 1)
		p->nr = at;
	else
		p->entry[at & (MAX_PYTHON - 1)] = marker;
}

static __always_inline int begin_run(struct python_walk *p)
{
	p->reserved = p->nr;
	return add_entry(p, 0);
}

enum {
	PYTHON_MORE,
	PYTHON_END,
	PYTHON_FAILED,
};

/* 3.11: the next marker, or the next frame of its run */
static __always_inline int read_run_311(struct walk *w, const struct python *file)
{
	struct python_walk *p = &w->python;
	u64 top, previous;

	if (!p->at) {
		if (read_user(p->frame, PYTHON_CFRAME_SIZE, p->marker))
			return PYTHON_FAILED;
		top = WORD_OF(p->frame, file->cframe_frame);
		previous = WORD_OF(p->frame, file->cframe_previous);
		/* the frame that called the last one of the run before */
		if (p->caller_known && top != p->caller)
			return PYTHON_FAILED;
		if (!previous)
			return top ? PYTHON_FAILED : PYTHON_END;
		p->at = top;
		p->previous = previous;
		return top && !begin_run(p) ? PYTHON_MORE : PYTHON_FAILED;
	}
	if (read_user(p->frame, PYTHON_FRAME_SIZE, p->at) || add_python_frame(w, file))
		return PYTHON_FAILED;
	previous = WORD_OF(p->frame, file->frame_previous);
	if (byte_of(WORD_OF(p->frame, file->frame_entry), file->frame_entry)) {
		end_run(p, p->marker);
		p->caller = previous;
		p->caller_known = 1;
		p->marker = p->previous;
		previous = 0;
	} else if (!previous) {
		return PYTHON_FAILED;
	}
	p->at = previous;
	return PYTHON_MORE;
}

/* 3.13: the next frame of the chain */
static __always_inline int read_run_313(struct walk *w, const struct python *file)
{
	struct python_walk *p = &w->python;
	u64 at = p->at;
	u8 owner;

	if (!at)
		return p->nr == p->reserved + 1 ? end_run(p, 0), PYTHON_END : PYTHON_FAILED;
	if (read_user(p->frame, PYTHON_FRAME_SIZE, at))
		return PYTHON_FAILED;
	owner = byte_of(WORD_OF(p->frame, file->frame_owner), file->frame_owner);
	p->at = WORD_OF(p->frame, file->frame_previous);
	if (owner <= PYTHON_LAST_OWNER)
		return add_python_frame(w, file) ? PYTHON_FAILED : PYTHON_MORE;
	end_run(p, at);
	return begin_run(p) ? PYTHON_FAILED : PYTHON_MORE;
}

__noinline int read_run(struct walk *w)
{
	struct python *file;
	u32 number;

	if (!w)
		return PYTHON_FAILED;
	number = w->python.file;
	file = bpf_map_lookup_elem(&pythons, &number);
	if (!file)
		return PYTHON_FAILED;
	return file->cframe_previous ? read_run_311(w, file) : read_run_313(w, file);
}

struct python_loop {
	struct walk *w;
	int ret;
};

static long loop_run(u32 i, struct python_loop *l)
{
	l->ret = read_run(l->w);
	return l->ret != PYTHON_MORE;
}

/* In the list of threads: is it this one, and where is the next one? */
static long compare_thread(u32 i, struct python_loop *l)
{
	struct python_walk *p = &l->w->python;
	u32 number = p->file;
	struct python *file = bpf_map_lookup_elem(&pythons, &number);
	u64 at = p->thread;

	if (!file)
		return 1;
	if (at && read_user(&p->object[0], WORD, at + file->thread_id))
		return 1;
	if (!at || p->object[0] == p->thread_id) {
		p->thread_found = 1;
		return 1;
	}
	return read_user(&p->thread, WORD, at + file->next_thread) ? 1 : 0;
}

/* Find the struct PyThreadState of this task. Not 0: it may have several, or cannot be read */
static __always_inline int find_thread(struct walk *w, const struct python *file)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct python_loop loop = { .w = w };
	struct python_walk *p = &w->python;

	p->thread = 0;
	p->thread_found = 0;
	p->thread_id = task->thread.fsbase;
	if (read_user(&p->object[0], WORD, p->base + file->runtime + file->interpreters))
		return -1;
	/* it has not started */
	if (!p->object[0])
		return 0;
	/* each interpreter has its own threads */
	if (read_user(&p->object[1], WORD, p->object[0] + file->next_interpreter) ||
	    p->object[1] ||
	    read_user(&p->thread, WORD, p->object[0] + file->threads))
		return -1;
	bpf_loop(MAX_THREADS, compare_thread, &loop, 0);
	return !p->thread_found;
}

/* All runs of the task. Not 0: they are not known */
__noinline int read_runs(struct walk *w)
{
	struct python_loop loop = { .w = w, .ret = PYTHON_FAILED };
	struct python_walk *p;
	struct python *file;
	u32 number;

	if (!w)
		return -1;
	p = &w->python;
	number = p->file;
	p->nr = 0;
	p->next = 0;
	p->at = 0;
	p->caller_known = 0;
	p->chain[0] = 0;
	p->chain[1] = 0;
	file = bpf_map_lookup_elem(&pythons, &number);
	if (!file || find_thread(w, file))
		return -1;
	if (!p->thread)
		return 0;
	if (read_user(&p->marker, WORD, p->thread + file->thread_top))
		return -1;
	if (!file->cframe_previous) {
		p->at = p->marker;
		if (begin_run(p))
			return -1;
	}
	bpf_loop(2 * MAX_PYTHON, loop_run, &loop, 0);
	return loop.ret == PYTHON_END ? 0 : -1;
}

static __always_inline void forget_python(struct walk *w)
{
	w->python.file = 0;
	w->python.failed = 0;
	w->python.nr = 0;
	w->python.next = 0;
}

static __always_inline void add_python(struct walk *w, u64 frame)
{
	u32 nr = w->nr;

	if (nr >= MSG_MAX_FRAMES)
		return;
	w->frame[nr & (MSG_MAX_FRAMES - 1)] = frame;
	w->nr = nr + 1;
	add_hash(w, frame);
}

/* From here on the frames of Python are not known. */
static __always_inline void fail_python(struct walk *w)
{
	w->python.nr = 0;
	w->python.next = 0;
	w->python.failed = 1;
	add_python(w, UNKNOWN_FRAME);
}

/* The walk comes to a file with Python for the first time, at mapping @i: read all runs. */
static __always_inline void start_python(struct walk *w, u32 i)
{
	struct mapping *m = &w->map[i & (NR_MAPPINGS - 1)];

	w->python.file = m->part.python;
	w->python.base = m->start - m->pgoff;
	if (read_runs(w))
		fail_python(w);
}

static __always_inline bool has_python(const struct walk *w, u32 i)
{
	const struct mapping *m = &w->map[i & (NR_MAPPINGS - 1)];

	return !w->python.file && m->kind == MAP_FILE && m->part_known && m->part.python;
}

struct copy_loop {
	struct walk *w;
	bool certain;
};

static long copy_frame(u32 i, struct copy_loop *l)
{
	struct python_walk *p = &l->w->python;
	u32 next = p->next;
	u64 frame = p->entry[next & (MAX_PYTHON - 1)];

	/* the next marker */
	if (next >= p->nr || frame < MSG_PYTHON_BASE)
		return 1;
	p->next = next + 1;
	if (l->certain)
		add_python(l->w, frame);
	return 0;
}

/*
 * The walk has left a C frame, which began at @sp. Is a marker in it? Then add its run. @exact: the
 * frame was interrupted
 */
__noinline int add_run(struct walk *w, u64 sp, u32 exact)
{
	struct copy_loop loop = { .w = w, .certain = !exact };
	u32 next;
	u64 marker;

	if (!w)
		return 0;
	next = w->python.next;
	if (next >= w->python.nr)
		return 0;
	marker = w->python.entry[next & (MAX_PYTHON - 1)];
	if (marker >= w->sp)
		return 0;
	if (marker < sp) {
		fail_python(w);
		return 0;
	}
	w->python.next = next + 1;
	if (exact)
		add_python(w, UNKNOWN_FRAME);
	bpf_loop(MAX_PYTHON, copy_frame, &loop, 0);
	return 0;
}

/* The walk has ended. If it is complete, it has met all markers that are on this stack. */
static __always_inline void end_python(struct walk *w)
{
	if (w->reason == MSG_OK && w->python.next < w->python.nr)
		fail_python(w);
}

#endif
