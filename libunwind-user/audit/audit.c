// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * audit.c - an LD_AUDIT module that registers unwind tables for all code the dynamic loader maps
 *
 *	LD_AUDIT=/usr/lib/trace-ustack/libunwind-user-audit.so CMD
 *
 * The loader calls la_version() before it maps anything else. There the module registers tables for
 * the program, the loader itself, the vDSO and this module. Then the loader calls la_objopen() for
 * each library, at start, by dlopen() and by dlmopen(), as soon as its segments are mapped. The
 * tables are in the file itself, or trace-ustack-tables put them in a cache; the module makes no
 * table. See rtld-audit(7).
 *
 * The module must not break any program, so
 *
 * - It needs no C library. In its namespace the loader would load another copy of the C library,
 *   which takes four times as long as all of this. It makes its own system calls, and leaves errno
 *   alone.
 * - It is unloaded at once (la_version() returns 0) where the kernel has no such tables.
 * - No descriptor is open when a function returns. It allocates no memory but the mapping of each
 *   table, and a page for each 51 libraries that are loaded later.
 * - It never waits. The loader calls it with its lock held, except for objects that it closes at
 *   exit, when another thread can be in dlopen(). The second thread then does nothing.
 * - Programs restrict themselves: a filter of system calls that was not there when the program
 *   started may kill it for a prctl(). So from the program's first instruction on, each library
 *   that is loaded costs a check for such a filter. The check makes only system calls that the
 *   loader has just made itself. If there is a filter, the module does nothing more.
 *
 * The module removes a table when its code is gone. la_objclose() does not show that: the loader
 * also calls it at program end for all objects, while their code still runs. So the module keeps
 * closed objects in a list. Whenever the loader reports a change, the module checks whether their
 * memory is still mapped. Until then a table for code that is gone does no harm: the kernel
 * compares what is mapped.
 */
#include <link.h>

#include "audit.h"
#include "sys.h"
#include "libunwind-user/abi/abi.h"
#include "libunwind-user/base/base.h"

#define EXPORT	__attribute__((visibility("default")))

/* A library that may be unloaded. */
struct record {
	struct record *next;
	uintptr_t start, end;		/* all of it */
	uintptr_t code, code_size;	/* its first segment of code */
	struct audit_table table;
};

struct page {
	struct page *next;
	struct record record[];
};

#define PER_PAGE	((AUDIT_PAGE - sizeof(struct page)) / sizeof(struct record))

/* Set before the program starts, or between enter_module() and leave_module(). */
static struct {
	bool busy;
	char **env;
	struct audit_dirs dirs;
	uintptr_t program, interp, vdso;	/* the bias of each */
	bool started;			/* code other than the loader's has run */
	int filters;			/* filters of system calls at the start; -1: not known */
	int changed;			/* there are more filters now; -1: not checked yet */
	struct page *pages;
	struct record *closed, *unused;
} audit;

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

/*
 * The module's own table. The build links the module twice: the table is made from the first link,
 * and is part of the second one. The table follows the code, so code addresses do not change.
 * Addresses in the table count from address 0 of the file.
 */
#ifdef AUDIT_SELF
#define INCLUDE_SELF	".incbin \"" AUDIT_SELF "\"\n"
#else
#define INCLUDE_SELF	""
#endif
__asm__(".pushsection .uu_table, \"a\", @progbits\n"
	".balign 8\n"
	"audit_self:\n" INCLUDE_SELF
	"audit_self_end:\n"
	".popsection");
extern const char audit_self[] __attribute__((visibility("hidden")));
extern const char audit_self_end[] __attribute__((visibility("hidden")));

static bool enter_module(void)
{
	return !__atomic_test_and_set(&audit.busy, __ATOMIC_ACQUIRE);
}

static void leave_module(void)
{
	__atomic_clear(&audit.busy, __ATOMIC_RELEASE);
}

/* --------------------------- filters of system calls --------------------- */

/*
 * The number after "Seccomp_filters:" in the status of this thread, or -1. A kernel without that
 * line has no filters.
 */
static int count_filters(void)
{
	static const char wanted[] = "\nSeccomp_filters:\t";
	int fd = sys_open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	unsigned int matched = 0;
	char buf[512];
	int count = 0;
	long n, i;

	if (fd < 0)
		return -1;
	while ((n = sys_read(fd, buf, sizeof(buf))) > 0) {
		for (i = 0; i < n; i++) {
			if (matched < sizeof(wanted) - 1)
				matched = buf[i] == wanted[matched] ? matched + 1 :
					  buf[i] == '\n';
			else if (buf[i] >= '0' && buf[i] <= '9')
				count = count * 10 + buf[i] - '0';
			else
				goto out;
		}
	}
	if (n < 0)
		count = -1;
out:
	sys_close(fd);
	return count;
}

/* May the module make system calls that the loader does not make? */
static bool may_call(void)
{
	if (!audit.started)
		return true;
	if (audit.changed < 0)
		audit.changed = audit.filters < 0 || count_filters() != audit.filters;
	return !audit.changed;
}

/* ---------------------------- tables and objects ------------------------- */

/*
 * Register @t with the kernel for each segment of code. False if the kernel took it for none.
 */
static bool register_table(const struct audit_object *o, const struct audit_table *t)
{
	struct unwind_table_user arg = {
		.size = sizeof(arg), .table = t->table, .table_size = t->size,
		.table_base = t->base,
	};
	const Elf64_Phdr *ph = o->phdr, *end = ph + o->nr_phdrs;
	bool added = false;

	for (; ph < end; ph++) {
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || !ph->p_filesz)
			continue;
		arg.text_start = o->bias + ph->p_vaddr;
		arg.text_size = ph->p_filesz;
		if (!sys_prctl(PR_ADD_SFRAME, &arg, sizeof(arg)))
			added = true;
	}
	return added;
}

/*
 * Find a table of the object, and register it. @by_exec: execve() has registered the table in the
 * file, if there is one.
 */
static bool register_object(const struct audit_object *o, const char *path, bool exact,
			    bool by_exec, struct audit_table *t)
{
	*t = (struct audit_table) { 0 };
	if (audit_find_own_table(o, t) && (by_exec || register_table(o, t)))
		return true;
	if (!audit_find_cached_table(&audit.dirs, o, path, exact, t))
		return false;
	if (register_table(o, t))
		return true;
	audit_unmap_table(t);
	return false;
}

static int unregister_range(uintptr_t start, uintptr_t end)
{
	const struct unwind_table_user arg = {
		.size = sizeof(arg), .text_start = start, .text_size = end - start,
	};

	return sys_prctl(PR_REMOVE_SFRAME, &arg, sizeof(arg));
}

static void release_record(struct record *r)
{
	r->next = audit.unused;
	audit.unused = r;
}

static struct record *new_record(void)
{
	struct record *r;
	struct page *page;
	unsigned int i;
	long addr;

	if (!audit.unused) {
		addr = sys_mmap(AUDIT_PAGE, PROT_READ | PROT_WRITE, -1);
		if (addr < 0 && addr > -AUDIT_PAGE)
			return NULL;
		page = (struct page *)addr;
		page->next = audit.pages;
		audit.pages = page;
		for (i = 0; i < PER_PAGE; i++)
			release_record(&page->record[i]);
	}
	r = audit.unused;
	audit.unused = r->next;
	return r;
}

/*
 * The record that a cookie points to, or NULL. In other namespaces, the loader closes its own
 * entry, which it never opened: the cookie is then the loader's.
 */
static struct record *find_record(uintptr_t cookie)
{
	const struct page *page;

	for (page = audit.pages; page; page = page->next) {
		if (cookie > (uintptr_t)page && cookie < (uintptr_t)page + AUDIT_PAGE)
			return (struct record *)cookie;
	}
	return NULL;
}

/*
 * Is the object, or a part of it, no longer mapped? If another mapping covers the whole segment of
 * code, the module takes it for the object, because it must not read that memory. Then the table
 * stays until the place is free, or belongs to another library.
 */
static bool is_gone(const struct record *r)
{
	return sys_msync(r->code, r->code_size) == -ENOMEM;
}

/*
 * Remove the tables of closed objects whose memory is unmapped, or has another object now, at
 * [start, end).
 */
static void sweep_closed(uintptr_t start, uintptr_t end)
{
	struct record **link = &audit.closed, *r;

	while ((r = *link)) {
		if (!(r->start < end && start < r->end) && !is_gone(r)) {
			link = &r->next;
			continue;
		}
		unregister_range(r->start, r->end);
		audit_unmap_table(&r->table);
		*link = r->next;
		release_record(r);
	}
}

/* Note an object that may be unloaded. */
static void fill_record(struct record *r, const struct audit_object *o,
			const struct audit_table *t)
{
	const Elf64_Phdr *ph = o->phdr;
	uintptr_t code;

	/* A table was added, so the object has a segment of code */
	while (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || !ph->p_filesz)
		ph++;
	code = o->bias + ph->p_vaddr;
	r->code = code & -(uintptr_t)AUDIT_PAGE;
	r->code_size = code - r->code + ph->p_filesz;
	r->start = o->start;
	r->end = o->end;
	r->table = *t;
}

/* ------------------------------- the start ------------------------------- */

/* Add the directory @root/@below to those with tables, if its owner can be trusted. */
static void add_dir(const char *root, const char *below)
{
	struct audit_dirs *d = &audit.dirs;
	char *path = d->path[d->nr], *p = path;
	const char *part[] = { root, below };
	struct stat st;
	unsigned int i;
	const char *s;

	for (i = 0; i < 2; i++) {
		for (s = part[i]; *s; s++) {
			if (p == path + AUDIT_DIR_SIZE - 1)
				return;
			*p++ = *s;
		}
	}
	*p = '\0';
	/* chdir() would change the meaning of a relative path */
	if (*path == '/' && !sys_stat(path, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
	    tables_is_trusted(st.st_uid, st.st_mode, d->user))
		d->nr++;
}

/* The value of @name if the environment variable at @s has that name. */
static const char *get_env_value(const char *s, const char *name)
{
	while (*name && *s == *name) {
		s++;
		name++;
	}
	return !*name && *s == '=' && s[1] ? s + 1 : NULL;
}

/* Find the directories as tables/cache.c does. The directory of root serves all users. */
static void find_dirs(bool secure)
{
	const char *dir = NULL, *cache = NULL, *home = NULL, *v;
	char **env;

	for (env = audit.env; !secure && env && *env; env++) {
		v = get_env_value(*env, TABLES_ENV);
		dir = v ? v : dir;
		v = get_env_value(*env, "XDG_CACHE_HOME");
		cache = v ? v : cache;
		v = get_env_value(*env, "HOME");
		home = v ? v : home;
	}
	if (dir)
		add_dir(dir, "");
	else if (audit.dirs.user && cache && *cache == '/')
		add_dir(cache, "/" TABLES_USER_DIR);
	else if (audit.dirs.user && home)
		add_dir(home, "/" TABLES_HOME_DIR);
	add_dir(TABLES_ROOT_DIR, "");
}

/* Register the object that is mapped at @header. Sets *@bias. */
static void register_at(uintptr_t header, const char *path, bool exact, bool by_exec,
			uintptr_t *bias)
{
	struct audit_object o;
	struct audit_table t;

	if (!header || header % AUDIT_PAGE || !audit_read_object(&o, header))
		return;
	*bias = o.bias;
	register_object(&o, path, exact, by_exec, &t);
}

static void register_self(void)
{
	const struct audit_table t = {
		.table = (uintptr_t)audit_self, .size = audit_self_end - audit_self,
		.base = (uintptr_t)__ehdr_start,
	};
	struct audit_object o;

	if (t.size && audit_read_object(&o, (uintptr_t)__ehdr_start))
		register_table(&o, &t);
}

/* The path of the loader, as the program names it. */
static const char *get_interp_path(uintptr_t program)
{
	const Elf64_Phdr *ph, *end;
	struct audit_object o;
	const char *path;

	if (!program || program % AUDIT_PAGE || !audit_read_object(&o, program))
		return NULL;
	for (ph = o.phdr, end = ph + o.nr_phdrs; ph < end && ph->p_type != PT_INTERP; ph++)
		;
	if (ph == end || !ph->p_filesz)
		return NULL;
	path = (const char *)(o.bias + ph->p_vaddr);
	return path[ph->p_filesz - 1] ? NULL : path;
}

/* Called by the loader before la_version(). */
void audit_init(int argc, char **argv, char **env);

void audit_init(int argc, char **argv, char **env)
{
	(void)argc;
	(void)argv;
	audit.env = env;
}

EXPORT unsigned int la_version(unsigned int version)
{
	uintptr_t program = 0, interp = 0, vdso = 0;
	Elf64_auxv_t aux[64], *a;
	bool secure = true;

	/* Only a kernel with tables knows the call, and says that the range is empty */
	if (unregister_range(1, 2) != -ENOENT ||
	    sys_prctl(PR_GET_AUXV, aux, sizeof(aux) - sizeof(*aux)) < 0)
		return 0;
	aux[ARRAY_SIZE(aux) - 1].a_type = AT_NULL;
	for (a = aux; a->a_type != AT_NULL; a++) {
		switch (a->a_type) {
		case AT_PHDR:
			program = a->a_un.a_val - sizeof(Elf64_Ehdr);
			break;
		case AT_BASE:
			interp = a->a_un.a_val;
			break;
		case AT_SYSINFO_EHDR:
			vdso = a->a_un.a_val;
			break;
		case AT_EUID:
			audit.dirs.user = a->a_un.a_val;
			break;
		case AT_SECURE:
			secure = a->a_un.a_val;
			break;
		}
	}
	/* A setuid program trusts neither the user's environment nor the user's files */
	if (secure)
		audit.dirs.user = 0;
	find_dirs(secure);
	audit.filters = sys_prctl(PR_GET_SECCOMP, NULL, 0) > 0 ? count_filters() : 0;

	/* Start with the code that runs now */
	register_at(interp, get_interp_path(program), false, true, &audit.interp);
	register_self();
	register_at(vdso, NULL, false, false, &audit.vdso);
	register_at(program, "/proc/self/exe", true, true, &audit.program);
	/* Version 2 is the newest one known to call no other functions */
	return version < 2 ? version : 2;
}

/* --------------------------- while the program runs ---------------------- */

/* Called before the first constructor. */
EXPORT void la_preinit(uintptr_t *cookie)
{
	(void)cookie;
	audit.started = true;
	audit.changed = -1;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned int flag)
{
	(void)cookie;
	(void)flag;
	if (!enter_module())
		return;
	audit.changed = -1;
	if (audit.closed && may_call())
		sweep_closed(0, 0);
	leave_module();
}

/* Register @map. Returns its record if it may be unloaded. */
static struct record *add_object(const struct link_map *map)
{
	struct audit_object o;
	struct audit_table t;
	struct record *r = NULL;

	/* Each namespace contains the loader */
	if (map->l_addr == audit.program || map->l_addr == audit.interp ||
	    map->l_addr == audit.vdso || !may_call())
		return NULL;
	/*
	 * A library that is linked for address 0 starts with its header. For other libraries, or if
	 * the header cannot be read, this fails.
	 */
	if (sys_madvise(map->l_addr, AUDIT_PAGE, MADV_POPULATE_READ) ||
	    !audit_read_object(&o, map->l_addr) || o.bias != map->l_addr ||
	    o.dynamic != (uintptr_t)map->l_ld)
		return NULL;
	sweep_closed(o.start, o.end);
	if (audit.started) {
		r = new_record();
		if (!r)
			return NULL;
	}
	if (!register_object(&o, map->l_name, false, false, &t)) {
		if (r)
			release_record(r);
		return NULL;
	}
	if (r)
		fill_record(r, &o, &t);
	return r;
}

/* The cookie is the record of an object that may be unloaded, or 0. */
EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	(void)lmid;
	*cookie = 0;
	if (enter_module()) {
		*cookie = (uintptr_t)add_object(map);
		leave_module();
	}
	return 0;
}

EXPORT unsigned int la_objclose(uintptr_t *cookie)
{
	struct record *r;

	if (!enter_module())
		return 0;
	r = find_record(*cookie);
	if (r) {
		r->next = audit.closed;
		audit.closed = r;
		*cookie = 0;
	}
	leave_module();
	return 0;
}
