// SPDX-License-Identifier: GPL-2.0
/*
 * test_insert.c - stacks that are added to the pages of a recording
 *
 * Pages and messages are made here, record by record. libtraceevent's kbuffer reads the result, and
 * each CPU becomes one line of text:
 *
 *	e40@100		a record of event 40 at time 100
 *	k@100		a kernel stack
 *	p5@100		a sample: the CPU was sampled every 5 ns
 *	f1000-2000@100	the function at 1000 is called from 2000; then its flags, if any, as +8
 *	c1.0/7		the first cookie of CPU 0, in a record of task 7
 *	m400000=/bin/a	a mapping
 *	m8=[python]..:5	a Python function: twice its number, name and file, line
 *	s1.0:3		the stack of this cookie, with 3 frames; +1, +4, +8: its flags
 *	|		a page ends
 *	!5		5 records were lost; !? unknown
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <event-parse.h>
#include <kbuffer.h>

#include "tests/unit/unit.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/record/bpf/bpf.h"
#include "trace-cmd-ext/record/bpf/msg.h"

#define NR_CPUS		2
#define KSTACK		4
#define COOKIE		1001
#define STACK		1002
#define MAP		1003
#define EVENT		40		/* and 41; 42 is a system call */
#define SAMPLE		60
#define FUNCTION	1
#define PROBE		43		/* and 44: kprobe events */
#define UPROBE		45
#define HARDIRQ		0x08
#define IRQS_OFF	0x01
#define MAX_PAGE	65536

static char dir[] = "/tmp/test-insert-XXXXXX";
static unsigned int page_size;
static bool kernel_stacks;
static bool skips, filter;		/* of the events */
static bool few_tids;
static uint32_t ran, since, counter, skipped;	/* of the next messages */
static struct text msgs, raw[NR_CPUS];
static uint32_t seq[NR_CPUS];
static struct insert_stats sums;
static char why[256];
static const char *path_of_file[16];

/* ------------------------------ what is made ------------------------------ */

static unsigned char page[NR_CPUS][MAX_PAGE];
static unsigned int used[NR_CPUS];
static uint64_t last[NR_CPUS];

static void end_page(int cpu, uint64_t flags, uint64_t lost)
{
	uint64_t commit = used[cpu] | flags;

	if (!used[cpu])
		return;
	memcpy(page[cpu] + 8, &commit, 8);
	if (flags & 1u << 30)
		memcpy(page[cpu] + 16 + used[cpu], &lost, 8);
	text_add_bytes(&raw[cpu], (char *)page[cpu], page_size);
	memset(page[cpu], 0, page_size);
	used[cpu] = 0;
}

static void add_word(int cpu, uint32_t word)
{
	memcpy(page[cpu] + 16 + used[cpu], &word, 4);
	used[cpu] += 4;
}

/* A record of @words words of data, at least 2. */
static void add_record(int cpu, uint64_t time, int type, unsigned int flags, uint32_t tid,
		       unsigned int words)
{
	uint32_t delta = 0;
	unsigned int i;

	if (used[cpu] + 24 + words * 4 > page_size - 16)
		end_page(cpu, 0, 0);
	if (!used[cpu]) {
		memcpy(page[cpu], &time, 8);
	} else if ((time - last[cpu]) >> 27) {
		add_word(cpu, 30 | ((time - last[cpu]) & ((1 << 27) - 1)) << 5);
		add_word(cpu, (time - last[cpu]) >> 27);
	} else {
		delta = time - last[cpu];
	}
	last[cpu] = time;
	add_word(cpu, (words <= 28 ? words : 0) | delta << 5);
	if (words > 28)
		add_word(cpu, (words + 1) * 4);
	add_word(cpu, type | flags << 16);
	add_word(cpu, tid);
	for (i = 2; i < words; i++)
		add_word(cpu, 0x1000000 + i);
}

static void add_event(int cpu, uint64_t time, uint32_t tid)
{
	add_record(cpu, time, EVENT, 0, tid, 4);
}

static void send_event(int cpu, uint64_t time, int event, uint32_t tid, uint64_t stack, int reason)
{
	struct msg_event m = {
		.head = { MSG_EVENT, 0, sizeof(m) }, .time = time, .stack = stack, .tid = tid,
		.tgid = tid, .cpu = cpu, .event = event, .seq = seq[cpu]++, .reason = reason,
		.ran = ran, .since = since, .counter = counter, .skipped = skipped,
	};

	text_add_bytes(&msgs, (char *)&m, sizeof(m));
}

/* A record at @time, and its message 1 ns before it */
static void pass_event(int cpu, uint64_t time, uint32_t tid, uint64_t stack)
{
	send_event(cpu, time - 1, EVENT, tid, stack, 0);
	add_event(cpu, time, tid);
}

static void send_own(struct msg_sample m)
{
	uint64_t ip;

	m.event.head = (struct msg_head){ MSG_SAMPLE, 0, sizeof(m) + m.nr * 8 };
	m.event.tgid = m.event.tid;
	m.event.seq = seq[m.event.cpu]++;
	m.event.ran = ~0u;
	text_add_bytes(&msgs, (char *)&m, sizeof(m));
	for (ip = 0; ip < m.nr; ip++)
		text_add_bytes(&msgs, (char *)&(uint64_t){ 0xffff0000 + ip }, 8);
}

static void send_sample(int cpu, uint64_t time, uint32_t tid, uint64_t id, unsigned int nr)
{
	send_own((struct msg_sample){ .event = { .cpu = cpu, .time = time, .tid = tid, .stack = id,
						 .event = SAMPLE }, .nr = nr,
				      .flags = HARDIRQ | IRQS_OFF });
}

static void send_function(int cpu, uint64_t time, uint32_t tid, uint64_t id, unsigned int nr,
			  unsigned int flags)
{
	send_own((struct msg_sample){ .event = { .cpu = cpu, .time = time, .tid = tid, .stack = id,
						 .event = FUNCTION }, .nr = nr, .flags = flags,
				      .ip = 0x1000, .parent_ip = 0x2000 });
}

static void lose_message(int cpu)
{
	seq[cpu]++;
}

static struct msg_code code_a = { 0x400000, 0x401000, 0, 1, 8, 1 };
static struct msg_code code_b = { 0x400000, 0x401000, 0, 2, 8, 1 };
static struct msg_code code_c = { 0x700000, 0x701000, 0, 0, 0, MSG_VDSO };

static void send_stack(uint64_t id, uint32_t tgid, unsigned int nr, const struct msg_code *a,
		       const struct msg_code *b)
{
	struct msg_stack m = {
		.head = { MSG_STACK, 0, sizeof(m) + nr * 8 + (!!a + !!b) * sizeof(*a) },
		.id = id, .tid = tgid, .tgid = tgid, .nr = nr, .nr_code = !!a + !!b,
	};
	uint64_t ip;

	text_add_bytes(&msgs, (char *)&m, sizeof(m));
	if (a)
		text_add_bytes(&msgs, (const char *)a, sizeof(*a));
	if (b)
		text_add_bytes(&msgs, (const char *)b, sizeof(*b));
	for (ip = 0; ip < nr; ip++)
		text_add_bytes(&msgs, (char *)&(uint64_t){ 0x400000 + ip }, 8);
}

/* A Python function, with a line table of one entry: line 5 + 2, and 3 instructions */
static void send_python(uint32_t number, const char *name, uint32_t kind, const char *file,
			uint32_t instr)
{
	struct msg_python m = {
		.number = number, .instr = instr, .line = 5, .table = 5,
		.name = { strlen(name), 1 }, .file = { kind * 3, kind },
	};
	unsigned char body[MSG_MAX_NAME + MSG_MAX_FILE + 8] = {};

	m.head = (struct msg_head){ MSG_PYTHON, 0, sizeof(m) + sizeof(body) };
	memcpy(body, name, strlen(name));
	memcpy(body + MSG_MAX_NAME, file, kind * 3);
	/* the line changes by 2, two bytes of columns; then no line, for 1 instruction */
	memcpy(body + MSG_MAX_NAME + MSG_MAX_FILE, "\xe2\0\0\xf8", 4);
	m.table = 4;
	text_add_bytes(&msgs, (char *)&m, sizeof(m));
	text_add_bytes(&msgs, (char *)body, sizeof(body));
}

/* The same as send_stack(), of functions of Python with these numbers */
static void send_python_stack(uint64_t id, uint32_t tgid, const uint32_t *numbers, unsigned int nr)
{
	struct msg_stack m = {
		.head = { MSG_STACK, 0, sizeof(m) + nr * 8 + sizeof(code_a) },
		.id = id, .tid = tgid, .tgid = tgid, .nr = nr, .nr_code = 1,
	};
	unsigned int i;

	text_add_bytes(&msgs, (char *)&m, sizeof(m));
	text_add_bytes(&msgs, (const char *)&code_a, sizeof(code_a));
	for (i = 0; i < nr; i++)
		text_add_bytes(&msgs, (char *)&(uint64_t){ MSG_PYTHON_BASE + 2 * numbers[i] + 1 },
			       8);
}

static void send_count(int cpu, uint32_t count)
{
	struct msg_skipped m = { { MSG_SKIPPED, 0, sizeof(m) }, cpu, counter, count, 0 };

	text_add_bytes(&msgs, (char *)&m, sizeof(m));
}

static void send_end(void)
{
	int cpu;

	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		struct msg_end m = { { MSG_END, 0, sizeof(m) }, cpu, seq[cpu] };

		text_add_bytes(&msgs, (char *)&m, sizeof(m));
	}
}

/* --------------------------------- the run -------------------------------- */

static void raw_path(void *ctx, int cpu, char *path)
{
	(void)ctx;
	snprintf(path, PATH_MAX, "%s/cpu%d", dir, cpu);
}

static bool get_file(void *ctx, uint32_t major, uint32_t minor, uint64_t ino,
		     struct bpfsrc_file *file)
{
	(void)ctx;
	*file = (struct bpfsrc_file){ .path = path_of_file[ino], .build_id = "id",
				   .build_id_size = 2 };
	return major == 8 && minor == 1 && file->path;
}

static void write_file(const char *path, const struct text *t)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, t->v, t->nr), (ssize_t)t->nr);
	close(fd);
}

static int run(void)
{
	const struct insert_event event[] = {
		{ .id = 40, .skips = skips, .filter = filter }, { .id = 41 },
		{ .id = 42, .may_migrate = true, .skips = skips, .filter = filter },
		{ .id = PROBE, .probe = true }, { .id = PROBE + 1, .probe = true },
		{ .id = UPROBE, .may_migrate = true, .address_off = 8 },
	};
	char path[PATH_MAX], messages[PATH_MAX], header[512];
	struct insert_opts o = {
		.messages = messages, .event = event, .nr_events = 6, .cookie = COOKIE,
		.stack = STACK, .map = MAP, .kernel_stack = kernel_stacks ? KSTACK : -1,
		.nr_cpus = NR_CPUS, .page_size = page_size, .raw_path = raw_path,
		.few_tids = few_tids,
		.get_file = get_file, .header_page = header, .sample = SAMPLE, .period = 5,
		.function = FUNCTION,
	};
	int cpu;

	snprintf(header, sizeof(header),
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:16;\tsize:%u;\tsigned:0;\n", page_size - 16);
	snprintf(messages, sizeof(messages), "%s/messages", dir);
	write_file(messages, &msgs);
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		end_page(cpu, 0, 0);
		raw_path(NULL, cpu, path);
		write_file(path, &raw[cpu]);
	}
	return insert_stacks(&o, &sums, why, sizeof(why));
}

static void print_data(struct text *t, const unsigned char *data, unsigned int size, uint64_t ts)
{
	uint32_t w[24] = {};
	uint64_t cookie, start;

	memcpy(w, data, size < sizeof(w) ? size : sizeof(w));
	memcpy(&cookie, w + 2, 8);
	start = cookie;
	switch (w[0] & 0xffff) {
	case KSTACK:
		/* add_record() makes kernel stacks without contents */
		if (size > 16 && w[4] == 0xffff0000)
			text_addf(t, "k%u@%llu ", w[2], (unsigned long long)ts);
		else
			text_addf(t, "k@%llu ", (unsigned long long)ts);
		break;
	case SAMPLE:
		assert_int_equal(size, 16);
		assert_int_equal(w[0] >> 16, HARDIRQ | IRQS_OFF);
		text_addf(t, "p%u@%llu ", w[2], (unsigned long long)ts);
		break;
	case FUNCTION:
		assert_int_equal(size, 24);
		assert_int_equal(w[3] | w[5], 0);
		text_addf(t, "f%x-%x@%llu", w[2], w[4], (unsigned long long)ts);
		if (w[0] >> 16)
			text_addf(t, "+%u", w[0] >> 16);
		text_add(t, " ");
		break;
	case COOKIE:
		assert_int_equal(size, 16);
		text_addf(t, "c%u.%u/%u ", (w[3] + 1) / 2, w[2] - 1, w[1]);
		break;
	case STACK:
		assert_int_equal(w[6] & 0xffff, 32);
		assert_int_equal(w[6] >> 16, size - 32);
		text_addf(t, "s%u.%u:%u", (w[3] + 1) / 2, w[2] - 1, (size - 32) / 8);
		text_addf(t, w[5] ? "+%x " : " ", w[5]);
		break;
	case MAP:
		assert_int_equal(w[19] & 0xffff, 80);
		assert_int_equal(w[19] >> 16, strlen((const char *)data + 80) + 1);
		if (start < MSG_PYTHON_BASE)
			text_addf(t, "m%llx=%s ", (unsigned long long)start, data + 80);
		else
			text_addf(t, "m%u=%s:%u ", (unsigned int)(start - MSG_PYTHON_BASE),
				  data + 80, w[6] / 2);
		break;
	default:
		text_addf(t, "e%u@%llu ", w[0] & 0xffff, (unsigned long long)ts);
	}
}

/* The contents of a CPU's file, as text. */
static char *result(int cpu)
{
	struct kbuffer *k = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	static unsigned char bytes[MAX_PAGE];
	static char *before;
	unsigned long long ts;
	struct text t = {};
	char path[PATH_MAX];
	int fd, missed;
	void *data;

	raw_path(NULL, cpu, path);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	while (read(fd, bytes, page_size) == (ssize_t)page_size) {
		if (t.nr)
			text_add(&t, "| ");
		kbuffer_load_subbuffer(k, bytes);
		missed = kbuffer_missed_events(k);
		if (missed)
			text_addf(&t, missed < 0 ? "!? " : "!%d ", missed);
		for (data = kbuffer_read_event(k, &ts); data; data = kbuffer_next_event(k, &ts))
			print_data(&t, data, kbuffer_event_size(k), ts);
	}
	close(fd);
	kbuffer_free(k);
	if (t.nr)
		t.v[t.nr - 1] = '\0';
	free(before);
	before = t.v ? t.v : strdup("");
	return before;
}

#define expect(cpu, text)	assert_string_equal(result(cpu), text)

static int setup(void **state)
{
	int cpu;

	(void)state;
	page_size = 4096;
	kernel_stacks = skips = filter = few_tids = false;
	ran = since = counter = skipped = 0;
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		text_clear(&raw[cpu]);
		memset(page[cpu], 0, sizeof(page[cpu]));
		used[cpu] = seq[cpu] = last[cpu] = 0;
	}
	text_clear(&msgs);
	path_of_file[1] = "/bin/a";
	path_of_file[2] = "/bin/b";
	return 0;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char path[PATH_MAX];
	int cpu;

	(void)state;
	for (cpu = 0; cpu < NR_CPUS; cpu++) {
		raw_path(NULL, cpu, path);
		unlink(path);
		vec_free(&raw[cpu]);
	}
	snprintf(path, sizeof(path), "%s/messages", dir);
	unlink(path);
	vec_free(&msgs);
	/* no other file is left */
	return rmdir(dir);
}

/* --------------------------- functions of Python -------------------------- */

static void a_function_of_python_is_a_mapping_of_each_process(void **state)
{
	static const uint32_t numbers[] = { 1, 2, 3, 4, MSG_PYTHON_UNKNOWN };

	(void)state;
	send_python(1, "outer", 1, "a.p", 4);
	/* the table has no line for the instruction, or ends before it */
	send_python(2, "<module>", 1, "a.p", 6);
	send_python_stack(100, 7, numbers, 5);
	/* Latin-1, UCS-2 with a byte outside of UTF-8. The message may come after the stack */
	send_python(3, "\xe9t\xe9", 2, "/\0\xe9\0\xff\xdc", 8);
	send_python_stack(200, 8, numbers, 1);
	send_python_stack(300, 7, numbers, 2);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 8, 200);
	pass_event(0, 30, 7, 300);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a m2=[python] outer (a.p):7 "
	       "m4=[python] <module> (a.p):0 m6=[python] \xc3\xa9t\xc3\xa9 (/\xc3\xa9\xff):0 "
	       "m8=[python] <functions not known>:0 m0=[python] <functions not known>:0 s1.0:5 "
	       "e40@20 c2.0/8 m400000=/bin/a m2=[python] outer (a.p):7 s2.0:1 "
	       "e40@30 c3.0/7 s3.0:2");
}

static void numbers_beyond_the_limit_are_not_functions(void **state)
{
	static const uint32_t numbers[] = { 1, MSG_MAX_PYTHON_FUNCTIONS,
					    MSG_MAX_PYTHON_FUNCTIONS + 1 };

	(void)state;
	/* memory for this number would be 32 GiB */
	send_python(0xffffffff, "far", 1, "a.p", 4);
	send_python(MSG_MAX_PYTHON_FUNCTIONS + 1, "after", 1, "a.p", 4);
	send_python(MSG_MAX_PYTHON_FUNCTIONS, "last", 1, "a.p", 4);
	send_python(1, "outer", 1, "a.p", 4);
	send_python_stack(100, 7, numbers, 3);
	send_python_stack(200, 7, numbers, 1);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 7, 200);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a m2=[python] outer (a.p):7 "
	       "m524288=[python] last (a.p):7 s1.0:3 e40@20 c2.0/7 s2.0:1");
}

/* --------------------------------- samples -------------------------------- */

static void samples_lie_between_the_records(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 2, &code_a, NULL);
	send_stack(200, 7, 3, &code_a, NULL);
	send_sample(0, 5, 7, 100, 1);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, 0, 7, 4);
	/* in the kernel, between an event and its kernel stack */
	send_sample(0, 11, 7, 100, 2);
	add_record(0, 12, KSTACK, 0, 7, 6);
	/* in user space; a kernel thread; another CPU */
	send_sample(0, 20, 7, 200, 0);
	send_sample(0, 21, 8, 0, 3);
	send_sample(1, 22, 7, 200, 0);
	add_record(0, 30, 50, 0, 8, 4);
	/* after the last record */
	send_sample(0, 40, 7, 100, 0);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "p5@5 k1@5 c1.0/7 m400000=/bin/a s1.0:2 e40@10 p5@11 k2@11 c1.0/7 k@12 c1.0/7 "
	       "p5@20 c2.0/7 s2.0:3 p5@21 k3@21 e50@30 p5@40 c3.0/7 s3.0:2");
	expect(1, "p5@22 c2.0/7");
	assert_int_equal(sums.events, 7);
	assert_int_equal(sums.cookies, 6);
	assert_int_equal(sums.other, 1);
	assert_int_equal(sums.no_message, 0);
}

static void samples_without_kernel_stacks(void **state)
{
	(void)state;
	send_stack(100, 7, 2, NULL, NULL);
	send_sample(0, 5, 7, 100, 1);
	send_sample(0, 6, 8, 0, 2);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "p5@5 c1.0/7 s1.0:2 p5@6");
}

/* A kernel thread's samples do not make it a task whose events lack a message. */
static void samples_of_kernel_threads(void **state)
{
	(void)state;
	send_sample(0, 5, 8, 0, 2);
	add_event(0, 10, 8);
	send_end();
	assert_int_equal(run(), 0);
	assert_int_equal(sums.other, 2);
	assert_int_equal(sums.no_message, 0);
}

/* The latest stack of the task is that of its sample, so an older message is another entry's. */
static void a_sample_ends_the_entry(void **state)
{
	(void)state;
	send_stack(100, 7, 2, NULL, NULL);
	send_stack(200, 7, 3, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	send_sample(0, 6, 7, 200, 0);
	add_event(0, 10, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "p5@6 c1.0/7 s1.0:3 e40@10");
	assert_int_equal(sums.no_message, 1);
}

/* -------------------------------- functions ------------------------------- */

static void functions_have_their_own_stacks(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 2, &code_a, NULL);
	send_stack(200, 7, 3, &code_a, NULL);
	send_function(0, 5, 7, 100, 1, 0);
	/* in an interrupt, between an event and its kernel stack */
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, 0, 7, 4);
	send_function(0, 11, 7, 100, 2, HARDIRQ);
	add_record(0, 12, KSTACK, 0, 7, 6);
	/* the next entry; a kernel thread; another CPU; a walk that failed */
	send_function(0, 20, 7, 200, 0, 0);
	send_function(0, 21, 8, 0, 3, 0);
	send_function(1, 22, 7, 200, 1, 0);
	send_own((struct msg_sample){ .event = { .time = 30, .tid = 9, .event = FUNCTION,
						 .reason = MSG_NO_REGISTERS }, .ip = 1 });
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "f1000-2000@5 k1@5 c1.0/7 m400000=/bin/a s1.0:2 e40@10 f1000-2000@11+8 k2@11 "
	       "c1.0/7 k@12 c1.0/7 f1000-2000@20 c2.0/7 s2.0:3 f1000-2000@21 k3@21 f1-0@30 c3.0/9 "
	       "s3.0:0+8");
	expect(1, "f1000-2000@22 k1@22 c2.0/7");
	assert_int_equal(sums.events, 7);
	assert_int_equal(sums.cookies, 6);
	assert_int_equal(sums.other, 1);
	assert_int_equal(sums.reason[MSG_NO_REGISTERS], 1);
}

/* An event; functions in the code that records it and its kernel stack */
static void record_calls_functions(unsigned int flags)
{
	kernel_stacks = true;
	send_stack(100, 7, 2, &code_a, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, flags, 7, 4);
	send_function(0, 11, 7, 100, 1, 0);
	send_function(0, 12, 7, 100, 2, HARDIRQ);
	send_function(0, 13, 7, 100, 3, 0);
	add_record(0, 14, KSTACK, flags, 7, 6);
	send_function(0, 15, 7, 100, 1, 0);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 f1000-2000@12+8 k2@12 c1.0/7 m400000=/bin/a s1.0:2 k@14 c1.0/7 "
	       "f1000-2000@14 k1@14 c1.0/7 f1000-2000@14 k3@14 c1.0/7 f1000-2000@15 k1@15 c1.0/7");
}

static void functions_before_the_kernel_stack(void **state)
{
	(void)state;
	record_calls_functions(0);
}

static void functions_before_the_kernel_stack_with_interrupts_off(void **state)
{
	(void)state;
	record_calls_functions(IRQS_OFF);
}

static void functions_of_another_task_end_the_group(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 2, &code_a, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, IRQS_OFF, 7, 4);
	send_function(0, 11, 7, 100, 1, 0);
	send_function(0, 12, 8, 100, 2, 0);
	add_record(0, 13, KSTACK, IRQS_OFF, 7, 6);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a s1.0:2 f1000-2000@11 k1@11 c1.0/7 f1000-2000@12 "
	       "k2@12 c2.0/8 s2.0:2 k@13");
}

/* The function is between the event and a later record, and not near it. */
static void functions_after_a_lost_kernel_stack(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 2, &code_a, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, 0, 7, 4);
	send_function(0, 11, 7, 100, 1, 0);
	/* held until the next event */
	send_event(0, 19, EVENT, 7, 100, 0);
	add_record(0, 20, EVENT, 0, 7, 4);
	/* not held */
	send_function(0, 30, 7, 100, 2, 0);
	add_record(0, 20000000, EVENT + 1, 0, 7, 4);
	send_function(0, 20000001, 7, 100, 3, 0);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a s1.0:2 f1000-2000@11 k1@11 c1.0/7 e40@20 c1.0/7 "
	       "f1000-2000@30 k2@30 c1.0/7 e41@20000000 f1000-2000@20000001 k3@20000001 c1.0/7");
}

/* --------------------------------- matching ------------------------------- */

static void equal_stacks_in_a_row_share_a_cookie(void **state)
{
	(void)state;
	send_stack(100, 7, 3, &code_a, NULL);
	send_stack(200, 7, 2, &code_a, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 7, 100);
	pass_event(0, 30, 7, 200);
	pass_event(0, 40, 7, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a s1.0:3 e40@20 c1.0/7 "
	       "e40@30 c2.0/7 s2.0:2 e40@40 c3.0/7 s3.0:3");
	assert_int_equal(sums.events, 4);
	assert_int_equal(sums.cookies, 4);
	assert_int_equal(sums.stacks, 3);
	assert_int_equal(sums.maps, 1);
	assert_int_equal(sums.reason[0], 4);
	assert_int_equal(sums.gaps, 0);
}

static void a_cookie_follows_the_kernel_stack(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, 0, 7, 4);
	/* an interrupt between the two, with an event of its own, of the same task */
	send_event(0, 11, 41, 7, 100, 0);
	add_record(0, 12, 41, HARDIRQ, 7, 4);
	add_record(0, 13, KSTACK, HARDIRQ, 7, 6);
	add_record(0, 14, KSTACK, 0, 7, 6);
	/* its kernel stack is missing */
	send_event(0, 19, EVENT, 7, 100, 0);
	add_record(0, 20, EVENT, 0, 7, 4);
	add_record(0, 21, 50, 0, 7, 4);
	/* nothing follows */
	send_event(0, 29, EVENT, 7, 100, 0);
	add_record(0, 30, EVENT, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e41@12 k@13 c1.0/7 s1.0:1 k@14 c1.0/7 e40@20 c1.0/7 e50@21 e40@30 "
	       "c1.0/7");
}

static void a_kernel_stack_of_another_event(void **state)
{
	(void)state;
	kernel_stacks = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 10, EVENT, 0, 7, 4);
	/* an interrupt whose kernel stack is missing, and one whose event is missing */
	send_event(0, 11, 41, 7, 100, 0);
	add_record(0, 12, 41, HARDIRQ, 7, 4);
	add_record(0, 13, KSTACK, 0, 7, 6);
	send_event(0, 19, EVENT, 7, 100, 0);
	add_record(0, 20, EVENT, 0, 7, 4);
	add_record(0, 21, KSTACK, HARDIRQ, 7, 6);
	add_record(0, 22, KSTACK, 0, 7, 6);
	/* records were lost between the two */
	send_event(0, 29, EVENT, 7, 100, 0);
	add_record(0, 30, EVENT, 0, 7, 4);
	end_page(0, 0, 0);
	add_record(0, 31, KSTACK, 0, 7, 6);
	end_page(0, 1u << 31, 0);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e41@12 c1.0/7 s1.0:1 k@13 c1.0/7 e40@20 k@21 k@22 c1.0/7 "
	       "e40@30 c1.0/7 | !? k@31");
}

static void a_message_is_taken_once(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	pass_event(0, 10, 7, 100);
	add_event(0, 11, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 s1.0:1 e40@11");
}

static void interrupts_nest(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	/* an earlier entry, whose record a filter dropped */
	send_event(0, 5, EVENT, 7, 200, 0);
	/* M1 M2 R2 R1 */
	send_event(0, 9, EVENT, 7, 100, 0);
	pass_event(0, 11, 7, 100);
	add_event(0, 12, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@11 c1.0/7 s1.0:1 e40@12 c1.0/7");
	assert_int_equal(sums.no_message, 0);
}

static void messages_come_out_of_order(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 8, 2, NULL, NULL);
	/* the second program interrupts the first one before its message */
	seq[0] = 1;
	send_event(0, 10, 41, 7, 100, 0);
	seq[0] = 0;
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 11, 41, HARDIRQ, 7, 4);
	add_event(0, 12, 7);
	seq[0] = 2;
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e41@11 c1.0/7 s1.0:1 e40@12 c1.0/7");
	assert_int_equal(sums.gaps, 0);
}

static void a_lost_message_is_no_guess(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	/* no record takes this message: a filter dropped its record */
	send_event(0, 5, EVENT, 7, 200, 0);
	lose_message(0);
	add_event(0, 10, 7);
	pass_event(0, 20, 7, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e40@20 c1.0/7 s1.0:1");
	assert_int_equal(sums.no_message, 1);
	assert_int_equal(sums.gaps, 1);
}

static void the_gap_is_known_before_the_next_message(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	lose_message(0);
	add_event(0, 10, 7);
	send_event(0, 1000, EVENT, 8, 100, 0);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10");
	assert_int_equal(sums.no_message, 1);
}

static void lost_messages_at_the_end(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	lose_message(0);
	send_end();
	add_event(0, 10, 7);
	assert_int_equal(run(), 0);
	expect(0, "e40@10");
	assert_int_equal(sums.no_message, 1);
}

static void without_an_end_the_last_message_proves_nothing(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	pass_event(0, 6, 7, 100);
	pass_event(0, 10, 7, 100);
	assert_int_equal(run(), 0);
	expect(0, "e40@6 c1.0/7 s1.0:1 e40@10");
}

static void records_that_were_lost(void **state)
{
	int i;

	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	for (i = 0; i < 20; i++)
		send_event(0, 10 + i, EVENT, 7, 200, 0);
	pass_event(0, 100, 7, 100);
	end_page(0, 1u << 31 | 1u << 30, 20);
	add_event(0, 110, 9);
	end_page(0, 1u << 31, 0);
	add_event(0, 120, 9);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "!20 e40@100 c1.0/7 s1.0:1 | !? e40@110 e40@120");
	assert_int_equal(sums.other, 2);
}

static void a_filter_drops_records(void **state)
{
	int i;

	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	for (i = 0; i < 100; i++) {
		send_event(0, 100 * i, EVENT, 7, 200, 0);
		send_event(0, 100 * i + 10, EVENT, 7, 100, 0);
		add_event(0, 100 * i + 20, 7);
	}
	send_end();
	assert_int_equal(run(), 0);
	assert_int_equal(sums.cookies, 100);
	assert_int_equal(sums.stacks, 1);
}

static void a_message_of_another_cpu_is_not_taken(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	/* a filter dropped the record of CPU 0; then a message of CPU 1 was lost */
	send_event(0, 9, EVENT, 7, 100, 0);
	lose_message(1);
	send_event(1, 11, EVENT, 8, 100, 0);
	add_event(1, 20, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(1, "e40@20");
	assert_int_equal(sums.no_message, 1);
}

static void a_task_moves_between_message_and_record(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	/* CPU 1 has an older message, whose record a filter dropped */
	send_event(1, 5, 42, 7, 200, 0);
	send_event(0, 9, 42, 7, 100, 0);
	add_record(1, 10, 42, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(1, "e42@10 c1.1/7 s1.1:1");
}

/* 50 ms between the message and the record: the task was preempted, or its ID is of another task */
static void run_late_record(void)
{
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 10, 42, 7, 100, 0);
	add_record(0, 50000010, 42, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
}

static void a_task_is_preempted_between_message_and_record(void **state)
{
	(void)state;
	run_late_record();
	expect(0, "e42@50000010 c1.0/7 s1.0:1");
}

static void few_thread_ids_come_back_soon(void **state)
{
	(void)state;
	few_tids = true;
	run_late_record();
	expect(0, "e42@50000010");
	assert_int_equal(sums.no_message, 1);
}

static void a_message_lost_on_another_cpu(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	/* the message of CPU 0 was lost before the task moved to CPU 1 */
	send_event(1, 5, 42, 7, 100, 0);
	send_event(0, 6, EVENT, 8, 100, 0);
	lose_message(0);
	add_record(1, 10, 42, 0, 7, 4);
	/* other events cannot move */
	send_event(1, 11, 41, 7, 100, 0);
	add_record(1, 12, 41, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(1, "e42@10 e41@12 c1.1/7 s1.1:1");
}

static void a_gap_passed_with_the_message(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(1, 5, 42, 7, 100, 0);
	lose_message(0);
	send_event(0, 8, EVENT, 8, 100, 0);
	add_record(1, 10, 42, 0, 7, 4);
	send_event(1, 15, 42, 7, 100, 0);
	add_record(1, 20, 42, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(1, "e42@10 e42@20 c1.1/7 s1.1:1");
}

static void an_old_message_is_another_task(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	add_event(0, 20000000, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@20000000");
}

static void a_task_that_has_moved_on(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	/* a filter dropped its record; the program of the next one did not run, or sent 41 */
	send_event(0, 5, EVENT, 7, 100, 0);
	send_event(0, 9, 41, 7, 200, 0);
	add_event(0, 10, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10");
	assert_int_equal(sums.no_message, 1);
}

/*
 * A record without a message, because its program was already running. The left message, whose
 * record a filter dropped, is of an earlier entry; the message of the program comes after the
 * record.
 */
static void skipped_execution(unsigned int flags, uint32_t time_run, uint64_t after)
{
	setup(NULL);
	skips = filter = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 20, EVENT, flags, 7, 4);
	ran = time_run;
	pass_event(0, 31, 7, after);
	send_end();
	assert_int_equal(run(), 0);
}

static void the_message_of_a_skipped_execution(void **state)
{
	static const unsigned int contexts[] = { HARDIRQ, 0x10, 0x40 };
	size_t i;

	(void)state;
	/* the program itself hits the event, an interrupt comes before it notes the time */
	skipped_execution(0, 10, 200);
	expect(0, "e40@20 e40@31 c1.0/7 s1.0:2");
	assert_int_equal(sums.no_message, 1);
	for (i = 0; i < sizeof(contexts) / sizeof(*contexts); i++) {
		skipped_execution(contexts[i], 1, 200);
		expect(0, "e40@20 e40@31 c1.0/7 s1.0:2");
	}
	/* it interrupted another program, which may be the one; and it has no stack */
	skipped_execution(0, UINT32_MAX, 200);
	expect(0, "e40@20 e40@31 c1.0/7 s1.0:2");
	skipped_execution(0, 10, 0);
	expect(0, "e40@20 e40@31 c1.0/7 s1.0:0+8");
}

static void no_run_is_skipped(void **state)
{
	(void)state;
	/* the next program starts after the record */
	skipped_execution(0, 9, 200);
	expect(0, "e40@20 c1.0/7 s1.0:1 e40@31 c2.0/7 s2.0:2");
	/* the same stack */
	skipped_execution(HARDIRQ, 10, 100);
	expect(0, "e40@20 c1.0/7 s1.0:1 e40@31 c1.0/7");
	/* another task comes next, and then no more */
	setup(NULL);
	skips = filter = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	add_record(0, 20, EVENT, HARDIRQ, 7, 4);
	ran = 1000;
	send_event(0, 30, 41, 8, 100, 0);
	send_event(0, 39, EVENT, 7, 100, 0);
	add_record(0, 40, EVENT, HARDIRQ, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@20 c1.0/7 s1.0:1 e40@40 c1.0/7");
}

/* With programs that can be preempted, the next message proves nothing. */
static void skipped_runs_of_tasks_that_move(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		setup(NULL);
		skips = true;
		filter = i;
		send_stack(100, 7, 1, NULL, NULL);
		add_record(1, 1, 50, 0, 8, 4);
		send_event(0, 9, 42, 7, 100, 0);
		add_record(0, 10, 42, 0, 7, 4);
		send_event(1, 11, 41, 7, 100, 0);
		send_end();
		assert_int_equal(run(), 0);
		expect(0, i ? "e42@10" : "e42@10 c1.0/7 s1.0:1");
	}
}

/*
 * The programs count. A filter dropped the record of the message at 9; the record at 20 has no
 * message if the kernel skipped a run in between.
 */
static void counts_of_skipped_executions(void **state)
{
	enum {
		NONE, EARLIER, OTHER_PROGRAM, LATER,
		SKIPPED, SKIPPED_AT_THE_END, OTHER_CPU, TWICE, NO_COUNT, NO_END, NR,
	};
	int i;

	(void)state;
	for (i = 0; i < NR; i++) {
		setup(NULL);
		skips = filter = true;
		counter = 3;
		send_stack(100, 7, 1, NULL, NULL);
		send_stack(200, 8, 2, NULL, NULL);
		/* a run was skipped between 4 and 6 */
		send_event(1, 4, 42, 8, 200, 0);
		send_event(1, 6, 42, 8, 200, 0);
		skipped = i == EARLIER || i == TWICE;
		send_event(1, 8, 42, 8, 200, 0);
		skipped = 0;
		counter = i == NO_COUNT ? 0 : 3;
		send_event(0, 9, 42, 7, 100, 0);
		counter = 3;
		add_record(0, 20, 42, 0, 7, 4);
		/* preempted at 15: the next run knows that the one of task 7 was skipped */
		send_event(0, 30, 42, 8, 200, 0);
		skipped = i == SKIPPED;
		send_event(0, 40, 42, 8, 200, 0);
		skipped = 2 * (i == LATER);
		send_event(0, 50, 42, 8, 200, 0);
		send_event(0, 60, 42, 8, 200, 0);
		if (i == SKIPPED_AT_THE_END) {
			msgs.nr -= 3 * sizeof(struct msg_event);
			seq[0] -= 3;
		}
		if (i == SKIPPED_AT_THE_END || i == SKIPPED)
			send_count(0, 1);
		if (i == LATER)
			send_count(0, 2);
		if (i == EARLIER || i == OTHER_CPU)
			send_count(1, 1);
		if (i == TWICE)
			send_count(1, 2);
		/* so that only the end is missing */
		counter = 0;
		send_event(1, 70, 41, 8, 200, 0);
		counter = 4;
		if (i == OTHER_PROGRAM)
			send_count(0, 1);
		if (i != NO_END)
			send_end();
		assert_int_equal(run(), 0);
		expect(0, i < SKIPPED ? "e42@20 c1.0/7 s1.0:1" : "e42@20");
	}
}

/*
 * If no record is missing, no message is left over. Where programs can be preempted, that is all;
 * elsewhere the next message decides, too.
 */
static void a_skipped_run_without_a_filter(void **state)
{
	int event;

	(void)state;
	for (event = EVENT; event <= 42; event += 2) {
		setup(NULL);
		skips = true;
		send_stack(100, 7, 1, NULL, NULL);
		send_stack(200, 7, 2, NULL, NULL);
		add_event(0, 1, 8);
		send_event(0, 9, event, 7, 100, 0);
		add_record(0, 20, event, HARDIRQ, 7, 4);
		/* this one has no message */
		add_record(0, 25, event, HARDIRQ, 7, 4);
		ran = UINT32_MAX;
		send_event(0, 30, event, 7, 200, 0);
		add_record(0, 31, event, 0, 7, 4);
		send_end();
		assert_int_equal(run(), 0);
		expect(0, event == 42 ?
		       "e40@1 e42@20 c1.0/7 s1.0:1 e42@25 e42@31 c2.0/7 s2.0:2" :
		       "e40@1 e40@20 e40@25 e40@31 c1.0/7 s1.0:2");
		assert_int_equal(sums.no_message, event == 42 ? 1 : 2);
	}
}

/*
 * The record of the message at 5 is missing, and the record at 10 has no message. Only the message
 * at 14 is not later than the missing record can be.
 */
static void skipped_runs_and_lost_records(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		setup(NULL);
		skips = true;
		send_stack(100, 7, 1, NULL, NULL);
		add_record(0, 1, 50, 0, 8, 4);
		add_record(1, 2, 50, 0, 8, 4);
		end_page(1, 0, 0);
		send_event(0, 5, 42, 7, 100, 0);
		add_record(0, 10, 42, 0, 7, 4);
		send_event(0, 14, 42, 7, 100, 0);
		add_record(0, 15, 42, 0, 7, 4);
		/* lost between 2 and 12 or 20; after 2, as a page without records says; never */
		if (i < 2)
			add_record(1, i ? 20 : 12, 50, 0, 8, 4);
		if (i == 2) {
			add_word(1, 29);
			add_word(1, 100);
		}
		if (i < 3)
			end_page(1, 1u << 31, 0);
		send_end();
		assert_int_equal(run(), 0);
		expect(0, i == 0 ? "e50@1 e42@10 e42@15 c1.0/7 s1.0:1" :
			  i == 3 ? "e50@1 e42@10 c1.0/7 s1.0:1 e42@15 c1.0/7" :
			  "e50@1 e42@10 e42@15");
	}
}

/* ftrace may not have recorded yet when the first message came. */
static void skipped_runs_before_the_first_record(void **state)
{
	(void)state;
	skips = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, 42, 7, 100, 0);
	add_record(1, 8, 50, 0, 8, 4);
	add_record(0, 10, 42, 0, 7, 4);
	send_event(0, 14, 42, 7, 100, 0);
	add_record(0, 15, 42, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e42@10 e42@15 c1.0/7 s1.0:1");
}

/* A message that its record does not believe is left for no other record. */
static void a_refused_message_is_not_taken_later(void **state)
{
	(void)state;
	skips = true;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	add_record(0, 1, 50, 0, 8, 4);
	send_event(0, 9, 42, 7, 100, 0);
	send_event(0, 10, 41, 7, 200, 0);
	add_record(0, 11, 42, 0, 7, 4);
	send_event(0, 20, 41, 7, 100, 0);
	add_record(0, 21, 42, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e50@1 e42@11 e42@21");
}

static void a_later_message_is_not_taken(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	add_event(0, 10, 7);
	send_event(0, 11, EVENT, 7, 100, 0);
	add_event(0, 11, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e40@11 c1.0/7 s1.0:1");
}

static void other_events_and_tasks(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	add_record(0, 1, 50, 0, 7, 4);
	add_event(0, 2, 0);
	send_event(0, 3, 41, 7, 100, 0);
	add_event(0, 4, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e50@1 e40@2 e40@4");
	assert_int_equal(sums.events, 2);
	assert_int_equal(sums.other, 1);
	assert_int_equal(sums.no_message, 1);
}

/* ------------------------------- kprobe events ---------------------------- */

/* The message of a hit at @time, 2 ns later; @stack 0: none */
static void send_hit(int cpu, uint64_t time, int event, uint32_t tid, uint64_t stack, uint32_t ago)
{
	since = ago;
	if (stack)
		send_event(cpu, time + 2, event, tid, stack, 0);
	since = 0;
}

/* The record of a hit, and its message */
static void add_hit(int cpu, uint64_t time, int event, uint32_t tid, uint64_t stack,
		    uint32_t ago)
{
	add_record(cpu, time, event, 0, tid, 4);
	send_hit(cpu, time, event, tid, stack, ago);
}

static void a_kprobe_event_is_before_its_message(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	add_hit(0, 10, PROBE, 7, 100, UINT32_MAX);
	add_hit(0, 20, PROBE, 7, 200, 10);
	/* another kprobe event, another task, another CPU; a tracepoint */
	add_hit(0, 30, PROBE + 1, 7, 100, UINT32_MAX);
	add_hit(1, 35, PROBE, 8, 200, UINT32_MAX);
	pass_event(0, 40, 7, 100);
	add_hit(0, 50, PROBE, 7, 200, 30);
	/* in the same nanosecond */
	since = 10;
	send_event(0, 60, PROBE, 7, 100, 0);
	since = 0;
	add_record(0, 60, PROBE, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e43@10 c1.0/7 s1.0:1 e43@20 c2.0/7 s2.0:2 e44@30 c3.0/7 s3.0:1 e40@40 c3.0/7 "
	       "e43@50 c4.0/7 s4.0:2 e43@60 c5.0/7 s5.0:1");
	expect(1, "e43@35 c1.1/8 s1.1:2");
	assert_int_equal(sums.gaps, 0);
}

static void a_kprobe_event_without_its_message(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_stack(200, 7, 2, NULL, NULL);
	/* no message; then a record that a filter dropped */
	add_hit(0, 10, PROBE, 7, 0, 0);
	send_hit(0, 20, PROBE, 7, 100, 10);
	/* the next message is of another event, of another task */
	add_hit(0, 30, PROBE, 7, 0, 0);
	add_hit(0, 40, PROBE + 1, 7, 200, UINT32_MAX);
	add_hit(0, 50, PROBE, 7, 0, 0);
	add_hit(0, 60, PROBE, 8, 100, UINT32_MAX);
	/* nobody takes messages whose records are missing */
	send_hit(0, 70, PROBE, 7, 100, 10);
	send_hit(0, 80, PROBE, 7, 100, 10);
	add_hit(0, 90, PROBE, 7, 200, 10);
	/* nor is a message of another CPU */
	add_hit(0, 100, PROBE, 7, 0, 0);
	send_hit(1, 101, PROBE, 7, 100, UINT32_MAX);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e43@10 e43@30 e44@40 c1.0/7 s1.0:2 e43@50 e43@60 "
	       "c2.0/8 s2.0:1 e43@90 c1.0/7 e43@100");
}

/* add_record() writes 0x1000002 and 0x1000003 after the common fields; stacks start at 0x400000. */
static void the_stack_of_a_uprobe_event_starts_there(void **state)
{
	uint64_t there = 0x100000301000002;

	(void)state;
	send_stack(100, 7, 2, &code_a, NULL);
	memcpy(msgs.v + msgs.nr - 16, &there, 8);
	send_stack(200, 7, 2, &code_a, NULL);
	send_event(0, 9, UPROBE, 7, 100, 0);
	add_record(1, 10, UPROBE, 0, 7, 4);
	/* the program ran at another place; the record ends too soon; there is no stack */
	send_event(0, 19, UPROBE, 7, 200, 0);
	add_record(0, 20, UPROBE, 0, 7, 4);
	send_event(0, 29, UPROBE, 7, 100, 0);
	add_record(0, 30, UPROBE, 0, 7, 3);
	send_event(0, 39, UPROBE, 7, 0, MSG_BUSY);
	add_record(0, 40, UPROBE, 0, 7, 4);
	send_end();
	assert_int_equal(run(), 0);
	expect(1, "e45@10 c1.1/7 m400000=/bin/a s1.1:2");
	expect(0, "e45@20 e45@30 e45@40 c1.0/7 s1.0:0+8");
}

/* Messages about kprobe events have numbers as all others. */
static void a_gap_before_a_kprobe_event(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	lose_message(0);
	add_hit(0, 6, PROBE, 7, 100, 5);
	add_event(0, 10, 7);
	pass_event(0, 20, 7, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e43@6 c1.0/7 s1.0:1 e40@10 e40@20 c1.0/7");
	assert_int_equal(sums.gaps, 1);
	/* and the last of all */
	setup(NULL);
	send_stack(100, 7, 1, NULL, NULL);
	send_event(0, 5, EVENT, 7, 100, 0);
	lose_message(0);
	add_event(0, 10, 7);
	add_hit(0, 20, PROBE, 7, 100, 5);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e43@20 c1.0/7 s1.0:1");
}

/* --------------------------------- two CPUs ------------------------------- */

static void a_task_that_moves(void **state)
{
	(void)state;
	send_stack(100, 7, 1, &code_a, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(1, 20, 7, 100);
	pass_event(0, 30, 7, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a s1.0:1 e40@30 c1.0/7");
	expect(1, "e40@20 c1.0/7");
}

static void two_tasks_have_two_cookies(void **state)
{
	(void)state;
	send_stack(100, 7, 1, &code_a, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(1, 11, 8, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a s1.0:1");
	expect(1, "e40@11 c1.1/8 s1.1:1");
}

/* ---------------------------------- stacks -------------------------------- */

static void a_mapping_that_comes_back(void **state)
{
	(void)state;
	send_stack(100, 7, 1, &code_a, &code_c);
	send_stack(200, 7, 1, &code_b, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 7, 200);
	pass_event(0, 30, 7, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000=/bin/a m700000=[vdso] s1.0:1 "
	       "e40@20 c2.0/7 m400000=/bin/b s2.0:1 e40@30 c3.0/7 m400000=/bin/a s3.0:1");
}

static void a_file_without_a_path(void **state)
{
	static char longer[5000];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	path_of_file[1] = NULL;
	path_of_file[2] = longer;
	send_stack(100, 7, 1, &code_a, NULL);
	send_stack(200, 7, 1, &code_b, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 7, 200);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 m400000= s1.0:1 e40@20 c2.0/7 m400000= s2.0:1");
}

static void a_deep_stack_is_split(void **state)
{
	(void)state;
	send_stack(100, 7, 512, NULL, NULL);
	send_stack(200, 7, 257, NULL, NULL);
	pass_event(0, 10, 7, 100);
	pass_event(0, 20, 7, 200);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 s1.0:256+4 | s1.0:256 e40@20 c2.0/7 | s2.0:256+4 s2.0:1");
}

static void a_missing_stack_has_a_reason(void **state)
{
	(void)state;
	send_stack(100, 7, 2, NULL, NULL);
	send_event(0, 9, EVENT, 7, 0, MSG_NO_REGISTERS);
	add_event(0, 10, 7);
	send_event(0, 19, EVENT, 7, 0, MSG_BUSY);
	add_event(0, 20, 7);
	pass_event(0, 30, 7, 100);
	/* its stack was never sent */
	pass_event(0, 40, 7, 300);
	send_event(0, 49, EVENT, 7, 100, MSG_HOLE);
	add_event(0, 50, 7);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 c1.0/7 s1.0:0+8 e40@20 c1.0/7 e40@30 c2.0/7 s2.0:2 "
	       "e40@40 c3.0/7 s3.0:0+8 e40@50 c4.0/7 s4.0:2");
	assert_int_equal(sums.reason[MSG_NO_REGISTERS], 1);
	assert_int_equal(sums.reason[MSG_BUSY], 1);
	assert_int_equal(sums.reason[MSG_NO_ROOM], 1);
	assert_int_equal(sums.reason[MSG_HOLE], 1);
	assert_int_equal(sums.reason[MSG_OK], 1);
}

/* ---------------------------------- pages --------------------------------- */

static void long_deltas(void **state)
{
	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	add_event(0, 10, 9);
	send_event(0, 5000000000 - 1, EVENT, 7, 100, 0);
	add_event(0, 5000000000, 7);
	add_event(0, 5000000000 + (1 << 27), 9);
	add_event(0, 5000000000 + (1 << 28) - 1, 9);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e40@5000000000 c1.0/7 s1.0:1 e40@5134217728 e40@5268435455");
}

/* A stamp of 59 bits, padding in the middle, and padding to the end. */
static void stamps_and_padding(void **state)
{
	(void)state;
	add_event(0, 10, 9);
	add_word(0, 31 | 500 << 5);
	add_word(0, 1);
	last[0] = (1 << 27) + 500;
	add_event(0, last[0] + 1, 9);
	add_word(0, 29 | 7 << 5);
	add_word(0, 12);
	add_word(0, 1);
	add_word(0, 2);
	last[0] += 7;
	add_event(0, last[0] + 1, 9);
	add_word(0, 29);
	add_word(0, 100);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "e40@10 e40@134218229 e40@134218237");
}

/* Pages that are full to the last byte, before and after. */
static void full_pages(void **state)
{
	unsigned int i, nr = 0;
	const char *at;

	(void)state;
	send_stack(100, 7, 1, NULL, NULL);
	for (i = 0; i < 204 * 3; i++) {
		send_event(0, 2 * i, EVENT, 7, 100, 0);
		/* 20 bytes each: 204 fill 4080 */
		if (used[0] == 4080)
			end_page(0, 0, 0);
		if (!used[0])
			memcpy(page[0], &(uint64_t){ 2 * i + 1 }, 8);
		add_word(0, 4 | (used[0] ? 2 << 5 : 0));
		add_word(0, EVENT);
		add_word(0, 7);
		add_word(0, 0);
		add_word(0, 0);
	}
	send_end();
	assert_int_equal(used[0], 4080);
	assert_int_equal(run(), 0);
	for (at = result(0); (at = strstr(at, "e40@")); at++, nr++)
		assert_int_equal(strtoul(at + 4, NULL, 10), 2 * nr + 1);
	assert_int_equal(nr, 204 * 3);
	assert_int_equal(sums.cookies, 204 * 3);
	assert_int_equal(sums.stacks, 1);
}

/* A record as large as a page allows, with the number of lost records after it. */
static void large_records(void **state)
{
	(void)state;
	add_record(0, 10, 50, 0, 9, (4080 - 8 - 8) / 4);
	end_page(0, 1u << 31 | 1u << 30, 3);
	add_record(0, 20, 50, 0, 9, 900);
	add_record(0, 30, 50, 0, 9, 30);
	send_end();
	assert_int_equal(run(), 0);
	expect(0, "!3 e50@10 | e50@20 e50@30");
}

static void pages_of_another_size(void **state)
{
	static const unsigned int sizes[] = { 1024, 8192, 65536 };
	static char expected[64];
	unsigned int i, k;
	const char *at;

	for (i = 0; i < 3; i++) {
		setup(state);
		page_size = sizes[i];
		send_stack(100, 7, 200, &code_a, NULL);
		send_stack(200, 7, 1, &code_a, NULL);
		for (k = 0; k < 300; k++) {
			send_event(0, 10 * k, EVENT, 7, k & 1 ? 200 : 100, 0);
			add_event(0, 10 * k + 1, 7);
		}
		send_end();
		assert_int_equal(run(), 0);
		assert_int_equal(sums.cookies, 300);
		assert_int_equal(sums.stacks, page_size == 1024 ? 450 : 300);
		for (at = result(0), k = 0; (at = strstr(at, "e40@")); k++, at++) {
			snprintf(expected, sizeof(expected), "e40@%u c%u.0/7 ", 10 * k + 1, k + 1);
			assert_memory_equal(at, expected, strlen(expected) - 1);
		}
		assert_int_equal(k, 300);
	}
}

static void no_pages_and_no_messages(void **state)
{
	(void)state;
	assert_int_equal(run(), 0);
	expect(0, "");
}

/* ---------------------------------- hostile ------------------------------- */

static void damaged_messages(void **state)
{
	struct text whole = {};
	size_t len;

	(void)state;
	send_stack(100, 7, 1, &code_a, NULL);
	send_event(0, 9, EVENT, 7, 100, 0);
	send_end();
	text_add_bytes(&whole, msgs.v, msgs.nr);
	add_event(0, 10, 7);
	for (len = 1; len < whole.nr; len++) {
		/* a file that ends where a message ends is not damaged */
		if (len == sizeof(struct msg_stack) + sizeof(struct msg_code) + 8 ||
		    len == sizeof(struct msg_stack) + sizeof(struct msg_code) + 8 +
		    sizeof(struct msg_event) || len == whole.nr - sizeof(struct msg_end))
			continue;
		text_clear(&msgs);
		text_add_bytes(&msgs, whole.v, len);
		assert_int_equal(run(), -EBADMSG);
		assert_non_null(strstr(why, "the message file is damaged at byte "));
		expect(0, "e40@10");
	}
	vec_free(&whole);
}

/* Change each byte of the type and length of a message. */
static void hostile_messages(void **state)
{
	static const struct {
		size_t at;
		uint32_t val;
	} bad[] = {
		{ 0, 99 }, { 4, 0 }, { 4, 7 }, { 4, 0x7fffffff },
		{ offsetof(struct msg_stack, nr), 513 }, { offsetof(struct msg_stack, nr), 2 },
		{ offsetof(struct msg_stack, nr), 0xffffffff },
		{ offsetof(struct msg_stack, nr_code), 17 },
		{ offsetof(struct msg_stack, nr_code), 0x10000000 },
	}, bad_python[] = {
		{ 4, sizeof(struct msg_python) }, { offsetof(struct msg_python, number), 0 },
		{ offsetof(struct msg_python, table), 9 },
		{ offsetof(struct msg_python, table), 0xffffffff },
		{ offsetof(struct msg_python, name.kind), 0 },
		{ offsetof(struct msg_python, file.kind), 3 },
	};
	size_t i;

	(void)state;
	add_event(0, 10, 7);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		text_clear(&msgs);
		send_stack(100, 7, 1, NULL, NULL);
		memcpy(msgs.v + bad[i].at, &bad[i].val, 4);
		assert_int_equal(run(), -EBADMSG);
	}
	for (i = 0; i < sizeof(bad_python) / sizeof(*bad_python); i++) {
		text_clear(&msgs);
		send_python(1, "outer", 1, "a.p", 4);
		memcpy(msgs.v + bad_python[i].at, &bad_python[i].val, 4);
		assert_int_equal(run(), -EBADMSG);
	}
	text_clear(&msgs);
	send_event(NR_CPUS - 1, 9, EVENT, 7, 100, MSG_NR_REASONS);
	assert_int_equal(run(), -EBADMSG);
	text_clear(&msgs);
	send_event(0, 9, EVENT, 7, 100, 0);
	((struct msg_event *)msgs.v)->cpu = NR_CPUS;
	assert_int_equal(run(), -EBADMSG);
}

static void damaged_pages_stay_as_they_are(void **state)
{
	(void)state;
	add_event(0, 10, 7);
	add_word(0, 0);
	add_word(0, 5000);
	send_end();
	assert_int_equal(run(), -EBADMSG);
	assert_string_equal(why, "the recording with its stacks: a page is damaged");
	assert_non_null(strstr(result(0), "e40@10"));
}

#define TEST(fn)	cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_lie_between_the_records),
		TEST(samples_without_kernel_stacks),
		TEST(samples_of_kernel_threads),
		TEST(a_sample_ends_the_entry),
		TEST(functions_have_their_own_stacks),
		TEST(functions_before_the_kernel_stack),
		TEST(functions_before_the_kernel_stack_with_interrupts_off),
		TEST(functions_of_another_task_end_the_group),
		TEST(functions_after_a_lost_kernel_stack),
		TEST(equal_stacks_in_a_row_share_a_cookie),
		TEST(a_cookie_follows_the_kernel_stack),
		TEST(a_kernel_stack_of_another_event),
		TEST(a_message_is_taken_once),
		TEST(interrupts_nest),
		TEST(messages_come_out_of_order),
		TEST(a_lost_message_is_no_guess),
		TEST(the_gap_is_known_before_the_next_message),
		TEST(lost_messages_at_the_end),
		TEST(without_an_end_the_last_message_proves_nothing),
		TEST(records_that_were_lost),
		TEST(a_filter_drops_records),
		TEST(a_message_of_another_cpu_is_not_taken),
		TEST(a_task_moves_between_message_and_record),
		TEST(a_task_is_preempted_between_message_and_record),
		TEST(few_thread_ids_come_back_soon),
		TEST(a_message_lost_on_another_cpu),
		TEST(a_gap_passed_with_the_message),
		TEST(an_old_message_is_another_task),
		TEST(a_task_that_has_moved_on),
		TEST(the_message_of_a_skipped_execution),
		TEST(no_run_is_skipped),
		TEST(skipped_runs_of_tasks_that_move),
		TEST(counts_of_skipped_executions),
		TEST(a_skipped_run_without_a_filter),
		TEST(skipped_runs_and_lost_records),
		TEST(skipped_runs_before_the_first_record),
		TEST(a_refused_message_is_not_taken_later),
		TEST(a_later_message_is_not_taken),
		TEST(other_events_and_tasks),
		TEST(a_kprobe_event_is_before_its_message),
		TEST(a_kprobe_event_without_its_message),
		TEST(a_gap_before_a_kprobe_event),
		TEST(the_stack_of_a_uprobe_event_starts_there),
		TEST(a_task_that_moves),
		TEST(two_tasks_have_two_cookies),
		TEST(a_mapping_that_comes_back),
		TEST(a_file_without_a_path),
		TEST(a_deep_stack_is_split),
		TEST(a_missing_stack_has_a_reason),
		TEST(long_deltas),
		TEST(stamps_and_padding),
		TEST(full_pages),
		TEST(large_records),
		TEST(pages_of_another_size),
		TEST(no_pages_and_no_messages),
		TEST(damaged_messages),
		TEST(hostile_messages),
		TEST(a_function_of_python_is_a_mapping_of_each_process),
		TEST(numbers_beyond_the_limit_are_not_functions),
		TEST(damaged_pages_stay_as_they_are),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
