// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * edge.c - where execution goes on after an instruction, and with which state
 *
 * After a call comes its continuation. If the called function never returns, like abort(), any code
 * can follow the call: the next function, or a block that other code jumps to. So execution goes on
 * after a call only if the called function may return. The continuation is sure only if that
 * function is in a gap and the walk saw a return in it, on a sure path and with SP at its place.
 *
 * A compiler may know more about the called function than the walk can see: that it returns for
 * some arguments only, and not for these. So the continuation is not sure if padding follows the
 * call, or if something jumps to the continuation: code that is also jumped to may belong to
 * another function. A call through a pointer counts as one that returns: in practice no pointer
 * type says otherwise. Calls through the linker's tables are handled separately.
 *
 * A branch goes both ways, with one exception. A compiler may know that the branch is never taken,
 * and leave its target block empty. Then the branch leads to the end of a function, or to the code
 * that comes next. The default of a switch whose table covers every value is such a block. There
 * are two signs of such a branch: a jump through a table after it, or padding at its target up to
 * where functions are aligned.
 *
 * A jump or branch to a nop may lead to such a block too: GCC writes cold parts that contain only a
 * nop. The walk takes such a branch as possible only: the code at its target has to be proved, as
 * after a call that may not return. The same holds for all targets of a table whose index has a
 * mask and no comparison. clang leaves out the last entries if it knows that they are not used, and
 * the next table follows.
 */
#include "impl.h"

/* If there is padding before a function, the function starts at a multiple of this. */
#define FUNC_ALIGN	16
/* Few functions are aligned to more than this. */
#define MAX_ALIGN	64
/* How far a short jump may go, with its own length */
#define MAX_SHORT	130

bool flow_is_padding(struct flow *f, uint64_t pc)
{
	const struct flow_gap *gap;
	uint32_t byte = flow_find_byte(f, pc, &gap);

	return byte != UINT32_MAX && f->r->arch->get_padding_length(f->code + byte, gap->end - pc);
}

/*
 * Does a branch to @pc, or past it, go to the end of a function? Compilers leave a block empty that
 * they find to be unreachable, mostly the default of a switch. Loops are aligned, too: that code
 * has to be proved.
 */
bool flow_is_func_end(struct flow *f, uint64_t pc)
{
	const struct flow_gap *gap;
	uint64_t base = f->r->img->text.start, at = pc;
	uint32_t byte = flow_find_byte(f, pc, &gap);
	size_t n;

	if (byte == UINT32_MAX || !f->r->arch->get_padding_length(f->code + byte, gap->end - pc))
		return false;
	for (; at < gap->end && at - pc < MAX_ALIGN; at += n) {
		n = f->r->arch->get_padding_length(f->code + byte + (at - pc), gap->end - at);
		if (!n)
			break;
	}
	return at > pc && (at == gap->end || (base + at) % FUNC_ALIGN == 0);
}

bool flow_is_func_start(struct flow *f, uint64_t pc)
{
	const struct flow_gap *gap;
	uint32_t byte = flow_find_byte(f, pc, &gap);
	struct arch_op op;

	f->arch->decode(f->decoder, f->code + byte, gap->end - pc, f->r->img->text.start + pc, &op);
	return op.flags & ARCH_STARTS_FUNC;
}

static void mark_jump_target(struct flow *f, const struct flow_gap *gap, uint32_t pc)
{
	const uint8_t *p = f->code + gap->first_byte + (pc - gap->start);
	uint64_t base = f->r->img->text.start, to;
	struct arch_op op;
	uint32_t byte;

	if (f->arch->may_jump) {
		if (!f->arch->may_jump(p, base + pc, &to))
			return;
	} else {
		f->arch->decode(f->decoder, p, gap->end - pc, base + pc, &op);
		if (op.next != ARCH_JUMP && op.next != ARCH_BRANCH)
			return;
		to = op.target;
	}
	byte = flow_find_byte(f, to - base, NULL);
	if (byte != UINT32_MAX)
		f->marks[byte] |= FLOW_JUMPED_TO;
}

void flow_find_jumps(struct flow *f)
{
	uint64_t base = f->r->img->text.start;
	const struct flow_gap *gap;
	uint32_t pc;

	for (gap = f->gap; gap < f->gap + f->nr_gaps; gap++) {
		pc = gap->start + (-(base + gap->start) & (f->arch->insn - 1));
		for (; (uint64_t)pc + ARCH_REFERENCE <= gap->end; pc += f->arch->insn)
			mark_jump_target(f, gap, pc);
	}
}

static bool is_jumped_to(const struct flow *f, uint64_t pc)
{
	uint32_t byte = flow_find_byte(f, pc, NULL);

	return byte != UINT32_MAX && f->marks[byte] & FLOW_JUMPED_TO;
}

/*
 * Does a short jump near @pc lead to @pc? flow_find_jumps() leaves short jumps out: in all of the
 * code, too many bytes look like such a jump. For jumps back, such as those of a loop, this decodes
 * from @pc on. Before @pc, no start of an instruction is known for sure. There, bytes that look
 * like a jump to @pc are enough: one place in thirty has such bytes before it by chance.
 */
static bool is_short_target(struct flow *f, uint64_t pc)
{
	uint64_t base = f->r->img->text.start, next;
	uint32_t byte, at, n;
	const struct flow_gap *gap;
	struct arch_op op;

	byte = flow_find_byte(f, pc, &gap);
	if (byte == UINT32_MAX || !f->arch->is_short_jump)
		return false;
	n = pc - gap->start < MAX_SHORT ? pc - gap->start : MAX_SHORT;
	for (at = byte - n; at + 2 <= byte; at++) {
		if (f->arch->is_short_jump(f->code + at, byte - at))
			return true;
	}
	for (next = pc; next < gap->end && next - pc < MAX_SHORT; next += op.len) {
		f->arch->decode(f->decoder, f->code + byte + (next - pc), gap->end - next,
				base + next, &op);
		if ((op.next == ARCH_BRANCH || op.next == ARCH_JUMP) && op.target == base + pc)
			return true;
	}
	return false;
}

/* Does the padding at @pc end at @next, where a function may start? */
static bool leaves_padding(struct flow *f, uint64_t pc, uint64_t next)
{
	return (f->r->img->text.start + next) % FUNC_ALIGN == 0 && flow_is_padding(f, pc) &&
	       !flow_is_padding(f, next) && !is_jumped_to(f, next) && !is_short_target(f, next);
}

/* Does the function at @pc return, and what does it do to SP and FP? */
static bool follow_call(struct flow *f, uint64_t pc, struct flow_edge *edge)
{
	static const struct arch_op lose_fp = { .effect = ARCH_LOSE_FP };
	uint32_t byte = flow_find_byte(f, pc, NULL);
	const struct flow_func *callee;

	edge->kind = FLOW_EDGE_DOUBTFUL;
	if (byte == UINT32_MAX)
		return true;
	if (!f->node_of[byte])
		return false;
	callee = &f->func[flow_find_func(f, f->node[f->node_of[byte] - 1].func)];
	if (callee->unbalanced && !edge->state.outermost)
		edge->state = (struct arch_state){ .unknown = true };
	else if (callee->loses_fp)
		flow_step(f->arch, &edge->state, &lose_fp);
	if (callee->does_return && !is_jumped_to(f, edge->pc) && !flow_is_padding(f, edge->pc))
		edge->kind = FLOW_EDGE_RETURN;
	return callee->may_return;
}

bool flow_is_own_address(struct flow *f, const struct flow_node *node)
{
	uint64_t next = node->pc + node->op.len;
	uint32_t byte = flow_find_byte(f, next, NULL);

	return node->op.target - f->r->img->text.start == next &&
	       (byte == UINT32_MAX || !(f->marks[byte] & FLOW_ENTRY));
}

unsigned int flow_find_edges(struct flow *f, const struct flow_node *node, struct flow_edge edge[2])
{
	uint64_t base = f->r->img->text.start;
	const struct arch_op *op = &node->op;
	unsigned int nr = 0;

	edge[0] = (struct flow_edge){
		.pc = node->pc + op->len, .state = node->state, .kind = FLOW_EDGE_FALLTHROUGH,
	};
	flow_step(f->arch, &edge[0].state, op);
	/* a signal handler ends here: no code runs after it */
	if (flow_is_sigreturn(f, node))
		return 0;
	switch (op->next) {
	case ARCH_FALLTHROUGH:
		if (node->doubtful_fallthrough)
			edge[0].kind = FLOW_EDGE_DOUBTFUL;
		return 1;
	case ARCH_MAYBE_RETURN:
		return 1;
	case ARCH_BRANCH:
		edge[1] = edge[0];
		if (node->doubtful_fallthrough)
			edge[0].kind = FLOW_EDGE_DOUBTFUL;
		nr = 1;
		/* fallthrough */
	case ARCH_JUMP:
		edge[nr].pc = op->target - base;
		edge[nr].kind = node->doubtful_jump ? FLOW_EDGE_DOUBTFUL : FLOW_EDGE_JUMP;
		return nr + 1;
	case ARCH_CALL:
		if (flow_is_own_address(f, node)) {
			edge[0].state = (struct arch_state){ .unknown = true };
			return 1;
		}
		return follow_call(f, op->target - base, &edge[0]);
	case ARCH_CALL_UNKNOWN:
		edge[0].kind = FLOW_EDGE_DOUBTFUL;
		return 1;
	case ARCH_CALL_POINTER:
		edge[0].kind = FLOW_EDGE_RETURN;
		if (flow_is_padding(f, edge[0].pc))
			edge[0].kind = FLOW_EDGE_DOUBTFUL;
		return 1;
	default:
		return 0;
	}
}

void flow_find_target(struct flow *f, const struct flow_node *node, uint32_t i,
		      struct flow_edge *edge)
{
	uint32_t pc = f->target[node->table + i];

	*edge = (struct flow_edge){ .pc = pc, .state = node->state, .kind = FLOW_EDGE_JUMP };
	flow_step(f->arch, &edge->state, &node->op);
	if (node->doubtful_table || f->marks[flow_find_byte(f, pc, NULL)] & FLOW_DEFAULT ||
	    flow_is_padding(f, pc))
		edge->kind = FLOW_EDGE_DOUBTFUL;
}

/*
 * Does the code at @pc run into an indirect jump? Then a branch before that code leaves a switch,
 * for values that its table does not have.
 */
static bool runs_to_table(struct flow *f, uint64_t pc)
{
	const struct flow_gap *gap;
	struct arch_op op;
	unsigned int i;

	if (flow_find_byte(f, pc, &gap) == UINT32_MAX)
		return false;
	for (i = 0; i < ARCH_MAX_TRAIL && pc < gap->end; i++, pc += op.len) {
		f->arch->decode(f->decoder, f->code + gap->first_byte + (pc - gap->start),
				gap->end - pc, f->r->img->text.start + pc, &op);
		if (op.next != ARCH_FALLTHROUGH)
			return op.next == ARCH_JUMP_INDIRECT;
	}
	return false;
}

void flow_mark_doubtful_edges(struct flow *f, struct flow_node *node)
{
	uint64_t next = node->pc + node->op.len, to = node->op.target - f->r->img->text.start;
	uint32_t byte;

	if (node->op.next == ARCH_FALLTHROUGH)
		node->doubtful_fallthrough = leaves_padding(f, node->pc, next);
	if (node->op.next != ARCH_BRANCH && node->op.next != ARCH_JUMP)
		return;
	node->doubtful_jump = flow_is_padding(f, to);
	if (node->op.next == ARCH_JUMP)
		return;
	node->doubtful_fallthrough = flow_is_func_end(f, next);
	if (!(node->op.flags & ARCH_IF_ABOVE) || !runs_to_table(f, next))
		return;
	node->doubtful_jump = true;
	byte = flow_find_byte(f, to, NULL);
	if (byte != UINT32_MAX)
		f->marks[byte] |= FLOW_DEFAULT;
}
