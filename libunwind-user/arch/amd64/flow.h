/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flow.h - what the files that decode amd64 and i386 share */
#ifndef ARCH_AMD64_FLOW_H
#define ARCH_AMD64_FLOW_H

#include <capstone/capstone.h>

#include "amd64.h"

struct amd64_decoder {
	csh cs;
	cs_insn *insn;
};

/* arch_flow.open() for code of CS_MODE_64 or CS_MODE_32, and arch_flow.close() */
void *amd64_open_mode(cs_mode mode);
void amd64_close(void *decoder);

/* Is the instruction of this group, a CS_GRP_? */
bool amd64_is_in_group(const cs_insn *insn, unsigned int group);

/* Decode an instruction with its operands, valid until the next call; NULL: no instruction. */
const cs_insn *amd64_disassemble(struct amd64_decoder *d, const uint8_t *p, size_t len,
				 uint64_t addr);

/* Is the first operand of this instruction only read? False if not known. */
bool amd64_reads_first(unsigned int id);

/* arch_flow.find_jump_table() */
bool amd64_find_jump_table(void *decoder, const uint8_t *const *code, const uint8_t *len,
			   const uint64_t *addr, unsigned int nr, struct arch_jump_table *table);

#endif
