// SPDX-License-Identifier: GPL-2.0
/*
 * check.c - checks whether this kernel and this user allow stacks by BPF programs
 *
 * It loads a program of two instructions, and attaches it to the tracepoint of an event.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"

#define BTF		"/sys/kernel/btf/vmlinux"
#define JIT		"/proc/sys/net/core/bpf_jit_enable"
/* The maple tree of mappings, and bpf_loop() */
#define MIN_MAJOR	6
#ifdef __s390x__
#define MIN_MINOR	3		/* and tail calls in programs with functions */
#else
#define MIN_MINOR	1
#endif
/* mapping.bpf.h: kernels count offsets of mappings in their own pages */
#define PAGE_BYTES	4096

int bpfsrc_set_error(char *why, size_t size, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (size)
		vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return error;
}

static int load_empty_program(void)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "ustack_check", "GPL", insn,
			       ARRAY_SIZE(insn), NULL);

	return fd < 0 ? -errno : fd;
}

/*
 * Does the kernel compile BPF programs? The interpreter takes no callbacks. The sysctl is there in
 * the first network namespace only, so ask for the size of the compiled code.
 */
static bool has_jit(int fd)
{
	struct bpf_prog_info info = {};
	unsigned int size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) || info.jited_prog_len;
}

static int refuse_interpreter(struct tool_why *why)
{
	return tool_set_why(why, -EOPNOTSUPP, access(JIT, F_OK) ?
			    "boot a kernel with CONFIG_BPF_JIT=y" : "echo 1 > " JIT,
			    "this kernel does not compile BPF programs");
}

int bpfsrc_check(struct tool_why *why)
{
	unsigned int major, minor;
	struct utsname uts;
	bool compiles;
	int fd;

#if !defined(__x86_64__) && !defined(__aarch64__)
	/* The programs are also written for s390x, but no kernel has run them yet */
	return tool_set_why(why, -EOPNOTSUPP, NULL,
			    "user stacks by BPF are for x86-64 and arm64 only");
#endif
	if (uname(&uts) || sscanf(uts.release, "%u.%u", &major, &minor) != 2)
		return tool_set_why(why, -EOPNOTSUPP, NULL,
				    "the version of this kernel is not known");
	if (major < MIN_MAJOR || (major == MIN_MAJOR && minor < MIN_MINOR))
		return tool_set_why(why, -EOPNOTSUPP, "boot a newer kernel", "user stacks by BPF "
				    "need Linux %u.%u or newer, and this is %s", MIN_MAJOR,
				    MIN_MINOR, uts.release);
	if (sysconf(_SC_PAGESIZE) != PAGE_BYTES)
		return tool_set_why(why, -EOPNOTSUPP, "boot a kernel with pages of 4 KiB",
				    "user stacks by BPF need pages of 4 KiB, and this kernel has "
				    "pages of %ld KiB", sysconf(_SC_PAGESIZE) / 1024);
	fd = load_empty_program();
	if (fd == -EPERM || fd == -EACCES)
		return tool_set_why(why, fd, "run as root",
				    "this user may not load BPF programs");
	if (fd == -ENOSYS || fd == -EINVAL)
		return tool_set_why(why, -EOPNOTSUPP, "boot a kernel with CONFIG_BPF_SYSCALL=y and "
				    "CONFIG_BPF_EVENTS=y",
				    "this kernel has no BPF programs for tracepoints");
	if (fd < 0)
		return tool_set_why(why, fd, NULL, "a BPF program cannot be loaded: %s",
				    strerror(-fd));
	compiles = has_jit(fd);
	close(fd);
	if (!compiles)
		return refuse_interpreter(why);
	if (access(BTF, R_OK))
		return tool_set_why(why, -EOPNOTSUPP,
				    "boot a kernel with CONFIG_DEBUG_INFO_BTF=y",
				    BTF " cannot be read: %s", strerror(errno));
	return 0;
}

/* The lock guard in __DECLARE_TRACE(), include/linux/tracepoint.h */
#define SRCU_GUARD	"class_srcu_fast_notrace_t"

bool bpfsrc_tracepoints_migrate(void)
{
	unsigned int major, minor;
	struct utsname uts;
	struct btf *btf;
	bool may_migrate;

	if (uname(&uts) || sscanf(uts.release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	    (major == 6 && minor > 18))
		return true;
	/* an older kernel of a distribution may have the change, too */
	btf = btf__load_vmlinux_btf();
	may_migrate = !btf || btf__find_by_name_kind(btf, SRCU_GUARD, BTF_KIND_TYPEDEF) >= 0;
	btf__free(btf);
	return may_migrate;
}

static int refuse_event(const struct bpfsrc_event *e, char *why, size_t size)
{
	const char *instead = "";

	if (!strncmp(e->system, "user_events", strlen("user_events")))
		instead = "; a program writes it with write() or writev(), and -e "
			  "syscalls:sys_enter_write* records the stacks of these";
	else if (e->kind == BPFSRC_OTHER)
		instead = "; of a kernel function, -l NAME and kprobe events have them";
	return bpfsrc_set_error(why, size, -EOPNOTSUPP, "%s:%s has no tracepoint of its own, so "
				"BPF cannot add user stacks to it%s", e->system, e->name, instead);
}

/* Does an event of @system come while the registers of user space are half written? */
static bool comes_before_registers(const char *system)
{
	if (!strcmp(system, "nmi"))
		return true;
#ifdef __s390x__
	/* The kernel saves the address after it has said that it was entered */
	if (!strcmp(system, "preemptirq") || !strcmp(system, "context_tracking"))
		return true;
#endif
	return false;
}

int bpfsrc_check_event(const struct bpfsrc_event *event, char *why, size_t size)
{
	const char *system = event->system, *name = event->name, *tracepoint = name;
	int fd, link, ret = 0;

	if (event->kind == BPFSRC_KPROBE || event->kind == BPFSRC_UPROBE)
		return 0;

	if (comes_before_registers(system))
		return bpfsrc_set_error(why, size, -EOPNOTSUPP, "%s:%s can come while the "
					"kernel saves the registers of user space, so it "
					"gets no user stack", system, name);
	if (!strcmp(system, "syscalls"))
		tracepoint = !strncmp(name, "sys_enter_", 10) ? "sys_enter" : "sys_exit";
	if (event->kind == BPFSRC_OTHER)
		return refuse_event(event, why, size);
	fd = load_empty_program();
	if (fd < 0)
		return bpfsrc_set_error(why, size, fd, "a BPF program cannot be loaded: %s",
					strerror(-fd));
	link = bpf_raw_tracepoint_open(tracepoint, fd);
	if (link < 0)
		ret = errno == ENOENT || errno == EINVAL ? -EOPNOTSUPP : -errno;
	if (link >= 0)
		close(link);
	close(fd);
	if (ret == -EOPNOTSUPP)
		return refuse_event(event, why, size);
	if (ret)
		bpfsrc_set_error(why, size, ret, "%s:%s: %s", system, name, strerror(-ret));
	return ret;
}
