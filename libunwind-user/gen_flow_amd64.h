/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gen_flow_amd64.h - what the two files that decode amd64 share */
#ifndef GEN_FLOW_AMD64_H
#define GEN_FLOW_AMD64_H

#include <capstone/capstone.h>

#include "gen_flow.h"

struct amd64_decoder {
	csh cs;
	cs_insn *insn;
};

/* An instruction with its operands, valid until the next call; NULL if it is none. */
const cs_insn *amd64_disassemble(struct amd64_decoder *d, const uint8_t *p, size_t len,
				 uint64_t addr);

/* Is the first operand of this instruction only read? False if that is not known. */
bool amd64_reads_first(unsigned int id);

/* gen_flow_arch.table() */
bool flow_amd64_table(void *decoder, const uint8_t *const *code, const uint8_t *len,
		      const uint64_t *addr, unsigned int nr, struct flow_table *table);

#endif
