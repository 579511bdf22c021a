// SPDX-License-Identifier: GPL-2.0
/*
 * perfetto.c - write a trace for ui.perfetto.dev and its trace processor
 *
 * The file is a sequence of perfetto.protos.TracePacket, protos/perfetto/trace/trace_packet.proto
 * of github.com/google/perfetto. It holds process names and each event as a PerfSample with its
 * call stack, interned. sched_switch, sched_waking and sched_wakeup are also written as themselves;
 * the UI makes the tracks of CPUs and the states of threads from them. A stack is written with the
 * first packet that refers to it, so memory does not grow with the events.
 */
#include <errno.h>

#include "export.h"
#include "proto.h"
#include "trace-cmd-ext/stacks/stacks.h"

#define SEQUENCE	1		/* samples and interned data */
#define CPU_SEQUENCE	2		/* + CPU: the ftrace events of that CPU */
#define PERFETTO_BOOTTIME	6		/* BuiltinClock */
#define FLUSH		(1 << 18)

enum { TRACE_PACKET = 1 };
enum { PACKET_FTRACE_EVENTS = 1, PACKET_PROCESS_TREE = 2, PACKET_TIMESTAMP = 8,
       PACKET_SEQUENCE_ID = 10, PACKET_INTERNED_DATA = 12, PACKET_SEQUENCE_FLAGS = 13,
       PACKET_CLOCK_ID = 58, PACKET_PERF_SAMPLE = 66 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TREE_PROCESSES = 1, TREE_THREADS };
enum { PROCESS_PID = 1, PROCESS_PPID, PROCESS_CMDLINE };
enum { THREAD_TID = 1, THREAD_NAME, THREAD_TGID };
enum { INTERNED_FUNCTION_NAMES = 5, INTERNED_FRAMES, INTERNED_CALLSTACKS,
       INTERNED_BUILD_IDS = 16, INTERNED_MAPPING_PATHS, INTERNED_SOURCE_PATHS,
       INTERNED_MAPPINGS };
enum { STRING_IID = 1, STRING_STR };
enum { MAPPING_IID = 1, MAPPING_BUILD_ID, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_REL_PC, FRAME_SOURCE_PATH,
       FRAME_LINE };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAMES };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_CALLSTACK, SAMPLE_CPU_MODE };
enum { BUNDLE_CPU = 1, BUNDLE_EVENT };
enum { EVENT_TIMESTAMP = 1, EVENT_PID, EVENT_SCHED_SWITCH = 4, EVENT_SCHED_WAKEUP = 17,
       EVENT_SCHED_WAKING = 20 };

/* sched_switch, sched_waking, sched_wakeup: their fields, numbered as in Perfetto's messages. */
struct sched {
	const char *name;
	uint32_t message;		/* in FtraceEvent */
	struct {
		const char *name;	/* NULL: not a field here */
		bool is_string;
		struct decode_field f;
	} fields[8];
	uint32_t type;
};

struct pair {
	uint32_t kstack, ustack;
};

struct perfetto {
	struct export *e;
	struct text out, packet, data, msg, sub;
	VEC(struct pair) stacks;
	struct hidx stack_idx;
	VEC(uint32_t) frame_known;	/* by frame: not 0 if written */
	VEC(uint32_t) note_known;
	VEC(uint32_t) inlined_known;
	VEC(uint32_t) file_known;	/* by maps_file.id */
	VEC(uint32_t) cpu_known;
	VEC(uint32_t) source_known;	/* by string of sources */
	struct strtab sources;
	VEC(uint32_t) tids;
	struct hidx tid_idx;
	bool kernel_known, failed;
	bool started;			/* SEQUENCE has a packet */
	struct sched sched[3];
};

/* Mark element @i as written. Returns whether it was already. */
#define mark_written(p, vec, i)							\
({										\
	while ((vec)->nr <= (size_t)(i) && vec_add(vec))			\
		;								\
	(p)->failed |= (vec)->nr <= (size_t)(i);				\
	(vec)->nr > (size_t)(i) ? (vec)->v[i]++ : 1;				\
	})

static void end_packet(struct perfetto *p)
{
	proto_message(&p->out, TRACE_PACKET, &p->packet);
	if (p->out.nr >= FLUSH) {
		fwrite(p->out.v, 1, p->out.nr, p->e->out);
		p->out.nr = 0;
	}
}

/* ---- interned data ---- */

static void intern_string(struct perfetto *p, uint32_t field, uint64_t iid, const char *s,
			  size_t len)
{
	struct text m = { 0 };

	proto_number(&m, STRING_IID, iid);
	proto_bytes(&m, STRING_STR, s, len);
	proto_message(&p->data, field, &m);
	vec_free(&m);
}

/* Mapping 1 is the kernel, the others are files. A name has the number of its mapping or frame. */
static uint64_t intern_mapping(struct perfetto *p, const struct model_frame *f)
{
	uint64_t iid = f->kernel ? 1 : f->file ? f->file->id + 2 : 0;
	const char *path = f->kernel ? "/kernel" : f->file ? f->file->path : "";

	if (!iid || (f->kernel ? p->kernel_known : mark_written(p, &p->file_known, f->file->id)))
		return iid;
	p->kernel_known |= f->kernel;
	intern_string(p, INTERNED_MAPPING_PATHS, iid, path, strlen(path));
	if (f->file && f->file->build_id_size)
		intern_string(p, INTERNED_BUILD_IDS, iid, (const char *)f->file->build_id,
			      f->file->build_id_size);
	proto_number(&p->msg, MAPPING_IID, iid);
	if (f->file && f->file->build_id_size)
		proto_number(&p->msg, MAPPING_BUILD_ID, iid);
	proto_number(&p->msg, MAPPING_PATH, iid);
	proto_message(&p->data, INTERNED_MAPPINGS, &p->msg);
	return iid;
}

static uint64_t intern_source(struct perfetto *p, const char *source)
{
	uint32_t nr = strtab_add(&p->sources, source, strlen(source));

	if (nr == UINT32_MAX) {
		p->failed = true;
		return 0;
	}
	if (!mark_written(p, &p->source_known, nr))
		intern_string(p, INTERNED_SOURCE_PATHS, nr + 1, source, strlen(source));
	return nr + 1;
}

/*
 * Set *@iid to the number of an entry; true if it is already written. Numbers of frames come from
 * the model: notes are odd, frames even, and inlined functions have larger numbers than both.
 */
static bool mark_entry_written(struct perfetto *p, uint32_t entry, uint64_t *iid)
{
	uint32_t nr = entry & ~(EXPORT_NOTE | EXPORT_INLINED);

	if (entry & EXPORT_NOTE) {
		*iid = (uint64_t)nr * 2 + 3;
		return mark_written(p, &p->note_known, nr);
	}
	if (entry & EXPORT_INLINED) {
		*iid = UINT32_MAX + (uint64_t)nr;
		return mark_written(p, &p->inlined_known, nr);
	}
	*iid = (uint64_t)nr * 2 + 2;
	return mark_written(p, &p->frame_known, nr);
}

/*
 * An inlined function is a frame of its own, at the address of the frame with its code: readers of
 * the format distinguish frames by address and name.
 */
static uint64_t intern_frame(struct perfetto *p, uint32_t entry)
{
	uint64_t iid, mapping = 0, source;
	struct export_entry ent;

	if (mark_entry_written(p, entry, &iid))
		return iid;
	export_get_entry(p->e, entry, &ent);
	if (ent.depth && !ent.name)
		ent.name = "[unknown]";
	source = ent.source ? intern_source(p, ent.source) : 0;
	if (ent.frame)
		mapping = intern_mapping(p, ent.frame);
	if (ent.name)
		intern_string(p, INTERNED_FUNCTION_NAMES, iid, ent.name, strlen(ent.name));
	proto_number(&p->msg, FRAME_IID, iid);
	if (ent.name)
		proto_number(&p->msg, FRAME_FUNCTION, iid);
	if (mapping) {
		proto_number(&p->msg, FRAME_MAPPING, mapping);
		proto_number(&p->msg, FRAME_REL_PC,
			     ent.frame->file ? ent.frame->offset : ent.frame->addr);
	}
	if (source)
		proto_number(&p->msg, FRAME_SOURCE_PATH, source);
	if (ent.line)
		proto_number(&p->msg, FRAME_LINE, ent.line);
	proto_message(&p->data, INTERNED_FRAMES, &p->msg);
	return iid;
}

/* Set *@iid to the number of a call stack, 0 for no stack. New parts of it go to p->data. */
static int intern_stack(struct perfetto *p, uint32_t kstack, uint32_t ustack, uint64_t *iid)
{
	uint64_t hash = hash64((uint64_t)kstack << 32 | ustack), *ids;
	struct pair *pair;
	const uint32_t *v;
	uint32_t i, nr;
	size_t pos;

	for_each_hidx(&p->stack_idx, hash, pos, i) {
		if (p->stacks.v[i].kstack == kstack && p->stacks.v[i].ustack == ustack) {
			*iid = i + 1;
			return 0;
		}
	}
	v = export_get_stack(p->e, kstack, ustack, &nr);
	if (!v)
		return -ENOMEM;
	*iid = 0;
	if (!nr)
		return 0;
	pair = vec_add(&p->stacks);
	ids = calloc(nr, sizeof(*ids));
	if (!pair || !ids || hidx_add(&p->stack_idx, hash, p->stacks.nr - 1)) {
		free(ids);
		return -ENOMEM;
	}
	pair->kstack = kstack;
	pair->ustack = ustack;
	for (i = 0; i < nr; i++)	/* outermost first */
		ids[nr - 1 - i] = intern_frame(p, v[i]);
	*iid = p->stacks.nr;
	proto_number(&p->sub, CALLSTACK_IID, *iid);
	for (i = 0; i < nr; i++)
		proto_number(&p->sub, CALLSTACK_FRAMES, ids[i]);
	proto_message(&p->data, INTERNED_CALLSTACKS, &p->sub);
	free(ids);
	return 0;
}

/* ---- packets ---- */

/* Write the names of a thread and its process, before the first packet that needs them. */
static void name_thread(struct perfetto *p, uint32_t tid)
{
	uint32_t i, *t, pid;
	size_t pos;

	for_each_hidx(&p->tid_idx, hash64(tid), pos, i)
		if (p->tids.v[i] == tid)
			return;
	t = vec_add_hashed(&p->tids, &p->tid_idx, hash64(tid));
	if (!t) {
		p->failed = true;
		return;
	}
	*t = tid;
	if (!tid)
		return;
	pid = export_get_pid(p->e, tid);
	if (pid == tid) {
		proto_number(&p->sub, PROCESS_PID, pid);
		proto_number(&p->sub, PROCESS_PPID, 0);
		proto_string(&p->sub, PROCESS_CMDLINE, model_get_comm(p->e->m, pid));
		proto_message(&p->msg, TREE_PROCESSES, &p->sub);
	}
	proto_number(&p->sub, THREAD_TID, tid);
	proto_string(&p->sub, THREAD_NAME, model_get_comm(p->e->m, tid));
	proto_number(&p->sub, THREAD_TGID, pid);
	proto_message(&p->msg, TREE_THREADS, &p->sub);
	proto_message(&p->packet, PACKET_PROCESS_TREE, &p->msg);
	end_packet(p);
	if (pid != tid)
		name_thread(p, pid);
}

static int put_sample(struct perfetto *p, const struct model_event *ev)
{
	uint64_t iid;
	int ret = intern_stack(p, ev->kstack, ev->ustack, &iid);

	if (ret || !iid)
		return ret;
	proto_number(&p->packet, PACKET_TIMESTAMP, ev->ts);
	proto_number(&p->packet, PACKET_CLOCK_ID, PERFETTO_BOOTTIME);
	proto_number(&p->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	proto_number(&p->packet, PACKET_SEQUENCE_FLAGS,
		     FLAG_NEEDS_STATE | (p->started ? 0 : FLAG_CLEARED));
	p->started = true;
	if (p->data.nr)
		proto_message(&p->packet, PACKET_INTERNED_DATA, &p->data);
	proto_number(&p->msg, SAMPLE_CPU, ev->cpu);
	proto_number(&p->msg, SAMPLE_PID, export_get_pid(p->e, ev->tid));
	proto_number(&p->msg, SAMPLE_TID, ev->tid);
	proto_number(&p->msg, SAMPLE_CALLSTACK, iid);
	proto_number(&p->msg, SAMPLE_CPU_MODE, ev->kstack != MODEL_NONE ? 1 : 2);
	proto_message(&p->packet, PACKET_PERF_SAMPLE, &p->msg);
	end_packet(p);
	return 0;
}

static void put_sched(struct perfetto *p, struct sched *s, const struct model_event *ev)
{
	const char *str;
	uint64_t n;
	uint32_t len, i;
	char comm[64];

	for (i = 1; i < 8; i++) {
		if (!s->fields[i].f.present)
			continue;
		if (!s->fields[i].is_string) {
			if (model_read_number(p->e->m, ev, &s->fields[i].f, &n))
				proto_number(&p->sub, i, n);
		} else if (model_read_string(p->e->m, ev, &s->fields[i].f, &str, &len)) {
			snprintf(comm, sizeof(comm), "%.*s", (int)len, str);
			proto_string(&p->sub, i, comm);
		}
	}
	proto_number(&p->msg, EVENT_TIMESTAMP, ev->ts);
	proto_number(&p->msg, EVENT_PID, ev->tid);
	proto_message(&p->msg, s->message, &p->sub);
	proto_number(&p->data, BUNDLE_CPU, ev->cpu);
	proto_message(&p->data, BUNDLE_EVENT, &p->msg);
	proto_number(&p->packet, PACKET_SEQUENCE_ID, CPU_SEQUENCE + ev->cpu);
	if (!mark_written(p, &p->cpu_known, ev->cpu))
		proto_number(&p->packet, PACKET_SEQUENCE_FLAGS, FLAG_CLEARED);
	proto_message(&p->packet, PACKET_FTRACE_EVENTS, &p->data);
	end_packet(p);
}

static int put_event(void *data, const struct model_event *ev)
{
	struct perfetto *p = data;
	uint32_t i;
	int ret;

	name_thread(p, ev->tid);
	ret = put_sample(p, ev);
	for (i = 0; i < 3 && !ret; i++)
		/* the buffers recorded the same switches */
		if (p->sched[i].type == ev->type && !ev->buffer)
			put_sched(p, &p->sched[i], ev);
	if (p->failed || p->out.failed)
		return -ENOMEM;
	return ret ? ret : ferror(p->e->out) ? -EIO : 0;
}

static void find_fields(struct perfetto *p)
{
	static const struct sched table[3] = {
		{ "sched_switch", EVENT_SCHED_SWITCH, { [1] = { "prev_comm", true, {} },
		  [2] = { "prev_pid", false, {} }, [3] = { "prev_prio", false, {} },
		  [4] = { "prev_state", false, {} }, [5] = { "next_comm", true, {} },
		  [6] = { "next_pid", false, {} }, [7] = { "next_prio", false, {} } }, 0 },
		{ "sched_waking", EVENT_SCHED_WAKING, { [1] = { "comm", true, {} },
		  [2] = { "pid", false, {} }, [3] = { "prio", false, {} },
		  [4] = { "success", false, {} }, [5] = { "target_cpu", false, {} } }, 0 },
		{ "sched_wakeup", EVENT_SCHED_WAKEUP, { [1] = { "comm", true, {} },
		  [2] = { "pid", false, {} }, [3] = { "prio", false, {} },
		  [4] = { "success", false, {} }, [5] = { "target_cpu", false, {} } }, 0 },
	};
	int i, k;

	for (i = 0; i < 3; i++) {
		p->sched[i] = table[i];
		p->sched[i].type = model_find_type(p->e->m, "sched", table[i].name);
		for (k = 1; k < 8 && p->sched[i].type != MODEL_NONE; k++)
			if (table[i].fields[k].name)
				model_find_field(p->e->m, p->sched[i].type, table[i].fields[k].name,
						 &p->sched[i].fields[k].f);
	}
}

int export_perfetto(struct export *e)
{
	struct perfetto p = { .e = e };
	int ret;

	find_fields(&p);
	ret = model_for_each(e->m, MODEL_BY_TIME, put_event, &p);
	if (p.out.nr)
		fwrite(p.out.v, 1, p.out.nr, e->out);
	vec_free(&p.out);
	vec_free(&p.packet);
	vec_free(&p.data);
	vec_free(&p.msg);
	vec_free(&p.sub);
	vec_free(&p.stacks);
	hidx_free(&p.stack_idx);
	vec_free(&p.frame_known);
	vec_free(&p.note_known);
	vec_free(&p.inlined_known);
	vec_free(&p.source_known);
	strtab_free(&p.sources);
	vec_free(&p.file_known);
	vec_free(&p.cpu_known);
	vec_free(&p.tids);
	hidx_free(&p.tid_idx);
	return ret;
}
