/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernelshark.h - requests and stacks in KernelShark's plots
 *
 * KernelShark shows every record, but not which user stack belongs to which request, or why a
 * request has no stack. This plugin asks the join and draws the answers:
 *
 *  - plugin.c  KernelShark's interface: load, collect records
 *  - model.c   which request has which stack, from the join
 *  - view.c    what one plot shows: bins, colours, times
 *  - draw.cpp  shapes from the view; the only part that needs a window
 *
 * One model serves all the buffers of a file, because a stack may be in another buffer than its
 * request; KernelShark has a stream for each buffer. One thread at a time uses the model, as
 * KernelShark calls plugins.
 */
#ifndef USTACK_KERNELSHARK_H
#define USTACK_KERNELSHARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kshark_entry;
struct kshark_cpp_argv;
struct shark_model;

#define SHARK_NONE UINT32_MAX

/* The outcome of a request. In a plot, an outcome covers those before it in this list. */
enum shark_outcome {
	SHARK_JOINED,
	SHARK_PENDING,		/* still in the kernel when recording stopped */
	SHARK_UNRECORDED,	/* or two buffers of the file disagree */
	SHARK_LOST,
	SHARK_NR_OUTCOMES
};

/* An event that asked for its user stack. The entries are KernelShark's. */
struct shark_request {
	const struct kshark_entry *entry;	/* the cookie; without one, the kernel stack */
	const struct kshark_entry *shown;	/* with the joined text: @entry or @kstack */
	uint64_t cookie;			/* 0: lost */
	uint64_t pos, ts;			/* of the record in the file */
	/* the kernel stack before it, which may be another event's; NULL: none */
	const struct kshark_entry *kstack;
	uint64_t kstack_pos, kstack_ts;
	int sd;
	uint32_t tid;
	uint32_t cpu;
	uint32_t stack;				/* index of a shark_stack, or SHARK_NONE */
	uint8_t outcome;			/* enum shark_outcome */
};

struct shark_stack {
	const struct kshark_entry *entry;	/* of its first record */
	uint64_t cookie;
	uint64_t ts;				/* of the record in the file */
	int sd;
	uint32_t tid;
	uint32_t cpu;
	uint32_t nr_requests;			/* number of requests that it answers */
	uint32_t first;				/* by time: shark_get_nth_request() */
	bool whole;				/* answers a request and lacks no part */
};

/* ---- the model: model.c ---- */

/* Records of a file, as KernelShark announces them. KernelShark owns @entry. */
enum shark_kind { SHARK_KERNEL_STACK, SHARK_COOKIE, SHARK_STACK };

struct shark_record {
	const struct kshark_entry *entry;
	uint64_t cookie;	/* not of a kernel stack */
	uint64_t pos, ts;
	uint32_t tid;
	uint32_t cpu;
	uint32_t flags;		/* common_flags */
	uint32_t kind;		/* enum shark_kind */
	bool more;		/* of a stack: the next record continues it */
};

/*
 * The model of the file @path. Callers with the same path share one model, until each has called
 * shark_put(). NULL if there is not enough memory.
 */
struct shark_model *shark_get(const char *path);
void shark_put(struct shark_model *m);

/*
 * Add a record of stream @sd, in the order of each CPU. If the first record comes again,
 * KernelShark loads the stream again: the model forgets its earlier records. 0 or -ENOMEM.
 */
int shark_add_record(struct shark_model *m, int sd, const struct shark_record *rec);
/* KernelShark closes the stream: the model does not touch its entries again. */
void shark_forget_stream(struct shark_model *m, int sd);

/*
 * All records were added: read the file for the join, once, and answer all requests. Costs nothing
 * if no record was added since the last call. 0, or a negative errno with a sentence in
 * shark_get_problem(); the answers up to there are valid all the same.
 */
int shark_prepare(struct shark_model *m);
/* One sentence about the last problem, or NULL. */
const char *shark_get_problem(const struct shark_model *m);

/* Valid until a record is added or a stream is closed. NULL if there is no such index. */
const struct shark_request *shark_get_request(const struct shark_model *m, uint32_t i);
const struct shark_stack *shark_get_stack(const struct shark_model *m, uint32_t i);
/* The @n-th request of a stack by time, or SHARK_NONE. */
uint32_t shark_get_nth_request(const struct shark_model *m, uint32_t stack, uint32_t n);

/* Indices of the requests or stacks of one CPU or task of a stream, by time. */
struct shark_list {
	const uint32_t *v;
	size_t nr;
	int64_t longest;	/* ns from a request to its stack, the longest in it */
};

void shark_get_requests(const struct shark_model *m, int sd, bool task, int val,
			struct shark_list *list);
void shark_get_stacks(const struct shark_model *m, int sd, bool task, int val,
		      struct shark_list *list);

/* ---- what one plot shows: view.c ---- */

/* The visible part of time, in KernelShark's bins. */
struct shark_window {
	int64_t min, max, bin_size;
	int64_t end;		/* of the recording: pending requests wait until then */
	int n_bins;
};

/* All requests, or all stacks, of a bin: drawn as one. */
struct shark_mark {
	int bin;
	uint32_t nr;
	uint32_t index;		/* of one request or stack: the mark stands for it */
	uint8_t outcome;	/* the worst of the requests; or whether a stack is not complete */
};

/* The line from a request to its stack. Bins outside of the window are -1 or n_bins. */
struct shark_wait {
	int from, to;
	uint32_t request;
	int64_t ns;		/* time waited; negative if the clocks of two CPUs disagree */
	uint8_t outcome;	/* joined or pending */
	bool elsewhere;		/* the stack is not on this plot: another CPU or buffer */
};

struct shark_view {
	struct shark_mark *requests, *stacks;
	struct shark_wait *waits;
	size_t nr_requests, nr_stacks, nr_waits;
};

/* A plot shows at most this many waits, the longest ones. */
#define SHARK_MAX_WAITS 512

/*
 * Make the view of the plot of CPU or task @val of stream @sd. 0, or -ENOMEM with less in the view.
 * The caller frees it.
 */
int shark_make_view(const struct shark_model *m, int sd, bool task, int val,
		    const struct shark_window *win, struct shark_view *view);
void shark_free_view(struct shark_view *view);

/* 0xRRGGBB. The colours also differ for people with red-green colour blindness. */
uint32_t shark_get_colour(enum shark_outcome outcome);
#define SHARK_STACK_COLOUR 0x1565c0

/* Write @ns nanoseconds with three digits, such as "1.25 ms", to @buf. Returns @buf. */
char *shark_format_duration(int64_t ns, char *buf, size_t size);

/* A double click puts marker A on @a, then B on @b, or B first. NULL: not marked. */
struct shark_jump {
	const struct kshark_entry *a, *b;
	bool a_last;		/* the table goes to A */
};

/* Jump from a request to its stack. */
void shark_jump_from_request(const struct shark_model *m, uint32_t request,
			     struct shark_jump *jump);
/*
 * Jump from a stack back to the request before that of marker A, which is @last or NULL: from its
 * last request to its first, and again from its last.
 */
void shark_jump_from_stack(const struct shark_model *m, uint32_t stack,
			   const struct kshark_entry *last, struct shark_jump *jump);

/* ---- between the interface and the drawing ---- */

/* The model of stream @sd after shark_prepare(), or NULL. */
struct shark_model *shark_get_model(int sd);
/* KernelShark's main window, for its plugin functions; NULL until KernelShark has set it. */
void *shark_get_window(void);
void shark_draw(struct kshark_cpp_argv *argv, int sd, int val, int action);

#ifdef __cplusplus
}
#endif

#endif
