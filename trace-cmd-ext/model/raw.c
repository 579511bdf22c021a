// SPDX-License-Identifier: GPL-2.0
/*
 * raw.c - read records directly from the pages of the ring buffer
 *
 * The pages in a file are those of the kernel: a time stamp of 8 bytes, a long with the number of
 * bytes that follow (and flags), then entries. include/linux/ring_buffer.h and the file's own
 * header_event describe them:
 *
 *	type_len:5 time_delta:27	in this order from the low bit, in big-endian files from the
 *					high bit
 *	type_len 1..28			data of 4 * type_len bytes
 *	         0			a word with the size of data and word, then data
 *	         29			padding: a word with its size
 *	         30, 31			a word with the rest of a longer delta, of a time stamp
 *
 * Nothing is copied: the file is mapped, and the data of a record points into the mapping. Pages
 * that were read are given back to the system now and then, because the pages of a large file would
 * count as this process's memory.
 *
 * This code does not convert time stamps, and does not know everything that libtracecmd may know
 * about a file. So it is used only if both read the same first record of every stream.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plugin/recording/recording.h"
#include "reader_int.h"

#define MISSING_EVENTS	(1u << 31)
#define MISSING_STORED	(1u << 30)
#define COMMIT_MASK	((1u << 27) - 1)
#define TS_MSB		(0xf8ull << 56)
#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_STAMP	31

/* So many bytes of a stream before its last record stay in memory. */
#define MAPPED_BYTES	(4u << 20)

struct pages_search {
	struct reader *r;
	bool bad;
};

static int note_pages(void *data, const char *buffer, uint32_t cpu, uint64_t offset,
		      uint64_t size, uint32_t page_size, bool compressed)
{
	struct pages_search *f = data;
	struct reader *r = f->r;
	struct input_stream *s;
	size_t i;

	for (i = 0; i < r->streams.nr; i++) {
		s = &r->streams.v[i];
		if (s->pub.cpu != cpu || strcmp(reader_get_buffer_name(r, s->pub.buffer), buffer))
			continue;
		if (compressed || s->raw.size || size > r->bytes || offset > r->bytes - size) {
			f->bad = true;
			return 0;
		}
		s->raw.offset = offset;
		s->raw.size = s->pub.bytes = size;
		s->raw.page_size = page_size ? page_size : r->page_size;
		if (s->raw.page_size < 64 || s->raw.page_size & (s->raw.page_size - 1))
			f->bad = true;
		return 0;
	}
	return 0;
}

static void rewind_stream(struct input_stream *s)
{
	s->raw.page = s->raw.offset;
	s->raw.dropped = s->raw.offset;
	s->raw.next = s->raw.end = NULL;
	s->nr = 0;
}

void raw_rewind(struct reader *r)
{
	size_t i;

	for (i = 0; i < r->streams.nr; i++)
		rewind_stream(&r->streams.v[i]);
}

static bool has_same_first(struct reader *r, uint32_t i)
{
	struct tep_record *ours, *theirs = r->streams.v[i].ahead;

	ours = raw_next(r, i);
	return ours && theirs && ours->ts == theirs->ts && ours->offset == theirs->offset &&
	       ours->size == theirs->size && ours->record_size == theirs->record_size &&
	       ours->missed_events == theirs->missed_events &&
	       !memcmp(ours->data, theirs->data, ours->size);
}

void raw_open(struct reader *r)
{
	struct pages_search search = { .r = r };
	struct sections_sink sink = { .pages = note_pages, .data = &search };
	unsigned char head[18];
	size_t i;
	bool ok;

	if (r->opts.no_raw || pread(r->fd, head, sizeof(head), 0) != sizeof(head))
		return;
	r->big_endian = head[12] == 1;
	r->long_size = head[13] == 4 ? 4 : 8;
	r->page_size = r->big_endian ?
			(uint32_t)head[14] << 24 | head[15] << 16 | head[16] << 8 | head[17] :
			(uint32_t)head[17] << 24 | head[16] << 16 | head[15] << 8 | head[14];
	r->swap = r->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (sections_walk(r->fd, &sink) || search.bad)
		return;
	r->map = mmap(NULL, r->bytes, PROT_READ, MAP_PRIVATE, r->fd, 0);
	if (r->map == MAP_FAILED) {
		r->map = NULL;
		return;
	}
	raw_rewind(r);
	ok = true;
	for (i = 0; i < r->streams.nr && ok; i++)
		ok = r->streams.v[i].raw.size && has_same_first(r, i);
	raw_rewind(r);
	r->raw = ok;
	if (!ok)
		raw_close(r);
}

void raw_close(struct reader *r)
{
	if (r->map)
		munmap(r->map, r->bytes);
	r->map = NULL;
	r->raw = false;
}

static inline uint32_t read4(const struct reader *r, const unsigned char *p)
{
	uint32_t x;

	memcpy(&x, p, sizeof(x));
	return r->swap ? __builtin_bswap32(x) : x;
}

static inline uint64_t read8(const struct reader *r, const unsigned char *p)
{
	uint64_t x;

	memcpy(&x, p, sizeof(x));
	return r->swap ? __builtin_bswap64(x) : x;
}

/* Return the pages that were read to the system. A later access reads them from the file again. */
static void release_read_pages(struct reader *r, struct input_stream *s)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t from = (s->raw.dropped + page - 1) & -page, to;

	if (s->raw.page < s->raw.dropped + 2 * MAPPED_BYTES)
		return;
	to = (s->raw.page - MAPPED_BYTES) & -page;
	if (to > from)
		madvise(r->map + from, to - from, MADV_DONTNEED);
	s->raw.dropped = to;
}

/* Go to the next page that has entries. */
static bool load_page(struct reader *r, struct input_stream *s)
{
	const unsigned char *p;
	uint32_t head = 8 + r->long_size, commit, size;

	if (s->raw.page + s->raw.page_size > s->raw.offset + s->raw.size)
		return false;
	p = r->map + s->raw.page;
	s->raw.ts = read8(r, p);
	commit = r->long_size == 8 ? read8(r, p + 8) : read4(r, p + 8);
	size = commit & COMMIT_MASK;
	if (size > s->raw.page_size - head) {
		r->damaged = true;
		return false;
	}
	s->raw.first = s->raw.next = p + head;
	s->raw.end = s->raw.first + size;
	s->raw.missed = 0;
	if (commit & MISSING_EVENTS) {
		s->raw.missed = -1;
		if (commit & MISSING_STORED && size + r->long_size <= s->raw.page_size - head)
			s->raw.missed = r->long_size == 8 ? read8(r, s->raw.end) :
							    read4(r, s->raw.end);
	}
	s->raw.base = s->raw.page;
	s->raw.page += s->raw.page_size;
	release_read_pages(r, s);
	return true;
}

struct tep_record *raw_next(struct reader *r, uint32_t stream)
{
	struct input_stream *s = &r->streams.v[stream];
	const unsigned char *begin, *p;
	struct tep_record *rec;
	uint32_t word, type, length;
	uint64_t delta;

	for (;;) {
		while (s->raw.end - s->raw.next < 4) {
			if (!load_page(r, s)) {
				s->raw.next = s->raw.end = NULL;
				s->raw.page = s->raw.offset + s->raw.size;
				return NULL;
			}
		}
		begin = s->raw.next;
		word = read4(r, begin);
		p = begin + 4;
		type = r->big_endian ? word >> 27 : word & 31;
		delta = r->big_endian ? word & ((1u << 27) - 1) : word >> 5;
		if (type && type < TYPE_PADDING) {
			length = 4 * type;
		} else {
			if (s->raw.end - p < 4) {
				s->raw.next = s->raw.end;
				r->damaged = true;
				continue;
			}
			word = read4(r, p);
			if (type == TYPE_PADDING) {
				length = word;
			} else if (type == 0) {
				p += 4;
				length = (word - 4 + 3) & ~3u;
			} else {
				p += 4;
				length = 0;
				delta += (uint64_t)word << 27;
			}
		}
		/* the length is 0 or too large, so the rest of this page cannot be read */
		if (length > (uint64_t)(s->raw.end - p) || (type == TYPE_PADDING && !length)) {
			s->raw.next = s->raw.end;
			r->damaged |= type != TYPE_PADDING;
			continue;
		}
		s->raw.next = p + length;
		if (type == TYPE_STAMP)
			s->raw.ts = delta | (s->raw.ts & TS_MSB);
		else
			s->raw.ts += delta;
		if (type < TYPE_PADDING)
			break;
	}
	rec = s->raw_records[s->nr++ & (s->room - 1)];
	rec->ts = s->raw.ts;
	rec->offset = s->raw.base + (begin - s->raw.first) + 8 + r->long_size;
	rec->missed_events = begin == s->raw.first ? s->raw.missed : 0;
	rec->record_size = s->raw.next - begin;
	rec->size = length;
	rec->data = (void *)p;
	rec->cpu = s->pub.cpu;
	rec->ref_count = 1;
	return rec;
}
