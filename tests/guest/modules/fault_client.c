// SPDX-License-Identifier: GPL-2.0
/*
 * For tests alone: clients of deferred unwinding that run a script
 *
 * One write to /proc/fault_client is one kernel entry of the writing task, and runs a script of
 * commands in this entry, separated by ';':
 *
 *	echo 'init 0; request 0; cancel 0; request 0' > /proc/fault_client
 *
 * The result of each command, and each callback, is appended to a log, which can be read from the
 * same file. The module makes faults certain that otherwise need an unlucky moment. A callback can
 * wait. The walk of a stack can be made to sleep in a page fault. A hardware watchpoint can stop a
 * task right after the load of one word: so it gets into a window of a few instructions.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/unwind_deferred.h>

#define NR_CLIENTS	66		/* more than there can be */
#define WAIT_MS		20000		/* a longer wait has failed */
#define SPIN_NS		(2 * NSEC_PER_SEC)

/**
 * struct client - one client of deferred unwinding
 * @cookie:	of the last request
 * @asked:	there was a request since the last init
 * @called:	how many callbacks have started
 * @was_called: a callback has started since "watch-init"
 * @hold:	the callback waits until this is cleared
 * @chain:	the callback requests this client, -1: no client
 * @cancelled:	unwind_deferred_cancel() has returned since the last init
 * @ready:	unwind_deferred_init() has returned since the last cancel
 */
struct client {
	struct unwind_work	work;
	u64			cookie;
	bool			asked;
	atomic_t		called;
	bool			was_called;
	bool			hold;
	int			chain;
	bool			cancelled;
	bool			ready;
};

static struct client clients[NR_CLIENTS];
static int exit_client = -1;		/* requested at sched_process_exit */
static bool unlock;
static bool locked;

static DEFINE_SPINLOCK(log_lock);
static char log_text[32768];
static size_t log_len;

static __printf(1, 2) void note(const char *fmt, ...)
{
	unsigned long flags;
	va_list args;

	spin_lock_irqsave(&log_lock, flags);
	va_start(args, fmt);
	log_len += vscnprintf(log_text + log_len, sizeof(log_text) - log_len, fmt, args);
	va_end(args);
	spin_unlock_irqrestore(&log_lock, flags);
}

/* Poll: some events happen where the kernel cannot wake up a task */
#define wait_for(what, cond)						\
do {									\
	unsigned int __ms = 0;						\
									\
	while (!(cond) && __ms++ < WAIT_MS)				\
		usleep_range(900, 1000);				\
	if (!(cond))							\
		note("%s: waited in vain\n", what);			\
} while (0)

static int request(int id)
{
	struct client *c = &clients[id];
	u64 cookie;
	int ret = unwind_deferred_request(&c->work, &cookie);

	if (ret >= 0)
		c->cookie = cookie;
	note("request %d = %d\n", id, ret);
	WRITE_ONCE(c->asked, true);
	return ret;
}

static void callback(struct unwind_work *work, struct unwind_stacktrace *trace, u64 cookie)
{
	struct client *c = container_of(work, struct client, work);
	int id = c - clients;

	note("callback %d%s%s\n", id, trace->nr ? "" : " empty",
	     cookie == c->cookie ? "" : " unasked");
	atomic_inc(&c->called);
	WRITE_ONCE(c->was_called, true);
	if (READ_ONCE(c->hold))
		wait_for("hold", !READ_ONCE(c->hold));
	if (c->chain >= 0)
		request(c->chain);
}

/*
 * The watchpoint: stops @task once, right after its first access to the word, or after @skip more
 * accesses, until *@until_value is -1 or *@until_set is true, or for SPIN_NS. With @nested it
 * requests that client instead.
 */
static struct {
	struct perf_event * __percpu	*event;
	struct task_struct		*task;
	int				nested;
	int				skip;
	const int			*until_value;
	const bool			*until_set;
	int				hit;
	int				ret;
} watch;

#ifdef CONFIG_HAVE_HW_BREAKPOINT
static void watch_hit(struct perf_event *event, struct perf_sample_data *data,
		      struct pt_regs *regs)
{
	u64 end, cookie;

	if (current != watch.task || watch.skip-- > 0 || cmpxchg(&watch.hit, 0, 1))
		return;
	if (watch.nested >= 0) {
		watch.ret = unwind_deferred_request(&clients[watch.nested].work, &cookie);
		return;
	}
	end = ktime_get_mono_fast_ns() + SPIN_NS;
	while (ktime_get_mono_fast_ns() < end) {
		if (watch.until_value && READ_ONCE(*watch.until_value) == -1)
			break;
		if (watch.until_set && READ_ONCE(*watch.until_set))
			break;
		cpu_relax();
	}
}

static void watch_word(const void *word, u64 len, int skip)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)word;
	attr.bp_len = len;
	attr.bp_type = HW_BREAKPOINT_RW;
	watch.hit = 0;
	watch.skip = skip;
	watch.task = current;
	watch.event = register_wide_hw_breakpoint(&attr, watch_hit, NULL);
	if (IS_ERR((void __force *)watch.event)) {
		note("watch = %ld\n", PTR_ERR((void __force *)watch.event));
		watch.event = NULL;
	}
}

static void unwatch(void)
{
	if (watch.event)
		unregister_wide_hw_breakpoint(watch.event);
	watch.event = NULL;
	watch.task = NULL;
}
#else
static void watch_word(const void *word, u64 len, int skip)
{
	note("watch = %d\n", -EOPNOTSUPP);
}

static void unwatch(void)
{
}
#endif

/* Make each task that touches the page at @addr of @pid sleep until "unlock" */
static void lock_page_of(pid_t pid, unsigned long addr)
{
	struct pid *p = find_get_pid(pid);
	struct task_struct *task = get_pid_task(p, PIDTYPE_PID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;
	struct vm_area_struct *vma;

	put_pid(p);
	if (task)
		put_task_struct(task);
	if (!mm) {
		note("lock: no process %d\n", pid);
		return;
	}
	mmap_write_lock(mm);
	vma = vma_lookup(mm, addr);
	if (vma) {
		vma_start_write(vma);
		WRITE_ONCE(locked, true);
		wait_for("unlock", READ_ONCE(unlock));
		WRITE_ONCE(locked, false);
	} else {
		note("lock: nothing at %lx\n", addr);
	}
	mmap_write_unlock(mm);
	mmput(mm);
}

static void init_client(int id)
{
	struct client *c = &clients[id];
	int ret;

	c->asked = false;
	c->cancelled = false;
	c->chain = -1;
	c->cookie = 0;
	c->hold = false;
	atomic_set(&c->called, 0);
	ret = unwind_deferred_init(&c->work, callback);
	if (!ret)
		WRITE_ONCE(c->ready, true);
	note("init %d = %d\n", id, ret);
}

static void cancel_client(int id)
{
	struct client *c = &clients[id];

	WRITE_ONCE(c->ready, false);
	unwind_deferred_cancel(&c->work);
	WRITE_ONCE(c->cancelled, true);
	note("cancel %d\n", id);
}

/* Wait until another task has come to a point; false: there is no such command */
static bool wait_command(const char *name, struct client *c)
{
	if (!strcmp(name, "locked"))
		wait_for(name, READ_ONCE(locked));
	else if (!strcmp(name, "asked"))
		wait_for(name, READ_ONCE(c->asked));
	else if (!strcmp(name, "called"))
		wait_for(name, atomic_read(&c->called));
	else if (!strcmp(name, "cancelling"))
		wait_for(name, READ_ONCE(c->work.bit) == -1);
	else if (!strcmp(name, "cancelled"))
		wait_for(name, READ_ONCE(c->cancelled));
	else if (!strcmp(name, "ready"))
		wait_for(name, READ_ONCE(c->ready));
	else if (!strcmp(name, "stopped"))
		wait_for(name, READ_ONCE(watch.hit));
	else
		return false;
	return true;
}

/* Stop this task at a word of client A; false: there is no such command */
static bool watch_command(const char *name, int a, long b)
{
	struct client *c = &clients[a];

	if (!strcmp(name, "watch-bit")) {
		/* stop this task after its load of A's bit, until A is cancelled */
		watch.nested = -1;
		watch.until_value = NULL;
		watch.until_set = &c->cancelled;
		watch_word(&c->work.bit, HW_BREAKPOINT_LEN_4, 0);
	} else if (!strcmp(name, "watch-init")) {
		/* after its second access to A's bit, which sets it, until A is called back */
		watch.nested = -1;
		watch.until_value = NULL;
		watch.until_set = &c->was_called;
		c->was_called = false;
		watch_word(&c->work.bit, HW_BREAKPOINT_LEN_4, 1);
	} else if (!strcmp(name, "watch-next") && b >= 0 && b < NR_CLIENTS) {
		/* after its step from A to B in the list, until the cancel of B has started */
		watch.nested = -1;
		watch.until_value = &clients[b].work.bit;
		watch.until_set = NULL;
		watch_word(&c->work.list.next, HW_BREAKPOINT_LEN_8, 0);
	} else if (!strcmp(name, "watch-mask")) {
		/* after its load of its mask, and request A there */
		watch.nested = a;
		watch_word(&current->unwind_info.unwind_mask, HW_BREAKPOINT_LEN_8, 0);
	} else {
		return false;
	}
	return true;
}

static int run_command(char *text)
{
	struct unwind_task_info *info = &current->unwind_info;
	struct client *c;
	long b = 0;
	char name[16];
	int n, a = 0;

	n = sscanf(text, "%15s %i %li", name, &a, &b);
	if (n < 1)
		return 0;
	if (strcmp(name, "lock") && (a < 0 || a >= NR_CLIENTS))
		return -EINVAL;
	c = &clients[strcmp(name, "lock") ? a : 0];

	if (!strcmp(name, "init")) {
		init_client(a);
	} else if (!strcmp(name, "cancel")) {
		cancel_client(a);
	} else if (!strcmp(name, "request")) {
		request(a);
	} else if (!strcmp(name, "bit")) {		/* which bit client A has */
		note("bit %d = %d\n", a, c->work.bit);
	} else if (!strcmp(name, "mask")) {		/* bits of clients in this task */
		note("mask %lx\n", atomic_long_read(&info->unwind_mask) &
		     ~(UNWIND_PENDING | UNWIND_USED));
	} else if (!strcmp(name, "chain")) {		/* callback A requests B */
		c->chain = b;
	} else if (!strcmp(name, "hold")) {		/* callback A waits ... */
		atomic_set(&c->called, 0);
		WRITE_ONCE(c->hold, true);
	} else if (!strcmp(name, "release")) {		/* ... until this */
		WRITE_ONCE(c->hold, false);
	} else if (!strcmp(name, "exit")) {		/* request A when a task exits */
		exit_client = b ? -1 : a;
	} else if (!strcmp(name, "kill")) {
		send_sig(SIGKILL, current, 1);
	} else if (!strcmp(name, "lock")) {
		WRITE_ONCE(unlock, false);
		lock_page_of(a, b);
	} else if (!strcmp(name, "unlock")) {
		WRITE_ONCE(unlock, true);
	} else if (!strcmp(name, "unwatch")) {
		unwatch();
		note("stopped %d\n", watch.hit);
	} else if (!wait_command(name, c) && !watch_command(name, a, b)) {
		return -EINVAL;
	}
	return 0;
}

static ssize_t client_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char *script, *rest, *text;
	int ret = 0;

	script = memdup_user_nul(buf, min_t(size_t, len, 8191));
	if (IS_ERR(script))
		return PTR_ERR(script);
	for (rest = script; !ret && (text = strsep(&rest, ";\n")); )
		ret = run_command(text);
	kfree(script);
	return ret ?: len;
}

/* Reading empties the log */
static ssize_t client_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char *copy = kmalloc(sizeof(log_text), GFP_KERNEL);
	ssize_t n;

	if (!copy)
		return -ENOMEM;
	spin_lock_irq(&log_lock);
	n = min(len, log_len);
	memcpy(copy, log_text, n);
	memmove(log_text, log_text + n, log_len - n);
	log_len -= n;
	spin_unlock_irq(&log_lock);
	if (copy_to_user(buf, copy, n))
		n = -EFAULT;
	kfree(copy);
	return n;
}

static const struct proc_ops client_ops = {
	.proc_read	= client_read,
	.proc_write	= client_write,
};

/* A task of any kind that reads this file requests client 0 */
static ssize_t read_request(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	note("%s%s ", current->flags & PF_USER_WORKER ? "worker " : "", current->comm);
	request(0);
	return 0;
}

static const struct proc_ops read_request_ops = {
	.proc_read	= read_request,
};

static struct tracepoint *exit_tp;

static void at_exit(void *ignored, struct task_struct *task, bool group_dead)
{
	if (exit_client >= 0 && !strcmp(current->comm, "fault-paths"))
		request(exit_client);
}

static void find_exit_tp(struct tracepoint *tp, void *ignored)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		exit_tp = tp;
}

static int __init fault_client_init(void)
{
	int i, ret;

	for (i = 0; i < NR_CLIENTS; i++) {
		clients[i].work.bit = -1;
		clients[i].chain = -1;
	}
	for_each_kernel_tracepoint(find_exit_tp, NULL);
	if (!exit_tp)
		return -ENOENT;
	ret = tracepoint_probe_register(exit_tp, at_exit, NULL);
	if (ret)
		return ret;
	if (!proc_create("fault_client", 0600, NULL, &client_ops) ||
	    !proc_create("fault_request", 0400, NULL, &read_request_ops)) {
		remove_proc_subtree("fault_client", NULL);
		tracepoint_probe_unregister(exit_tp, at_exit, NULL);
		tracepoint_synchronize_unregister();
		return -ENOMEM;
	}
	return 0;
}

static void __exit fault_client_exit(void)
{
	int i;

	remove_proc_subtree("fault_request", NULL);
	remove_proc_subtree("fault_client", NULL);
	tracepoint_probe_unregister(exit_tp, at_exit, NULL);
	tracepoint_synchronize_unregister();
	unwatch();
	for (i = 0; i < NR_CLIENTS; i++)
		if (clients[i].ready)
			unwind_deferred_cancel(&clients[i].work);
}

module_init(fault_client_init);
module_exit(fault_client_exit);
MODULE_DESCRIPTION("Clients of deferred unwinding that run scripts");
MODULE_LICENSE("GPL");
