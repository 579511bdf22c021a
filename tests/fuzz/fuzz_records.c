// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz_records - hostile records and formats against our own code
 *
 * A libFuzzer target. The input gives the size of a long and the byte order,
 * then the damage to the formats' fields, then the records:
 *
 *	u8 flags		1: long is 4 bytes, 2: big endian, 4: upstream layout
 *	u8 nr, nr times: u8 event, u8 field, s16 offset, s16 size, u8 flags
 *	records: u8 event, u8 where (cpu 0-3, instance, "events were dropped"),
 *		 u8 step in time, u8 length, bytes
 *
 * All numbers are little endian. The records take the same path as in the
 * plugin: the fuzzer feeds them once to the join and the maps, through the
 * pipe's encoding; then the handlers print them record by record. The test does
 * not cover libtraceevent's parser of format text: the fuzzer damages the
 * fields after the parser is done.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/trace-cmd/trace-cmd.h"
#include "plugin/recording/wire.h"
#include "libunwind-user/base/base.h"

#define COMMON								\
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"	\
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"	\
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FIELD(type, name, offset, size)					\
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:0;\n"

static const char *const formats[] = {
	"name: kernel_stack\nID: 4\nformat:\n" COMMON
	FIELD("int", "size", 8, 4) FIELD("unsigned long", "caller[]", 16, 0)
	"\nprint fmt: \"%d\", REC->size\n",
	"name: user_unwind_cookie\nID: 21\nformat:\n" COMMON
	FIELD("u64", "cookie", 8, 8) "\nprint fmt: \"%llx\", REC->cookie\n",
	"name: user_unwind_stack\nID: 22\nformat:\n" COMMON
	FIELD("u64", "cookie", 8, 8) FIELD("u32", "tgid", 16, 4) FIELD("u32", "flags", 20, 4)
	FIELD("__data_loc unsigned long[]", "stack", 24, 4) "\nprint fmt: \"%llx\", REC->cookie\n",
	"name: user_unwind_map\nID: 23\nformat:\n" COMMON
	FIELD("u64", "start", 8, 8) FIELD("u64", "end", 16, 8) FIELD("u64", "pgoff", 24, 8)
	FIELD("u64", "ino", 32, 8) FIELD("u32", "tgid", 40, 4) FIELD("u32", "dev_major", 44, 4)
	FIELD("u32", "dev_minor", 48, 4) FIELD("u32", "build_id_size", 52, 4)
	FIELD("u8", "build_id[20]", 56, 20) FIELD("__data_loc char[]", "path", 76, 4)
	"\nprint fmt: \"%u\", REC->tgid\n",
	"name: user_unwind_again\nID: 24\nformat:\n" COMMON
	FIELD("u64", "cookie", 8, 8) FIELD("u64", "first", 16, 8)
	"\nprint fmt: \"%llx\", REC->cookie\n",
};

static const char upstream_stack[] =
	"name: user_unwind_stack\nID: 22\nformat:\n" COMMON
	FIELD("u64", "cookie", 8, 8) FIELD("__data_loc unsigned long[]", "stack", 16, 4)
	"\nprint fmt: \"%llx\", REC->cookie\n";

static const char *const names[] = {
	"kernel_stack", "user_unwind_cookie", "user_unwind_stack", "user_unwind_map",
	"user_unwind_again",
};
#define NR_EVENTS 5

struct input {
	const uint8_t *p, *end;
};

static unsigned int byte(struct input *in)
{
	return in->p < in->end ? *in->p++ : 0;
}

static int word(struct input *in)
{
	unsigned int lo = byte(in);

	return (int16_t)(lo | byte(in) << 8);
}

static void bend(struct tep_handle *tep, struct input *in)
{
	unsigned int nr = byte(in), which;
	struct tep_format_field *f;
	struct tep_event *e;

	while (nr--) {
		e = tep_find_event_by_name(tep, "ftrace", names[byte(in) % NR_EVENTS]);
		which = byte(in);
		if (!e)
			continue;
		f = which & 0x80 ? e->format.common_fields : e->format.fields;
		for (which &= 0x7f; f && which && f->next; which--)
			f = f->next;
		if (!f)
			continue;
		f->offset = (unsigned int)word(in) * (which & 0x40 ? 0x10001u : 1);
		f->size = word(in);
		f->flags ^= byte(in);
	}
}

static struct tep_handle *make_tep(struct input *in, struct ustack_file *u)
{
	struct tep_handle *tep = tep_alloc();
	unsigned int flags = byte(in);
	int i;

	tep_set_long_size(tep, flags & 1 ? 4 : 8);
	tep_set_file_bigendian(tep, flags & 2 ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	u->tep = tep;
	handlers_register(u);
	for (i = 0; i < NR_EVENTS; i++) {
		const char *f = flags & 4 && i == 2 ? upstream_stack : formats[i];

		if (flags & 4 && i == 3 && flags & 8)
			f = formats[1];
		tep_parse_event(tep, f, strlen(f), "ftrace");
	}
	return tep;
}

/*
 * Copy record number @nr into a buffer of exactly its size, so that the sanitizer sees a read past
 * it.
 */
static bool next_record(struct input *in, struct tep_record *rec, uint8_t *where, int *event,
			uint64_t *ts)
{
	unsigned int len;

	if (in->end - in->p < 4)
		return false;
	*event = byte(in) % (NR_EVENTS + 1);
	*where = byte(in);
	*ts += (uint64_t)byte(in) << (*where >> 5 & 6) * 4;
	len = byte(in);
	if (len > in->end - in->p)
		len = in->end - in->p;
	memset(rec, 0, sizeof(*rec));
	rec->data = malloc(len ? len : 1);
	memcpy(rec->data, in->p, len);
	rec->size = len;
	rec->ts = *ts;
	rec->cpu = *where & 3;
	rec->missed_events = *where & 8 ? (*where & 16 ? -1 : 3) : 0;
	in->p += len;
	return true;
}

static uint32_t stream_of(uint8_t where)
{
	return (where & 3) + (where & 4);
}

/* The streams one after the other, as the file is read. */
static void feed_all(struct tep_handle *tep, struct input in, struct sink *sink)
{
	struct feed *feed = feed_new(tep, sink);
	struct tep_record rec;
	uint64_t ts, pos;
	struct input it;
	uint8_t where;
	uint32_t s;
	int event;

	for (s = 0; s < 8; s++) {
		feed_start_stream(feed, s / 4, s % 4);
		it = in;
		ts = 0;
		for (pos = 1; next_record(&it, &rec, &where, &event, &ts); pos++) {
			rec.offset = pos;
			if (stream_of(where) == s)
				feed_record(feed, &rec);
			free(rec.data);
		}
	}
	feed_end_stream(feed);
	feed_free(feed);
}

static void through_the_pipe(struct tep_handle *tep, struct input in, struct sink *sink)
{
	static struct wire w;
	struct sink out;
	int fd = memfd_create("wire", MFD_CLOEXEC);

	wire_make_sink(&out, &w, fd);
	feed_all(tep, in, &out);
	wire_write_end(&w, 0);
	lseek(fd, 0, SEEK_SET);
	if (wire_read_all(fd, sink, clock_get_ms() + 10000))
		abort();	/* the reader must accept what we wrote */
	close(fd);
}

static void print_all(struct tep_handle *tep, struct input in)
{
	struct tep_record rec;
	struct tep_event *e;
	struct trace_seq s;
	uint64_t ts = 0, pos;
	uint8_t where;
	int event;

	trace_seq_init(&s);
	for (pos = 1; next_record(&in, &rec, &where, &event, &ts); pos++) {
		rec.offset = pos;
		/* the handler that a host would call for this type */
		e = event < NR_EVENTS ? tep_find_event_by_name(tep, "ftrace", names[event]) : NULL;
		if (e && e->handler) {
			trace_seq_reset(&s);
			e->handler(&s, &rec, e, e->context);
		}
		free(rec.data);
	}
	trace_seq_destroy(&s);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *root = getenv("FUZZ_SYSROOT");

	(void)argc;
	(void)argv;
	/* paths out of records must not reach this machine's files */
	tep_plugin_add_option("ustack:sysroot", root ? root : "/nonexistent");
	options_add();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ustack_file *u = calloc(1, sizeof(*u));
	struct input in = { data, data + size };
	struct sink_target target;
	struct tep_handle *tep;
	struct join_stats st;
	struct sink sink;

	u->fd = -1;
	u->path = strdup("fuzz");
	make_tep(&in, u);
	bend(u->tep, &in);
	target.join = u->scan.join = join_new();
	target.maps = u->scan.maps = maps_new();
	sink_set_to_join(&sink, &target);
	if (decode_init(&u->dec, u->tep))
		through_the_pipe(u->tep, in, &sink);
	if (join_finish(u->scan.join) || maps_finish(u->scan.maps))
		abort();
	u->scanned = true;
	ustack_file_make_frames(u);
	print_all(u->tep, in);
	join_get_stats(u->scan.join, &st);
	tep = u->tep;
	ustack_file_close(u);		/* frees u */
	tep_free(tep);
	return 0;
}
