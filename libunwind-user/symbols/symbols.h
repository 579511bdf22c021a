/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.h - from an address in a file to its function, source line and inlined functions
 *
 * unwind-user.h has the functions for all callers, such as uu_symbols_new(). The rest of the tree
 * needs two more.
 */
#ifndef UU_SYMBOLS_H
#define UU_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "libunwind-user/unwind-user.h"

#define UU_BUILD_ID_MAX 64

/* Read the build ID of an ELF file of any architecture, open for reading. Its size, or 0. */
size_t symbols_read_build_id(int fd, uint8_t id[UU_BUILD_ID_MAX]);

/*
 * Open @path with @root as the root directory ("": the root of this process). Returns a descriptor,
 * or -1 if it is not a regular file. Symbolic links do not lead out of @root. @flags: 0 or
 * O_NOFOLLOW.
 */
int symbols_open(const char *root, const char *path, int flags);

#endif
