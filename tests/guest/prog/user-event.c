// SPDX-License-Identifier: GPL-2.0
/*
 * user-event TRACEFS N: register the user event ustack_test, wait until it is enabled and standard
 * input ends, and write the event N times. The kernel sets the bit that says the event is enabled
 * before it lets the event through, so the test enables it first and then ends standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

/* linux/user_events.h has this, but Debian 12's headers are too old */
struct user_reg {
	uint32_t	size;
	uint8_t		enable_bit;
	uint8_t		enable_size;
	uint16_t	flags;
	uint64_t	enable_addr;
	uint64_t	name_args;
	uint32_t	write_index;
} __attribute__((packed));

#define DIAG_IOCSREG	_IOWR('*', 0, struct user_reg *)

static uint32_t enabled;

static __attribute__((noinline)) int emit(int fd, uint32_t index, uint32_t n)
{
	struct iovec io[2] = { { &index, sizeof(index) }, { &n, sizeof(n) } };

	return writev(fd, io, 2) < 0;
}

int main(int argc, char **argv)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 0,
		.enable_size = sizeof(enabled),
		.enable_addr = (uintptr_t)&enabled,
		.name_args = (uintptr_t)"ustack_test u32 n",
	};
	char path[256], c;
	int fd, i, n;

	if (argc != 3) {
		fprintf(stderr, "Usage: user-event TRACEFS N\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%s/user_events_data", argv[1]);
	fd = open(path, O_RDWR);
	if (fd < 0 || ioctl(fd, DIAG_IOCSREG, &reg) < 0) {
		fprintf(stderr, "%s: cannot register an event: %s\n", path, strerror(errno));
		return 1;
	}
	/* The test has to enable it now: wait for that */
	for (i = 0; !*(volatile uint32_t *)&enabled && i < 1000; i++)
		usleep(10000);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	n = atoi(argv[2]);
	for (i = 0; i < n; i++) {
		if (emit(fd, reg.write_index, i)) {
			fprintf(stderr, "%s: cannot write an event: %s\n", path, strerror(errno));
			return 1;
		}
	}
	return 0;
}
