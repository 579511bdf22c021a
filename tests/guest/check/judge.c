// SPDX-License-Identifier: GPL-2.0
/*
 * Compare each event's user stack with the call path that its task recorded.
 *
 * Three facts are known about a task at any moment: the record's entry of its last system call
 * (found by the sequence number in the arguments), whether it has left this call, and the cookie of
 * the call. The right stack of an event follows from these facts:
 *
 *   in a system call, or after its exit event under the same cookie: that entry
 *   a new task, before its first system call: the entry that spawned it
 *   a new program, before its first system call: its entry point alone
 *   under the cookie of the next system call, as in a ptrace stop before its
 *   event: the entry of that call
 *   otherwise the task was interrupted in user space, where no entry has the
 *   path; only the outermost frame is known
 *
 * With judge.at_event, stacks were walked at the event. After rt_sigreturn() has set the registers
 * they are those of the interrupted program, which no entry has either.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "event.h"

struct state {
	const struct cp_record	*entry;		/* of the last system call */
	const struct cp_record	*spawn;		/* of the parent's call that made this task */
	uint64_t		cookie;		/* at the last system call's entry */
	char			ours;		/* a task under test */
	char			inside;		/* in a system call */
	char			fresh;		/* a new program has not made a call yet */
	unsigned int		last_enter;	/* index of the task's last EV_ENTER */
	/* The thread whose execve() is about to take this task's number; 0: no thread */
	unsigned int		exec_from;
	/*
	 * This thread's execve() takes the number of task exec_to, and that task, which is about
	 * to end, gets this number and has one more task switch under it. Its last system call
	 * is @leader from the event on that says so.
	 */
	unsigned int		exec_to;
	const struct cp_record	*leader;
};

static struct state *states;
static unsigned int *next_enter;	/* for each event, its task's next EV_ENTER, or 0 */
static const struct trace *trace;
static unsigned int max_tid;
static const struct judge *judge;

/* Does the event have the stack of this entry? If not, @why says the difference. */
static int is_same(const struct cp_record *rec, const struct event *ev, char why[WHY_SIZE])
{
	unsigned int flags = ev->flags;

	if (flags == FLAGS_UNKNOWN) {
		flags = rec->flags & CP_COMPAT ? STACK_COMPAT : 0;
		if (ev->nr_addr >= STACK_LIMIT && ev->nr_addr < rec->depth + 1)
			flags |= STACK_TRUNCATED;
	}
	if (ev->tgid && rec->tgid && ev->tgid != rec->tgid && !(rec->flags & CP_SPAWN)) {
		snprintf(why, WHY_SIZE, "tgid %u, not %u", ev->tgid, rec->tgid);
		return 0;
	}
	return truth_same(rec, ev->addr, ev->nr_addr, flags, judge->tables, why);
}

static int is_entry_point(const struct event *ev)
{
	unsigned int i;

	for (i = 0; ev->nr_addr == 1 && i < judge->nr_programs; i++) {
		if (ev->addr[0] == judge->programs[i].entry)
			return 1;
	}
	return 0;
}

/* Interrupted in user space: the outermost frame must still be the task's first frame */
static int has_own_end(const struct state *st, const struct event *ev)
{
	const struct cp_record *rec = st->entry;

	if (!ev->nr_addr)
		return 0;
	if (!rec || !rec->depth || st->fresh)
		return 1;
	/* This program does not read the text that says so */
	if (ev->flags == FLAGS_UNKNOWN ? ev->nr_addr >= STACK_LIMIT : ev->flags & STACK_TRUNCATED)
		return 1;
	return ev->addr[ev->nr_addr - 1] == rec->frame[rec->depth - 1] || is_entry_point(ev);
}

static void print_wrong(const struct event *ev, const struct cp_record *rec, const char *why)
{
	unsigned int i;

	printf("wrong: %" PRIu64 ".%09" PRIu64 " [%03d] tid %u %s cookie %" PRIx64 ": %s\n",
	       ev->ts / 1000000000, ev->ts % 1000000000, ev->cpu, ev->tid, ev->name, ev->cookie,
	       why);
	for (i = 0; i < ev->nr_addr; i++)
		printf("    %" PRIx64 "\n", ev->addr[i]);
	if (rec)
		truth_print(rec);
}

static void count_right(const struct event *ev, struct verdict *v)
{
	v->right++;
	v->frames += ev->nr_addr;
	v->truncated += ev->flags != FLAGS_UNKNOWN && ev->flags & STACK_TRUNCATED;
	v->elsewhere += ev->stack_cpu >= 0 && ev->stack_cpu != ev->cpu;
	v->named += judge->name && !strcmp(judge->name, ev->name);
}

/*
 * The event at the start of the system call is lost: is the stack that of any call that the task
 * made in the gap, from the last known call to the next known call?
 */
static int fits_gap(const struct state *st, const struct event *ev)
{
	unsigned int next = next_enter[ev - trace->event];
	unsigned int to = next ? trace->event[next].seq : 0xffffffff;
	const struct cp_record *const *rec;
	char why[WHY_SIZE];

	rec = truth_from(judge->truth, ev->tid, st->entry ? st->entry->seq : CP_FIRST_SEQ);
	for (; rec && *rec && (*rec)->tid == ev->tid && (*rec)->seq <= to; rec++) {
		if (is_same(*rec, ev, why))
			return 1;
	}
	return 0;
}

/* Is it the stack of the task whose number the execve() of this thread takes? */
static int is_leader(const struct state *st, const struct event *ev)
{
	const struct cp_record *rec = st->leader;
	char why[WHY_SIZE];

	if (!st->exec_to || !st->entry || !(st->entry->flags & CP_EXEC))
		return 0;
	if (!rec)
		rec = states[st->exec_to].entry;
	return rec && is_same(rec, ev, why);
}

static int is_sigreturn(const struct cp_record *rec)
{
	return rec->flags & CP_COMPAT ? rec->nr == 119 || rec->nr == 173 :
					rec->nr == __NR_rt_sigreturn;
}

/* Counts a stack that was walked at the event and may lack frames; false for another stack */
static int count_incomplete(const struct state *st, const struct event *ev,
			    const struct cp_record *rec, struct verdict *v)
{
	if (!judge->at_event || !(ev->flags & STACK_INCOMPLETE) ||
	    (ev->nr_addr && rec && !is_sigreturn(rec) && st->inside &&
	     !truth_starts(rec, ev->addr, ev->nr_addr, judge->tables)))
		return 0;
	/* at the end of a task there is no memory left to walk */
	if (!ev->nr_addr && ev - trace->event > st->last_enter)
		v->exiting++;
	else
		v->partial++;
	return 1;
}

static void count_gap(const struct state *st, const struct event *ev, struct verdict *v)
{
	if (judge->lossy && fits_gap(st, ev))
		v->placed++;
	else
		v->unplaced++;
}

/* Counts a stack from between two calls; false if it is wrong */
static int count_between(const struct state *st, const struct event *ev,
			 const struct cp_record *rec, struct verdict *v, char why[WHY_SIZE])
{
	/* The text shows no cookie: the last call fits as well */
	if (!ev->cookie && is_same(rec, ev, why))
		count_right(ev, v);
	else if (judge->lossy && fits_gap(st, ev))
		v->placed++;
	else if (has_own_end(st, ev))
		v->between++;
	else if (judge->lossy)
		v->unplaced++;
	else
		return 0;
	return 1;
}

static void judge_stack(struct state *st, const struct event *ev, struct verdict *v)
{
	const struct cp_record *rec = st->entry ? st->entry : st->spawn;
	struct state *old = st->exec_from ? &states[st->exec_from] : NULL;
	int other_cookie = !ev->cookie || ev->cookie != st->cookie;
	const struct event *next;
	char why[WHY_SIZE];

	if (count_incomplete(st, ev, rec, v))
		return;
	if ((st->fresh && is_entry_point(ev)) ||
	    (old && old->entry && old->entry->flags & CP_EXEC && is_same(old->entry, ev, why)) ||
	    is_leader(st, ev)) {
		count_right(ev, v);
		return;
	}
	snprintf(why, WHY_SIZE, "outermost frame is not the task's");
	next = ev->cookie && next_enter[ev - trace->event] ?
	       &trace->event[next_enter[ev - trace->event]] : NULL;
	if (!st->inside && next && next->cookie == ev->cookie) {
		rec = truth_find(judge->truth, next->tid, next->seq, next->nr);
		if (!rec || !is_same(rec, ev, why))
			goto wrong;
		count_right(ev, v);
	} else if (st->entry && !st->inside && other_cookie) {
		/* Between two calls, unless the cookie is still that of the last call */
		if (!count_between(st, ev, rec, v, why))
			goto wrong;
	} else if (!rec) {
		count_gap(st, ev, v);
	} else if (is_same(rec, ev, why)) {
		count_right(ev, v);
	} else if (judge->at_event && is_sigreturn(rec) && ev->kind != EV_ENTER &&
		   has_own_end(st, ev)) {
		v->between++;
	} else if (!st->entry && !st->inside && has_own_end(st, ev)) {
		/* A new task is interrupted on its way to its first call */
		v->between++;
	} else if (judge->lossy && ev->kind != EV_ENTER && other_cookie) {
		/* The system call this event belongs to may have fallen into a gap */
		count_gap(st, ev, v);
	} else {
		goto wrong;
	}
	return;
wrong:
	/* callpath ends the chain of frame pointers where it spawns a task; tables lead further */
	if ((judge->at_event || judge->tables) && rec && rec->flags & CP_SPAWN && !rec->depth &&
	    ev->nr_addr && truth_starts(rec, ev->addr, 1, judge->tables)) {
		v->between++;
		return;
	}
	v->wrong++;
	if (v->wrong <= judge->show)
		print_wrong(ev, rec, why);
}

static void judge_event(const struct event *ev, unsigned int index, struct verdict *v)
{
	struct state *st = &states[ev->tid];

	switch (ev->status) {
	case JOIN_NO_COOKIE:
		if (ev->cookie) {
			v->unexplained++;
			if (v->unexplained <= judge->show)
				print_wrong(ev, NULL, "a cookie, but neither a stack nor a reason");
			return;
		}
		if (ev->kind != EV_ENTER && (index > st->last_enter || st->exec_from)) {
			v->exiting++;
			return;
		}
		v->no_cookie++;
		if (v->no_cookie <= judge->show && !judge->lossy)
			print_wrong(ev, NULL, "no cookie");
		return;
	case JOIN_PENDING:
		v->pending++;
		break;
	case JOIN_LOST:
		v->lost++;
		break;
	case JOIN_NOT_RECORDED:
		v->not_recorded++;
		if (v->not_recorded <= judge->show)
			print_wrong(ev, st->entry, "not recorded");
		break;
	case JOIN_STACK:
		judge_stack(st, ev, v);
	}
	v->events++;
}

/* Follows the event's task; true if @ev is to be judged */
static int follow_task(const struct event *ev, struct verdict *v)
{
	struct state *st = &states[ev->tid], *other;
	const struct cp_record *rec;

	switch (ev->kind) {
	case EV_ENTER:
		rec = truth_find(judge->truth, ev->tid, ev->seq, ev->nr);
		if (!rec && !st->ours)
			return 0;
		st->ours = 1;
		st->inside = 1;
		st->fresh = 0;
		st->entry = rec;
		st->cookie = ev->cookie;
		if (!rec)
			v->unknown++;
		return !!rec;
	case EV_FORK:
		if (ev->other <= max_tid && st->ours && st->entry) {
			other = &states[ev->other];
			memset(other, 0, offsetof(struct state, last_enter));
			other->ours = 1;
			other->spawn = st->entry;
		}
		break;
	case EV_EXEC:
		if (ev->other != ev->tid && ev->other <= max_tid)
			states[ev->other].leader = st->entry;
		st->fresh = st->ours;
		break;
	default:
		break;
	}
	return st->ours;
}

/* Finds out what judging the events of a task needs */
static void look_ahead(void)
{
	unsigned int *next = calloc(max_tid + 1, sizeof(*next));
	const struct event *ev;
	unsigned int i;

	states = calloc(max_tid + 1, sizeof(*states));
	next_enter = calloc(trace->nr + 1, sizeof(*next_enter));
	if (!next || !states || !next_enter) {
		fprintf(stderr, "no memory for %u tasks and %u events\n", max_tid, trace->nr);
		exit(2);
	}
	for (i = trace->nr; i-- > 0; ) {
		ev = &trace->event[i];
		next_enter[i] = next[ev->tid];
		if (ev->kind == EV_ENTER) {
			next[ev->tid] = i;
			if (!states[ev->tid].last_enter)
				states[ev->tid].last_enter = i;
		}
		if (ev->kind == EV_EXEC && ev->other != ev->tid && ev->other <= max_tid) {
			states[ev->tid].exec_from = ev->other;
			states[ev->other].exec_to = ev->tid;
		}
	}
	free(next);
}

void judge_all(const struct judge *j, const struct trace *tr, struct verdict *v)
{
	const struct event *ev;
	unsigned int i;

	judge = j;
	trace = tr;
	memset(v, 0, sizeof(*v));
	for (i = 0; i < trace->nr; i++) {
		ev = &trace->event[i];
		max_tid = ev->tid > max_tid ? ev->tid : max_tid;
		if (ev->kind == EV_FORK && ev->other > max_tid)
			max_tid = ev->other;
	}
	look_ahead();
	for (i = 0; i < trace->nr; i++) {
		ev = &trace->event[i];
		if (!follow_task(ev, v))
			continue;
		judge_event(ev, i, v);
		if (ev->kind == EV_EXIT)
			states[ev->tid].inside = 0;
	}
	free(states);
	free(next_enter);
}
