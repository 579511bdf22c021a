/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pages.h - read and write the pages of a ring buffer
 *
 * A page has a time stamp of 8 bytes, a long with the number of bytes of data and flags, and the
 * data: records, each after a word type_len:5 time_delta:27. include/linux/ring_buffer.h and
 * kernel/trace/ring_buffer.c of the kernel describe the pages. All numbers have the byte order of
 * the machine.
 *
 * Functions that return int return 0 or -errno unless their comment says otherwise.
 */
#ifndef TRACE_USTACK_RECORD_BPF_PAGES_H
#define TRACE_USTACK_RECORD_BPF_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where things are in a page, from events/header_page. */
struct pages_layout {
	unsigned int size;		/* bytes of a page */
	unsigned int commit, commit_size, data;
};

/* -EINVAL if the text says something that no 64-bit kernel has. */
int pages_parse_layout(struct pages_layout *l, const char *header_page, unsigned int size);

struct pages_in {
	const struct pages_layout *l;
	int fd;				/* -1: no pages */
	uint64_t offset;		/* of the next page in the file */
	unsigned char *page;
	unsigned int pos, end;		/* in the page: of the next record, of the records' end */
	uint64_t time;			/* of the last record */
	/* The record that pages_next() found. */
	const unsigned char *body;	/* the record after its first word */
	unsigned int body_size;
	const unsigned char *data;
	unsigned int data_size;
	unsigned int type_len;
	/* Records were lost before this record: flags of the page; how many, if the flags say so */
	uint32_t missed;
	uint64_t lost;
	uint64_t page_time;
};

int pages_open_in(struct pages_in *in, const struct pages_layout *l, const char *path);
/* Find the next record: 1; 0 at the end; -EBADMSG if the file is not pages of a ring buffer. */
int pages_next(struct pages_in *in);
void pages_close_in(struct pages_in *in);

struct pages_out {
	const struct pages_layout *l;
	int fd;
	unsigned char *page;
	bool open;			/* the page has a time stamp */
	unsigned int used;		/* bytes of data */
	uint64_t time;			/* of the last record */
	uint32_t missed;		/* flags of this page */
	uint64_t lost;
};

int pages_open_out(struct pages_out *out, const struct pages_layout *l, const char *path);
/* Records were lost here: the next record is in a new page that says so. */
int pages_put_missed(struct pages_out *out, uint32_t flags, uint64_t lost, uint64_t time);
/* Copy a record; @body is the record after its first word. */
int pages_put(struct pages_out *out, uint64_t time, unsigned int type_len, const void *body,
	      unsigned int size);
/* Write a new record; a multiple of 4 bytes, at most pages_get_max_data(). */
int pages_put_data(struct pages_out *out, uint64_t time, const void *data, unsigned int size);
unsigned int pages_get_max_data(const struct pages_layout *l);
/* Write the last page, and close the file. */
int pages_close_out(struct pages_out *out);

#endif
