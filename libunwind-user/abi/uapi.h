/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * uapi.h - how a program gives unwind tables to the kernel
 *
 * This header stands in for include/uapi/linux/unwind_table.h of the kernel series on systems whose
 * headers lack that file. Layouts and numbers are the same.
 */
#ifndef ABI_UAPI_H
#define ABI_UAPI_H

#include <stdint.h>
#include <sys/ioctl.h>

/*
 * prctl(PR_ADD_SFRAME, arg, size, 0, 0) registers a table in the memory of the calling process, for
 * code of this process. prctl(PR_REMOVE_SFRAME, arg, size, 0, 0) removes all tables for code in
 * [text_start, text_start + text_size); the other fields do not count. No privilege is needed.
 * fork() passes tables on, execve() drops them.
 */
#define PR_ADD_SFRAME		0x53467261
#define PR_REMOVE_SFRAME	0x53467272

struct unwind_table_user {
	uint32_t size;			/* of this structure */
	uint32_t flags;			/* 0 */
	uint64_t table;			/* address of an SFrame section */
	uint64_t table_size;		/* bytes that may be read there */
	uint64_t text_start;		/* the code it is for: address, bytes */
	uint64_t text_size;
	uint64_t table_base;		/* address the section was made for; 0: where it is */
};

/*
 * ioctl(fd, UNWIND_TABLE_ADD, arg) registers a table for code in the present contents of a file, in
 * every process. fd is tracefs' user_unwind_tables, open for writing. The table lives until the
 * last close of fd. Reading fd lists the tables of all tracers: path, build ID or "-", bytes,
 * lookups, hits.
 */
#define UNWIND_TABLE_VDSO	0x1	/* flags: for the vDSO; fd is ignored, text_offset counts
					 * from the start of its mapping
					 */

struct unwind_table_file {
	uint32_t size;			/* of this structure */
	uint32_t flags;			/* UNWIND_TABLE_ */
	int32_t fd;			/* the file, open for reading */
	uint32_t build_id_size;		/* bytes of build_id */
	uint64_t table;			/* address of an SFrame section, which is copied */
	uint64_t table_size;
	uint64_t table_vaddr;		/* address the section was made for, as text_vaddr */
	uint64_t text_offset;		/* the code it is for: offset in the file, bytes */
	uint64_t text_size;
	uint64_t text_vaddr;		/* ... and the address that the section gives it */
	uint8_t build_id[20];		/* shown in the list */
	uint32_t reserved;		/* 0 */
};

#define UNWIND_TABLE_ADD	_IOW('R', 0x30, struct unwind_table_file)

_Static_assert(sizeof(struct unwind_table_user) == 48, "kernel ABI");
_Static_assert(sizeof(struct unwind_table_file) == 88, "kernel ABI");

#endif
