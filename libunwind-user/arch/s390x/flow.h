/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.h - what the two files that decode s390x share */
#ifndef ARCH_S390X_FLOW_H
#define ARCH_S390X_FLOW_H

#include <stdint.h>

/*
 * The effect of an instruction on general registers and on memory. flow.c decodes the instructions
 * that go elsewhere, move SP, or store and load registers.
 */
enum insn_kind {
	INSN_BAD,		/* not known */
	INSN_NONE,		/* no general register from 6 on, no memory */
	INSN_R1,		/* writes R1 */
	INSN_PAIR,		/* writes R1, R1 + 1 */
	INSN_PAIRS,		/* and R2, R2 + 1, R3, R3 + 1, as far as it has them */
	INSN_RANGE,		/* writes R1 to R3 */
	INSN_STORE1,		/* stores 1 byte at D(X,B) */
	INSN_STORE2, INSN_STORE4, INSN_STORE8, INSN_STORE16,
	INSN_STORES,		/* stores up to 256 bytes */
	INSN_SPECIAL,		/* see flow.c */
};

/* Where R1 and the displacement are */
enum insn_format {
	FORMAT_RR,		/* of two bytes */
	FORMAT_RX,		/* of four: R1, X or R3, B and 12 bits */
	FORMAT_RI,		/* R1, and a part of the opcode in place of R3 */
	FORMAT_RRE,		/* R1 in the last byte */
	FORMAT_S,		/* no register, B and 12 bits */
	FORMAT_RXY,		/* of six: as RX, and 20 bits */
	FORMAT_RXE,		/* with 12 bits */
	FORMAT_RIL,		/* as RI */
	FORMAT_RIE,		/* no memory */
	FORMAT_SS,		/* a length, and two of B and 12 bits; the first one is stored to */
};

struct insn {
	uint8_t kind, format;
	uint8_t len;
};

/* Look up the instruction at @p, whose s390x_get_insn_len() bytes can be read. */
struct insn s390x_classify_insn(const uint8_t *p);

/* The length of the instruction at @p: 2, 4 or 6 */
static inline uint8_t s390x_get_insn_len(const uint8_t *p)
{
	return *p < 0x40 ? 2 : *p < 0xc0 ? 4 : 6;
}

#endif
