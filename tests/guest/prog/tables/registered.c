// SPDX-License-Identifier: GPL-2.0
/*
 * registered WHAT [FILE] - which tables does this process have?
 *
 *	start		the tables of the program, the loader, the vDSO, and libc are there
 *	none		they are not there
 *	load FILE	the table of a library is there after the library is loaded
 *	unload FILE	and it is gone after the library is closed
 *	fork		children have the tables of their parent, each its own list
 *	exec		"none" in a program that replaces this program, without LD_AUDIT
 *
 * The kernel has no list of the tables, but the removal of a table says whether there was a table.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libunwind-user/abi/abi.h"

struct code {
	const char *name;		/* a part of its path, or NULL: at address */
	uintptr_t address, start, size;
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct code *c = arg;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (c->name ? !strstr(info->dlpi_name, c->name) :
			      c->address < start || c->address >= start + ph->p_memsz)
			continue;
		c->start = start;
		c->size = ph->p_filesz;
		return 1;
	}
	return 0;
}

/* Was there a table for it? This removes the table. */
static bool had(const struct code *c)
{
	struct unwind_table_user arg = {
		.size = sizeof(arg), .text_start = c->start, .text_size = c->size,
	};

	if (!prctl(PR_REMOVE_SFRAME, &arg, sizeof(arg), 0, 0))
		return true;
	if (errno == ENOENT)
		return false;
	perror("PR_REMOVE_SFRAME");
	exit(2);
}

static bool has(const char *name, uintptr_t address)
{
	struct code c = { .name = name, .address = address };
	bool ret;

	if (!dl_iterate_phdr(find, &c)) {
		fprintf(stderr, "%s %#lx is not mapped\n", name ? name : "", (long)address);
		exit(2);
	}
	ret = had(&c);
	printf("%s: %s\n", name ? name : address == (uintptr_t)find ? "program" : "loader or vdso",
	       ret ? "yes" : "no");
	return ret;
}

static int start(bool there)
{
	int ok = has("libc.so.6", 0) == there;

	ok &= has(NULL, (uintptr_t)find) == there;
	ok &= has(NULL, (uintptr_t)getauxval(AT_BASE) + 0x2000) == there;
	ok &= has("linux-vdso", 0) == there;
	return ok ? 0 : 1;
}

static int load(const char *file, bool close)
{
	struct code c = { .name = file };
	void *lib = dlopen(file, RTLD_NOW);
	int i;

	if (!lib || !dl_iterate_phdr(find, &c)) {
		fprintf(stderr, "%s\n", lib ? "not mapped" : dlerror());
		return 2;
	}
	if (!close)
		return had(&c) ? 0 : 1;
	dlclose(lib);
	i = had(&c) ? 1 : 0;
	/* The same library again, most likely at the same address */
	lib = dlopen(file, RTLD_NOW);
	return i || !lib || !dl_iterate_phdr(find, &c) || !had(&c);
}

static int children(void)
{
	int status;

	if (!fork())
		exit(start(true));
	if (wait(&status) < 0 || status)
		return 1;
	return start(true);
}

int main(int argc, char **argv)
{
	char *none[] = { argv[0], "none", NULL }, *empty[] = { NULL };
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "start") || !strcmp(what, "none"))
		return start(*what == 's');
	if (!strcmp(what, "load") || !strcmp(what, "unload"))
		return argc > 2 ? load(argv[2], *what == 'u') : 2;
	if (!strcmp(what, "fork"))
		return children();
	if (!strcmp(what, "exec"))
		execve(argv[0], none, empty);
	return 2;
}
