// SPDX-License-Identifier: GPL-2.0
/*
 * out.c - print with several processes
 *
 * Reading is cheap and formatting is not. So each process reads all items in the order of printing
 * (items are records, or events if there is a filter), and formats only the items of its own turns.
 * A turn is TURN consecutive items. A process writes a turn after the process before it has written
 * its turn; semaphores in shared memory say when.
 */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace-cmd-ext/tool/tool.h"
#include "trace-cmd-ext/model/model.h"
#include "report.h"

#define MAX_WORKERS	64
#define TURN		1024		/* items: a few megabytes of text */
#define MIN_ITEMS	8192		/* one process prints fewer items as fast */

struct turns {
	struct report *r;
	sem_t *sems;			/* one for each process: it may write */
	uint32_t me, nr;		/* number of this process, and of all */
	uint64_t items;
	bool mine;
};

static int write_out(const char *s, size_t len)
{
	int ret = fd_write_all(STDOUT_FILENO, s, len);

	if (!ret)
		return 0;
	tool_error("standard output cannot be written: %s", strerror(-ret));
	return REPORT_NO_OUTPUT;
}

static int end_turn(struct turns *t)
{
	struct text *out = &t->r->out;
	int ret;

	if (out->failed)
		return -ENOMEM;
	while (t->sems && sem_wait(&t->sems[t->me]) < 0)
		if (errno != EINTR)
			return -errno;
	ret = write_out(out->v, out->nr);
	text_clear(out);
	if (!ret && t->sems)
		sem_post(&t->sems[(t->me + 1) % t->nr]);
	return ret;
}

/* Call it before each item. Returns whether the item is this process's; errors are negative. */
static int take_item(struct turns *t)
{
	int ret = 0;

	if (t->items++ % TURN)
		return t->mine;
	tool_show_progress("printing", t->items,
			   t->r->filtered || t->r->json ? 0 : model_get_info(t->r->m)->records);
	if (t->mine)
		ret = end_turn(t);
	t->mine = (t->items / TURN) % t->nr == t->me;
	return ret ? ret : t->mine;
}

static int print_event(void *data, const struct model_event *ev)
{
	struct turns *t = data;
	struct report *r = t->r;
	int ret = take_item(t);

	if (ret <= 0)
		return ret;
	if (r->json) {
		json_add_event(r, ev);
		return 0;
	}
	printer_add_record(r->printer, &r->out, ev->buffer, ev->rec);
	if (ev->kstack_rec)
		printer_add_record(r->printer, &r->out, ev->buffer, ev->kstack_rec);
	if (ev->cookie_rec)
		printer_add_record(r->printer, &r->out, ev->buffer, ev->cookie_rec);
	return 0;
}

/* Print all records by time; at equal times in the order of the streams, as libtracecmd does. */
static int print_all_records(struct turns *t)
{
	struct reader *reader = model_get_parts(t->r->m).reader;
	uint32_t nr = reader_get_nr_streams(reader), i, first;
	struct tep_record **recs = calloc(nr + 1, sizeof(*recs)), *rec;
	int ret = recs ? 0 : -ENOMEM;

	for (i = 0; i < nr && !ret; i++)
		recs[i] = reader_next(reader, i);
	while (!ret) {
		for (i = 0, first = nr; i < nr; i++)
			if (recs[i] && (first == nr || recs[i]->ts < recs[first]->ts))
				first = i;
		if (first == nr)
			break;
		rec = recs[first];
		ret = take_item(t);
		if (ret > 0) {
			printer_add_record(t->r->printer, &t->r->out,
					   reader_get_stream(reader, first)->buffer, rec);
			ret = 0;
		}
		recs[first] = reader_next(reader, first);
	}
	free(recs);
	return ret;
}

static int print_record(void *data, uint32_t buffer, struct tep_record *rec)
{
	struct turns *t = data;
	int ret = take_item(t);

	if (ret > 0)
		printer_add_record(t->r->printer, &t->r->out, buffer, rec);
	return ret < 0 ? ret : 0;
}

static int print_items(struct turns *t)
{
	struct report *r = t->r;
	int ret = 0;

	text_clear(&r->out);
	r->decode = model_get_parts(r->m).decode;
	if (r->library_reads_ahead)
		reader_will_iterate(model_get_parts(r->m).reader);
	/* rewind first: the printer keeps handles of the reader */
	if (!r->json)
		ret = r->filtered ? model_rewind_to_walk(r->m) : model_rewind(r->m);
	if (ret)
		return ret;
	if (!r->json) {
		r->printer = printer_new(r);
		if (!r->printer)
			return -ENOMEM;
		if (!t->me)
			printer_add_head(r->printer, &r->out);
		/* the head is part of the first turn */
	}
	t->mine = false;
	if (r->json || r->filtered)
		ret = model_for_each(r->m, MODEL_BY_TIME, print_event, t);
	else if (r->library_reads_ahead)
		ret = reader_iterate(model_get_parts(r->m).reader, print_record, t);
	else
		ret = print_all_records(t);
	if (!ret && (t->mine || (!t->items && !t->me)))
		ret = end_turn(t);
	if (!ret && r->filtered && !t->items && !t->me)
		r->print_no_match(model_get_parts(r->m).path);
	printer_free(r->printer);
	r->printer = NULL;
	json_free(r);
	vec_free(&r->out);
	/* tool_finish() does not run in a process that prints a part */
	return ret ? ret : tool_no_memory ? -ENOMEM : 0;
}

static int wait_for_printers(pid_t *pids, uint32_t nr)
{
	uint32_t left = nr, i;
	int status, ret = 0, sig = 0;
	pid_t pid;

	while (left) {
		pid = wait(&status);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return -errno;
		for (i = 0; i < nr && pids[i] != pid; i++)
			;
		if (i == nr)
			continue;
		pids[i] = 0;
		left--;
		if (!status || ret)
			continue;
		/* end the other processes, which would wait for its turn */
		ret = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
		sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
		for (i = 0; i < nr; i++)
			if (pids[i])
				kill(pids[i], SIGKILL);
	}
	if (sig)
		raise(sig);
	return ret;
}

uint32_t report_choose_processes(void)
{
	long nr = sysconf(_SC_NPROCESSORS_ONLN);

	return nr < 1 ? 1 : nr > 16 ? 16 : nr;
}

int report_print(struct report *r, uint32_t processes)
{
	struct turns t = { .r = r, .nr = processes };
	pid_t pids[MAX_WORKERS], parent = getpid();
	int ret = 0;

	/* for a few items, starting processes takes longer than printing */
	if (processes < 2 || r->library_reads_ahead || processes > MAX_WORKERS ||
	    model_get_info(r->m)->records < MIN_ITEMS) {
		t.nr = 1;
		return print_items(&t);
	}
	t.sems = mmap(NULL, processes * sizeof(*t.sems), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t.sems == MAP_FAILED)
		return -errno;
	for (t.me = 0; t.me < processes; t.me++)
		sem_init(&t.sems[t.me], 1, !t.me);
	for (t.me = 0; t.me < processes; t.me++) {
		pids[t.me] = fork();
		if (pids[t.me] < 0) {
			ret = -errno;
			break;
		}
		if (pids[t.me])
			continue;
		limit_to_parent(parent);
		if (t.me)
			tool_disable_progress();
		ret = print_items(&t);
		tool_end_progress();
		tool_exit_child(-ret);
	}
	processes = t.me;
	while (ret && processes--)
		kill(pids[processes], SIGKILL);
	if (!ret)
		ret = wait_for_printers(pids, processes);
	return ret;
}
