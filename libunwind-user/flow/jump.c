// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * jump.c - where an indirect jump goes, if it goes through a table
 *
 * The architecture finds the table from the instructions before the jump, and the length of the
 * table from the comparison that guards the jump. All entries must be code in a gap. Otherwise the
 * walk uses no entry, because other data follows the end of a table. It does not follow other
 * indirect jumps; most of them are tail calls.
 */

#include "impl.h"

/* Entries in all tables of a file; libc.so has 2,000. */
#define MAX_TARGETS	(1u << 18)

static bool read_target(struct flow *f, const struct arch_jump_table *t, uint32_t i, uint32_t *pc)
{
	uint64_t base = f->r->img->text.start, addr = t->addr;
	uint32_t rel;

	if (t->size && image_read(f->r->img, t->addr + (uint64_t)i * t->size,
				  t->size == 4 ? (void *)&rel : (void *)&addr, t->size))
		return false;
	if (t->size == 4)
		addr = t->base + (int32_t)image_to_host32(f->r->img, rel);
	else if (t->size)
		addr = image_to_host64(f->r->img, addr);
	if (addr < base || flow_find_byte(f, addr - base, NULL) == UINT32_MAX)
		return false;
	*pc = addr - base;
	return true;
}

void flow_find_jump_table(struct flow *f, uint32_t node)
{
	const uint8_t *code[ARCH_MAX_TRAIL];
	uint64_t addr[ARCH_MAX_TRAIL];
	uint8_t len[ARCH_MAX_TRAIL];
	uint32_t trail[ARCH_MAX_TRAIL], nr = 0, n, i, first = f->nr_targets, pc;
	struct arch_jump_table table;

	if (!f->arch->find_jump_table)
		return;
	for (n = node; n != FLOW_NO_NODE && nr < ARCH_MAX_TRAIL; n = f->node[n].prev)
		trail[nr++] = n;
	for (i = 0; i < nr; i++) {
		n = trail[nr - 1 - i];
		code[i] = f->code + flow_find_byte(f, f->node[n].pc, NULL);
		len[i] = f->node[n].op.len;
		addr[i] = f->r->img->text.start + f->node[n].pc;
	}
	if (!f->arch->find_jump_table(f->decoder, code, len, addr, nr, &table) || !table.nr ||
	    table.nr > ARCH_MAX_TABLE || f->nr_targets > MAX_TARGETS)
		return;
	for (i = 0; i < table.nr; i++) {
		if (!read_target(f, &table, i, &pc)) {
			f->nr_targets = first;
			return;
		}
		if (vec_grow32(&f->target, &f->room_targets, f->nr_targets, sizeof(*f->target))) {
			f->no_memory = true;
			return;
		}
		f->target[f->nr_targets++] = pc;
	}
	f->node[node].table = first;
	f->node[node].nr_targets = table.nr;
	f->node[node].doubtful_table = table.masked;
}
