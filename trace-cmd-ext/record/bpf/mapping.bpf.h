/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mapping.bpf.h - which executable mapping holds an address?
 */
#ifndef TRACE_USTACK_RECORD_BPF_MAPPING_H
#define TRACE_USTACK_RECORD_BPF_MAPPING_H

#include "state.bpf.h"

/*
 * How many of the node's first @end pivots, at most 15, are below @addr? In a function of its own:
 * for each loop in a loop, the verifier would follow all combinations.
 */
__noinline u32 find_slot(struct walk *w, u64 addr, u32 end)
{
	u32 step, i = 0;

	if (!w)
		return 0;
#pragma clang loop unroll(full)
	for (step = 8; step; step /= 2) {
		/* after the word for the parent */
		if (i + step <= end && w->node[(i + step) & 15] < addr)
			i += step;
	}
	return i;
}

/* Walk the maple tree down to the entry for @addr: Documentation/core-api/maple_tree.rst */
__noinline u64 find_entry(struct walk *w, u64 addr)
{
	struct mm_struct *mm;
	u64 entry, type;
	u32 depth, n, end;
	void *root;

	if (!w)
		return 0;
	mm = (void *)w->key.mm;
	root = BPF_CORE_READ(mm, mm_mt.ma_root);
	entry = (u64)root;
	/* A tree with one entry has no nodes */
	if ((entry & 3) != 2)
		return entry;
	for (depth = 0; depth < 8; depth++) {
		type = entry >> 3 & 15;
		if (!type || type > 3 ||
		    bpf_probe_read_kernel(w->node, sizeof(w->node), (void *)(entry & ~255ull)))
			return 0;
		/* Words: parent, pivots, slots, for arange gaps; then how many pivots are in use */
		n = type == 3 ? 9 : 15;
		end = n;
		if (!w->node[n]) {
			end = *(const u8 *)&w->node[type == 3 ? 30 : 31];
			if (end > n)
				end = n;
		}
		entry = w->node[(1 + n + find_slot(w, addr, end)) & 31];
		if (type == 1)
			return entry;
		/* a node is never in the first page */
		if (entry < 4096)
			return 0;
	}
	return 0;
}

/*
 * A call of the helper that reads kernel memory costs more than the bytes do. So read the start of
 * a structure, @size bytes in this kernel, and get its fields from there; 0 for fields that lie
 * further away.
 */
static __always_inline int read_head(struct walk *w, const void *from, u32 size)
{
	return bpf_probe_read_kernel(w->node, size < HEAD_SIZE ? size : HEAD_SIZE, from);
}

#define GET_FIELD(w, pointer, field) ({					\
	u32 __off = bpf_core_field_offset((pointer)->field);		\
	typeof((pointer)->field) __v = 0;				\
									\
	if (__off <= HEAD_SIZE - sizeof(__v))				\
		__v = *(typeof(__v) *)((void *)(w)->node + __off);	\
	__v;								\
})

static __always_inline int read_file(struct walk *w, struct mapping *m, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	struct inode___66 *inode_66 = (void *)inode;
	struct inode___61 *inode_61 = (void *)inode;
	struct super_block *sb;

	if (read_head(w, inode, bpf_core_type_size(struct inode)))
		return -1;
	m->ino = GET_FIELD(w, inode, i_ino);
	m->state.size = GET_FIELD(w, inode, i_size);
	if (bpf_core_field_exists(inode->i_mtime_sec)) {
		m->state.mtime = GET_FIELD(w, inode, i_mtime_sec);
		m->state.mtime_nsec = GET_FIELD(w, inode, i_mtime_nsec);
	} else if (bpf_core_field_exists(inode_66->__i_mtime)) {
		m->state.mtime = GET_FIELD(w, inode_66, __i_mtime.tv_sec);
		m->state.mtime_nsec = GET_FIELD(w, inode_66, __i_mtime.tv_nsec);
	} else {
		m->state.mtime = GET_FIELD(w, inode_61, i_mtime.tv_sec);
		m->state.mtime_nsec = GET_FIELD(w, inode_61, i_mtime.tv_nsec);
	}
	sb = GET_FIELD(w, inode, i_sb);
	m->dev = BPF_CORE_READ(sb, s_dev);
	return 0;
}

/* Two hashes that do not depend on each other */
static __always_inline void add_hash(struct walk *w, u64 value)
{
	w->hash[0] = (w->hash[0] ^ value) * 0x9e3779b97f4a7c15ull;
	w->hash[0] ^= w->hash[0] >> 32;
	w->hash[1] = ((w->hash[1] << 23 | w->hash[1] >> 41) ^ value) * 0xd6e8feb86659fd93ull;
}

static __always_inline void add_code(struct walk *w, const struct mapping *m)
{
	struct msg_code *c;
	u32 i = w->nr_code;

	if (i >= MSG_MAX_CODE)
		return;
	/* Fill the list from its end, as the frames follow */
	c = &w->code[(MSG_MAX_CODE - 1 - i) & (MSG_MAX_CODE - 1)];
	c->start = m->start;
	c->end = m->end;
	c->pgoff = m->kind == MAP_FILE ? m->pgoff : 0;
	c->ino = m->ino;
	c->dev_major = m->dev >> 20;
	c->dev_minor = m->kind == MAP_VDSO ? MSG_VDSO : m->dev & 0xfffff;
	w->nr_code = i + 1;
	add_hash(w, m->start);
	add_hash(w, m->end);
	add_hash(w, c->pgoff);
	add_hash(w, m->ino << 32 ^ m->ino >> 32 ^ m->dev);
}

#if HAS_32BIT
/*
 * Which vDSO does the process have? A process can execute 32-bit and 64-bit code, and has one vDSO
 * in either case. That of x32 programs has rows of its own, too.
 */
static __always_inline u32 find_vdso(struct walk *w, struct mm_struct *mm)
{
	struct vdso_image *image = BPF_CORE_READ((struct mm_struct___arch *)mm,
						 context.vdso_image);
	u32 head[5] = {};		/* of an ELF file, up to e_machine */

	if ((u64)image == w->vdso_image)
		return w->vdso_dev;
	if (bpf_probe_read_kernel(head, sizeof(head), BPF_CORE_READ(image, data)))
		return VDSOX32_DEV;
	w->vdso_dev = (head[1] & 255) == ELFCLASS64 ? VDSO64_DEV :
		      head[4] >> 16 == EM_386 ? VDSO32_DEV : VDSOX32_DEV;
	w->vdso_image = (u64)image;
	return w->vdso_dev;
}
#else
/* A task runs code of one ABI only. */
static __always_inline u32 find_vdso(struct walk *w, struct mm_struct *mm)
{
	return w->flags & UNWIND_STACK_COMPAT ? VDSO32_DEV : VDSO64_DEV;
}
#endif

/* Read the mapping that @addr is in: its number in w->map[], or -1 */
__noinline int read_mapping(struct walk *w, u64 addr)
{
	struct vm_area_struct *vma;
	struct mapping *m;
	struct mm_struct *mm;
	struct file *file;
	u64 end;
	u32 i;

	if (!w)
		return -1;
	vma = (void *)find_entry(w, addr);
	if ((u64)vma < 4096 || (u64)vma & 3)
		return -1;
	mm = (void *)w->key.mm;
	i = w->nr_mappings;
	if (i >= NR_MAPPINGS)
		i = NR_MAPPINGS - 1;
	m = &w->map[i & (NR_MAPPINGS - 1)];
	m->end = 0;
	if (read_head(w, vma, bpf_core_type_size(struct vm_area_struct)))
		return -1;
	m->start = GET_FIELD(w, vma, vm_start);
	end = GET_FIELD(w, vma, vm_end);
	if (addr < m->start || addr >= end || GET_FIELD(w, vma, vm_mm) != mm ||
	    !(GET_FIELD(w, vma, vm_flags) & VM_EXEC))
		return -1;
	m->pgoff = (u64)GET_FIELD(w, vma, vm_pgoff) << PAGE_SHIFT;
	m->ino = 0;
	m->dev = 0;
	m->part_known = 0;
	file = GET_FIELD(w, vma, vm_file);
	if (file) {
		m->kind = MAP_FILE;
		if (read_file(w, m, file))
			return -1;
	} else {
		m->kind = get_vdso_start(mm) == m->start ? MAP_VDSO : MAP_NO_FILE;
		if (m->kind == MAP_VDSO)
			m->dev = find_vdso(w, mm);
	}
	m->end = end;
	w->nr_mappings = i + 1;
	add_code(w, m);
	return i;
}

static __always_inline struct mapping *get_mapping(struct walk *w, s64 i)
{
	return &w->map[i & (NR_MAPPINGS - 1)];
}

/* Returns the number of the mapping of @addr. Reads it only if this walk has not read it yet. */
__noinline int find_mapping(struct walk *w, u64 addr)
{
	struct mapping *m;
	int i;

	if (!w)
		return -1;
	m = &w->map[w->last_map & (NR_MAPPINGS - 1)];
	if (w->nr_mappings && addr >= m->start && addr < m->end)
		return w->last_map & (NR_MAPPINGS - 1);
	for (i = 0; i < NR_MAPPINGS; i++) {
		if (i >= w->nr_mappings)
			break;
		m = &w->map[i];
		if (addr >= m->start && addr < m->end)
			goto found;
	}
	i = read_mapping(w, addr);
	/* The tree may just have changed */
	if (i < 0)
		i = read_mapping(w, addr);
	if (i < 0)
		return -1;
found:
	w->last_map = i;
	return i;
}

#endif
