// SPDX-License-Identifier: GPL-2.0
/*
 * bpf-stack OBJECT: print each fork, and the user stack that led to it, until a signal or the end
 * of the standard input. OBJECT is bpf-stack.bpf.o.
 *
 * The stack of a fork has its cookie and its thread ID. The stack comes later than the fork,
 * mostly: bpf-stack prints both as they come, and its reader joins them.
 *
 *	fork 1300 cookie 300000007 child 1301
 *	stack 1300 cookie 300000007 flags 10: 7f31f6fe6ee0 5566a1b2 ...
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf-stack.h"

static volatile sig_atomic_t ended;

static void end(int sig)
{
	ended = 1;
}

static int print_message(void *data, void *msg, size_t size)
{
	const struct message *m = msg;
	const unsigned long long *entry = (const void *)(m + 1);
	unsigned int i;

	if (m->kind == MESSAGE_EVENT) {
		printf("fork %u cookie %llx child %u\n", m->tid, m->cookie, m->child);
		return 0;
	}
	printf("stack %u cookie %llx flags %x:", m->tid, m->cookie, m->flags);
	for (i = 0; i < m->nr; i++)
		printf(" %llx", entry[i]);
	printf("\n");
	return 0;
}

static bool is_input_open(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	char byte;

	return poll(&in, 1, 0) <= 0 || read(STDIN_FILENO, &byte, 1) > 0;
}

/* Returns 0, or -1 after a sentence on stderr. */
static int attach_all(struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, obj) {
		/* The link stays until the program ends */
		if (!bpf_program__attach(prog)) {
			fprintf(stderr, "bpf-stack: %s cannot be attached: %s\n",
				bpf_program__name(prog), strerror(errno));
			return -1;
		}
	}
	return 0;
}

/* How many messages the BPF programs have lost, at least. Their only variable is the counter. */
static unsigned long long count_lost(struct bpf_object *obj)
{
	const struct bpf_map *bss = bpf_object__find_map_by_name(obj, ".bss");
	unsigned long long lost = 0, misses = 0;
	struct bpf_prog_info info;
	struct bpf_program *prog;
	unsigned int zero = 0, size;

	if (bpf_map__lookup_elem(bss, &zero, sizeof(zero), &lost, sizeof(lost), 0))
		return 1;
	bpf_object__for_each_program(prog, obj) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (!bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
			misses += info.recursion_misses;
	}
	return lost + misses;
}

int main(int argc, char **argv)
{
	unsigned long long lost;
	struct ring_buffer *ring;
	struct bpf_object *obj;
	int ret;

	if (argc != 2) {
		fprintf(stderr, "Usage: bpf-stack OBJECT\n");
		return 2;
	}
	obj = bpf_object__open_file(argv[1], NULL);
	if (!obj || bpf_object__load(obj)) {
		fprintf(stderr, "bpf-stack: %s cannot be loaded: %s. It needs root, and a kernel "
			"with bpf_unwind_user_request()\n", argv[1], strerror(errno));
		return 1;
	}
	ring = ring_buffer__new(bpf_object__find_map_fd_by_name(obj, "messages"), print_message,
				NULL, NULL);
	if (!ring) {
		fprintf(stderr, "bpf-stack: no ring buffer: %s\n", strerror(errno));
		return 1;
	}
	if (attach_all(obj))
		return 1;
	signal(SIGINT, end);
	signal(SIGTERM, end);
	printf("ready\n");
	do {
		fflush(stdout);
		ret = ring_buffer__poll(ring, 100);
	} while (!ended && is_input_open() && (ret >= 0 || ret == -EINTR));
	ring_buffer__consume(ring);
	lost = count_lost(obj);
	if (lost)
		fprintf(stderr, "bpf-stack: %llu messages were lost\n", lost);
	ring_buffer__free(ring);
	bpf_object__close(obj);
	return lost > 0;
}
