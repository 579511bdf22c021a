// SPDX-License-Identifier: GPL-2.0
/*
 * The reader and the model: the file's own pages against libtracecmd, the join asked by stream
 * against the join asked by position, filters, fields, counts.
 */
#include <glob.h>
#include <unistd.h>

#include "model_int.h"
#include "unit.h"

static glob_t fixtures;

static int find_fixtures(void **state)
{
	char pattern[4096];

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/*.dat", getenv("FIXTURES"));
	return glob(pattern, 0, NULL, &fixtures) || fixtures.gl_pathc < 20;
}

static const char *fixture(const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s.dat", getenv("FIXTURES"), name);
	return path;
}

static struct model *open_model(const char *path, const struct model_opts *opts)
{
	char why[256] = "";
	struct model *m = model_open(path, opts, why, sizeof(why));

	if (!m)
		fail_msg("%s: %s", path, why);
	return m;
}

static struct reader *open_reader(const char *path, bool no_raw)
{
	struct reader_opts opts = { .no_raw = no_raw };
	char why[256] = "";
	struct reader *r = reader_open(path, &opts, why, sizeof(why));

	if (!r)
		fail_msg("%s: %s", path, why);
	return r;
}

static void same_records(struct reader *a, struct reader *b)
{
	struct tep_record *x, *y;
	uint32_t i;

	assert_int_equal(reader_nr_streams(a), reader_nr_streams(b));
	for (i = 0; i < reader_nr_streams(a); i++) {
		do {
			x = reader_next(a, i);
			y = reader_next(b, i);
			assert_int_equal(!x, !y);
			if (!x)
				continue;
			assert_int_equal(x->ts, y->ts);
			assert_int_equal(x->offset, y->offset);
			assert_int_equal(x->missed_events, y->missed_events);
			assert_int_equal(x->size, y->size);
			assert_int_equal(x->record_size, y->record_size);
			assert_int_equal(x->cpu, y->cpu);
			assert_memory_equal(x->data, y->data, x->size);
		} while (x);
	}
}

static void pages_hold_the_records_that_libtracecmd_reads(void **state)
{
	struct reader *a, *b;
	size_t i, raw = 0;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		a = open_reader(fixtures.gl_pathv[i], false);
		b = open_reader(fixtures.gl_pathv[i], true);
		raw += reader_is_raw(a);
		assert_false(reader_is_raw(b));
		same_records(a, b);
		/* and once more from the begin */
		assert_int_equal(reader_rewind(a), 0);
		assert_int_equal(reader_rewind(b), 0);
		same_records(a, b);
		reader_close(a);
		reader_close(b);
	}
	assert_int_equal(raw, fixtures.gl_pathc);
}

static void a_record_stays_valid_for_some_more(void **state)
{
	struct reader *r = open_reader(fixture("more"), true);
	struct tep_record *first = reader_next(r, 0), copy = *first;
	int i;

	(void)state;
	for (i = 1; i < READER_KEEP; i++)
		reader_next(r, 0);
	assert_memory_equal(first, &copy, sizeof(copy));
	reader_close(r);
}

/* One request asked both ways. */
static void ask(struct model *m, uint32_t stream, struct tep_record *rec, uint64_t cookie,
		struct join_last *last, int *answered)
{
	struct join_answer a, b = {};
	uint32_t tid, run;

	assert_true(decode_tid(&m->dec, rec, &tid));
	join_at(m->join, rec->cpu, tid, rec->offset, rec->ts, cookie, &a);
	run = join_run_at(m->join, stream, tid, rec->offset, cookie, last);
	if (run != JOIN_NO_RUN)
		join_run(m->join, run, &b, NULL);
	/* asked by position it may not be known which of two buffers is meant */
	if (a.state == JOIN_UNSURE)
		return;
	assert_int_equal(a.state, b.state);
	assert_int_equal(a.id, b.id);
	assert_int_equal(a.flags, b.flags);
	assert_int_equal(a.ts, b.ts);
	*answered += a.state != JOIN_NONE;
}

static void a_run_answers_as_its_records_do(void **state)
{
	struct tep_record *rec;
	struct join_last last;
	struct model *m;
	uint64_t cookie;
	int answered = 0;
	uint32_t s;
	size_t i;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		m = open_model(fixtures.gl_pathv[i], NULL);
		assert_int_equal(model_rewind(m), 0);
		for (s = 0; s < reader_nr_streams(m->reader); s++) {
			memset(&last, 0, sizeof(last));
			while ((rec = reader_next(m->reader, s))) {
				cookie = 0;
				switch (decode_kind(&m->dec, rec)) {
				case DECODE_COOKIE:
					assert_true(decode_cookie(&m->dec, rec, &cookie));
					/* fall through */
				case DECODE_KERNEL_STACK:
					ask(m, s, rec, cookie, &last, &answered);
					break;
				default:
					break;
				}
			}
		}
		model_close(m);
	}
	assert_true(answered > 50);
}

struct seen {
	struct model *m;
	uint64_t nr, last_ts, joined, kernel;
	bool by_time;
	char text[64];
	struct decode_field field;
};

static int see(void *data, const struct model_event *ev)
{
	struct seen *s = data;
	const char *text;
	uint32_t len;

	if (s->by_time)
		assert_true(ev->ts >= s->last_ts);
	s->last_ts = ev->ts;
	s->nr++;
	s->kernel += ev->kstack != MODEL_NONE;
	if (ev->ustack != MODEL_NONE)
		s->joined += model_ustack(s->m, ev->ustack)->state == JOIN_STACK;
	if (s->field.present && model_string(s->m, ev, &s->field, &text, &len))
		snprintf(s->text, sizeof(s->text), "%.*s", (int)len, text);
	return 0;
}

static void both_orders_pass_the_same_events(void **state)
{
	struct seen cpu, time;
	struct model *m;
	size_t i;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		m = open_model(fixtures.gl_pathv[i], NULL);
		cpu = (struct seen){ .m = m };
		time = (struct seen){ .m = m, .by_time = strcmp(fixtures.gl_pathv[i],
								fixture("unordered")) };
		assert_int_equal(model_each(m, MODEL_BY_CPU, see, &cpu), 0);
		assert_int_equal(model_each(m, MODEL_BY_TIME, see, &time), 0);
		assert_int_equal(cpu.nr, time.nr);
		assert_int_equal(cpu.joined, time.joined);
		assert_int_equal(cpu.kernel, time.kernel);
		model_close(m);
	}
}

static void an_event_has_its_stacks_and_fields(void **state)
{
	struct model_opts opts = {};
	struct seen s = {};
	const uint32_t *v;
	uint32_t nr, work;
	char root[4096];

	(void)state;
	snprintf(root, sizeof(root), "%s/root", getenv("FIXTURES"));
	opts.sysroot = root;
	s.m = open_model(fixture("kernel_stack"), &opts);
	work = model_find_type(s.m, "sample", "work");
	assert_int_not_equal(work, MODEL_NONE);
	assert_int_equal(model_find_type(s.m, NULL, "no_such_event"), MODEL_NONE);
	assert_true(model_field(s.m, work, "text", &s.field));
	assert_int_equal(model_each(s.m, MODEL_BY_TIME, see, &s), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.text, "first");
	assert_int_equal(model_nr_kstacks(s.m), 1);
	v = model_kframes(s.m, 0, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(model_frame(s.m, v[0])->func, "schedule");
	assert_int_equal(model_frame(s.m, v[0])->func_offset, 0xa4);
	v = model_uframes(s.m, 0, &nr);
	assert_int_equal(nr, 5);
	assert_string_equal(model_frame(s.m, v[0])->func, "read");
	assert_string_equal(model_frame(s.m, v[4])->func, "_start");
	assert_string_equal(model_frame(s.m, v[4])->file->path, "/usr/bin/app");
	assert_int_equal(model_tgid(s.m, 100), 100);
	assert_string_equal(model_comm(s.m, 100), "app");
	model_close(s.m);
}

/* @processes 0: in the scan */
static uint64_t counted(const char *path, uint32_t processes, uint64_t *joined)
{
	struct model_opts opts = { .processes = processes, .counts = !processes };
	struct model *m = open_model(path, &opts);
	const struct model_count *c;
	uint64_t sum = 0;
	size_t nr, i;

	*joined = 0;
	assert_int_equal(model_counts(m, &c, &nr), 0);
	for (i = 0; i < nr; i++) {
		sum += c[i].nr;
		if (c[i].kstack != MODEL_NONE)
			assert_true(c[i].kstack < model_nr_kstacks(m));
		if (c[i].ustack == MODEL_NONE)
			continue;
		assert_true(c[i].ustack < model_nr_ustacks(m));
		if (model_ustack(m, c[i].ustack)->state == JOIN_STACK)
			*joined += c[i].nr;
	}
	model_close(m);
	return sum;
}

static void several_processes_count_what_one_does(void **state)
{
	uint64_t one, joined_one, joined;
	size_t i;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		one = counted(fixtures.gl_pathv[i], 1, &joined_one);
		assert_int_equal(counted(fixtures.gl_pathv[i], 3, &joined), one);
		assert_int_equal(joined, joined_one);
	}
}

static void a_filter_chooses(void **state)
{
	const char *symbols[] = { "outer" }, *events[] = { "sample:wor*" };
	uint32_t cpus[] = { 1 };
	struct model_opts opts = {};
	struct seen s = {};
	char root[4096];

	(void)state;
	snprintf(root, sizeof(root), "%s/root", getenv("FIXTURES"));
	opts.sysroot = root;
	opts.filter.symbols = symbols;
	opts.filter.nr_symbols = 1;
	opts.filter.events = events;
	opts.filter.nr_events = 1;
	s.m = open_model(fixture("instances"), &opts);
	assert_int_equal(model_each(s.m, MODEL_BY_TIME, see, &s), 0);
	assert_int_equal(s.nr, 2);
	model_close(s.m);
	opts.filter.nr_symbols = 0;
	opts.filter.cpus = cpus;
	opts.filter.nr_cpus = 1;
	s = (struct seen){};
	s.m = open_model(fixture("instances"), &opts);
	assert_int_equal(model_each(s.m, MODEL_BY_CPU, see, &s), 0);
	assert_int_equal(s.nr, 2);
	model_close(s.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_hold_the_records_that_libtracecmd_reads),
		cmocka_unit_test(a_record_stays_valid_for_some_more),
		cmocka_unit_test(a_run_answers_as_its_records_do),
		cmocka_unit_test(both_orders_pass_the_same_events),
		cmocka_unit_test(an_event_has_its_stacks_and_fields),
		cmocka_unit_test(several_processes_count_what_one_does),
		cmocka_unit_test(a_filter_chooses),
	};

	return cmocka_run_group_tests(tests, find_fixtures, NULL);
}
