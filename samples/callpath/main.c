// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - options and tasks of callpath. This program makes every system call from a call path
 * that it also writes down, so that traced user stacks can be compared with the truth.
 *
 * It is built without a C library, with frame pointers. Each path ends in _start or in a thread's
 * first instruction, with a frame pointer of 0. So a complete user stack holds only callpath's
 * functions. It can be compared frame by frame with an entry of the record: the system call's fifth
 * argument is the sequence number of the entry (record.h).
 */
#include "sys.h"

static const char usage[] =
"Usage: callpath -o RECORD [-t THREADS] [-n STEPS] [-c CPUS] [-s SEED]\n"
"                [-d DEPTH,...] [-x OP,...] [-e PROGRAM] [-z MEGABYTES] [-a] [-q SEQ]\n"
"Makes system calls from known call paths and writes each path to RECORD first.\n"
"  -t  threads next to the main one (0)       -n  steps of each (100)\n"
"  -c  migrate to the next of CPUS at each step\n"
"  -d  recurse to these depths first, up to 900\n"
"  -x  what to do at the end of a path: plain sleep yield futex pipe signal\n"
"      suspend fork vfork exec execthread kill, or all (plain);\n"
"      leaf: do little and end, as a program that exec starts\n"
"  -e  the program exec starts, another callpath (this one)\n"
"  -z  size of RECORD (64)\n"
"  -a  append to RECORD, which exists\n"
"  -q  first sequence number, for calls before RECORD is mapped\n";

static const struct op {
	const char	*name;
	void		(*fn)(struct task *t);
	int		process;	/* only in the main thread: few and slow */
} ops[] = {
	{ "plain",	op_plain },
	{ "sleep",	op_sleep },
	{ "yield",	op_yield },
	{ "futex",	op_futex },
	{ "pipe",	op_pipe },
	{ "signal",	op_signal },
	{ "suspend",	op_suspend },
	{ "fork",	op_fork,	1 },
	{ "vfork",	op_vfork,	1 },
	{ "exec",	op_exec,	1 },
	{ "execthread",	op_exec_thread,	1 },
	{ "kill",	op_kill,	1 },
};

#define NR_OPS	(sizeof(ops) / sizeof(ops[0]))

static unsigned int chosen;		/* bits of ops[] */
static unsigned int steps = 100;
static unsigned int migrate;

void *memset(void *dst, int c, unsigned long n)
{
	volatile char *p = dst;

	while (n--)
		*p++ = c;
	return dst;
}

void *memcpy(void *dst, const void *src, unsigned long n)
{
	volatile char *p = dst;
	const char *s = src;

	while (n--)
		*p++ = *s++;
	return dst;
}

static unsigned int get_length(const char *s)
{
	unsigned int n = 0;

	while (s[n])
		n++;
	return n;
}

static unsigned int parse_number(const char **s)
{
	unsigned int n = 0;

	while (**s >= '0' && **s <= '9')
		n = n * 10 + *(*s)++ - '0';
	return n;
}

static int starts_with_word(const char *word, const char *list)
{
	while (*word && *word == *list)
		word++, list++;
	return !*word && (!*list || *list == ',');
}

static PATH void die(struct task *t, const char *what, int code)
{
	ENTER(t);
	SYS3(t, __NR_write, 2, what, get_length(what));
	SYS(t, CP_EXIT, __NR_exit_group, code, 0, 0, 0);
	__builtin_trap();
}

static PATH void run_steps(struct task *t, int process)
{
	unsigned int i, n, op;

	ENTER(t);
	for (i = 0; i < steps; i++) {
		if (migrate)
			cp_path(t, cp_random(t) % 4, cp_migrate);
		for (n = 0; n < 64; n++) {
			op = cp_random(t) % NR_OPS;
			if (chosen & (1u << op) && (process || !ops[op].process))
				break;
		}
		cp_path(t, cp_random(t) % 24, n < 64 ? ops[op].fn : op_plain);
	}
	LEAVE(t);
}

static PATH void thread_main(struct task *t)
{
	ENTER(t);
	cp_signals_init(t);
	run_steps(t, 0);
	cp_path(t, cp_random(t) % 40, op_exit);
}

/* A program that was started by exec does little and then ends */
static PATH void run_executed(struct task *t)
{
	ENTER(t);
	cp_path(t, cp_random(t) % 16, op_plain);
	cp_path(t, cp_random(t) % 16, op_yield);
	cp_path(t, cp_random(t) % 16, op_exit_group);
}

static PATH void run_depths(struct task *t, const char *depths)
{
	unsigned int depth;

	ENTER(t);
	while (*depths) {
		depth = parse_number(&depths);
		if (depth > 900)
			die(t, "callpath: a depth in -d is more than 900\n", 2);
		cp_path(t, depth, op_plain);
		cp_path(t, depth, op_yield);
		cp_path(t, depth, op_sleep);
		if (*depths == ',')
			depths++;
		else if (*depths)
			die(t, usage, 2);
	}
	LEAVE(t);
}

static int choose_ops(const char *list)
{
	unsigned int i, found;

	while (*list) {
		found = starts_with_word("all", list) ? (1u << NR_OPS) - 1 : 0;
		for (i = 0; i < NR_OPS; i++)
			found |= starts_with_word(ops[i].name, list) ? 1u << i : 0;
		if (!found)
			return 0;
		chosen |= found;
		while (*list && *list++ != ',')
			;
	}
	return 1;
}

struct options {
	unsigned int	threads, size, append, seed;
	const char	*depths, *what;
};

static PATH void parse_options(struct task *t, struct options *o, unsigned int argc,
			       const char **argv)
{
	const char *arg;
	unsigned int i;

	ENTER(t);
	for (i = 1; i < argc; i++) {
		const char opt = argv[i][0] == '-' && !argv[i][2] ? argv[i][1] : '?';

		if (opt == 'a') {
			o->append = 1;
			continue;
		}
		if (i + 1 == argc)
			die(t, usage, 2);
		arg = argv[++i];
		switch (opt) {
		case 'o':
			cp_out = arg;
			break;
		case 't':
			o->threads = parse_number(&arg);
			break;
		case 'n':
			steps = parse_number(&arg);
			break;
		case 'c':
			cp_cpus = parse_number(&arg);
			migrate = 1;
			break;
		case 's':
			o->seed = parse_number(&arg);
			break;
		case 'd':
			o->depths = arg;
			break;
		case 'x':
			o->what = arg;
			break;
		case 'e':
			cp_exec_path = arg;
			break;
		case 'q':
			cp_set_base(parse_number(&arg));
			break;
		case 'z':
			o->size = parse_number(&arg);
			break;
		default:
			die(t, usage, 2);
		}
	}
	if (!cp_out || !o->size || o->size > 1024 || cp_cpus < 1 || cp_cpus > 8 * sizeof(long))
		die(t, usage, 2);
	LEAVE(t);
}

PATH void cp_main(struct task *t, long *stack);
PATH void cp_main(struct task *t, long *stack)
{
	struct options o = { .size = 64, .seed = 1, .depths = "", .what = "plain" };
	const char **argv = (const char **)(stack + 1);

#ifdef __s390x__
	t->ra[t->depth++] = (unsigned long)cp_start_ip;
#endif
	ENTER(t);
	cp_exec_path = argv[0];
	parse_options(t, &o, stack[0], argv);
	t->tid = SYS0(t, __NR_gettid);
	t->tgid = t->tid;
	t->rng = o.seed * 2654435761u + 1;
	cp_size = o.size << 20;
	if (cp_open(t, cp_out, cp_size, !o.append))
		die(t, "callpath: cannot create or map the record file named by -o; give a path "
		       "on a file system with room for it, or less room with -z\n", 2);
	if (starts_with_word("leaf", o.what))
		run_executed(t);
	if (!choose_ops(o.what))
		die(t, usage, 2);
	cp_signals_init(t);
	run_depths(t, o.depths);
	if (o.threads)
		cp_threads(t, o.threads, thread_main);
	run_steps(t, 1);
	if (cp_refused())
		die(t, "callpath: the record file is full; make it larger with -z\n", 2);
	cp_path(t, 30, op_exit_group);
}
