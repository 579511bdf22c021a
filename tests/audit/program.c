// SPDX-License-Identifier: GPL-2.0
/*
 * program WHAT DIR - do with libraries what programs do; DIR has the libraries of lib/
 *
 * prctl(MARK), which no kernel has, asks observe to check. The program's output must be the same
 * with and without the audit module. Exit status: 0 if all went well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark.h"

static const char *dir, *self;

static void mark(void)
{
	int kept = errno;

	prctl(MARK, 0, 0, 0, 0);
	errno = kept;
}

static const char *lib(const char *name)
{
	static __thread char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void *need(const char *name)
{
	void *h = dlopen(lib(name), RTLD_NOW | RTLD_LOCAL);

	if (!h) {
		fprintf(stderr, "program: %s\n", dlerror());
		exit(1);
	}
	return h;
}

static int start(void)
{
	mark();
	puts("started");
	return 0;
}

/* libtwo.so needs libone.so */
static int load(void)
{
	void *h[3];
	int i;

	for (i = 0; i < 40; i++) {
		h[0] = need("libtwo.so");
		mark();
		h[1] = need("libone.so");
		h[2] = need("libodd.so");
		mark();
		dlclose(h[0]);
		mark();
		dlclose(h[1]);
		dlclose(h[2]);
		mark();
	}
	puts("loaded");
	return 0;
}

/* One library stays open until the program ends */
static int stay(void)
{
	need("libtwo.so");
	mark();
	puts("stays");
	return 0;
}

/*
 * libbroken.so needs a symbol that does not exist: the loader maps it and libone.so before it
 * notices
 */
static int fail(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		if (dlopen(lib("libbroken.so"), RTLD_NOW) || dlopen(lib("libnone.so"), RTLD_NOW) ||
		    dlopen("/etc/passwd", RTLD_NOW))
			return 1;
		mark();
	}
	puts("failed");
	return 0;
}

/*
 * Each namespace has a C library, which takes static TLS and never returns it: there is room for a
 * dozen
 */
static int namespaces(void)
{
	void *h[3], *last;
	int i, k;

	for (i = 0; i < 3; i++) {
		for (k = 0; k < 3; k++) {
			h[k] = dlmopen(LM_ID_NEWLM, lib("libtwo.so"), RTLD_NOW);
			if (!h[k]) {
				fprintf(stderr, "program: %s\n", dlerror());
				return 1;
			}
			mark();
		}
		for (k = 0; k < 3; k++) {
			dlclose(h[k]);
			/*
			 * The loader does not report the end of a namespace: the next load shows
			 * what is left
			 */
			if (i == 2 && k < 2)
				continue;
			last = need("libodd.so");
			mark();
			dlclose(last);
			mark();
		}
	}
	puts("namespaces");
	return 0;
}

static void *load_often(void *name)
{
	int i;

	for (i = 0; i < 100; i++)
		dlclose(need(name));
	return NULL;
}

static int threads(void)
{
	static const char *const name[] = { "libone.so", "libtwo.so", "libodd.so", "libone.so" };
	pthread_t t[8];
	int i;

	for (i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, load_often, (void *)name[i % 4]);
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	need("libtwo.so");
	mark();
	puts("threads");
	return 0;
}

static void *load_for_ever(void *name)
{
	void *h;

	for (;;) {
		h = dlopen(lib(name), RTLD_NOW);
		if (h)
			dlclose(h);
	}
	return NULL;
}

static bool leaves;

/* The loader calls this without its lock: the threads can load while the program ends. */
__attribute__((destructor)) static void linger(void)
{
	if (leaves)
		usleep(1000);
}

/* The program ends while threads load */
static int leave(void)
{
	static const char *const name[] = { "libone.so", "libtwo.so", "libodd.so", "libone.so" };
	pthread_t t;
	int i;

	need("libtwo.so");
	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, load_for_ever, (void *)name[i]);
	usleep(3000);
	puts("left");
	leaves = true;
	return 0;
}

static void *load_once(void *name)
{
	need(name);
	return NULL;
}

static int small_stack(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	/* The stack that dlopen() itself needs, and 2 KiB */
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	if (pthread_create(&t, &attr, load_once, "libtwo.so"))
		return 1;
	pthread_join(t, NULL);
	mark();
	puts("small");
	return 0;
}

static int keep_errno(void)
{
	void *h;

	errno = 4321;
	h = need("libone.so");
	printf("errno %d", errno);
	errno = 4321;
	dlclose(h);
	printf(", %d", errno);
	errno = 4321;
	dlopen(lib("libbroken.so"), RTLD_NOW);
	printf(", %d\n", errno);
	mark();
	return 0;
}

static int no_descriptors(void)
{
	int fd;

	puts("closed");
	fflush(stdout);
	for (fd = 0; fd < 1024; fd++)
		close(fd);
	need("libtwo.so");
	mark();
	/* The lowest free descriptor is 0 */
	return open("/dev/null", O_RDONLY);
}

static int forks(void)
{
	void *h = need("libone.so");
	int status, i;
	pid_t pid;

	for (i = 0; i < 3; i++) {
		pid = fork();
		if (!pid) {
			mark();
			need("libodd.so");
			mark();
			dlclose(h);
			mark();
			exit(0);
		}
		waitpid(pid, &status, 0);
		if (status)
			return 1;
		mark();
	}
	puts("forked");
	return 0;
}

static int executes(void)
{
	need("libone.so");
	mark();
	execl(self, self, "start", dir, NULL);
	return 1;
}

/* From now on a prctl() kills the program, except calls that a browser's sandbox allows. */
static int locked(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_msync, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };
	void *h = need("libone.so");
	int i;

	mark();
	puts("locked");
	fflush(stdout);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 1;
	for (i = 0; i < 3; i++) {
		dlclose(need("libtwo.so"));
		dlclose(need("libodd.so"));
	}
	dlclose(h);
	_exit(0);
}

/* Libraries with a table in them, see mk_own.py */
static int own(void)
{
	void *h[4];
	int i, k;

	for (i = 0; i < 10; i++) {
		h[0] = need("libown-good.so");
		h[1] = need("libown-old.so");
		h[2] = need("libown-broken.so");
		h[3] = need("libown-outside.so");
		mark();
		for (k = 0; k < 4; k++)
			dlclose(h[k]);
		mark();
	}
	puts("own");
	return 0;
}

/* Map something else where a library was, then a library again */
static int reuse(void)
{
	void *h = need("libodd.so"), *where = dlsym(h, "odd"), *page;
	int i;

	page = (void *)((uintptr_t)where & -0x1000);
	for (i = 0; i < 10; i++) {
		dlclose(h);
		if (mmap(page, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			 -1, 0) == page)
			munmap(page, 4096);
		h = need("libone.so");
		mark();
		dlclose(h);
		h = need("libodd.so");
		mark();
	}
	puts("reused");
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} what[] = {
		{ "start", start }, { "load", load }, { "stay", stay }, { "fail", fail },
		{ "namespaces", namespaces }, { "threads", threads }, { "errno", keep_errno },
		{ "descriptors", no_descriptors }, { "forks", forks }, { "exec", executes },
		{ "locked", locked }, { "reuse", reuse }, { "small", small_stack },
		{ "own", own }, { "leave", leave },
	};
	size_t i;

	if (argc != 3)
		return 2;
	self = argv[0];
	dir = argv[2];
	for (i = 0; i < sizeof(what) / sizeof(*what); i++) {
		if (!strcmp(argv[1], what[i].name))
			return what[i].run();
	}
	return 2;
}
