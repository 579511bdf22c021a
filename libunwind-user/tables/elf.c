// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * elf.c - identifies a file
 *
 * A build ID names contents, but tools that move code in a file (patchelf and the like) keep it. So
 * the program headers are part of the identity: with the same build ID and the same headers, the
 * same code is at the same place.
 *
 * The file may change while it is read. So all data that is used is read once and checked
 * afterwards.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tables.h"
#include "libunwind-user/abi/abi.h"
#include "libunwind-user/base/base.h"

#define MAX_PHDRS	256
#define MAX_NOTE	4096

/* The kernel of this machine takes tables for this architecture. */
#if defined(__x86_64__)
#define HOST_MACHINE	EM_X86_64
/* This machine's kernel also runs 32-bit programs of this architecture, and may take tables. */
#define HOST_COMPAT	EM_386
#elif defined(__aarch64__)
#define HOST_MACHINE	EM_AARCH64
#elif defined(__s390x__)
#define HOST_MACHINE	EM_S390
#else
#define HOST_MACHINE	EM_NONE
#endif

#ifndef HOST_COMPAT
#define HOST_COMPAT	EM_NONE
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_DATA	ELFDATA2LSB
#else
#define HOST_DATA	ELFDATA2MSB
#endif

/* Returns 0, -ENOEXEC if the file is too short, or an error of pread(). */
static int read_at(int fd, void *to, size_t len, uint64_t off)
{
	int ret = fd_pread_all(fd, to, len, off);

	return ret == -ENODATA ? -ENOEXEC : ret;
}

static int read_note(int fd, struct tables_id *id, const Elf64_Phdr *ph)
{
	uint8_t buf[MAX_NOTE] __attribute__((aligned(8)));
	size_t len = ph->p_filesz < sizeof(buf) ? ph->p_filesz : sizeof(buf);
	const uint8_t *build_id = NULL;
	int ret;

	ret = read_at(fd, buf, len, ph->p_offset);
	/* A file without the note has no build ID; other errors count */
	if (!ret)
		id->build_id_size = tables_find_build_id(buf, len, ph->p_align, &build_id);
	if (id->build_id_size)
		memcpy(id->build_id, build_id, id->build_id_size);
	return ret == -ENOEXEC ? 0 : ret;
}

static int add_seg(struct tables_id *id, const Elf64_Phdr *ph)
{
	if (!ph->p_filesz)
		return 0;
	if (ph->p_offset + ph->p_filesz < ph->p_offset || ph->p_vaddr + ph->p_filesz < ph->p_vaddr)
		return -ENOEXEC;
	if (id->nr_segs == TABLES_MAX_SEGS)
		return -ENOEXEC;
	id->seg[id->nr_segs++] = (struct tables_seg) {
		.offset = ph->p_offset, .size = ph->p_filesz, .vaddr = ph->p_vaddr,
	};
	return 0;
}

static int read_header(int fd, Elf64_Ehdr *eh)
{
	Elf32_Ehdr head;
	int ret = read_at(fd, &head, sizeof(head), 0);

	if (ret)
		return ret;
	elf32_ehdr(&head, eh);
	return eh->e_ident[EI_CLASS] == ELFCLASS32 ? 0 : read_at(fd, eh, sizeof(*eh), 0);
}

static int read_phdrs(int fd, const Elf64_Ehdr *eh, Elf64_Phdr *ph)
{
	Elf32_Phdr head[MAX_PHDRS];
	unsigned int i;
	int ret;

	if (eh->e_ident[EI_CLASS] != ELFCLASS32)
		return read_at(fd, ph, eh->e_phnum * sizeof(*ph), eh->e_phoff);
	ret = read_at(fd, head, eh->e_phnum * sizeof(*head), eh->e_phoff);
	for (i = 0; i < eh->e_phnum && !ret; i++)
		elf32_phdr(&head[i], &ph[i]);
	return ret;
}

/* x32 files have 32 bits and the machine of 64-bit files. */
static bool is_of_host(const Elf64_Ehdr *eh)
{
	uint16_t machine = eh->e_ident[EI_CLASS] == ELFCLASS32 ? HOST_COMPAT :
			   eh->e_ident[EI_CLASS] == ELFCLASS64 ? HOST_MACHINE : EM_NONE;

	return machine != EM_NONE && eh->e_machine == machine &&
	       eh->e_ident[EI_DATA] == HOST_DATA &&
	       (eh->e_type == ET_EXEC || eh->e_type == ET_DYN);
}

int tables_identify(int fd, struct tables_id *id)
{
	Elf64_Phdr ph[MAX_PHDRS];
	Elf64_Ehdr eh;
	unsigned int i;
	int ret;

	memset(id, 0, sizeof(*id));
	if (fstat(fd, &id->st))
		return -errno;
	if (!S_ISREG(id->st.st_mode))
		return -ENOEXEC;
	ret = read_header(fd, &eh);
	if (ret)
		return ret;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (!is_of_host(&eh))
		return -EOPNOTSUPP;
	if (!eh.e_phnum || eh.e_phnum > MAX_PHDRS || eh.e_phentsize != sizeof(*ph))
		return -ENOEXEC;
	ret = read_phdrs(fd, &eh, ph);
	if (ret)
		return ret;
	id->compat = eh.e_ident[EI_CLASS] == ELFCLASS32;
	id->layout = tables_hash_layout(&eh, ph, eh.e_phnum);
	for (i = 0; i < eh.e_phnum; i++) {
		if (ph[i].p_type == PT_LOAD && ph[i].p_flags & PF_X)
			ret = add_seg(id, &ph[i]);
		else if (ph[i].p_type == PT_NOTE && !id->build_id_size)
			ret = read_note(fd, id, &ph[i]);
		if (ret)
			return ret;
	}
	return 0;
}
