/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flow.h - rows for code that no FDE covers, found by following the code
 *
 * Some code has no .eh_frame: musl's libc, hand-written assembler, .init and .fini, what start
 * files bring, files that were linked without it. flow_add() follows the instructions of such
 * code from a known state of the frame to where the code returns. Where all paths agree, it adds
 * rows. Of musl's libc 88% has rows that way, of the code without .eh_frame in seven large files
 * of Debian 13 more than half on arm64 (149,452 of 277,096 bytes) and a quarter on s390x (14,106
 * of 51,228). See docs/tables.md, "Architectures", for those figures, and docs/limits.md for code
 * that stays without rows.
 *
 * gen/check.c uses the same description of instructions to find .eh_frame that the code
 * contradicts.
 *
 * What one instruction does is described in arch/arch.h and decoded in arch/NAME/. An instruction
 * of arm64 has 4 bytes, and one of s390x says in its first two bits how many it has (2, 4 or 6).
 * Groups of bits, or a letter for each opcode, tell which registers it writes, so files of
 * some hundred lines decode them by hand. An instruction of amd64 has 1 to 15 bytes, with
 * prefixes, and its operands are hard to tell: Capstone decodes these.
 */
#ifndef FLOW_H
#define FLOW_H

#include "libunwind-user/rows/rows.h"

/* FDEs, behind those there are, for code that the sorted FDEs leave free. */
int flow_add(struct gen_rows *r);

#endif
