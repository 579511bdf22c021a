// SPDX-License-Identifier: GPL-2.0
/*
 * Many task switches within one system call of each of two processes
 *
 * One process sends to a socket with a small buffer and sleeps whenever the buffer is full. The
 * other process receives with MSG_WAITALL and sleeps whenever the buffer is empty. Each process
 * does this in one system call, so each has one user stack to walk, whatever the number of
 * sched_switch events and requests in between.
 */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cost.h"

#define BYTES	(2 << 20)

uint64_t switches_run(void)
{
	static char data[BYTES];
	int size = 1, pair[2];
	uint64_t start, end;
	ssize_t n;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		err(1, "no socket pair");
	if (setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		err(1, "cannot make the buffer of a socket small");

	/* All pages there, so that there are no faults to count */
	for (size_t i = 0; i < BYTES; i += 4096)
		data[i] = 1;

	pid = fork();
	if (pid < 0)
		err(1, "cannot fork");
	if (!pid) {
		close(pair[1]);
		for (size_t i = 0; i < BYTES; i += 4096)
			data[i] = 2;
		n = write(pair[0], data, 1);	/* ready */
		n = write(pair[0], data, BYTES);
		_exit(n != BYTES);
	}
	close(pair[0]);
	if (recv(pair[1], data, 1, MSG_WAITALL) != 1)
		err(1, "the sender did not start");
	/* Let it fill the buffer and sleep in the one long system call */
	usleep(20000);

	start = cost_now();
	n = recv(pair[1], data, BYTES, MSG_WAITALL);
	end = cost_now();
	if (n != BYTES)
		errx(1, "received %zd bytes instead of %d", n, BYTES);

	close(pair[1]);
	waitpid(pid, NULL, 0);

	return end - start;
}
