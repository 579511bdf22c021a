// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: many tasks request clients while other tasks cancel and re-initialise the
 * clients, and a judge checks the results
 *
 * /proc/fault_hammer: each write of "request" is one kernel entry, in which the task requests some
 * of the clients, each once or several times. Each write of "cycle" cancels the next client and
 * initialises it again. Reading gives the numbers, and the first violation of each kind:
 *
 *  - refused:	a request for a live client failed;
 *  - accepted:	a request for a cancelled client did not fail;
 *  - value:	the first request in an entry did not return 0, or another not 1;
 *  - unanswered: the task is in its next kernel entry, the client is live all
 *		the time, and its callback was not called;
 *  - unasked:	a callback was called that was not requested in this entry, or
 *		that was requested before the client was cancelled;
 *  - cookie:	a callback had another cookie than the request;
 *  - late:	a callback ran after unwind_deferred_cancel() had returned.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/random.h>
#include <linux/seq_file.h>
#include <linux/unwind_deferred.h>

#define NR_CLIENTS	16
#define NR_TASKS	64

/* The lower two bits of a client's state are its phase. The other bits count its lives. */
enum { DEAD, STARTING, LIVE, ENDING };
#define PHASE(state)	((state) & 3)

struct client {
	struct unwind_work	work;
	unsigned int		state;
	struct mutex		lock;		/* one cycle at a time */
};

/**
 * struct asked - what a task has requested of a client in this kernel entry
 * @state:	of the client, if it was live during the whole request
 * @any:	there was a request, in any state
 * @unclear:	life of the client in which a request may have been accepted before it was
 *		seen live, so the value of the next request says nothing
 * @owed:	the request was accepted and has to be answered
 * @called:	the callback came
 */
struct asked {
	unsigned int	state;
	unsigned int	unclear;
	u64		cookie;
	bool		any;
	bool		owed;
	bool		called;
};

struct requester {
	pid_t		pid;
	struct asked	asked[NR_CLIENTS];
};

enum violation { REFUSED, ACCEPTED, VALUE, UNANSWERED, UNASKED, COOKIE, LATE, NR_VIOLATIONS };
static const char * const violation_names[] = {
	"refused", "accepted", "value", "unanswered", "unasked", "cookie", "late"
};

static struct client clients[NR_CLIENTS];
static struct requester requesters[NR_TASKS];
static atomic_t violations[NR_VIOLATIONS];
static atomic_long_t requests, answers, dropped, cycles;
static atomic_t next_client;

static void violate(enum violation v, int client, const char *detail, long value)
{
	if (atomic_inc_return(&violations[v]) == 1)
		pr_notice("fault_hammer: %s: client %d, %s %ld\n", violation_names[v], client,
			  detail, value);
}

/* The entry of the current task, or a free entry: only the task itself changes it */
static struct requester *requester_of_current(bool make)
{
	int i;

	for (i = 0; i < NR_TASKS; i++)
		if (READ_ONCE(requesters[i].pid) == current->pid)
			return &requesters[i];
	for (i = 0; make && i < NR_TASKS; i++)
		if (!cmpxchg(&requesters[i].pid, 0, current->pid))
			return &requesters[i];
	return NULL;
}

static void callback(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
	struct client *c = container_of(work, struct client, work);
	struct requester *r = requester_of_current(false);
	unsigned int state = smp_load_acquire(&c->state);
	int id = c - clients;
	struct asked *a;

	if (PHASE(state) == DEAD)
		violate(LATE, id, "at its start, state", state);
	if (!r) {
		violate(UNASKED, id, "of pid", current->pid);
		return;
	}
	a = &r->asked[id];
	if (!a->any)
		violate(UNASKED, id, "state", state);
	/* The client was live during the whole request: is it still the same life? */
	else if (PHASE(a->state) == LIVE && state >> 2 != a->state >> 2)
		violate(UNASKED, id, "lives since the request:", (state >> 2) - (a->state >> 2));
	else if (a->owed && a->cookie != cookie)
		violate(COOKIE, id, "difference", cookie - a->cookie);
	a->called = true;
	atomic_long_inc(&answers);

	/* Sometimes run long enough that a cancel finds it running */
	if (!get_random_u32_below(64))
		usleep_range(50, 300);

	/* After cancel has returned, the state is dead, or has been dead */
	if (PHASE(state) != DEAD && state >> 2 != smp_load_acquire(&c->state) >> 2)
		violate(LATE, id, "still running, state", READ_ONCE(c->state));
}

static void request(struct requester *r, int id)
{
	struct asked *a = &r->asked[id];
	struct client *c = &clients[id];
	unsigned int before, after;
	u64 cookie;
	int ret;

	before = smp_load_acquire(&c->state);
	/* Before the request: the callback of an earlier request may not run before this */
	a->any = true;
	ret = unwind_deferred_request(&c->work, &cookie);
	smp_mb();
	after = READ_ONCE(c->state);
	atomic_long_inc(&requests);

	if (before == after && PHASE(before) == DEAD && ret != -EINVAL)
		violate(ACCEPTED, id, "returned", ret);
	if (before != after || PHASE(before) != LIVE) {
		/* Cancelled or started meanwhile: a callback may come or not */
		if (ret >= 0) {
			a->state = 0;
			if (before >> 2 != after >> 2 || PHASE(before) != LIVE)
				a->unclear = after >> 2;
		}
		return;
	}
	if (ret < 0) {
		violate(REFUSED, id, "returned", ret);
		return;
	}
	if (a->unclear == before >> 2) {
		;
	} else if (a->owed && a->state == before) {
		if (ret != 1)
			violate(VALUE, id, "again returned", ret);
	} else if (ret != 0) {
		violate(VALUE, id, "first returned", ret);
	}
	a->state = before;
	a->cookie = cookie;
	a->owed = true;
}

/* All requests of this task's previous entry have had their callbacks by now */
static void settle(struct requester *r)
{
	int id;

	for (id = 0; id < NR_CLIENTS; id++) {
		struct asked *a = &r->asked[id];

		if (a->owed && !a->called) {
			if (READ_ONCE(clients[id].state) == a->state)
				violate(UNANSWERED, id, "state", a->state);
			else
				atomic_long_inc(&dropped);
		}
		memset(a, 0, sizeof(*a));
	}
}

static void hammer(struct requester *r)
{
	int i;

	settle(r);
	for (i = 0; i < 6; i++)
		request(r, get_random_u32_below(NR_CLIENTS));
}

static int cycle(void)
{
	int id = (unsigned int)atomic_inc_return(&next_client) % NR_CLIENTS;
	struct client *c = &clients[id];
	int ret;

	mutex_lock(&c->lock);
	WRITE_ONCE(c->state, c->state + 1);		/* ENDING */
	smp_mb();
	unwind_deferred_cancel(&c->work);
	smp_store_release(&c->state, c->state + 1);	/* DEAD, of the next life */
	usleep_range(100, 1000);
	WRITE_ONCE(c->state, c->state + 1);		/* STARTING */
	smp_mb();
	ret = unwind_deferred_init(&c->work, callback);
	if (!ret)
		smp_store_release(&c->state, c->state + 1);	/* LIVE */
	mutex_unlock(&c->lock);
	atomic_long_inc(&cycles);
	return ret;
}

static ssize_t hammer_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct requester *r;
	char what;
	int ret = 0;

	if (get_user(what, buf))
		return -EFAULT;
	if (what == 'c') {
		ret = cycle();
	} else if (what == 'r') {
		r = requester_of_current(true);
		if (!r)
			return -ENOSPC;
		hammer(r);
	} else {
		ret = -EINVAL;
	}
	return ret ?: len;
}

static int hammer_show(struct seq_file *m, void *ignored)
{
	int i;

	seq_printf(m, "requests %ld\nanswers %ld\ndropped %ld\ncycles %ld\n",
		   atomic_long_read(&requests), atomic_long_read(&answers),
		   atomic_long_read(&dropped), atomic_long_read(&cycles));
	for (i = 0; i < NR_VIOLATIONS; i++)
		seq_printf(m, "%s %d\n", violation_names[i], atomic_read(&violations[i]));
	return 0;
}

static int hammer_open(struct inode *inode, struct file *file)
{
	return single_open(file, hammer_show, NULL);
}

static const struct proc_ops hammer_ops = {
	.proc_open	= hammer_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
	.proc_write	= hammer_write,
};

static void end_clients(int nr)
{
	while (nr--)
		unwind_deferred_cancel(&clients[nr].work);
}

static int __init fault_hammer_init(void)
{
	int i, ret;

	for (i = 0; i < NR_CLIENTS; i++) {
		mutex_init(&clients[i].lock);
		clients[i].state = 4 + LIVE;
		ret = unwind_deferred_init(&clients[i].work, callback);
		if (ret) {
			end_clients(i);
			return ret;
		}
	}
	if (!proc_create("fault_hammer", 0600, NULL, &hammer_ops)) {
		end_clients(NR_CLIENTS);
		return -ENOMEM;
	}
	return 0;
}

static void __exit fault_hammer_exit(void)
{
	remove_proc_subtree("fault_hammer", NULL);
	end_clients(NR_CLIENTS);
}

module_init(fault_hammer_init);
module_exit(fault_hammer_exit);
MODULE_DESCRIPTION("Judges clients of deferred unwinding that are cancelled under load");
MODULE_LICENSE("GPL");
