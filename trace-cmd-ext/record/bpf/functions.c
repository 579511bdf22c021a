// SPDX-License-Identifier: GPL-2.0
/* functions.c - attach the program to kernel functions; see function.bpf.h */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impl.h"
#include "libunwind-user/base/base.h"
#include "trace-cmd-ext/tool/tool.h"

/* include/linux/preempt.h. Bits of interrupts have moved when irq_disable() was given a count. */
#define OLD_HARDIRQ	0xf0000
#define OLD_NMI		0xf00000
#define NEW_HARDIRQ	0xf000000
#define NEW_NMI		0x70000000	/* the highest bit can be PREEMPT_NEED_RESCHED */
#define NEW_VARIABLE	"local_interrupt_disable_state"

/* How the kernel counts interrupts */
struct context {
	int variable;			/* its type ID */
	uint32_t hardirq, nmi;
};

static int find_context(struct context *x)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool new;

	if (!btf)
		return -errno;
	/* From 6.2 to 6.14, the count is in a structure with others */
	x->variable = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_VAR);
	if (x->variable < 0)
		x->variable = btf__find_by_name_kind(btf, "__preempt_count", BTF_KIND_VAR);
	new = btf__find_by_name_kind(btf, NEW_VARIABLE, BTF_KIND_VAR) >= 0;
	x->hardirq = new ? NEW_HARDIRQ : OLD_HARDIRQ;
	x->nmi = new ? NEW_NMI : OLD_NMI;
	btf__free(btf);
	return x->variable < 0 ? x->variable : 0;
}

/*
 * An extern variable in the program would do the same. But libbpf looks for all extern variables of
 * the object in all modules, even if it does not load the program.
 */
int bpfsrc_prepare_functions(struct bpf_object *obj)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, "on_function");
	size_t nr = bpf_program__insn_cnt(prog), i;
	struct bpf_insn *insn;
	struct context x;
	int ret = find_context(&x);

	if (ret)
		return ret;
	insn = calloc(nr, sizeof(*insn));
	if (!insn)
		return -ENOMEM;
	memcpy(insn, bpf_program__insns(prog), nr * sizeof(*insn));
	for (i = 0; i < nr; i++) {
		if (insn[i].code == (BPF_LD | BPF_IMM | BPF_DW) && insn[i].imm == PREEMPT_COUNT) {
			insn[i].src_reg = BPF_PSEUDO_BTF_ID;
			insn[i].imm = x.variable;
		} else if (BPF_OP(insn[i].code) == BPF_MOV && insn[i].imm == HARDIRQ_BITS) {
			insn[i].imm = x.hardirq;
		} else if (BPF_OP(insn[i].code) == BPF_MOV && insn[i].imm == NMI_BITS) {
			insn[i].imm = x.nmi;
		}
	}
	ret = bpf_program__set_insns(prog, insn, nr);
	free(insn);
	return ret;
}

static int attach_to_functions(int prog, const uint64_t *function, size_t nr)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .kprobe_multi.addrs = function,
		    .kprobe_multi.cnt = nr);
	int fd = bpf_link_create(prog, 0, BPF_TRACE_KPROBE_MULTI, &opts);

	return fd < 0 ? -errno : fd;
}

int bpfsrc_check_functions(struct tool_why *why)
{
	const struct bpf_insn insn[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_KPROBE_MULTI);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "ustack_check", "GPL", insn,
			       ARRAY_SIZE(insn), &opts), ret = -errno;
	uint64_t none = 0;
	struct context x;

	if (find_context(&x))
		return tool_set_why(why, -EOPNOTSUPP, "make kprobe events of the functions and "
				    "record these", "this kernel does not say where it counts "
				    "interrupts (pcpu_hot or __preempt_count in its BTF)");
	/* A kernel that can do it refuses to attach to no function */
	if (fd >= 0) {
		ret = attach_to_functions(fd, &none, 0);
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
		fd = attach_to_functions(prog, function, nr / 2);
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

int bpfsrc_attach_functions(struct bpfsrc_attached *a, int prog, const struct bpfsrc_opts *opts,
			    char *why, size_t size)
{
	int fd = attach_to_functions(prog, opts->function, opts->nr_functions), ret;

	ret = fd < 0 ? fd : bpfsrc_add_link(a, fd);
	if (!ret)
		return 0;
	return bpfsrc_set_error(why, size, ret, "-l: a BPF program cannot be attached to %zu "
				"functions, one of them at %#llx: %s", opts->nr_functions,
				(unsigned long long)find_refused(prog, opts->function,
								 opts->nr_functions),
				strerror(-ret));
}
