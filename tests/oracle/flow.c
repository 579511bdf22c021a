// SPDX-License-Identifier: GPL-2.0
/*
 * flow.c - compares rows from following code with libdw's rows from .eh_frame
 *
 * Usage: flow [-d PERCENT -s SEED] FILE...
 *
 * The generator is made to overlook .eh_frame, so it has only symbols and the code that it finds
 * from symbols. With -d it overlooks PERCENT of the FDEs, by chance. The remaining FDEs then help:
 * their code calls and jumps to code of overlooked FDEs, which shows what holds there. flow
 * compares rows that are not from .eh_frame at every pc where a row of either side starts, on the
 * made-up machine of oracle.c. Code of an overlooked FDE without a row is a hole. flow counts the
 * holes.
 *
 * The registers of the made-up machine do not agree with one another. In a function that has set
 * FP to its frame, the CFA can be computed from SP and from FP, and a compiler may use either
 * register. So flow makes two tables. The first table prefers SP, like the users' tables. The
 * second table prefers FP. Where the first table differs from libdw, the second table must agree
 * with libdw, and SP must be where sp.c computed it.
 *
 * Other values can also be in two places, and then either place is right. FP can be both in its
 * register and where it was saved. After a pop, FP still lies below SP as well, and the .eh_frame
 * of compilers still says so. Where calls leave the return address in a register, it can be both
 * saved and in that register.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libunwind-user/gen/impl.h"
#include "oracle.h"
#include "libunwind-user/sframe/sframe.h"
#include "sp.h"

#define MAX_PRINTED	20
#define RED_ZONE	128

struct file {
	const char *name;
	Elf *elf;
	uint8_t *image;			/* a copy of the file, if libdw needs one */
	Dwarf_CFI *cfi;
	struct gen_table by_sp, by_fp, by_all, by_rest;
	struct sframe_table sp, fp;
	struct sframe_table all, rest;	/* by .eh_frame: of all FDEs; of those kept */
	struct sp_map *map;
	uint64_t entry;			/* of the process, if it has an FDE */
	uint64_t rows, by_fp_only, popped, padding, other, wrong, extra;
	uint64_t dropped, found;	/* bytes of dropped FDEs; those with a row */
	uint64_t holes;			/* rows without */
};

static unsigned int percent = 100, seed;

static uint64_t value_of(const struct sframe_rule *rule, uint64_t pc, uint64_t cfa, uint64_t same)
{
	uint64_t v;

	if (rule->base == SFRAME_SAME || rule->base == SFRAME_UNDEFINED)
		return same;
	v = rule->base == SFRAME_CFA ? cfa :
	    reg_value(rule->base == SFRAME_SP ? machine->sp :
		      rule->base == SFRAME_FP ? machine->fp : rule->reg, pc);
	v += rule->off;
	return rule->deref ? memory(v) + rule->add : v;
}

/*
 * Do the results equal those of libdw? Each part may come from either row, because both are right,
 * except for the CFA, which the rest counts from: that is @cfa.
 */
static bool agrees(struct file *f, const struct sframe_row *row, const struct sframe_row *by,
		   uint64_t cfa, uint64_t pc, const struct answer *theirs)
{
	uint64_t sp = reg_value(machine->sp, pc), fp = reg_value(machine->fp, pc);
	uint64_t ra = machine->link ? reg_value(machine->ra, pc) : 0;

	if (theirs->outermost || row->ra.base == SFRAME_UNDEFINED)
		return theirs->outermost && row->ra.base == SFRAME_UNDEFINED;
	if (theirs->signal || theirs->no_row || row->flags & SFRAME_ROW_SIGNAL)
		return false;
	if (cfa + machine->sp_off != theirs->cfa ||
	    !!(row->flags & SFRAME_ROW_MANGLED) != theirs->is_signed)
		return false;
	if (value_of(&row->ra, pc, cfa, ra) != theirs->ra &&
	    value_of(&by->ra, pc, cfa, ra) != theirs->ra)
		return false;
	if (value_of(&row->fp, pc, cfa, fp) == theirs->fp ||
	    value_of(&by->fp, pc, cfa, fp) == theirs->fp)
		return true;
	if (value_of(&row->fp, pc, cfa, fp) == fp && theirs->fp_at < sp &&
	    theirs->fp_at >= sp - RED_ZONE) {
		f->popped++;
		return true;
	}
	return false;
}

static const char *rule_text(const struct sframe_rule *rule, char *to, size_t size)
{
	static const char *const base[] = {
		[SFRAME_SAME] = "same", [SFRAME_UNDEFINED] = "undefined", [SFRAME_CFA] = "cfa",
		[SFRAME_SP] = "sp", [SFRAME_FP] = "fp", [SFRAME_REG] = "reg",
	};

	snprintf(to, size, "%s%+d", base[rule->base], rule->off);
	return to;
}

/* If our row has the value in a slot, is it the value that libdw computes? */
static bool has_slots(const struct sframe_row *row, const struct answer *theirs)
{
	uint64_t cfa = theirs->cfa - machine->sp_off;

	return (row->fp.base != SFRAME_CFA || memory(cfa + row->fp.off) == theirs->fp) &&
	       (row->ra.base != SFRAME_CFA || memory(cfa + row->ra.off) == theirs->ra);
}

/*
 * Clang says where registers are saved when all of them are, and GCC when something depends on it:
 * until then they are in their registers, and where the next rows have them. @row becomes what
 * libdw says now.
 */
static void say_later(struct file *f, struct sframe_row *row, uint64_t pc, uint64_t end,
		      const struct answer *theirs)
{
	struct answer later = *theirs;
	uint64_t start;
	unsigned int i;

	if (row->cfa.base != SFRAME_SP || theirs->cfa_reg != machine->sp)
		return;
	for (i = 0; i < 16 && !has_slots(row, &later); i++) {
		if (ask_libdw(f->cfi, end, &later, &start, &end))
			return;
	}
	if (i == 16)
		return;
	if (theirs->fp == reg_value(machine->fp, pc))
		row->fp = (struct sframe_rule){ .base = SFRAME_SAME };
	if (machine->link && theirs->ra == reg_value(machine->ra, pc))
		row->ra = (struct sframe_rule){ .base = SFRAME_SAME };
}

/*
 * The other way round: what was read back is in its register, and where it was saved, which is all
 * that libdw says until SP moves. Ours had it there, too, some instructions before.
 */
static void say_earlier(struct file *f, struct sframe_row *row, uint64_t pc,
			const struct answer *theirs)
{
	uint64_t cfa = theirs->cfa - machine->sp_off, at;
	struct sframe_row before;

	for (at = pc - 1; at + 64 >= pc; at--) {
		if (sframe_find(&f->sp, at, &before))
			return;
		if (row->fp.base == SFRAME_SAME && before.fp.base == SFRAME_CFA &&
		    memory(cfa + before.fp.off) == theirs->fp)
			row->fp = before.fp;
		if (row->ra.base == SFRAME_SAME && before.ra.base == SFRAME_CFA &&
		    memory(cfa + before.ra.off) == theirs->ra)
			row->ra = before.ra;
	}
}

/* Is our row at @pc, whichever register it is by, what libdw says there? */
static bool right(struct file *f, uint64_t pc, uint64_t end, const struct answer *theirs)
{
	struct sframe_row row, by, later;
	enum sp_known known = SP_KNOWN;
	uint64_t cfa, cfa_by;
	int32_t off;

	if (sframe_find(&f->sp, pc, &row))
		return false;
	cfa = value_of(&row.cfa, pc, 0, 0);
	if (agrees(f, &row, &row, cfa, pc, theirs))
		return true;
	later = row;
	say_later(f, &later, pc, end, theirs);
	say_earlier(f, &later, pc, theirs);
	/* saved, and in its register all the same */
	if (later.fp.base == SFRAME_SAME && theirs->fp_at && sp_keeps_fp(f->map, pc))
		later.fp = (struct sframe_rule){
			.base = SFRAME_CFA, .deref = true,
			.off = theirs->fp_at - theirs->cfa + machine->sp_off,
		};
	if (agrees(f, &later, &later, cfa, pc, theirs)) {
		f->other++;
		return true;
	}
	if (sframe_find(&f->fp, pc, &by))
		by = row;
	cfa_by = value_of(&by.cfa, pc, 0, 0);
	if (row.cfa.base == SFRAME_SP && theirs->cfa_reg == machine->fp) {
		known = sp_at(f->map, pc, &off);
		if (known == SP_KNOWN && off != row.cfa.off)
			return false;
		/* the same place, by either register */
		if (by.cfa.base == SFRAME_SP)
			cfa = cfa_by = theirs->cfa - machine->sp_off;
	}
	if (row.cfa.base == SFRAME_FP && theirs->cfa_reg == machine->sp) {
		known = sp_fp_at(f->map, pc, &off) ? SP_KNOWN : SP_UNKNOWN;
		if (known == SP_KNOWN && off != row.cfa.off)
			return false;
		cfa = cfa_by = theirs->cfa - machine->sp_off;
	}
	if (!agrees(f, &row, &by, cfa_by, pc, theirs) && !agrees(f, &by, &row, cfa, pc, theirs))
		return false;
	if (known == SP_KNOWN)
		f->by_fp_only++;
	else
		f->other++;
	return true;
}

/* Are these nops before code with the same row, and is that row right? */
static bool is_padding(struct file *f, uint64_t pc)
{
	struct sframe_row row, next;
	struct answer theirs;
	uint64_t left, start, end, at = pc;
	const uint8_t *p = code_at(f->elf, pc, &left);
	size_t n;

	for (; p && left; p += n, at += n, left -= n) {
		n = machine->nop(p, left);
		if (!n)
			break;
	}
	if (!p || at == pc || sframe_find(&f->sp, pc, &row) || sframe_find(&f->sp, at, &next))
		return false;
	return !memcmp(&row.cfa, &next.cfa, sizeof(row.cfa)) &&
	       !memcmp(&row.fp, &next.fp, sizeof(row.fp)) &&
	       !memcmp(&row.ra, &next.ra, sizeof(row.ra)) &&
	       !ask_libdw(f->cfi, at, &theirs, &start, &end) && right(f, at, end, &theirs);
}

/* Is the state that at the start of a function? */
static bool is_entered(const struct sframe_row *row)
{
	return row->cfa.base == SFRAME_SP && row->cfa.off == machine->cfa_off &&
	       row->fp.base == SFRAME_SAME && (!machine->link || row->ra.base == SFRAME_SAME);
}

/* Is @v right by the rule, or the value of another register, if by the rule it is in its own? */
static bool is_same_or_copy(const struct sframe_rule *rule, unsigned int own, uint64_t v,
			    uint64_t pc, uint64_t cfa)
{
	unsigned int reg;

	if (value_of(rule, pc, cfa, reg_value(own, pc)) == v)
		return true;
	for (reg = 0; reg < 32 && rule->base == SFRAME_SAME; reg++) {
		if (reg != machine->sp && reg != machine->fp && reg != machine->ra &&
		    v == reg_value(reg, pc))
			return true;
	}
	return false;
}

/* Does FP count, in either table? */
static bool has_fp(struct file *f, uint64_t pc)
{
	struct sframe_row row;

	return (!sframe_find(&f->sp, pc, &row) && row.cfa.base == SFRAME_FP) ||
	       (!sframe_find(&f->fp, pc, &row) && row.cfa.base == SFRAME_FP);
}

/* Does .eh_frame move the CFA away from FP? Our CFA stays in place. */
static bool counts_pushes(struct file *f, const struct sframe_row *row,
			  const struct answer *theirs, uint64_t start)
{
	uint64_t s = start, e, cfa = value_of(&row->cfa, start, 0, 0) + machine->sp_off;
	struct answer before = *theirs;
	unsigned int i;

	if (row->cfa.base != SFRAME_FP || row->fp.base != SFRAME_CFA)
		return false;
	for (i = 0; i < 16 && before.cfa_reg == machine->fp && before.cfa != cfa; i++) {
		if (ask_libdw(f->cfi, s - 1, &before, &s, &e))
			return false;
	}
	/* the slot, which .eh_frame goes on to count from the CFA that has moved */
	return before.cfa_reg == machine->fp && before.cfa == cfa &&
	       theirs->fp_at - theirs->cfa == (uint64_t)(int64_t)row->fp.off + machine->sp_off;
}

/*
 * Is libdw's row of a kind that says nothing against ours?
 *	- CFA by a register that we do not follow, or not there: then FP must be at the same place
 *	  of the frame, if it is not in its register;
 *	- CFA by SP, which was moved by a register's value, and ours by FP, which points to where
 *	  the caller's is saved, as the ABI of arm64 wants it: then that must be the same place,
 *	  and that of the return address too;
 *	- the return address or FP in a register that is a copy, and ours in the one that it is a
 *	  copy of: vfork() of arm64, functions of s390x that call nothing and have f0 to f7;
 *	- not of this frame, but of one that is about to be restored: longjmp(), setcontext();
 *	- FP in its register, where it was just loaded from the slot we have, or all of them, by the
 *	  instruction that brings SP back;
 *	- one row for an FDE that pushes and pops, as the assembler files of GMP in glibc;
 *	- at a return, where the return address must be at SP whatever it says: Montgomery
 *	  multiplication in libcrypto;
 *	- the entry of the process, which has no caller, with an ordinary row: libc.so;
 *	- by FP, which has not moved, and counts what was pushed: libmvec;
 *	- too late: SP was moved since the row began, by what clang has put in front of two ends of
 *	  a function that were one. Then SP must be where it was moved to;
 *	- too late, likewise: the next row has the CFA that ours has, and SP stays until then;
 *	- FP in a register that is a copy, while it is in its own one: AES-NI code of libgcrypt.
 */
static bool is_other(struct file *f, uint64_t pc, const struct sframe_row *row,
		     const struct answer *theirs, uint64_t start, uint64_t end)
{
	struct sframe_row first;
	struct answer before, next;
	int32_t moved;
	uint64_t s, e, left, cfa = value_of(&row->cfa, pc, 0, 0);
	const uint8_t *code;

	if (row->ra.base == SFRAME_UNDEFINED)
		return pc >= f->entry && pc - f->entry < 64;
	if (counts_pushes(f, row, theirs, start))
		return true;
	moved = sp_moved(f->map, start, pc);
	if (theirs->cfa_reg == machine->sp && row->cfa.base == SFRAME_SP && moved)
		return cfa + machine->sp_off == theirs->cfa + moved;
	if (theirs->cfa_reg == machine->sp && row->cfa.base == SFRAME_SP &&
	    sp_stays(f->map, pc, end) && !ask_libdw(f->cfi, end, &next, &s, &e) &&
	    next.cfa_reg == machine->sp && next.cfa - reg_value(machine->sp, end) ==
	    cfa + machine->sp_off - reg_value(machine->sp, pc))
		return has_slots(row, theirs) || has_slots(row, &next);
	if (row->fp.base == SFRAME_SAME && cfa + machine->sp_off == theirs->cfa &&
	    !theirs->fp_at && sp_keeps_fp(f->map, pc) && has_slots(row, theirs))
		return true;
	code = code_at(f->elf, pc, &left);
	if (code && left >= 4 && machine->is_return(code))
		return is_entered(row);
	if ((theirs->no_row || theirs->moved) && is_entered(row))
		return true;
	if (theirs->cfa_reg != machine->sp &&
	    (theirs->cfa_reg != machine->fp || (machine->link && !has_fp(f, pc))))
		return !theirs->fp_at || value_of(&row->fp, pc, cfa, 0) ==
		       memory(theirs->fp_at - theirs->cfa + cfa + machine->sp_off);
	if (machine->link && theirs->cfa_reg == machine->sp && row->cfa.base == SFRAME_FP &&
	    row->fp.base == SFRAME_CFA && row->cfa.off == -row->fp.off)
		return theirs->fp_at - theirs->cfa == (uint64_t)(int64_t)row->fp.off +
		       machine->sp_off && row->ra.base == SFRAME_CFA &&
		       theirs->ra == memory(theirs->cfa - machine->sp_off + row->ra.off);
	if (machine->link && cfa + machine->sp_off == theirs->cfa &&
	    !(row->flags & SFRAME_ROW_MANGLED) && !theirs->is_signed &&
	    is_same_or_copy(&row->ra, machine->ra, theirs->ra, pc, cfa) &&
	    is_same_or_copy(&row->fp, machine->fp, theirs->fp, pc, cfa))
		return true;
	/* in a slot, where the row before had it, and in a register, for as long as that is free */
	if (machine->link && cfa + machine->sp_off == theirs->cfa &&
	    !ask_libdw(f->cfi, start - 1, &before, &s, &e) && has_slots(row, &before) &&
	    before.cfa - theirs->cfa == reg_value(machine->sp, start - 1) -
					reg_value(machine->sp, pc))
		return true;
	/* just read back, with SP */
	if (machine->link && pc == start && is_entered(row) &&
	    cfa + machine->sp_off == theirs->cfa)
		return !ask_libdw(f->cfi, start - 1, &before, &s, &e) &&
		       before.cfa - reg_value(machine->sp, start - 1) !=
		       theirs->cfa - reg_value(machine->sp, pc);
	/* just read back to its register by way of another one; ours is where it was saved */
	if (cfa + machine->sp_off == theirs->cfa && !theirs->fp_at && row->fp.base == SFRAME_CFA &&
	    !ask_libdw(f->cfi, start - 1, &before, &s, &e) && before.fp_at)
		return before.fp_at - before.cfa == (uint64_t)(int64_t)row->fp.off;
	return pc != start && theirs->cfa_reg == machine->sp &&
	       theirs->cfa == reg_value(machine->sp, pc) + machine->cfa_off + machine->sp_off &&
	       !theirs->fp_at && !sframe_find(&f->sp, start, &first) && is_entered(&first) &&
	       ask_libdw(f->cfi, start - 1, &before, &s, &e) == 1;
}

/* Returns the end of libdw's row. */
static uint64_t check_pc(struct file *f, uint64_t pc)
{
	struct sframe_row row, kept;
	struct answer theirs;
	uint64_t start, end;
	char cfa[32], ra[32], fp[32], sp[32] = "not known";
	int32_t off;
	int ret;

	/* a hole in the middle of a function, or code that was not followed */
	if (sframe_find(&f->sp, pc, &row))
		return pc + 1;
	if (!sframe_find(&f->rest, pc, &kept))
		return kept.start + kept.size;
	ret = ask_libdw(f->cfi, pc, &theirs, &start, &end);
	if (ret == 1) {
		f->extra++;
		return pc + 1;
	}
	f->rows++;
	if (!ret && right(f, pc, end, &theirs))
		return end;
	if (is_padding(f, pc)) {
		f->padding++;
		return end;
	}
	if (!ret && is_other(f, pc, &row, &theirs, start, end)) {
		f->other++;
		return end;
	}
	if (sp_at(f->map, pc, &off))
		snprintf(sp, sizeof(sp), "%d", off);
	if (f->wrong++ < MAX_PRINTED)
		printf("%s: %#" PRIx64 ": cfa %s, ra %s, fp %s is not what libdw says; sp is %s\n",
		       f->name, pc, rule_text(&row.cfa, cfa, sizeof(cfa)),
		       rule_text(&row.ra, ra, sizeof(ra)),
		       rule_text(&row.fp, fp, sizeof(fp)), sp);
	return end;
}

static void check_func(struct file *f, const struct sframe_func *func)
{
	uint64_t pc, end = func->start + func->size, next;
	struct sframe_row row;

	for (pc = func->start; pc < end; pc = next) {
		next = check_pc(f, pc);
		if (!sframe_find(&f->sp, pc, &row) && row.start + row.size > pc &&
		    row.start + row.size < next)
			next = row.start + row.size;
		if (next <= pc)
			next = pc + 1;
	}
}

/* Count the rows for the FDEs that were dropped */
static void count_func(struct file *f, const struct sframe_func *func)
{
	uint64_t pc = func->start, end = func->start + func->size, found;
	struct sframe_row row, other;

	while (pc < end) {
		if (!sframe_find(&f->rest, pc, &other)) {
			pc = other.start + other.size;
			continue;
		}
		if (sframe_find(&f->all, pc, &row)) {
			pc++;
			continue;
		}
		for (found = 0; pc < row.start + row.size; pc++) {
			if (!sframe_find(&f->rest, pc, &other))
				break;
			f->dropped++;
			found += !sframe_find(&f->sp, pc, &other);
		}
		f->found += found;
		f->holes += !found;
	}
}

static void check_funcs(struct file *f)
{
	struct sframe_func func;
	uint32_t i;

	for (i = 0; i < f->sp.nr_fdes; i++) {
		if (sframe_get_func(&f->sp, i, &func))
			f->wrong++;
		else
			check_func(f, &func);
	}
	for (i = 0; i < f->all.nr_fdes; i++) {
		if (!sframe_get_func(&f->all, i, &func))
			count_func(f, &func);
	}
}

static int open_table(int fd, unsigned int flags, struct gen_table *table,
		      struct sframe_table *reader)
{
	int ret = gen_from_fd_flags(fd, flags, table);

	return ret ? ret : gen_open(table, reader);
}

static int open_tables(struct file *f, int fd)
{
	unsigned int drop = percent < 100 ? ROWS_DROP(percent, seed) : ROWS_NO_CFI;
	int ret;

	ret = open_table(fd, drop, &f->by_sp, &f->sp);
	if (!ret)
		ret = open_table(fd, drop | ROWS_BY_FP, &f->by_fp, &f->fp);
	if (!ret)
		ret = open_table(fd, ROWS_NO_FLOW, &f->by_all, &f->all);
	if (!ret)
		ret = open_table(fd, ROWS_NO_FLOW | drop, &f->by_rest, &f->rest);
	return ret;
}

static int check_file(const char *path)
{
	struct file f = { .name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path };
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	GElf_Ehdr ehdr;

	if (fd < 0) {
		printf("%s: %s\n", path, strerror(errno));
		return -1;
	}
	ret = open_tables(&f, fd);
	f.elf = open_elf(fd, &f.image);
	f.entry = gelf_getehdr(f.elf, &ehdr) ? ehdr.e_entry : 0;
	f.cfi = f.elf ? dwarf_getcfi_elf(f.elf) : NULL;
	if (ret || !f.cfi) {
		printf("%s: %s\n", path, ret ? strerror(-ret) : "libdw finds no .eh_frame");
		f.wrong++;
	} else {
		f.map = sp_open(f.elf, &f.all);
		check_funcs(&f);
		sp_close(f.map);
	}
	printf("%-28s %8" PRIu64 " of %8" PRIu64 " bytes followed (%.1f%%): %" PRIu64 " rows, %"
	       PRIu64 " by the other register, %" PRIu64 " popped, %" PRIu64 " padding, %" PRIu64
	       " not comparable, %" PRIu64 " bytes without .eh_frame, %" PRIu64 " holes, %" PRIu64
	       " wrong\n", f.name, f.found, f.dropped,
	       f.dropped ? 100.0 * f.found / f.dropped : 0, f.rows,
	       f.by_fp_only, f.popped, f.padding, f.other, f.extra, f.holes, f.wrong);
	gen_free(&f.by_sp);
	gen_free(&f.by_fp);
	gen_free(&f.by_all);
	gen_free(&f.by_rest);
	if (f.cfi)
		dwarf_cfi_end(f.cfi);
	elf_end(f.elf);
	free(f.image);
	close(fd);
	return f.wrong ? -1 : 0;
}

int main(int argc, char **argv)
{
	int i, c, failed = 0;

	while ((c = getopt(argc, argv, "d:s:")) != -1) {
		if (c == 'd')
			percent = atoi(optarg);
		else if (c == 's')
			seed = atoi(optarg);
		else
			return 2;
	}
	elf_version(EV_CURRENT);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = optind; i < argc; i++)
		failed += !!check_file(argv[i]);
	printf("flow: %d passed, %d failed\n", argc - optind - failed, failed);
	return failed ? 1 : 0;
}
