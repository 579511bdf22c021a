/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * flow.h - rows for code that no FDE covers, found by following the code
 *
 * Some code has no .eh_frame: musl's libc, hand-written assembler, .init and .fini, the start
 * files, files that were linked without it. flow_add() follows the instructions of such code from a
 * known state of the frame to where the code returns. Where all paths agree, it adds rows.
 *
 * docs/tables.md, "Architectures", has figures. docs/limits.md lists code that stays without rows.
 *
 * gen/check.c uses the same description of instructions to find .eh_frame that the code
 * contradicts.
 *
 * arch/arch.h describes what one instruction does, and arch/NAME/ decodes it. An instruction of
 * arm64 has 4 bytes. An instruction of s390x says in its first two bits how many bytes it has (2, 4
 * or 6). Groups of bits, or a letter for each opcode, say which registers such an instruction
 * writes, so files of a few hundred lines decode them by hand. An instruction of amd64 has 1 to 15
 * bytes, with prefixes, and its operands are hard to decode: Capstone decodes these.
 */
#ifndef FLOW_H
#define FLOW_H

#include "libunwind-user/rows/rows.h"

/*
 * Append FDEs for code that the sorted FDEs do not cover. Returns 0 or a negative errno; code that
 * is too much to follow is not an error.
 */
int flow_add(struct rows *r);

/* Add FDEs for the builtins of V8; keeps the FDEs sorted. Comes before flow_add(). */
int flow_add_v8(struct rows *r);

#endif
