// SPDX-License-Identifier: GPL-2.0
/*
 * swap FILE-A FILE-B TIMES: map one of two files at one address, call its function, and map the
 * other one there, again and again
 *
 * The functions are in_part_a() and in_part_b(). They make the system call getppid() for the first
 * file, getuid() for the second, by syscall(). Registers and stacks are the same for both.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct part {
	int fd;
	size_t size, offset;		/* of the file, and of the function in it */
};

static int open_part(struct part *p, const char *path, const char *name)
{
	void *lib = dlopen(path, RTLD_NOW), *function = lib ? dlsym(lib, name) : NULL;
	struct stat st;
	Dl_info info;

	p->fd = open(path, O_RDONLY);
	if (!function || !dladdr(function, &info) || p->fd < 0 || fstat(p->fd, &st)) {
		fprintf(stderr, "%s: %s\n", path, lib ? "cannot be used" : dlerror());
		return -1;
	}
	/* addresses in such a small file are offsets, too */
	p->offset = (uintptr_t)function - (uintptr_t)info.dli_fbase;
	p->size = st.st_size;
	dlclose(lib);
	return 0;
}

int main(int argc, char **argv)
{
	static const long nr[] = { SYS_getppid, SYS_getuid };
	char *at = (char *)0x7e0000000000, *mem;
	struct part part[2];
	int i, times = argc == 4 ? atoi(argv[3]) : 0;

	if (!times || open_part(&part[0], argv[1], "in_part_a") ||
	    open_part(&part[1], argv[2], "in_part_b"))
		return 2;
	for (i = 0; i < times; i++) {
		const struct part *p = &part[i & 1];

		mem = mmap(at, p->size, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, p->fd, 0);
		if (mem != at)
			return 2;
		((long (*)(long (*)(long, ...), long))(mem + p->offset))(syscall, nr[i & 1]);
	}
	return 0;
}
