/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - the fields of kernel structures that the programs read
 *
 * Names and types only: libbpf finds the offsets in the BTF of the running kernel. So the order of
 * the fields here means nothing, and fields that are not read are left out. A name with three
 * underscores stands for the structure without them, as some kernels have it. Structures of the
 * names NAME___arch, and struct pt_regs, are in the header of the architecture (arch.bpf.h).
 */
#ifndef TRACE_USTACK_RECORD_BPF_KERNEL_H
#define TRACE_USTACK_RECORD_BPF_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed char __s8;
typedef short __s16;
typedef int __s32;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef _Bool bool;
#define true	1
#define false	0
#define NULL	((void *)0)

/* UAPI; clang -target bpf finds no <linux/bpf.h> without the headers of the architecture */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
};

#define BPF_F_NO_PREALLOC	(1u << 0)
#define BPF_F_MMAPABLE		(1u << 10)
#define BPF_RB_NO_WAKEUP	(1ull << 0)
#define BPF_RB_FORCE_WAKEUP	(1ull << 1)
#define BPF_RB_AVAIL_DATA	0

struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#define PF_EXITING	0x4
#define PF_IO_WORKER	0x10
#define PF_USER_WORKER	0x4000		/* 6.4; 6.1 to 6.3 do not use the bit */
#define PF_KTHREAD	0x200000
#define VM_EXEC		0x4
#define PAGE_SHIFT	12
#define PAGE_SIZE	(1ull << PAGE_SHIFT)

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct maple_tree {
	void *ma_root;
};

struct super_block {
	__u32 s_dev;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
	__s64 i_size;
	/* 6.11 and later */
	__s64 i_mtime_sec;
	__u32 i_mtime_nsec;
};

struct inode___66 {
	struct timespec64 __i_mtime;
};

struct inode___61 {
	struct timespec64 i_mtime;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
};

/* where uretprobes return to */
struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct return_instance {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance *next;
};

struct uprobe_task {
	struct return_instance *return_instances;
};

struct task_struct___uprobes {
	struct uprobe_task *utask;
};

struct mm_struct___uprobes {
	struct uprobes_state uprobes_state;
};

struct mm_struct {
	struct maple_tree mm_mt;
	unsigned long start_stack, arg_start, env_end;
};

/* 6.4 to 6.12 */
struct mm_struct___64 {
	struct {
		struct {
			long counter;
		} count;
	} mmap_lock;
	int mm_lock_seq;
};

/* 6.13 and later */
struct mm_struct___613 {
	struct {
		unsigned int sequence;
	} mm_lock_seq;
};

struct task_struct {
	void *stack;
	unsigned int flags;
	struct mm_struct *mm;
	int pid, tgid;
	__u64 start_time, self_exec_id;
	struct task_struct *group_leader;
	unsigned long nvcsw, nivcsw;
	void *vfork_done;
};

#pragma clang attribute pop

#endif
