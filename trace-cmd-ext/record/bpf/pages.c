// SPDX-License-Identifier: GPL-2.0
/* pages.c - read and write the pages of a ring buffer. See pages.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/base/base.h"
#include "pages.h"

#define MISSED_EVENTS	(1u << 31)
#define MISSED_STORED	(1u << 30)
#define COMMIT_MASK	((1u << 27) - 1)

#define TYPE_MAX_DATA	28		/* words: longer data has a word with its size */
#define TYPE_PADDING	29
#define TYPE_EXTEND	30
#define TYPE_STAMP	31
#define DELTA_BITS	27
/* A time stamp of a record has 59 bits, the page has the others. */
#define STAMP_HIGH	(0xf8ull << 56)

#define WORD		4u
/* A page keeps room for the number of lost records. */
#define LOST_SIZE	8u

/* "field: TYPE NAME;\toffset:N;\tsize:N;" */
static bool read_field(const char *text, const char *name, unsigned int *offset, unsigned int *size)
{
	const char *at = strstr(text, name);

	at = at ? strstr(at, "offset:") : NULL;
	return at && sscanf(at, "offset:%u; size:%u;", offset, size) == 2;
}

int pages_parse_layout(struct pages_layout *l, const char *header_page, unsigned int size)
{
	unsigned int at, len;

	l->size = size;
	if (!header_page || !read_field(header_page, " timestamp;", &at, &len) || at || len != 8)
		return -EINVAL;
	if (!read_field(header_page, " commit;", &l->commit, &l->commit_size) ||
	    (l->commit_size != 8 && l->commit_size != 4) || l->commit < 8)
		return -EINVAL;
	if (!read_field(header_page, " data;", &l->data, &len) ||
	    l->data < l->commit + l->commit_size || l->data > 64)
		return -EINVAL;
	if (size < 512 || size > COMMIT_MASK || size % 8)
		return -EINVAL;
	return 0;
}

/* The low bits of a long: its first or its last bytes. */
static unsigned char *commit_word(const struct pages_layout *l, unsigned char *page)
{
	const uint16_t one = 1;
	bool little = *(const unsigned char *)&one;

	return page + l->commit + (little ? 0 : l->commit_size - WORD);
}

static unsigned int get_type(uint32_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word & 31 : word >> DELTA_BITS;
}

static uint64_t get_delta(uint32_t word)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return word >> 5;
	return word & ((1u << DELTA_BITS) - 1);
}

static uint32_t make_word(unsigned int type, uint32_t delta)
{
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		return type | delta << 5;
	return type << DELTA_BITS | delta;
}

/* --------------------------------- reading ------------------------------- */

int pages_open_in(struct pages_in *in, const struct pages_layout *l, const char *path)
{
	*in = (struct pages_in){ .l = l };
	in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in->fd < 0)
		return errno == ENOENT ? 0 : -errno;
	in->page = malloc(l->size);
	return in->page ? 0 : -ENOMEM;
}

void pages_close_in(struct pages_in *in)
{
	if (in->fd >= 0)
		close(in->fd);
	in->fd = -1;
	free(in->page);
	in->page = NULL;
}

/* 1; 0 if the file has no other whole page. */
static int read_page(struct pages_in *in)
{
	const struct pages_layout *l = in->l;
	uint32_t commit;
	int ret;

	ret = fd_pread_all(in->fd, in->page, l->size, in->offset);
	if (ret)
		return ret == -ENODATA ? 0 : ret;
	in->offset += l->size;
	memcpy(&in->time, in->page, sizeof(in->time));
	memcpy(&commit, commit_word(l, in->page), sizeof(commit));
	in->page_time = in->time;
	in->pos = l->data;
	if ((commit & COMMIT_MASK) > l->size - l->data)
		return -EBADMSG;
	in->end = l->data + (commit & COMMIT_MASK);
	if (!(commit & MISSED_EVENTS))
		return 1;
	/* a page without a record may have said so, too */
	in->missed |= MISSED_EVENTS;
	if (commit & MISSED_STORED && l->size - in->end >= LOST_SIZE) {
		uint64_t lost;

		memcpy(&lost, in->page + in->end, sizeof(lost));
		in->lost += lost;
		in->missed |= MISSED_STORED;
	}
	return 1;
}

static bool get_word(struct pages_in *in, uint32_t *word)
{
	if (in->end - in->pos < WORD)
		return false;
	memcpy(word, in->page + in->pos, WORD);
	in->pos += WORD;
	return true;
}

/* The kernel does the same in rb_fix_abs_ts(). */
static uint64_t fix_stamp(uint64_t stamp, uint64_t last)
{
	if (!(last & STAMP_HIGH))
		return stamp;
	stamp |= last & STAMP_HIGH;
	/* the low bits wrapped */
	return stamp < last ? stamp + (1ull << 59) : stamp;
}

int pages_next(struct pages_in *in)
{
	uint32_t word, more;
	uint64_t delta;
	int ret;

	in->missed = 0;
	in->lost = 0;
	if (in->fd < 0)
		return 0;
	for (;;) {
		if (in->pos >= in->end) {
			ret = read_page(in);
			if (ret <= 0)
				return ret;
			continue;
		}
		if (!get_word(in, &word))
			return -EBADMSG;
		in->type_len = get_type(word);
		delta = get_delta(word);
		in->body = in->page + in->pos;
		switch (in->type_len) {
		case TYPE_EXTEND:
		case TYPE_STAMP:
			if (!get_word(in, &more))
				return -EBADMSG;
			delta += (uint64_t)more << DELTA_BITS;
			if (in->type_len == TYPE_EXTEND)
				in->time += delta;
			else
				in->time = fix_stamp(delta, in->time);
			continue;
		case TYPE_PADDING:
			/* without a delta: the rest of the page */
			if (!delta) {
				in->pos = in->end;
				continue;
			}
			if (in->end - in->pos < WORD)
				return -EBADMSG;
			memcpy(&more, in->body, WORD);
			if (more < WORD || more > in->end - in->pos)
				return -EBADMSG;
			in->time += delta;
			in->pos += more;
			continue;
		case 0:
			if (in->end - in->pos < WORD)
				return -EBADMSG;
			memcpy(&more, in->body, WORD);
			if (more < WORD || more > in->end - in->pos)
				return -EBADMSG;
			in->data = in->body + WORD;
			in->data_size = more - WORD;
			in->body_size = (more + WORD - 1) & ~(WORD - 1);
			break;
		default:
			in->data = in->body;
			in->data_size = in->body_size = in->type_len * WORD;
		}
		if (in->body_size > in->end - in->pos)
			return -EBADMSG;
		in->time += delta;
		in->pos += in->body_size;
		return 1;
	}
}

/* --------------------------------- writing ------------------------------- */

int pages_open_out(struct pages_out *out, const struct pages_layout *l, const char *path)
{
	*out = (struct pages_out){ .l = l };
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (out->fd < 0)
		return -errno;
	out->page = calloc(1, l->size);
	return out->page ? 0 : -ENOMEM;
}

static unsigned int count_room(const struct pages_out *out)
{
	return out->l->size - out->l->data - (out->missed & MISSED_STORED ? LOST_SIZE : 0);
}

static int write_page(struct pages_out *out)
{
	const struct pages_layout *l = out->l;
	uint32_t commit = out->used | out->missed;
	int ret;

	if (!out->open)
		return 0;
	memset(out->page + l->commit, 0, l->commit_size);
	memcpy(commit_word(l, out->page), &commit, sizeof(commit));
	memset(out->page + l->data + out->used, 0, l->size - l->data - out->used);
	if (out->missed & MISSED_STORED)
		memcpy(out->page + l->data + out->used, &out->lost, sizeof(out->lost));
	ret = fd_write_all(out->fd, out->page, l->size);
	if (ret)
		return ret;
	out->open = false;
	out->used = 0;
	out->missed = 0;
	out->lost = 0;
	return 0;
}

static void start_page(struct pages_out *out, uint64_t time)
{
	memcpy(out->page, &time, sizeof(time));
	out->time = time;
	out->open = true;
}

int pages_put_missed(struct pages_out *out, uint32_t flags, uint64_t lost, uint64_t time)
{
	int ret = write_page(out);

	if (ret)
		return ret;
	out->missed = flags;
	out->lost = lost;
	start_page(out, time);
	return 0;
}

static void put_bytes(struct pages_out *out, const void *data, unsigned int size)
{
	memcpy(out->page + out->l->data + out->used, data, size);
	out->used += size;
}

static void put_word(struct pages_out *out, uint32_t word)
{
	put_bytes(out, &word, sizeof(word));
}

/* Make room for a record of @size bytes with its word, and write a delta that is too long. */
static int reserve_record(struct pages_out *out, uint64_t time, unsigned int size, uint32_t *delta)
{
	uint64_t since = time - out->time;
	unsigned int extend = since >> DELTA_BITS ? 2 * WORD : 0;
	int ret;

	*delta = 0;
	/* 59 bits fit; a clock that went back starts a page */
	if (out->open && time >= out->time && !(since & STAMP_HIGH) &&
	    out->used + extend + size <= count_room(out)) {
		if (extend) {
			put_word(out, make_word(TYPE_EXTEND, since & ((1u << DELTA_BITS) - 1)));
			put_word(out, since >> DELTA_BITS);
		} else {
			*delta = since;
		}
		out->time = time;
		return 0;
	}
	/* the page is empty, so it may still get another time stamp */
	if (!out->open || out->used) {
		ret = write_page(out);
		if (ret)
			return ret;
	}
	start_page(out, time);
	return size <= count_room(out) ? 0 : -EMSGSIZE;
}

int pages_put(struct pages_out *out, uint64_t time, unsigned int type_len, const void *body,
	      unsigned int size)
{
	uint32_t delta;
	int ret = reserve_record(out, time, WORD + size, &delta);

	if (ret)
		return ret;
	put_word(out, make_word(type_len, delta));
	put_bytes(out, body, size);
	return 0;
}

int pages_put_data(struct pages_out *out, uint64_t time, const void *data, unsigned int size)
{
	bool small = size <= TYPE_MAX_DATA * WORD;
	uint32_t delta;
	int ret = reserve_record(out, time, (small ? WORD : 2 * WORD) + size, &delta);

	if (ret)
		return ret;
	put_word(out, make_word(small ? size / WORD : 0, delta));
	if (!small)
		put_word(out, size + WORD);
	put_bytes(out, data, size);
	return 0;
}

unsigned int pages_get_max_data(const struct pages_layout *l)
{
	return l->size - l->data - LOST_SIZE - 2 * WORD;
}

int pages_close_out(struct pages_out *out)
{
	int ret = out->fd >= 0 && out->page ? write_page(out) : 0;

	if (out->fd >= 0 && close(out->fd) && !ret)
		ret = -errno;
	out->fd = -1;
	free(out->page);
	out->page = NULL;
	return ret;
}
