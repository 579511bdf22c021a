// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * table.c - the table of an object that is mapped
 *
 * The module reads objects where the loader has mapped them, so that it costs no system call. The
 * loader has trusted their headers before. Even so, the module follows them only into a segment
 * that can be read.
 *
 * The module checks cached files with read(), not in the mapping: a mapped file that somebody cuts
 * short would end the program with a signal. The kernel, which reads the table itself, goes on as
 * if there were no table. The module does not check the checksum over the table, as that takes ten
 * times longer than all the rest.
 */
#include "audit.h"
#include "sys.h"
#include "gen_version.h"
#include "libunwind-user/sframe/sframe.h"
#include "libunwind-user/abi/abi.h"

#define PT_GNU_SFRAME	0x6474e554
#define MAX_NOTE	4096		/* as in tables/elf.c */
#define SETTLED		2		/* seconds, see read_inode() */

/* ------------------------------- the object ------------------------------ */

/* Is that range of addresses of the file in a segment that can be read? */
static bool is_readable(const struct audit_object *o, uint64_t vaddr, uint64_t size)
{
	const Elf64_Phdr *ph = o->phdr, *end = ph + o->nr_phdrs;

	for (; ph < end; ph++) {
		if (ph->p_type == PT_LOAD && ph->p_flags & PF_R && vaddr >= ph->p_vaddr &&
		    vaddr - ph->p_vaddr <= ph->p_filesz &&
		    size <= ph->p_filesz - (vaddr - ph->p_vaddr))
			return true;
	}
	return false;
}

static void read_notes(struct audit_object *o)
{
	const Elf64_Phdr *ph = o->phdr, *end = ph + o->nr_phdrs;
	size_t size;

	for (; ph < end && !o->build_id_size; ph++) {
		size = ph->p_filesz < MAX_NOTE ? ph->p_filesz : MAX_NOTE;
		if (ph->p_type == PT_NOTE && is_readable(o, ph->p_vaddr, size))
			o->build_id_size = tables_find_build_id(
				(const uint8_t *)(o->bias + ph->p_vaddr), size, ph->p_align,
				&o->build_id);
	}
}

bool audit_read_object(struct audit_object *o, uintptr_t header)
{
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)header;
	const Elf64_Phdr *ph, *end;
	uint64_t low = UINT64_MAX, high = 0;
	bool found = false;

	*o = (struct audit_object) { .header = header };
	if (eh->e_ident[EI_MAG0] != ELFMAG0 || eh->e_ident[EI_MAG1] != ELFMAG1 ||
	    eh->e_ident[EI_MAG2] != ELFMAG2 || eh->e_ident[EI_MAG3] != ELFMAG3 ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_phentsize != sizeof(*ph) ||
	    eh->e_phoff > AUDIT_PAGE || eh->e_phoff % 8 ||
	    eh->e_phnum > (AUDIT_PAGE - eh->e_phoff) / sizeof(*ph))
		return false;
	o->phdr = (const Elf64_Phdr *)(header + eh->e_phoff);
	o->nr_phdrs = eh->e_phnum;
	end = o->phdr + o->nr_phdrs;
	for (ph = o->phdr; ph < end; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		if (ph->p_vaddr + ph->p_memsz < ph->p_vaddr || ph->p_filesz > ph->p_memsz)
			return false;
		if (!ph->p_offset && !found) {
			o->bias = header - ph->p_vaddr;
			found = true;
		}
		low = ph->p_vaddr < low ? ph->p_vaddr : low;
		high = ph->p_vaddr + ph->p_memsz > high ? ph->p_vaddr + ph->p_memsz : high;
	}
	if (!found)
		return false;
	o->start = o->bias + low;
	o->end = o->bias + high;
	for (ph = o->phdr; ph < end; ph++) {
		if (ph->p_type == PT_DYNAMIC)
			o->dynamic = o->bias + ph->p_vaddr;
	}
	o->layout = tables_hash_layout(eh, o->phdr, o->nr_phdrs);
	read_notes(o);
	return true;
}

/* ------------------------------ in the file ------------------------------ */

bool audit_find_own_table(const struct audit_object *o, struct audit_table *t)
{
	const Elf64_Phdr *ph = o->phdr, *end = ph + o->nr_phdrs;
	const uint8_t *p;

	for (; ph < end && ph->p_type != PT_GNU_SFRAME; ph++)
		;
	if (ph == end || ph->p_memsz < SFRAME_HDR_SIZE ||
	    !is_readable(o, ph->p_vaddr, SFRAME_HDR_SIZE))
		return false;
	p = (const uint8_t *)(o->bias + ph->p_vaddr);
	if ((p[SFRAME_HDR_MAGIC_OFF] | p[SFRAME_HDR_MAGIC_OFF + 1] << 8) != SFRAME_MAGIC ||
	    p[SFRAME_HDR_VERSION_OFF] != SFRAME_VERSION_3 ||
	    !(p[SFRAME_HDR_FLAGS_OFF] & SFRAME_F_SORTED) ||
	    p[SFRAME_HDR_ABI_OFF] != SFRAME_ABI_AMD64)
		return false;
	*t = (struct audit_table) {
		.table = (uintptr_t)p, .base = (uintptr_t)p, .size = ph->p_memsz,
	};
	return true;
}

/* ------------------------------ in the cache ----------------------------- */

/*
 * Identify the file. The loader has just opened it. If the path leads to another file by now, that
 * file was changed lately.
 */
static bool read_inode(const char *path, bool exact, struct tables_inode *inode)
{
	struct stat st;

	if (!path || !*path || sys_stat(path, &st, 0))
		return false;
	if (!exact && sys_now() - st.st_ctim.tv_sec < SETTLED)
		return false;
	*inode = (struct tables_inode) {
		.dev = st.st_dev, .ino = st.st_ino, .size = st.st_size,
		.mtime = st.st_mtim.tv_sec, .mtime_nsec = st.st_mtim.tv_nsec,
		.ctime = st.st_ctim.tv_sec, .ctime_nsec = st.st_ctim.tv_nsec,
	};
	return true;
}

/* Map the table that is open as @fd, if its header fits. */
static bool map_file(const struct audit_dirs *dirs, const struct audit_object *o, int fd,
		     struct audit_table *t)
{
	struct tables_head head;
	struct stat st;
	long map;

	if (sys_fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    !tables_is_trusted(st.st_uid, st.st_mode, dirs->user) ||
	    (uint64_t)st.st_size > TABLES_MAX_FILE ||
	    sys_read(fd, &head, sizeof(head)) != sizeof(head) ||
	    !tables_head_fits(&head, st.st_size, o->build_id, o->build_id_size, o->layout,
			      GEN_VERSION))
		return false;
	/* For the kernel, address 0 has another meaning */
	if (!(o->bias + head.base))
		return false;
	map = sys_mmap(st.st_size, PROT_READ, fd);
	if (map < 0 && map > -AUDIT_PAGE)
		return false;
	*t = (struct audit_table) {
		.table = map + head.head_size, .size = head.table_size,
		.base = o->bias + head.base, .map = map, .map_size = st.st_size,
	};
	return true;
}

static bool find_cached(const struct audit_dirs *dirs, const struct audit_object *o,
			const struct tables_inode *inode, struct audit_table *t)
{
	char path[AUDIT_DIR_SIZE + 1 + TABLES_NAME_SIZE], *p;
	unsigned int i;
	const char *s;
	bool found;
	int fd;

	for (i = 0; i < dirs->nr; i++) {
		for (p = path, s = dirs->path[i]; *s; s++)
			*p++ = *s;
		*p++ = '/';
		tables_write_name(p, o->build_id, o->build_id_size, inode, GEN_VERSION);
		fd = sys_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0)
			continue;
		found = map_file(dirs, o, fd, t);
		sys_close(fd);
		if (found)
			return true;
	}
	return false;
}

/*
 * Look the table up by build ID, also for files that are not trusted: a file with a false build ID
 * gives wrong stacks to its own process only, because the module puts no table into the cache.
 */
bool audit_find_cached_table(const struct audit_dirs *dirs, const struct audit_object *o,
			     const char *path, bool exact, struct audit_table *t)
{
	struct tables_inode inode;

	if (!dirs->nr)
		return false;
	if (o->build_id_size && find_cached(dirs, o, NULL, t))
		return true;
	return read_inode(path, exact, &inode) && find_cached(dirs, o, &inode, t);
}

void audit_unmap_table(struct audit_table *t)
{
	if (t->map_size)
		sys_munmap(t->map, t->map_size);
	t->map_size = 0;
}
