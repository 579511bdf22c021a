// SPDX-License-Identifier: GPL-2.0
/*
 * kernel.c - what the kernel, its configuration and permissions allow
 *
 * The check changes nothing: it looks for files and opens them, and calls prctl() and
 * perf_event_open() with arguments that have no effect.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/record/record.h"
#include "libunwind-user/abi/abi.h"

#define PATCHES "boot a kernel with the kernel-patches of trace-ustack"

/* ----------------------------- configuration ----------------------------- */

static char *config;			/* text of the kernel's configuration, or NULL */

static char *read_gz(const char *path)
{
	size_t len = 0, room = 1 << 20;
	char *text = NULL, *bigger;
	gzFile f = gzopen(path, "re");
	int n = 0;

	while (f) {
		bigger = realloc(text, room);
		if (!bigger)
			break;
		text = bigger;
		n = gzread(f, text + len, room - len - 1);
		if (n <= 0)
			break;
		len += n;
		if (room - len < 2)
			room *= 2;
	}
	if (f)
		gzclose(f);
	if (!text || n < 0 || !len) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static void read_config(void)
{
	struct utsname u;
	char path[160];

	uname(&u);
	config = read_gz("/proc/config.gz");
	if (config)
		return;
	snprintf(path, sizeof(path), "/boot/config-%s", u.release);
	config = read_gz(path);
}

/* "y", "n", or "unknown" */
static const char *get_config(const char *symbol)
{
	char line[128], *at;

	if (!config)
		return "unknown";
	snprintf(line, sizeof(line), "\nCONFIG_%s=", symbol);
	at = strstr(config, line);
	return at && strchr("ym", at[strlen(line)]) ? "y" : "n";
}

/* @remedy with the options that the configuration lacks; malloc()ed. */
static char *make_remedy(const char *symbol, const char *remedy)
{
	char *text;

	if (symbol && *get_config(symbol) != 'y' ?
		    asprintf(&text, "%s%sCONFIG_%s=y", remedy ? remedy : "boot a kernel",
			     remedy ? " and " : " with ", symbol) < 0 :
		    asprintf(&text, "%s", remedy ? remedy : "boot another kernel") < 0)
		return NULL;
	return text;
}

/* -------------------------------- findings ------------------------------- */

/* Does a file of tracefs exist? Note the answer under its name. */
static bool need_file(struct check *c, enum check_level level, const char *file, const char *gives,
		      const char *symbol, const char *remedy)
{
	char *r;

	if (rec_tracefs_exists(file)) {
		check_add(c, CHECK_OK, "kernel", file, NULL, "%s", gives);
		return true;
	}
	r = make_remedy(symbol, remedy);
	check_add(c, level, "kernel", file, r, "missing: it would give %s", gives);
	free(r);
	return false;
}

/* A feature of the patched kernel is not missing where BPF programs replace it. */
static enum check_level get_level(const struct check *c)
{
	return c->bpf ? CHECK_NOTE : CHECK_MISSING;
}

/* Can record -l work? */
static void check_functions(struct check *c)
{
	struct tool_why why;

	if (!c->bpf)
		return;
	if (functions_check(&why))
		check_add(c, CHECK_NOTE, "sources of user stacks", "functions (-l)", why.remedy,
			  "not available: %.*s", (int)why.cause_len, why.text);
	else
		check_add(c, CHECK_OK, "sources of user stacks", "functions (-l)", NULL,
			  "BPF programs can run at kernel functions");
}

/* Which sources of user stacks does this kernel allow, and which one does a recording take? */
static void check_sources(struct check *c)
{
	static const struct {
		enum source source;
		const char *gives;
	} sources[] = {
		{ SOURCE_FTRACE, "the kernel records complete user stacks itself" },
		{ SOURCE_BPF, "BPF programs walk user stacks by unwind tables" },
		{ SOURCE_FRAME_POINTERS, "8 frames at most, where code keeps frame pointers" },
	};
	enum source takes;
	struct tool_why why;
	char name[48];
	size_t i;

	takes = source_choose();
	c->bpf = !source_check(SOURCE_BPF, &why);
	c->source = takes == SOURCE_NONE ? NULL : source_get_name(takes);
	for (i = 0; i < ARRAY_SIZE(sources); i++) {
		snprintf(name, sizeof(name), "--source %s", source_get_name(sources[i].source));
		if (source_check(sources[i].source, &why))
			check_add(c, CHECK_NOTE, "sources of user stacks", name, why.remedy,
				  "not available: %.*s", (int)why.cause_len, why.text);
		else
			check_add(c, CHECK_OK, "sources of user stacks", name, NULL, "%s%s",
				  sources[i].gives, sources[i].source == takes ?
				  "; a recording takes it" : "");
	}
	check_functions(c);
}

static void check_lockdown(struct check *c)
{
	char *text = rec_tracefs_read_path("/sys/kernel/security/lockdown", NULL);

	if (!text)
		return;
	if (strstr(text, "[confidentiality]"))
		check_add(c, CHECK_MISSING, "permissions", "lockdown",
			  "boot with lockdown=integrity or none, or without secure boot",
			  "the kernel is locked down for confidentiality, which forbids tracing");
	else
		check_add(c, CHECK_OK, "permissions", "lockdown", NULL,
			  "it does not forbid tracing");
	free(text);
}

/* Where is tracefs, and may we write there? */
static bool check_tracefs(struct check *c, const char *dir)
{
	struct tool_why why;
	const char *found = rec_tracefs_find(dir, false, &why);
	char path[PATH_MAX], remedy[3 * PATH_MAX];
	struct stat st = {};

	if (!found) {
		check_add(c, CHECK_MISSING, "permissions", "tracefs", why.remedy, "%.*s",
			  (int)why.cause_len, why.text);
		return false;
	}
	snprintf(path, sizeof(path), "%s/instances", found);
	if (access(path, W_OK)) {
		snprintf(remedy, sizeof(remedy), "run it as root, or let a group in: mount -o "
			 "remount,gid=GROUP,mode=770 %s && chmod -R g+rwX %s", found, found);
		check_add(c, CHECK_MISSING, "permissions", "tracefs", remedy,
			  "%s: no instance can be made: %s", found, strerror(errno));
		return false;
	}
	check_add(c, CHECK_OK, "permissions", "tracefs", NULL,
		  "%s, mode %o of user %u, and instances can be made", found,
		  stat(found, &st) ? 0 : st.st_mode & 07777, st.st_uid);
	return true;
}

static void check_kallsyms(struct check *c)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long addr = 0;
	int i;

	for (i = 0; f && i < 100 && !addr; i++)
		if (fscanf(f, "%llx %*[^\n]", &addr) != 1)
			break;
	if (f)
		fclose(f);
	if (addr)
		check_add(c, CHECK_OK, "permissions", "/proc/kallsyms", NULL,
			  "names of kernel functions");
	else
		check_add(c, CHECK_NOTE, "permissions", "/proc/kallsyms",
			  "run it as root; sysctl kernel.kptr_restrict=1 or 0",
			  "its addresses are hidden, so kernel stacks have no names");
}

/* libunwind-user/tables/follow.c reads new mappings from perf, or else scans /proc every second. */
static void check_perf(struct check *c)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY, .mmap = 1, .mmap2 = 1, .exclude_kernel = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), err = errno;
	char *paranoid;

	if (fd >= 0) {
		close(fd);
		check_add(c, CHECK_OK, "permissions", "perf_event_open", NULL,
			  "programs that start while recording get tables at once");
		return;
	}
	paranoid = rec_tracefs_read_path("/proc/sys/kernel/perf_event_paranoid", NULL);
	if (paranoid)
		paranoid[strcspn(paranoid, "\n")] = '\0';
	check_add(c, CHECK_NOTE, "permissions", "perf_event_open", err == EACCES || err == EPERM ?
		  "run it as root, or sysctl kernel.perf_event_paranoid=0" :
		  "boot a kernel with CONFIG_PERF_EVENTS=y",
		  "%s (perf_event_paranoid is %s): programs that start while recording get tables "
		  "up to a second late", strerror(err), paranoid ? paranoid : "not there");
	free(paranoid);
}

static void check_trigger(struct check *c)
{
	static const char file[] = "events/sched/sched_switch/trigger";
	char *text = rec_tracefs_read(NULL, file, NULL);

	/* if an event has triggers, the file lists these instead */
	if (!text || !strstr(text, "# Available triggers"))
		goto out;
	if (strstr(text, "userstacktrace_deferred"))
		check_add(c, CHECK_OK, "kernel", "trigger userstacktrace_deferred", NULL,
			  "user stacks of selected events");
	else
		check_add(c, get_level(c), "kernel", "trigger userstacktrace_deferred", PATCHES,
			  "missing: it would give user stacks of selected events");
out:
	free(text);
}

static void check_formats(struct check *c)
{
	static const char *const names[] = {
		"user_unwind_cookie", "user_unwind_stack", "user_unwind_map",
	};
	char file[96], *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(file, sizeof(file), "events/ftrace/%s/format", names[i]);
		text = rec_tracefs_read(NULL, file, NULL);
		if (!text)
			check_add(c, get_level(c), "kernel", names[i], PATCHES,
				  "this event is missing");
		else if (i == 1 && (!strstr(text, " tgid;") || !strstr(text, " flags;")))
			check_add(c, CHECK_NOTE, "kernel", names[i], PATCHES,
				  "this event has no tgid and flags: an earlier version of the "
				  "patches; it is not known whether a stack is complete");
		else
			check_add(c, CHECK_OK, "kernel", names[i], NULL, "this event is there");
		free(text);
	}
}

static void check_tables(struct check *c)
{
	char *path;
	int fd;

	if (!need_file(c, get_level(c), "user_unwind_tables",
		       "unwind tables by file: complete stacks of programs without frame pointers",
		       "UNWIND_USER_SFRAME", PATCHES))
		return;
	path = tracefs_instance_get_file(NULL, "user_unwind_tables");
	fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (fd >= 0) {
		close(fd);
		c->tables = true;
		check_add(c, CHECK_OK, "permissions", "user_unwind_tables", NULL,
			  "tables can be registered");
	} else {
		check_add(c, CHECK_MISSING, "permissions", "user_unwind_tables", "run it as root",
			  "no table can be registered: %s", strerror(errno));
	}
	tracefs_put_tracing_file(path);
}

/* A kernel with the prctl() reads the structure first: EFAULT. Other kernels return EINVAL. */
static void check_prctl(struct check *c)
{
	char *r;

	if (!prctl(PR_ADD_SFRAME, 1UL, sizeof(struct unwind_table_user), 0, 0) ||
	    errno == EFAULT) {
		check_add(c, CHECK_OK, "kernel", "prctl(PR_ADD_SFRAME)", NULL,
			  "programs can register tables for code of their own (JIT)");
		return;
	}
	r = make_remedy("UNWIND_USER_SFRAME", PATCHES);
	check_add(c, get_level(c), "kernel", "prctl(PR_ADD_SFRAME)", r,
		  "it is missing (%s): programs cannot register tables for code of their own (JIT)",
		  strerror(errno));
	free(r);
}

static void check_clock(struct check *c)
{
	char *text = rec_tracefs_read(NULL, "trace_clock", NULL);

	if (text && strstr(text, "mono"))
		check_add(c, CHECK_OK, "kernel", "trace_clock", NULL, "it has the clock mono");
	else
		check_add(c, CHECK_NOTE, "kernel", "trace_clock", "record with --clock local",
			  "it has no clock mono");
	free(text);
}

static void check_plugin(struct check *c)
{
	/* libtraceevent's directories: of the machine that built this, and of other systems */
	static const char *const libs[] = {
		TRACEEVENT_LIB, "/usr/lib64", "/usr/lib", "/usr/local/lib", "/usr/local/lib64",
	};
	const char *chosen = getenv("TRACEEVENT_PLUGIN_DIR"), *home = getenv("HOME");
	char path[PATH_MAX];
	size_t i;

	snprintf(path, sizeof(path), "%s/plugin_ustack.so", chosen ? chosen : "");
	if (chosen && !access(path, R_OK))
		goto found;
	snprintf(path, sizeof(path), "%s/.local/lib/traceevent/plugins/plugin_ustack.so",
		 home ? home : "");
	if (home && !access(path, R_OK))
		goto found;
	for (i = 0; i < ARRAY_SIZE(libs); i++) {
		snprintf(path, sizeof(path), "%s/traceevent/plugins/plugin_ustack.so", libs[i]);
		if (!access(path, R_OK))
			goto found;
	}
	check_add(c, CHECK_NOTE, "tools", "plugin_ustack.so",
		  "run make install, or set TRACEEVENT_PLUGIN_DIR to its directory",
		  "it is in no plugin directory: trace-cmd report and KernelShark show user stacks "
		  "apart from their events; trace-ustack report needs no plugin");
	return;
found:
	check_add(c, CHECK_OK, "tools", "plugin_ustack.so", NULL, "%s", path);
}

void check_kernel(struct check *c, const char *tracefs)
{
	struct utsname u;
	bool tracefs_works, stacks;

	uname(&u);
	read_config();
	check_lockdown(c);
	tracefs_works = check_tracefs(c, tracefs);
	check_kallsyms(c);
	check_perf(c);
	if (tracefs_works)
		check_sources(c);
	check_prctl(c);
	if (!tracefs_works)
		goto out;
	check_tables(c);
	c->traces = need_file(c, CHECK_MISSING, "events/sched", "events of the scheduler",
			      "EVENT_TRACING", NULL);
	need_file(c, CHECK_NOTE, "events/syscalls", "events of each system call",
		  "FTRACE_SYSCALLS", NULL);
	need_file(c, CHECK_NOTE, "kprobe_events", "events at any kernel function",
		  "KPROBE_EVENTS", NULL);
	need_file(c, CHECK_NOTE, "uprobe_events", "events at any function of a program",
		  "UPROBE_EVENTS", NULL);
	c->kernel_stacks = need_file(c, CHECK_MISSING, "options/stacktrace", "kernel stacks",
				     "STACKTRACE", NULL);
	need_file(c, CHECK_NOTE, "options/event-fork", "children of traced processes", NULL,
		  "boot a newer kernel, or record with --no-inherit");
	check_clock(c);
	stacks = need_file(c, get_level(c), "options/userstacktrace_deferred",
			   "complete user stacks, walked on the way back to user space",
			   "TRACE_USER_UNWIND", PATCHES);
	c->user_stacks = stacks;
	check_trigger(c);
	c->maps = need_file(c, get_level(c), "options/userstacktrace_maps",
			    "records of which files are mapped, in a buffer of their own",
			    "TRACE_USER_UNWIND", PATCHES);
	if (stacks)
		need_file(c, CHECK_NOTE, "options/userstacktrace_once",
			  "a repeated stack of a task as a short reference", "TRACE_USER_UNWIND",
			  PATCHES);
	check_formats(c);
	c->frame_pointers = need_file(c, stacks || c->bpf ? CHECK_NOTE : CHECK_MISSING,
				      "options/userstacktrace",
				      "user stacks by frame pointers, 8 frames",
				      "USER_STACKTRACE_SUPPORT", NULL);
out:
	check_plugin(c);
	free(config);
	config = NULL;
}
