/* SPDX-License-Identifier: GPL-2.0 */
/* sp.h - SP in code whose .eh_frame counts from FP, and FP where it counts from SP; see sp.c */
#ifndef ORACLE_SP_H
#define ORACLE_SP_H

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct sframe_table;
struct sp_map;

/* @rows: by .eh_frame alone, with all of it. NULL if there is not enough memory; to be closed. */
struct sp_map *sp_open(Elf *elf, const struct sframe_table *rows);
void sp_close(struct sp_map *m);

enum sp_known { SP_UNKNOWN, SP_PERHAPS, SP_KNOWN };

/* CFA - SP before the instruction at @pc, if it is known. */
enum sp_known sp_at(const struct sp_map *m, uint64_t pc, int32_t *off);

/* CFA - FP, or INT32_MIN if FP is not an address in the frame. False if FP is not known. */
bool sp_fp_at(const struct sp_map *m, uint64_t pc, int32_t *off);

/* Does no instruction from the start of the function to @pc write FP? */
bool sp_keeps_fp(const struct sp_map *m, uint64_t pc);

/*
 * How much do the instructions in [start, pc) move the CFA away from SP, one after the other? 0 if
 * that is not known.
 */
int32_t sp_moved(const struct sp_map *m, uint64_t start, uint64_t pc);

/* Does code run from @pc to @end without moving SP? */
bool sp_stays(const struct sp_map *m, uint64_t pc, uint64_t end);

#endif
