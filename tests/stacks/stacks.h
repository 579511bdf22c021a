/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stacks.h - the parts of singlestep
 *
 *	singlestep.c	the programs that are stepped: start, stop, signals, children
 *	shadow.c	the shadow stack: what the instructions did to the stack
 *	space.c		the address space: memory, mapped files, their tables
 *	verdict.c	a walk by the tables against the shadow stack; counts, report
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdio.h>
#include <sys/types.h>
#include <sys/user.h>

#include "libunwind-user/gen/gen.h"
#include "libunwind-user/sframe/sframe.h"

#define MAX_FRAMES	1024	/* of a walk */
#define CODE_BYTES	16	/* the longest instruction */

/* ------------------------------- space.c ------------------------------- */

/* A file that some process maps, and its table */
struct file {
	struct file *next;
	char *path;
	u64 dev, ino;
	struct gen_table table;
	int error;		/* of making the table, negative */
	struct phdr {
		u64 off, vaddr, size;
	} load[16];
	unsigned int nr_loads;
	u32 *index;
};

struct map {
	u64 start, end, pgoff;
	struct file *file;	/* NULL: no file, or not executable */
	struct sframe_table t;
	bool has_table;
};

struct space {
	pid_t pid;		/* a process that has it mapped */
	unsigned int users;
	struct map *map;
	unsigned int nr_maps;
	bool stale;		/* a system call may have changed it */
	u64 start_stack, arg_start, entry;
	/* code seen before: bytes by pc */
	struct code {
		u64 pc;
		u8 bytes[CODE_BYTES];
	} *code;
};

struct space *space_new(pid_t pid);
void space_put(struct space *sp);

/* The mapping at @addr, or NULL; reads /proc/PID/maps again if that may have changed. */
const struct map *space_map(struct space *sp, u64 addr);

/* CODE_BYTES bytes from @pc on, zeros where there are none */
const u8 *space_code(struct space *sp, u64 pc);

/* Forget the stack as it was before the last instruction. */
void space_forget(void);
int space_read(struct space *sp, u64 addr, void *to, size_t len);
/* as space_read(), 0 if it fails */
u64 space_word(struct space *sp, u64 addr);

/* The name of @pc, in a static buffer. @exact: its offset, if it has no symbol. */
const char *space_name(struct space *sp, u64 pc, bool exact);

/*
 * For the test of the test: in the tables of files of this name let the row that starts at @pc, if
 * there is one, start a byte later; the first space_shift_after are spared. Returns true if that
 * was done.
 */
extern const char *space_shift;
extern u64 space_shift_after;
bool space_shift_row(struct space *sp, u64 pc);

/* ------------------------------- shadow.c ------------------------------ */

enum kind {
	FRAME_CALL,		/* addr: a return address, saved at slot */
	FRAME_SIGNAL,		/* addr: where the program was interrupted, saved at slot */
};

struct frame {
	u64 addr, slot;
	enum kind kind;
	u64 fp;			/* rbp when it was left */
	u64 fp_slot;		/* where a right walk found that; 0: no walk has, or no memory */
};

/* Frames on one stack, the outermost first; the stacks of coroutines are kept apart. */
struct shadow {
	struct frame *frame;
	unsigned int nr, room;
	u64 start, end;		/* of the mapping that SP is in */
	bool fresh;		/* no call was made on this stack yet */
	struct shadow *others;	/* stacks that were left and may be returned to */
};

/* The effect of one instruction on the frames */
struct change {
	bool call, ret, signal, sigreturn, odd;
};

void shadow_push(struct shadow *s, u64 addr, u64 slot, u64 fp, enum kind kind);
void shadow_copy(struct shadow *to, const struct shadow *from);
void shadow_free(struct shadow *s);

/* One instruction was executed at @was, and @is is the state after it. */
struct change shadow_step(struct shadow *s, struct space *sp, const struct user_regs_struct *was,
			  const struct user_regs_struct *is);

/* Was a signal delivered between the two? Then its frame is pushed. */
bool shadow_signal(struct shadow *s, struct space *sp, const struct user_regs_struct *was,
		   const struct user_regs_struct *is);

/* ------------------------------- verdict.c ------------------------------ */

/* A walk that differs from the shadow stack; see verdict.c */
struct early {
	u64 *ip;
	unsigned int nr, age;
	bool whole;
};

#define MAX_EARLY	32

struct task {
	pid_t pid;
	struct task *next;
	struct space *space;
	struct shadow shadow;
	struct user_regs_struct regs;	/* at the last stop */
	u64 last_pc, last_sp, last_fp;	/* of the last walk */
	u64 stack_start;	/* SP from clone(), or 0: no frames are above it */
	bool begun, delivered;
	struct early early[MAX_EARLY];
	unsigned int nr_early;
};

extern struct counts {
	u64 steps, walks, complete, at_end, early, wrong, stopped, odd_rets, signals;
	u64 made_up, deepest, other_fp;
} counts;

/* Walk and compare. @change: what the last instruction did. */
void verdict(struct task *t, const struct change *change);
/* The task is gone: walks without a verdict were wrong. */
void verdict_end(struct task *t);
/* Take the stack from the tables, if each of its frames returns to a place after a call. */
bool verdict_seed(struct task *t);
/* Print the report; true if nothing was wrong. */
bool verdict_report(const char *name, bool all);

#endif
