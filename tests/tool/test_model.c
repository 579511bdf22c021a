// SPDX-License-Identifier: GPL-2.0
/*
 * test_model - unit tests of the reader and the model
 *
 * The tests compare the file's own pages with libtracecmd, and the join asked by stream with the
 * join asked by position. They also check filters, fields and counts.
 */
#include <glob.h>
#include <unistd.h>

#include "trace-cmd-ext/model/impl.h"
#include "trace-cmd-ext/model/reader_int.h"
#include "tests/unit/unit.h"

static glob_t fixtures;

static int find_fixtures(void **state)
{
	char pattern[4096];

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/*.dat", getenv("FIXTURES"));
	if (glob(pattern, 0, NULL, &fixtures) || fixtures.gl_pathc < 20)
		return 1;
	snprintf(pattern, sizeof(pattern), "%s/*.dat", getenv("RANDOM_FILES"));
	return glob(pattern, GLOB_APPEND, NULL, &fixtures) || fixtures.gl_pathc < 40;
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

	assert_int_equal(reader_get_nr_streams(a), reader_get_nr_streams(b));
	for (i = 0; i < reader_get_nr_streams(a); i++) {
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
		raw += a->raw;
		assert_false(b->raw);
		same_records(a, b);
		/* and once more from the start */
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
	for (i = 1; i < READER_HELD; i++)
		reader_next(r, 0);
	assert_memory_equal(first, &copy, sizeof(copy));
	reader_close(r);
}

static void reader_keeps_the_number_of_records_asked_for(void **state)
{
	struct tep_record *kept[8 * READER_HELD], copies[8 * READER_HELD];
	const size_t all = 8 * READER_HELD;
	struct reader *r;
	size_t nr, i;
	int raw;

	(void)state;
	for (raw = 0; raw < 2; raw++) {
		r = open_reader(fixture("nested"), raw);
		for (nr = 0; nr < all && (kept[nr] = reader_next(r, 0)); nr++) {
			copies[nr] = *kept[nr];
			/* while there is room, and when the ring has turned */
			if (nr == READER_HELD / 2)
				assert_int_equal(reader_hold_records(r, 0, READER_HELD + 1), 0);
			else if (nr == 2 * READER_HELD)
				assert_int_equal(reader_hold_records(r, 0, 2 * READER_HELD + 1), 0);
		}
		assert_true(nr > 2 * READER_HELD);
		for (i = 1; i < nr; i++) {
			assert_int_equal(kept[i]->ts, copies[i].ts);
			assert_ptr_equal(kept[i]->data, copies[i].data);
		}
		reader_close(r);
	}
}

/* One request asked both ways. */
static void ask(struct model *m, uint32_t stream, struct tep_record *rec, uint64_t cookie,
		struct join_cursor *cursor, int *answered)
{
	struct join_answer a, b = {};
	uint32_t tid, run;

	assert_true(decode_read_tid(&m->dec, rec, &tid));
	join_find_answer(m->join, &(struct join_question){
		rec->cpu, tid, rec->offset, rec->ts, cookie }, &a);
	run = join_find_run(m->join, stream, tid, rec->offset, cookie, cursor);
	if (run != JOIN_NO_RUN)
		join_get_run(m->join, run, &b, NULL);
	/* by position, it can be unknown which of two buffers is meant */
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
	struct join_cursor cursor;
	struct model *m;
	uint64_t cookie;
	int answered = 0;
	uint32_t s;
	size_t i;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		m = open_model(fixtures.gl_pathv[i], NULL);
		assert_int_equal(model_rewind(m), 0);
		for (s = 0; s < reader_get_nr_streams(m->reader); s++) {
			memset(&cursor, 0, sizeof(cursor));
			while ((rec = reader_next(m->reader, s))) {
				cookie = 0;
				switch (decode_read_kind(&m->dec, rec)) {
				case DECODE_COOKIE:
					assert_true(decode_read_cookie(&m->dec, rec, &cookie));
					/* fall through */
				case DECODE_KERNEL_STACK:
					ask(m, s, rec, cookie, &cursor, &answered);
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
		s->joined += model_get_ustack(s->m, ev->ustack)->state == JOIN_STACK;
	if (s->field.present && model_read_string(s->m, ev, &s->field, &text, &len))
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
		assert_int_equal(model_for_each(m, MODEL_BY_CPU, see, &cpu), 0);
		assert_int_equal(model_for_each(m, MODEL_BY_TIME, see, &time), 0);
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
	assert_true(model_find_field(s.m, work, "text", &s.field));
	assert_int_equal(model_for_each(s.m, MODEL_BY_TIME, see, &s), 0);
	assert_int_equal(s.nr, 1);
	assert_string_equal(s.text, "first");
	assert_int_equal(s.m->kstacks.nr, 1);
	v = model_get_kframes(s.m, 0, &nr);
	assert_int_equal(nr, 2);
	assert_string_equal(model_get_frame(s.m, v[0])->func, "schedule");
	assert_int_equal(model_get_frame(s.m, v[0])->func_offset, 0xa4);
	v = model_get_uframes(s.m, 0, &nr);
	assert_int_equal(nr, 5);
	assert_string_equal(model_get_frame(s.m, v[0])->func, "read");
	assert_string_equal(model_get_frame(s.m, v[4])->func, "_start");
	assert_string_equal(model_get_frame(s.m, v[4])->file->path, "/usr/bin/app");
	assert_int_equal(model_get_tgid(s.m, 100), 100);
	assert_string_equal(model_get_comm(s.m, 100), "app");
	model_close(s.m);
}

/* ---- counting, in all its ways ---- */

static uint64_t hash_name(const char *s)
{
	uint64_t h = s ? 1 : 0;

	while (s && *s)
		h = hash64(h ^ (unsigned char)*s++);
	return h;
}

/* All facts about an event, without the model's own numbers. */
static uint64_t hash_event(struct model *m, uint32_t type, uint32_t tid, uint32_t kstack,
			   uint32_t ustack)
{
	uint64_t h = hash64(hash_name(model_get_type(m, type)->name) + tid);
	const struct kernel_stack *k = kstack == MODEL_NONE ? NULL : &m->kstacks.v[kstack];
	const struct model_ustack *u = ustack == MODEL_NONE ? NULL : model_get_ustack(m, ustack);
	const struct model_frame *f;
	const uint32_t *v;
	uint32_t i, nr;

	h = k ? hash_words(m->kaddrs.v + k->off, k->nr, h + 1) : h;
	h = hash64(h + (u ? u->state + 1 : 0));
	if (!u || u->state != JOIN_STACK)
		return h;
	h = hash64(hash_words(u->addrs, u->nr, h) + u->flags) + join_get_pid(u->tgid, u->tid);
	v = model_get_uframes(m, ustack, &nr);
	assert_int_equal(nr, u->nr);
	for (i = 0; i < nr; i++) {
		f = model_get_frame(m, v[i]);
		h = hash64(h ^ f->offset) + hash_name(f->func);
		h = hash64(h + (f->file ? f->file->id + 1 : 0)) + f->exact + f->tgid;
	}
	return h;
}

struct sum {
	struct model *m;
	uint64_t events, joined, hash;
};

static void add(struct sum *s, uint32_t type, uint32_t tid, uint32_t kstack, uint32_t ustack,
		uint64_t nr)
{
	s->events += nr;
	s->hash += nr * hash_event(s->m, type, tid, kstack, ustack);
	if (ustack != MODEL_NONE)
		s->joined += model_get_ustack(s->m, ustack)->state == JOIN_STACK ? nr : 0;
}

static int add_event(void *data, const struct model_event *ev)
{
	add(data, ev->type, ev->tid, ev->kstack, ev->ustack, 1);
	return 0;
}

enum way { ONE_BY_ONE, IN_THE_SCAN, SCAN_GIVEN_UP, ONE_PROCESS, THREE_PROCESSES, NR_WAYS };

static struct sum sum_up(const char *path, const struct model_filter *filter, enum way way)
{
	struct model_opts opts = { .filter = *filter };
	const struct model_count *c;
	struct sum s = {};
	size_t nr, i;

	opts.counts = way == IN_THE_SCAN || way == SCAN_GIVEN_UP;
	opts.max_early_counts = way == SCAN_GIVEN_UP ? 3 : 0;
	opts.processes = way == THREE_PROCESSES ? 3 : 1;
	s.m = open_model(path, &opts);
	assert_int_equal(!!s.m->early_counts, opts.counts);
	if (way == ONE_BY_ONE) {
		assert_int_equal(model_for_each(s.m, MODEL_BY_TIME, add_event, &s), 0);
	} else {
		assert_int_equal(model_get_counts(s.m, &c, &nr), 0);
		for (i = 0; i < nr; i++)
			add(&s, c[i].type, c[i].tid, c[i].kstack, c[i].ustack, c[i].nr);
	}
	model_close(s.m);
	return s;
}

static void all_ways_count_the_same(void **state)
{
	static const char *symbols[] = { "out*" }, *events[] = { "sample:wor*" };
	static const char *comms[] = { "task[12]*" };
	static uint32_t cpus[] = { 1 }, pids[] = { 100, 164 };
	const struct model_filter filters[] = {
		{},
		{ .symbols = symbols, .nr_symbols = 1 },
		{ .pids = pids, .nr_pids = 2, .events = events, .nr_events = 1 },
		{ .comms = comms, .nr_comms = 1, .cpus = cpus, .nr_cpus = 1 },
		{ .from = 1200000, .to = 200000000 },
	};
	uint64_t joined = 0;
	struct sum one, other;
	size_t i, k;
	int way;

	(void)state;
	for (i = 0; i < fixtures.gl_pathc; i++) {
		for (k = 0; k < sizeof(filters) / sizeof(*filters); k++) {
			one = sum_up(fixtures.gl_pathv[i], &filters[k], ONE_BY_ONE);
			joined += one.joined;
			for (way = ONE_BY_ONE + 1; way < NR_WAYS; way++) {
				/* the filter works the same in each process; forks take time */
				if (k && way > SCAN_GIVEN_UP)
					break;
				other = sum_up(fixtures.gl_pathv[i], &filters[k], way);
				if (other.events != one.events || other.joined != one.joined ||
				    other.hash != one.hash)
					fail_msg("%s, filter %zu, way %d: %lu events, %lu joined; "
						 "one by one: %lu, %lu", fixtures.gl_pathv[i], k,
						 way, other.events, other.joined, one.events,
						 one.joined);
			}
		}
	}
	assert_true(joined > 2000);
}

/* ---- frames ---- */

/* Frames are kept and shared; here each address of each stack is looked up by itself. */
static void frames_are_those_of_each_address(void **state)
{
	uint64_t shared = 0, frames = 0, offset;
	const struct maps_file *file;
	const struct model_frame *f;
	struct join_answer ans;
	uint32_t run, i, nr, u;
	const uint32_t *v;
	struct model *m;
	bool exact;
	size_t k;

	(void)state;
	for (k = 0; k < fixtures.gl_pathc; k++) {
		m = open_model(fixtures.gl_pathv[k], NULL);
		for (run = 0; run < join_get_nr_runs(m->join); run++) {
			join_get_run(m->join, run, &ans, NULL);
			u = model_get_run_ustack(m, run);
			if (ans.state != JOIN_STACK)
				continue;
			v = model_get_uframes(m, u, &nr);
			frames_cut_at_non_code(m->maps, NULL, m->syms, &ans);
			assert_int_equal(nr, ans.nr);
			assert_int_equal(model_get_ustack(m, u)->flags, ans.flags);
			shared += model_find_like_uframes(m, u) != u;
			exact = !(ans.flags & STACK_NO_INNER);
			for (i = 0; i < nr; i++, frames++) {
				f = model_get_frame(m, v[i]);
				file = frames_find_file(m->maps, &ans, ans.addrs[i], exact,
							&offset);
				if (f->file != file || f->offset != offset ||
				    f->addr != ans.addrs[i] || f->exact != exact ||
				    (!file && f->tgid != join_get_pid(ans.tgid, ans.tid)))
					fail_msg("%s: run %u, frame %u at %lx: %s+%lx, not %s+%lx",
						 fixtures.gl_pathv[k], run, i, ans.addrs[i],
						 f->file ? f->file->path : "-", f->offset,
						 file ? file->path : "-", offset);
				exact = m->frames.v[v[i]].signal;
			}
		}
		model_close(m);
	}
	assert_true(frames > 2000);
	assert_true(shared > 100);
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
	assert_int_equal(model_for_each(s.m, MODEL_BY_TIME, see, &s), 0);
	assert_int_equal(s.nr, 2);
	model_close(s.m);
	opts.filter.nr_symbols = 0;
	opts.filter.cpus = cpus;
	opts.filter.nr_cpus = 1;
	s = (struct seen){};
	s.m = open_model(fixture("instances"), &opts);
	assert_int_equal(model_for_each(s.m, MODEL_BY_CPU, see, &s), 0);
	assert_int_equal(s.nr, 2);
	model_close(s.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_hold_the_records_that_libtracecmd_reads),
		cmocka_unit_test(a_record_stays_valid_for_some_more),
		cmocka_unit_test(reader_keeps_the_number_of_records_asked_for),
		cmocka_unit_test(a_run_answers_as_its_records_do),
		cmocka_unit_test(both_orders_pass_the_same_events),
		cmocka_unit_test(an_event_has_its_stacks_and_fields),
		cmocka_unit_test(all_ways_count_the_same),
		cmocka_unit_test(frames_are_those_of_each_address),
		cmocka_unit_test(a_filter_chooses),
	};

	return cmocka_run_group_tests(tests, find_fixtures, NULL);
}
