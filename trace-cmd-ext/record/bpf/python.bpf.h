/* SPDX-License-Identifier: GPL-2.0 */
/*
 * python.bpf.h - the functions of Python, between the C frames that run them
 *
 * The interpreter is _PyEval_EvalFrameDefault(). A call of the interpreter runs one or several
 * Python frames: a span. Each frame leads to the frame that called it, also from the last frame of
 * a span to the first frame of the span before. For each span there is a structure on the C stack,
 * the marker: a local variable of the interpreter.
 *
 *	3.11	struct _PyCFrame. Markers are linked, and lead to the innermost frame of their span.
 *		The outermost frame of a span has is_entry set. The last marker is not on the stack
 *		and has no frames.
 *	3.12	and later: a struct _PyInterpreterFrame, which is in the chain of frames. Its owner
 *		says that it is none of Python's. 3.14 has one more of them at the end of the chain,
 *		which is not on the stack.
 *
 * So the address of a marker says which C frame the span belongs to: the marker is between the
 * stack pointer and the CFA of this frame. Nothing depends on where the code of the interpreter is,
 * and into how many pieces the compiler has cut it.
 *
 * The task finds its own struct PyThreadState in the list of the interpreter by the address of its
 * thread descriptor, as pthread_self() returns it: the base of FS. Where the structures are, and
 * where their fields, depends on the version (python.c).
 *
 * The spans are read when the walk first comes to code of the file with Python. The task is in the
 * kernel then, and nobody else changes its frames. When the walk leaves the C frame with a marker,
 * its span is added, so the frames of Python come after the C frame that runs them. Each of them is
 * an address, MSG_PYTHON_BASE plus twice a number plus one. A number stands for the name of the
 * function, its file and the instruction. The recorder gets these with the first stack that has the
 * number: struct msg_python.
 *
 * Why a name is right: the programs read names, line table and frame in the same kernel entry, each
 * time. The frame holds a reference to the code object, and the code object to the
 * texts, and all of them are immutable. Numbers belong to the contents, not to addresses: a code
 * object that takes the place of another one has other contents, and so another number, or the same
 * contents. If anything cannot be read or contradicts, MSG_PYTHON_UNKNOWN takes the place of the
 * span and of all spans further out.
 *
 * The recorder cannot read the names instead of the programs: when it gets a stack, the task runs
 * again or has ended, and the code object may have gone.
 *
 * Frames change while the interpreter itself executes. If it was interrupted, its span is not
 * certain, and has MSG_PYTHON_UNKNOWN in its place; spans further out are certain. In 3.14, each
 * instruction can have a function of its own, called by the function with the marker. So there, a
 * span is not certain either if a function of the same file was interrupted that the frame with the
 * marker has called.
 *
 * A frame before its first traceable instruction is not shown. Python does not show it either:
 * _PyFrame_IsIncomplete().
 *
 * A program must not harm the recording of others. So a walk sends few new functions, and none
 * while the ring buffer is more than half full: MSG_PYTHON_UNKNOWN takes the place of the others.
 * The hash of the contents is secret.
 *
 * The verifier allows calls to be nested 8 deep. From walk_stack() to hash_words() they are 7 deep:
 * loop_frame(), walk_frame(), read_spans(), read_span() and read_name() are between these.
 */
#ifndef TRACE_USTACK_RECORD_BPF_PYTHON_H
#define TRACE_USTACK_RECORD_BPF_PYTHON_H

#include "send.bpf.h"
#include "state.bpf.h"

#define MAX_THREADS	1024
#define MAX_NEW		32		/* functions that a walk sends */
#define MAX_TABLE_BYTES	(32u << 10)	/* that a walk reads */
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

static __always_inline u32 get_half(u64 word, u32 off)
{
	return word >> (off & 4) * 8;
}

static __always_inline u8 get_byte(u64 word, u32 off)
{
	return word >> (off & 7) * 8;
}

/*
 * Nobody can choose texts with the same hash without the factors, which are secret. Without them,
 * only a difference in the highest bit is known after the multiplication. The next word cannot
 * remove this difference from both halves, as the halves move it to different bits.
 */
static __always_inline void add_word(u64 *hash, const u64 *factor, u64 v)
{
	hash[0] = (hash[0] ^ v) * factor[0];
	hash[0] ^= hash[0] >> 32;
	hash[1] = ((hash[1] << 23 | hash[1] >> 41) ^ v) * factor[1];
}

/* Add the words of the message from @from on to the hash. */
__noinline int hash_words(struct walk *w, u32 from, u32 nr)
{
	struct python_walk *p;
	u64 hash[2], factor[2];
	u32 i;

	if (!w)
		return 0;
	p = &w->python;
	hash[0] = p->hash[0];
	hash[1] = p->hash[1];
	factor[0] = p->hash_factor[0];
	factor[1] = p->hash_factor[1];
	for (i = 0; i < PYTHON_TABLE_WORDS; i++) {
		if (i >= nr)
			break;
		add_word(hash, factor, p->text[(from + i) & (PYTHON_TEXT_WORDS - 1)]);
	}
	p->hash[0] = hash[0];
	p->hash[1] = hash[1];
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

static __always_inline int read_text(struct walk *w, const struct python_layout *file, u64 addr,
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
	add_word(w->python.hash, w->python.hash_factor, size << 8 | kind);
	return read_bytes(w, addr + (state & 16 ? file->ascii_size : file->compact_size), size,
			  from, max);
}

__noinline int read_name(struct walk *w, u64 addr)
{
	u32 number;
	struct python_layout *file;

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
	struct python_layout *file;

	if (!w)
		return -1;
	number = w->python.file;
	file = bpf_map_lookup_elem(&pythons, &number);
	return file ? read_text(w, file, addr, &w->python.head.file, PYTHON_FILE_AT,
				MSG_MAX_FILE) : -1;
}

/* A table beyond the limits is left out: the frame then has no line. */
__noinline int read_line_table(struct walk *w, u64 addr)
{
	struct python_walk *p;
	u64 size;

	if (!w)
		return -1;
	p = &w->python;
	if (read_user(&p->object[0], WORD, addr + SIZE_AT))
		return -1;
	size = p->object[0];
	if (size > MSG_MAX_TABLE || p->table_bytes + size > MAX_TABLE_BYTES)
		size = 0;
	p->table_bytes += size;
	p->head.table = size;
	add_word(p->hash, p->hash_factor, size);
	return read_bytes(w, addr + BYTES_AT, size, PYTHON_TABLE_AT, MSG_MAX_TABLE);
}

/*
 * The number of the function in the message, by its contents. 0: the walk or the recording has too
 * many functions, or the ring buffer needs its room for stacks. Without room in the ring buffer or
 * in the map, no number is used up.
 */
__noinline u32 get_python_number(struct walk *w)
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
	m = &w->python.head;
	size = w->python.head.table;
	if (size > MSG_MAX_TABLE || w->python.nr_sent >= MAX_NEW ||
	    c->python_functions >= MSG_MAX_PYTHON_FUNCTIONS ||
	    bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > c->ring_size / 2)
		return 0;
	number = __sync_fetch_and_add(&c->python_functions, 1) + MSG_PYTHON_FIRST;
	/* a program on another CPU took the last one, or the same contents */
	if (number < MSG_PYTHON_FIRST || number > MSG_MAX_PYTHON_FUNCTIONS ||
	    bpf_map_update_elem(&python_numbers, &key, &number, BPF_NOEXIST))
		return 0;
	w->python.nr_sent++;
	size = sizeof(*m) + MSG_MAX_NAME + MSG_MAX_FILE + ((size + WORD - 1) & -WORD);
	m->head.type = MSG_PYTHON;
	m->head.reserved = 0;
	m->head.size = size;
	m->number = number;
	if (bpf_ringbuf_output(&ring, m, size, wake_up(c))) {
		bpf_map_delete_elem(&python_numbers, &key);
		__sync_fetch_and_add(&c->lost, 1);
		return 0;
	}
	return number;
}

static __always_inline int add_entry(struct python_walk *p, u64 value)
{
	u32 nr = p->nr;

	if (nr >= MAX_PYTHON)
		return -1;
	add_word(p->chain, p->hash_factor, value);
	p->entry[nr & (MAX_PYTHON - 1)] = value;
	p->nr = nr + 1;
	return 0;
}

/* Read a code object, unless it is the one of the frame before. */
static __always_inline int read_code(struct walk *w, const struct python_layout *file, u64 code)
{
	struct python_walk *p = &w->python;
	u32 size = file->instructions;

	if (code == p->code_at)
		return 0;
	if (size > sizeof(p->code) || read_user(p->code, size, code) ||
	    p->code[TYPE_AT / WORD] != p->base + file->code_type)
		return -1;
	p->head.line = get_half(WORD_OF(p->code, file->first_line), file->first_line);
	p->hash[0] = p->hash_start[0];
	p->hash[1] = p->hash_start[1];
	if (read_name(w, WORD_OF(p->code, file->name)) ||
	    read_file_name(w, WORD_OF(p->code, file->file_name)) ||
	    read_line_table(w, WORD_OF(p->code, file->table)))
		return -1;
	p->code_hash[0] = p->hash[0];
	p->code_hash[1] = p->hash[1];
	p->code_at = code;
	return 0;
}

/* Read what the frame in p->frame executes, and add it to the span. */
static __always_inline int add_python_frame(struct walk *w, const struct python_layout *file)
{
	struct python_walk *p = &w->python;
	u64 code = WORD_OF(p->frame, file->frame_code) & ~(u64)file->code_tag, instr, start;
	u32 number;

	if (read_code(w, file, code))
		return -1;
	start = code + file->instructions;
	instr = WORD_OF(p->frame, file->frame_instr);
	if (get_byte(WORD_OF(p->frame, file->frame_owner), file->frame_owner) != PYTHON_GENERATOR &&
	    (s64)(instr - start) < (s32)get_half(WORD_OF(p->code, file->first_traceable),
						 file->first_traceable) * UNIT)
		return 0;
	if (instr - start >= p->code[SIZE_AT / WORD] * UNIT)
		return -1;
	p->head.instr = instr - start;
	p->hash[0] = p->code_hash[0];
	p->hash[1] = p->code_hash[1];
	add_word(p->hash, p->hash_factor, (u64)p->head.instr << 32 | p->head.line);
	number = get_python_number(w);
	if (!number) {
		p->failed = 1;
		/* once for frames that follow each other */
		if (p->entry[(p->nr - 1) & (MAX_PYTHON - 1)] == UNKNOWN_FRAME)
			return 0;
	}
	return add_entry(p, MSG_PYTHON_BASE + 2 * (u64)number + 1);
}

/* The marker of a span was reserved before the span: set it. Without frames, it is not needed. */
static __always_inline void end_span(struct python_walk *p, u64 marker)
{
	u32 at = p->reserved;

	add_word(p->chain, p->hash_factor, marker);
	if (p->nr == at + 1)
		p->nr = at;
	else
		p->entry[at & (MAX_PYTHON - 1)] = marker;
}

static __always_inline int start_span(struct python_walk *p)
{
	p->reserved = p->nr;
	return add_entry(p, 0);
}

enum {
	PYTHON_MORE,
	PYTHON_END,
	PYTHON_FAILED,
};

/* 3.11: the next marker, or the next frame of its span */
static __always_inline int read_span_311(struct walk *w, const struct python_layout *file)
{
	struct python_walk *p = &w->python;
	u64 top, previous;

	if (!p->next_frame) {
		if (read_user(p->frame, PYTHON_CFRAME_SIZE, p->marker))
			return PYTHON_FAILED;
		top = WORD_OF(p->frame, file->cframe_frame);
		previous = WORD_OF(p->frame, file->cframe_previous);
		/* the frame that called the last one of the span before */
		if (p->caller_known && top != p->caller)
			return PYTHON_FAILED;
		if (!previous)
			return top ? PYTHON_FAILED : PYTHON_END;
		p->next_frame = top;
		p->previous = previous;
		return top && !start_span(p) ? PYTHON_MORE : PYTHON_FAILED;
	}
	if (read_user(p->frame, PYTHON_FRAME_SIZE, p->next_frame) || add_python_frame(w, file))
		return PYTHON_FAILED;
	previous = WORD_OF(p->frame, file->frame_previous);
	if (get_byte(WORD_OF(p->frame, file->frame_entry), file->frame_entry)) {
		end_span(p, p->marker);
		p->caller = previous;
		p->caller_known = 1;
		p->marker = p->previous;
		previous = 0;
	} else if (!previous) {
		return PYTHON_FAILED;
	}
	p->next_frame = previous;
	return PYTHON_MORE;
}

/* 3.12 and later: the next frame of the chain */
static __always_inline int read_span_312(struct walk *w, const struct python_layout *file)
{
	struct python_walk *p = &w->python;
	u64 at = p->next_frame;
	u8 owner;

	if (!at)
		return p->nr == p->reserved + 1 ? end_span(p, 0), PYTHON_END : PYTHON_FAILED;
	if (read_user(p->frame, PYTHON_FRAME_SIZE, at))
		return PYTHON_FAILED;
	owner = get_byte(WORD_OF(p->frame, file->frame_owner), file->frame_owner);
	p->next_frame = WORD_OF(p->frame, file->frame_previous);
	if (owner <= PYTHON_LAST_OWNER)
		return add_python_frame(w, file) ? PYTHON_FAILED : PYTHON_MORE;
	end_span(p, at);
	return start_span(p) ? PYTHON_FAILED : PYTHON_MORE;
}

__noinline int read_span(struct walk *w)
{
	struct python_layout *file;
	u32 number;

	if (!w)
		return PYTHON_FAILED;
	number = w->python.file;
	file = bpf_map_lookup_elem(&pythons, &number);
	if (!file)
		return PYTHON_FAILED;
	return file->cframe_previous ? read_span_311(w, file) : read_span_312(w, file);
}

struct thread_loop {
	struct walk *w;
	u32 complete;			/* the whole list was read */
};

/*
 * Is the thread at p->thread_at this task, and which thread is next in the list? Other threads may
 * change the list meanwhile. A thread that was freed does not lead back to the thread before it.
 */
static long compare_thread(u32 i, struct thread_loop *l)
{
	struct python_walk *p = &l->w->python;
	u32 number = p->file;
	struct python_layout *file = bpf_map_lookup_elem(&pythons, &number);
	u64 at = p->thread_at, top;

	if (!file)
		return 1;
	l->complete = !at;
	if (!at || read_user(p->code, sizeof(p->code), at) ||
	    WORD_OF(p->code, file->next_thread - WORD) != p->thread_before)
		return 1;
	p->thread_before = at;
	p->thread_at = WORD_OF(p->code, file->next_thread);
	if (WORD_OF(p->code, file->thread_id) != p->thread_id)
		return 0;
	top = WORD_OF(p->code, file->thread_top);
	if (file->has_cframes) {
		if (read_user(&p->object[0], WORD, top + file->cframe_frame))
			return 1;
		top = p->object[0];
	}
	/* 3.11: one that has not started has the number of the thread that made it */
	if (!top)
		return 0;
	if (p->thread)
		return 1;
	p->thread = at;
	p->innermost = top;
	return 0;
}

/* Find the struct PyThreadState of this task. Not 0: it may have several, or cannot be read */
static __always_inline int find_thread(struct walk *w, const struct python_layout *file)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_loop loop = { .w = w };
	struct python_walk *p = &w->python;

	p->thread = 0;
	p->thread_before = 0;
	p->thread_id = get_thread_pointer(task);
	if (read_user(&p->object[0], WORD, p->base + file->runtime + file->interpreters))
		return -1;
	/* no interpreter has started */
	if (!p->object[0])
		return 0;
	/* each interpreter has its own threads */
	if (read_user(&p->object[1], WORD, p->object[0] + file->next_interpreter) ||
	    p->object[1] ||
	    read_user(&p->thread_at, WORD, p->object[0] + file->threads))
		return -1;
	bpf_loop(MAX_THREADS + 1, compare_thread, &loop, 0);
	return !loop.complete;
}

/* All spans of the task. Not 0: they are not known */
__noinline int read_spans(struct walk *w)
{
	struct control *c = bpf_map_lookup_elem(&control, (void *)&zero);
	struct python_walk *p;
	struct python_layout *file;
	u32 number, i;
	int ret = PYTHON_MORE;

	if (!w || !c)
		return -1;
	p = &w->python;
	number = p->file;
	p->nr = 0;
	p->next_entry = 0;
	p->next_frame = 0;
	p->caller_known = 0;
	p->nr_sent = 0;
	p->table_bytes = 0;
	p->code_at = 0;
	p->tail_calls = 0;
	for (i = 0; i < 2; i++) {
		p->hash_start[i] = c->hash_start[i];
		p->hash_factor[i] = c->hash_factor[i];
		p->chain[i] = c->hash_start[i];
	}
	file = bpf_map_lookup_elem(&pythons, &number);
	if (!file || find_thread(w, file))
		return -1;
	p->tail_calls = file->code_tag != 0;
	if (!p->thread)
		return 0;
	if (file->cframe_previous) {
		if (read_user(&p->marker, WORD, p->thread + file->thread_top))
			return -1;
	} else {
		p->next_frame = p->innermost;
		if (start_span(p))
			return -1;
	}
	for (i = 0; i < 2 * MAX_PYTHON && ret == PYTHON_MORE; i++)
		ret = read_span(w);
	return ret == PYTHON_END ? 0 : -1;
}

static __always_inline void forget_python(struct walk *w)
{
	w->python.file = 0;
	w->python.read_file = 0;
	w->python.failed = 0;
	w->python.nr = 0;
	w->python.next_entry = 0;
	w->python.interrupted = 0;
}

static __always_inline void add_python(struct walk *w, u64 frame)
{
	u32 nr = w->nr;

	if (nr >= MSG_MAX_FRAMES) {
		w->flags |= UNWIND_STACK_TRUNCATED;
		w->reason = MSG_TOO_DEEP;
		w->python.failed = 1;
		return;
	}
	w->frame[nr & (MSG_MAX_FRAMES - 1)] = frame;
	w->nr = nr + 1;
	add_hash(w, frame);
}

/* From this frame outwards, the frames of Python are not known. */
static __always_inline void fail_python(struct walk *w)
{
	w->python.nr = 0;
	w->python.next_entry = 0;
	w->python.failed = 1;
	add_python(w, UNKNOWN_FRAME);
}

/* Read all spans of a file, unless same.bpf.h did at this event. Not 0: they are not known */
static __always_inline int get_spans(struct walk *w, u32 file, u64 base)
{
	struct python_walk *p = &w->python;

	p->file = file;
	if (p->read_file != file || p->base != base) {
		p->base = base;
		p->spans_unknown = read_spans(w);
		p->read_file = file;
	}
	return p->spans_unknown;
}

/* The walk comes to a file with Python for the first time, at mapping @i. */
static __always_inline void start_python(struct walk *w, u32 i)
{
	struct mapping *m = &w->map[i & (NR_MAPPINGS - 1)];

	if (get_spans(w, m->part.python, m->start - m->pgoff))
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
	u32 next = p->next_entry;
	u64 frame = p->entry[next & (MAX_PYTHON - 1)];

	/* the next marker */
	if (next >= p->nr || frame < MSG_PYTHON_BASE)
		return 1;
	p->next_entry = next + 1;
	if (l->certain)
		add_python(l->w, frame);
	return 0;
}

/*
 * The walk has left a C frame, which started at @sp. If a marker is in this frame, add the marker's
 * span. @exact: the frame was interrupted
 */
__noinline int add_span(struct walk *w, u64 sp, u32 exact)
{
	struct copy_loop loop = { .w = w, .certain = !exact };
	u32 next;
	u64 marker;

	if (!w)
		return 0;
	next = w->python.next_entry;
	if (next >= w->python.nr)
		return 0;
	marker = w->python.entry[next & (MAX_PYTHON - 1)];
	if (marker >= w->sp)
		return 0;
	if (marker < sp) {
		fail_python(w);
		return 0;
	}
	w->python.next_entry = next + 1;
	if (exact)
		add_python(w, UNKNOWN_FRAME);
	bpf_loop(MAX_PYTHON, copy_frame, &loop, 0);
	return 0;
}

/* The walk has left a C frame in mapping @map. @sp, @exact: as in add_span() */
static __always_inline void leave_frame(struct walk *w, s64 map, u64 sp, u32 exact)
{
	struct mapping *m = &w->map[map & (NR_MAPPINGS - 1)];
	u32 before = w->python.interrupted;

	w->python.interrupted = exact && w->python.tail_calls && map >= 0 &&
				m->kind == MAP_FILE && m->part.python == w->python.file;
	add_span(w, sp, exact | before);
}

/* The walk has ended. If it is complete, it has met all markers that are on this stack. */
static __always_inline void end_python(struct walk *w)
{
	if (w->python.file && w->reason == MSG_OK && w->python.next_entry < w->python.nr)
		fail_python(w);
}

#endif
