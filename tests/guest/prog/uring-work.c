// SPDX-License-Identifier: GPL-2.0
/*
 * uring-work FILE N: read FILE N times through io_uring workers (IOSQE_ASYNC), with plain system
 * calls, so that no library is needed. Prints "uring-work: N reads".
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "uring-work: %s: %s\n", what, strerror(errno));
	/* If this kernel has no io_uring, the test has not failed */
	return errno == ENOSYS ? 4 : 1;
}

int main(int argc, char **argv)
{
	struct io_uring_params p = { 0 };
	unsigned int *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail;
	struct io_uring_sqe *sqes;
	char *ring, buf[64];
	int ring_fd, fd, i, n;

	if (argc != 3) {
		fprintf(stderr, "Usage: uring-work FILE N\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		return fail(argv[1]);
	ring_fd = syscall(__NR_io_uring_setup, 8, &p);
	if (ring_fd < 0)
		return fail("io_uring_setup");
	ring = mmap(NULL, p.sq_off.array + p.sq_entries * 4 + p.cq_entries * 16 + 4096,
		    PROT_READ | PROT_WRITE, MAP_SHARED, ring_fd, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, p.sq_entries * sizeof(*sqes), PROT_READ | PROT_WRITE, MAP_SHARED,
		    ring_fd, IORING_OFF_SQES);
	if (ring == MAP_FAILED || sqes == MAP_FAILED || !(p.features & IORING_FEAT_SINGLE_MMAP))
		return fail("cannot map the rings");
	sq_tail = (void *)(ring + p.sq_off.tail);
	sq_mask = (void *)(ring + p.sq_off.ring_mask);
	sq_array = (void *)(ring + p.sq_off.array);
	cq_head = (void *)(ring + p.cq_off.head);
	cq_tail = (void *)(ring + p.cq_off.tail);

	n = atoi(argv[2]);
	for (i = 0; i < n; i++) {
		unsigned int slot = *sq_tail & *sq_mask;

		memset(&sqes[slot], 0, sizeof(*sqes));
		sqes[slot].opcode = IORING_OP_READ;
		sqes[slot].flags = IOSQE_ASYNC;
		sqes[slot].fd = fd;
		sqes[slot].addr = (uintptr_t)buf;
		sqes[slot].len = sizeof(buf);
		sq_array[slot] = slot;
		__atomic_store_n(sq_tail, *sq_tail + 1, __ATOMIC_RELEASE);
		if (syscall(__NR_io_uring_enter, ring_fd, 1, 1, IORING_ENTER_GETEVENTS,
			    NULL, 0) < 0)
			return fail("io_uring_enter");
		__atomic_store_n(cq_head, __atomic_load_n(cq_tail, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	printf("uring-work: %d reads\n", n);
	return 0;
}
