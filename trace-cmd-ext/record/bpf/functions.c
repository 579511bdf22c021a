// SPDX-License-Identifier: GPL-2.0
/* functions.c - attach the program to functions of the kernel; see function.bpf.h */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"
#include "trace-cmd-ext/tool/tool.h"

static int attach(int prog, const uint64_t *function, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.addrs = function,
		    .kprobe_multi.cnt = nr);
	int fd = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);

	return fd < 0 ? -errno : fd;
}

int bpf_check_functions(struct tool_why *why)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "ustack_check", "GPL", insn,
			       sizeof(insn) / sizeof(*insn), &opts), ret = -errno;
	uint64_t none = 0;

	/* A kernel that can do it refuses to attach to no function */
	if (fd >= 0) {
		ret = attach(fd, &none, 0);
		close(fd);
	}
	if (ret == -EINVAL)
		return 0;
	if (ret == -EPERM || ret == -EACCES)
		return tool_set_why(why, ret, "run as root, on a kernel that is not locked down",
				    "this kernel does not let BPF programs run at its functions: "
				    "%s", strerror(-ret));
	return tool_set_why(why, -EOPNOTSUPP, "boot a kernel with CONFIG_FPROBE, or make kprobe "
			    "events of the functions and record these", "this kernel runs no BPF "
			    "programs at its functions: %s", strerror(-ret));
}

/* Attach to a half of the functions, to find one that the kernel refuses. */
static uint64_t find_refused(int prog, const uint64_t *function, size_t nr)
{
	int fd;

	while (nr > 1) {
		fd = attach(prog, function, nr / 2);
		if (fd < 0) {
			nr /= 2;
			continue;
		}
		close(fd);
		function += nr / 2;
		nr -= nr / 2;
	}
	return *function;
}

int bpf_attach_functions(struct bpf_attached *a, int prog, const struct bpf_opts *opts, char *why,
			 size_t size)
{
	int fd = attach(prog, opts->function, opts->nr_functions), ret;

	ret = fd < 0 ? fd : bpf_keep_link(a, fd);
	if (!ret)
		return 0;
	return bpf_set_error(why, size, ret, "-l: a BPF program cannot be attached to %zu "
			     "functions, one of them at %#llx: %s", opts->nr_functions,
			     (unsigned long long)find_refused(prog, opts->function,
							      opts->nr_functions),
			     strerror(-ret));
}
