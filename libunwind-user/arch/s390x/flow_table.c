// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * flow_table.c - what instructions of s390x write, by opcode
 *
 * Most instructions write the register of their first operand. Some write a pair of registers, and
 * some write no register. The opcodes follow no rule for that, so this table has a letter for each
 * opcode, 64 letters in a line. An instruction without a letter is not known, and code that has it
 * is not followed.
 *
 *	.	not known, or of no user program
 *	n	no general register, no memory
 *	1 p q	R1; R1 and the next one; all pairs that it has
 *	r	from R1 to R3
 *	b h w g v m	1, 2, 4, 8, 16 bytes of memory, or several
 *	x	flow.c decodes it
 *
 * Source: z/Architecture Principles of Operation, appendix B, and the descriptions of instructions.
 */
#include "flow.h"

/* Indexed by the first byte, where that is all of the opcode: RR, RX, RS, SI */
static const char first[257] =
	"....nxxx..x..xqq11111n111n11pp11nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"hxb1...x1n111.g1w1..1n111n11pp11g......nnnnnnnnnw1......nnnnnnnn"
	"....xx..1111ppppmnbbbnbbr.nm.........1.xqq................1p.nw1"
	"................................................................";

/* Indexed by the second byte: S and RRE */
static const char op_b2[257] =
	".....g............................1............................."
	".q............n1..1..q.q.....qq.............................g..."
	"....n....................n..wn.......qqq........mw......n....n.."
	"........................................n...1.............n.....";

/* Floating point; conversions write general registers */
static const char op_b3[257] =
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
	"nnnnnnnnnnnnpnnnnnnnnnnnpppnpppnnnnnnnnnpppnpppnnnnnnnnnpppnnnnn"
	"nnnnnnnnpppnnpnnnnnnnnnnnnnnnnnnppppppppppppppppnnnnnnnnnnnnnnnn";

/* RRE and RRF */
static const char op_b9[257] =
	"1111x.1111111p.111111.1111111pq1nn....11nqqqqqqqnn......qqq.q.qq"
	".111..x..111.....nnn.....nnn....nn..1111..........nn1111........"
	"111p11pp11......qqqq11pp11......................qqqq.........qqq"
	"1.......1111.n.n........1111.n.n111111111111p1..1.1.11111111.1..";

/* Indexed by the last byte: RXY */
static const char op_e3[257] =
	"..1.x.1.11111p11..1.111111111p11nn..xgg...1...vgnn1.n.n.11111.wh"
	"............1...w1.11n111n11p.11................hxb1..111n111..."
	"1111p1pp11....vp11..11pp11..11.1................................"
	"1.1b1.1h1.1w.n.n................................................";

/* RSY and SIY */
static const char op_eb[257] =
	"....x.....1111......1.......11..nn.nx.m....nww..1p............p."
	"............1....nb.bnbb..................w...w...........g...g."
	"11............qqm.....r.r.nm...................................."
	"n...........................11111w1g1.111.1.......1w1.111.1.....";

/* RIE, RRS and RIS */
static const char op_ec[257] =
	"................................................................"
	"..1.xx1.......1..1..1111.1...1......xx..........nnnn..xx....xxxx"
	"................................................................"
	"........................1111........xx................xx....xxxx";

/* Indexed by the lower half of the second byte: RI */
static const char op_a7[17] = "nnnnxxxx111x11nn";

/* Indexed by the lower halves of both bytes; the first is 0xc0, 0xc2 and so on: RIL */
static const char op_c[16][17] = {
	[0x0] = "x1..xx1111111111",
	[0x2] = "11..11..x111nnnn",
	[0x4] = "..1.111n1..n111n",
	[0x6] = "..n.nnnnn.n.nnnn",
	[0xc] = "......x.1.11.n.n",
};

static uint8_t get_kind(char letter)
{
	switch (letter) {
	case 'n':
		return INSN_NONE;
	case '1':
		return INSN_R1;
	case 'p':
		return INSN_PAIR;
	case 'q':
		return INSN_PAIRS;
	case 'r':
		return INSN_RANGE;
	case 'b':
		return INSN_STORE1;
	case 'h':
		return INSN_STORE2;
	case 'w':
		return INSN_STORE4;
	case 'g':
		return INSN_STORE8;
	case 'v':
		return INSN_STORE16;
	case 'm':
		return INSN_STORES;
	case 'x':
		return INSN_SPECIAL;
	default:
		return INSN_BAD;
	}
}

/* Vectors: a few instructions write general registers or memory */
static char find_vector_letter(uint8_t first, uint8_t last)
{
	if (first == 0xe6) {
		switch (last) {
		case 0x50:			/* vcvb, vcvbg */
		case 0x52:
			return '1';
		case 0x09: case 0x0a: case 0x0b: case 0x0e: case 0x0f:
		case 0x34: case 0x3c: case 0x3d: case 0x3f:
			return 'v';		/* vsteb ... vster, vpkz, vstrl */
		default:
			return 'n';
		}
	}
	switch (last) {
	case 0x21:				/* vlgv */
		return '1';
	case 0x08: case 0x09: case 0x0a: case 0x0b: case 0x0e:
	case 0x1b: case 0x1a: case 0x3f:
		return 'v';			/* vsteb ... vst, vscef, vstl */
	case 0x3e:
		return 'm';			/* vstm */
	default:
		return 'n';
	}
}

/* Two operands in memory: decimal arithmetic, moves; not those with storage keys or a state. */
static char find_storage_letter(uint8_t first)
{
	switch (first) {
	case 0xd1 ... 0xd4: case 0xd6 ... 0xd7: case 0xdc: case 0xe8 ... 0xea:
	case 0xf0 ... 0xf3: case 0xf8: case 0xfa ... 0xfd:
		return 'm';
	case 0xd5: case 0xf9:			/* clc, cp */
	case 0xd0: case 0xdd: case 0xdf:	/* trtr, trt, edmk: general registers 1 and 2 */
		return 'n';
	case 0xde:				/* ed */
		return 'm';
	default:
		return '.';
	}
}

static char find_letter(const uint8_t *p, uint8_t *format)
{
	switch (p[0]) {
	case 0xa7:
		*format = FORMAT_RI;
		return op_a7[p[1] & 15];
	case 0xa5:
		*format = FORMAT_RI;
		return '1';
	case 0xb2:
		*format = op_b2[p[1]] == 'g' || op_b2[p[1]] == 'w' || op_b2[p[1]] == 'm' ?
			  FORMAT_S : FORMAT_RRE;
		return op_b2[p[1]];
	case 0xb3:
		*format = FORMAT_RRE;
		return op_b3[p[1]];
	case 0xb9:
		*format = FORMAT_RRE;
		return op_b9[p[1]];
	case 0x91 ... 0x97:
		*format = FORMAT_S;
		return first[p[0]];
	case 0xc0: case 0xc2: case 0xc4: case 0xc6: case 0xcc:
		*format = FORMAT_RIL;
		return op_c[p[0] & 15][p[1] & 15];
	case 0xc5:				/* branch predictions */
	case 0xc7:
		return 'n';
	case 0xe3:
		*format = FORMAT_RXY;
		return op_e3[p[5]];
	case 0xe5:				/* mvhhi, mvghi, mvhi; comparisons */
		*format = FORMAT_SS;
		return p[1] == 0x44 || p[1] == 0x48 || p[1] == 0x4c ? 'g' :
		       p[1] >= 0x54 && p[1] <= 0x5d ? 'n' : '.';
	case 0xe6:
	case 0xe7:
		*format = FORMAT_RXE;
		return find_vector_letter(p[0], p[5]);
	case 0xeb:
		*format = FORMAT_RXY;
		return op_eb[p[5]];
	case 0xec:
		*format = FORMAT_RIE;
		return op_ec[p[5]];
	case 0xed:				/* floating point, with memory */
		*format = FORMAT_RXE;
		return p[5] == 0x66 ? 'w' : p[5] == 0x67 || p[5] >= 0xa8 ? 'v' : 'n';
	case 0xd0 ... 0xdf:
	case 0xe8 ... 0xea:
	case 0xf0 ... 0xff:
		*format = FORMAT_SS;
		return find_storage_letter(p[0]);
	default:
		*format = p[0] < 0x40 ? FORMAT_RR : FORMAT_RX;
		return p[0] < 0xc0 ? first[p[0]] : '.';
	}
}

struct insn s390x_classify_insn(const uint8_t *p)
{
	struct insn insn = { .len = s390x_get_insn_len(p) };

	insn.kind = get_kind(find_letter(p, &insn.format));
	return insn;
}
