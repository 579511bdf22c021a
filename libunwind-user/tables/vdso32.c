// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * vdso32.c - the vDSO of 32-bit programs
 *
 * All 32-bit programs have the same vDSO, which no file holds and no 64-bit process has mapped. So
 * this starts a 32-bit program of a few bytes that waits, and reads the vDSO from its memory.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tables.h"
#include "libunwind-user/abi/abi.h"
#include "libunwind-user/base/base.h"

#define BASE		0x08048000
#define MAX_VDSO	(1u << 20)
#define MAX_WAIT_MS	2000

#ifndef MFD_EXEC
#define MFD_EXEC	0x10u
#endif

struct program {
	Elf32_Ehdr eh;
	Elf32_Phdr ph[2];
	uint8_t code[32];
};

/* write(1, BASE, 1), then pause() again and again */
static const struct program program = {
	.eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = EM_386, .e_version = EV_CURRENT,
		.e_entry = BASE + offsetof(struct program, code),
		.e_phoff = offsetof(struct program, ph), .e_ehsize = sizeof(Elf32_Ehdr),
		.e_phentsize = sizeof(Elf32_Phdr), .e_phnum = 2,
	},
	.ph = {
		{
			.p_type = PT_LOAD, .p_vaddr = BASE, .p_filesz = sizeof(struct program),
			.p_memsz = sizeof(struct program), .p_flags = PF_R | PF_X,
			.p_align = 4096,
		},
		/* without this, the kernel logs that the stack is executable */
		{ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W },
	},
	.code = {
		0xb8, 4, 0, 0, 0,		/* mov $__NR_write, %eax */
		0xbb, 1, 0, 0, 0,		/* mov $1, %ebx */
		0xb9, 0, 0x80, 4, 8,		/* mov $BASE, %ecx */
		0xba, 1, 0, 0, 0,		/* mov $1, %edx */
		0xcd, 0x80,			/* int $0x80 */
		0xb8, 29, 0, 0, 0,		/* mov $__NR_pause, %eax */
		0xcd, 0x80,			/* int $0x80 */
		0xeb, 0xf7,			/* jmp to the last mov */
	},
};

struct vdso {
	uint8_t *image;
	uint64_t size;
};

/* Sets *@error if the program cannot be executed; the child of vfork() has this memory, too. */
static pid_t start_child(const int fd, const int out, volatile int *error)
{
	char *argv[] = { "vdso32", NULL }, *envp[] = { NULL };
	const pid_t parent = getpid();
	pid_t pid = vfork();

	if (!pid) {
		limit_to_parent(parent);
		if (out == 1)
			fcntl(out, F_SETFD, 0);
		else
			dup2(out, 1);
		fexecve(fd, argv, envp);
		*error = errno;
		_exit(127);
	}
	return pid;
}

/*
 * Wait until the program writes a byte, or ends: a program that runs has a vDSO by then. If a
 * filter of system calls keeps the program from writing, it has its vDSO after MAX_WAIT_MS.
 */
static int wait_for_byte(int in)
{
	struct pollfd p = { .fd = in, .events = POLLIN };
	int64_t end = clock_get_ms() + MAX_WAIT_MS, left;
	int ret;

	do {
		left = end - clock_get_ms();
		ret = poll(&p, 1, left > 0 ? left : 0);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? -errno : 0;
}

static void end_program(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Make a file of the program. Returns its descriptor, above 2, or -errno. */
static int open_program(void)
{
	int fd = memfd_create("vdso32", MFD_CLOEXEC | MFD_EXEC), ret;

	if (fd < 0)
		fd = memfd_create("vdso32", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (ret < 0)
		ret = -errno;
	close(fd);
	if (ret >= 0 && write(ret, &program, sizeof(program)) != sizeof(program)) {
		close(ret);
		return -EIO;
	}
	return ret;
}

/*
 * Start the program, and wait until it has a vDSO. Returns its PID or -errno; -ENOEXEC: this kernel
 * runs no 32-bit programs.
 */
static pid_t start_program(void)
{
	volatile int error = 0;
	int fd, out[2], ret;
	pid_t pid;

	fd = open_program();
	if (fd < 0)
		return fd;
	if (pipe2(out, O_CLOEXEC)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	pid = start_child(fd, out[1], &error);
	if (pid < 0)
		pid = -errno;
	close(fd);
	close(out[1]);
	ret = pid > 0 ? wait_for_byte(out[0]) : 0;
	close(out[0]);
	if (error)
		ret = -error;
	if (!ret)
		return pid;
	end_program(pid);
	return ret;
}

/* Find the vDSO of a process. Returns -EIO if the process has ended. */
static int find_vdso(pid_t pid, uint64_t *start, uint64_t *end)
{
	char name[32], *line = NULL;
	size_t size = 0;
	int ret = -EIO;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	while (f && ret && getline(&line, &size, f) > 0) {
		if (strstr(line, "[vdso]") &&
		    sscanf(line, "%" SCNx64 "-%" SCNx64, start, end) == 2)
			ret = 0;
	}
	free(line);
	if (f)
		fclose(f);
	return ret;
}

static int read_vdso(pid_t pid, struct vdso *v)
{
	uint64_t start, end;
	char name[32];
	int fd, ret;

	ret = find_vdso(pid, &start, &end);
	if (ret)
		return ret;
	if (end - start > MAX_VDSO)
		return -EFBIG;
	v->size = end - start;
	v->image = malloc(v->size);
	if (!v->image)
		return -ENOMEM;
	snprintf(name, sizeof(name), "/proc/%d/mem", (int)pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, v->image, v->size, start) != (ssize_t)v->size)
		ret = -EIO;
	close(fd);
	return ret;
}

/* a gen_read_fn: the image is at address 0 */
static int read_image(void *ctx, uint64_t addr, void *to, size_t len)
{
	const struct vdso *v = ctx;

	if (addr > v->size || len > v->size - addr)
		return -EFAULT;
	memcpy(to, v->image + addr, len);
	return 0;
}

static void identify_vdso32(struct vdso *v, struct tables_id *id)
{
	const uint8_t *build_id = NULL;
	Elf32_Ehdr eh;
	Elf32_Phdr ph;
	unsigned int i;

	memset(id, 0, sizeof(*id));
	id->is_vdso = true;
	id->compat = true;
	if (read_image(v, 0, &eh, sizeof(eh)))
		return;
	for (i = 0; i < eh.e_phnum && !id->build_id_size; i++) {
		if (read_image(v, eh.e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
			return;
		if (ph.p_type != PT_NOTE || ph.p_offset > v->size ||
		    ph.p_filesz > v->size - ph.p_offset)
			continue;
		id->build_id_size = tables_find_build_id(v->image + ph.p_offset, ph.p_filesz,
							 ph.p_align, &build_id);
	}
	if (id->build_id_size)
		memcpy(id->build_id, build_id, id->build_id_size);
}

int tables_make_vdso32_table(struct tables_id *id, struct gen_table *table)
{
	struct vdso v = {};
	pid_t pid;
	int ret;

	memset(table, 0, sizeof(*table));
	pid = start_program();
	if (pid < 0)
		return pid;
	ret = read_vdso(pid, &v);
	end_program(pid);
	if (!ret) {
		identify_vdso32(&v, id);
		ret = gen_from_memory(read_image, &v, 0, table, NULL);
	}
	free(v.image);
	return ret;
}
