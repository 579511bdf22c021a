// SPDX-License-Identifier: GPL-2.0
/*
 * shadow - keep a call stack from the effect of each instruction, without any table
 *
 *	call		pushes the address after the call, and the place where it was saved
 *	signal		pushes the interrupted address, and the code to which handlers return
 *	rt_sigreturn	pops down to the frame of the last signal
 *	anything	that moves SP beyond the place of a return address pops its frame: ret, and
 *			equally longjmp(), the unwinder of exceptions, exit from nested calls
 *	another stack	if frames of it are known below (longjmp left a handler on a stack of its
 *			own), all frames above them are gone; else the frames are put aside until
 *			SP comes back (coroutines)
 *
 * Two addresses are on the same stack if they are in the same mapping, so two stacks in one mapping
 * are one stack here. A jump, by whatever instruction, is not a call: a tail call, a stub of a PLT.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "stacks.h"

#define SIG_IP	176	/* from SP at a handler's first instruction; the ucontext is at 8 */
#define SIG_SP	168

void shadow_push(struct shadow *s, u64 addr, u64 slot, u64 fp, enum kind kind)
{
	if (s->nr == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->frame = realloc(s->frame, s->room * sizeof(*s->frame));
	}
	s->frame[s->nr++] = (struct frame) { .addr = addr, .slot = slot, .fp = fp, .kind = kind };
}

void shadow_copy(struct shadow *to, const struct shadow *from)
{
	unsigned int i;

	*to = (struct shadow) { .start = from->start, .end = from->end, .fresh = from->fresh };
	for (i = 0; i < from->nr; i++)
		shadow_push(to, from->frame[i].addr, from->frame[i].slot, from->frame[i].fp,
			    from->frame[i].kind);
	if (from->others) {
		to->others = calloc(1, sizeof(*to->others));
		shadow_copy(to->others, from->others);
	}
}

void shadow_free(struct shadow *s)
{
	if (s->others) {
		shadow_free(s->others);
		free(s->others);
	}
	free(s->frame);
	memset(s, 0, sizeof(*s));
}

/* -------------------------------- stacks -------------------------------- */

/* Find the stack in [start, end), which was put aside, or make one. */
static void change_stack(struct shadow *s, u64 start, u64 end)
{
	struct shadow *left = calloc(1, sizeof(*left)), **p, *found;

	for (p = &s->others; *p && (*p)->end != end; p = &(*p)->others)
		;
	found = *p;
	if (found)
		*p = found->others;
	*left = *s;
	*s = found ? *found : (struct shadow) { .fresh = true };
	s->start = start;
	s->end = end;
	s->others = left;
	free(found);
}

static void set_stack(struct shadow *s, struct space *space, u64 sp)
{
	const struct map *m = space_map(space, sp);

	if (m) {
		s->start = m->start;
		s->end = m->end;
	}
}

static void find_stack(struct shadow *s, struct space *space, u64 sp)
{
	const struct map *m = space_map(space, sp);
	unsigned int nr;

	if (!m)
		return;
	if (!s->end || m->end == s->end) {
		set_stack(s, space, sp);
		return;
	}
	for (nr = s->nr; nr; nr--) {
		if (s->frame[nr - 1].slot >= sp && s->frame[nr - 1].slot < m->end)
			break;
	}
	if (nr) {
		s->nr = nr;
		set_stack(s, space, sp);
		return;
	}
	change_stack(s, m->start, m->end);
}

/* Pop the frames whose return address is below SP */
static void prune(struct shadow *s, struct space *space, u64 sp)
{
	if (sp < s->start || sp >= s->end)
		find_stack(s, space, sp);
	while (s->nr && s->frame[s->nr - 1].slot < sp && s->frame[s->nr - 1].slot >= s->start)
		s->nr--;
}

/* ----------------------------- instructions ----------------------------- */

static const u8 *opcode(const u8 *p)
{
	static const u8 prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3,
	};
	unsigned int i;

	for (i = 0; i < 10 && memchr(prefixes, *p, sizeof(prefixes)); i++)
		p++;
	if ((*p & 0xf0) == 0x40)
		p++;
	return p;
}

static void after_syscall(struct shadow *s, struct space *space,
			  const struct user_regs_struct *was, const struct user_regs_struct *is,
			  struct change *c)
{
	switch (was->rax) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_shmat:
	case SYS_shmdt:
		space->stale = true;
		break;
	case SYS_rt_sigreturn:
		c->sigreturn = true;
		while (s->nr && s->frame[s->nr - 1].kind != FRAME_SIGNAL)
			s->nr--;
		c->odd = !s->nr || s->frame[s->nr - 1].addr != is->rip;
		if (s->nr)
			s->nr--;
		set_stack(s, space, is->rsp);
		break;
	}
}

struct change shadow_step(struct shadow *s, struct space *space,
			  const struct user_regs_struct *was, const struct user_regs_struct *is)
{
	const u8 *p = opcode(space_code(space, was->rip));
	struct change c = { .call = false };
	const struct frame *top;
	u64 ret;

	if (p[0] == 0xe8 || (p[0] == 0xff && (p[1] >> 3 & 7) == 2)) {
		ret = space_word(space, is->rsp);
		if (is->rsp == was->rsp - 8 && ret > was->rip && ret <= was->rip + 15) {
			prune(s, space, is->rsp);
			shadow_push(s, ret, is->rsp, is->rbp, FRAME_CALL);
			c.call = true;
			return c;
		}
	} else if (p[0] == 0x0f && p[1] == 0x05) {
		after_syscall(s, space, was, is, &c);
	} else if (p[0] == 0xc3 || p[0] == 0xc2) {
		top = s->nr ? &s->frame[s->nr - 1] : NULL;
		c.ret = true;
		c.odd = !top || top->slot != was->rsp || top->addr != is->rip;
	}
	prune(s, space, is->rsp);
	/* makecontext(): the function is entered as if what lies there had called it */
	if (s->fresh && c.ret && !s->nr) {
		shadow_push(s, space_word(space, is->rsp), is->rsp, is->rbp, FRAME_CALL);
		s->fresh = false;
	}
	return c;
}

bool shadow_signal(struct shadow *s, struct space *space, const struct user_regs_struct *was,
		   const struct user_regs_struct *is)
{
	u64 ip = space_word(space, is->rsp + SIG_IP);

	/* the kernel goes back to a system call that it restarts */
	if (space_word(space, is->rsp + SIG_SP) != was->rsp || is->rsp == was->rsp ||
	    (ip != was->rip && ip != was->rip - 2))
		return false;
	shadow_push(s, ip, is->rsp + SIG_IP, was->rbp, FRAME_SIGNAL);
	shadow_push(s, space_word(space, is->rsp), is->rsp, is->rbp, FRAME_CALL);
	set_stack(s, space, is->rsp);
	return true;
}
