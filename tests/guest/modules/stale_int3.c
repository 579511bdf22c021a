// SPDX-License-Identifier: GPL-2.0
/*
 * For guests on emulated CPUs: do what the instruction in memory does after an int3 that memory
 * does not hold
 *
 * The kernel changes its code with an int3 in place of the first byte for a moment. QEMU can miss
 * the write that ends this moment, and run the int3 until the next write to that page. The kernel
 * knows nothing of this breakpoint and dies. A CPU would have run the instruction that is in
 * memory. So the module does what the instructions do that the kernel puts into its code: jumps,
 * calls and nops. Running them again would mostly run the int3 again; that is left for others.
 * tests/vm/guest/init loads the module.
 *
 * /sys/module/stale_int3/parameters/count: how many int3 were not in memory. One is the module's
 * own.
 */
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <asm/text-patching.h>

#define MAX_SHOWN	10

static atomic_t count;

static int get_count(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&count));
}

static const struct kernel_param_ops count_ops = { .get = get_count };
module_param_cb(count, &count_ops, NULL, 0444);

/* The nops of 2 and 5 bytes that the kernel uses (arch/x86/include/asm/nops.h) */
static const u8 nop2[] = { 0x66, 0x90 }, nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

/* Do what the instruction at @code does, or make the CPU run it. */
static void run_instruction(struct pt_regs *regs, const u8 *code)
{
	unsigned long at = (unsigned long)code;

	if (*code == JMP32_INSN_OPCODE)
		int3_emulate_jmp(regs, at + JMP32_INSN_SIZE + *(const s32 *)(code + 1));
	else if (*code == JMP8_INSN_OPCODE)
		int3_emulate_jmp(regs, at + JMP8_INSN_SIZE + *(const s8 *)(code + 1));
	else if (*code == CALL_INSN_OPCODE)
		int3_emulate_call(regs, at + CALL_INSN_SIZE,
				  at + CALL_INSN_SIZE + *(const s32 *)(code + 1));
	else if (!memcmp(code, nop5, sizeof(nop5)))
		regs->ip = at + sizeof(nop5);
	else if (!memcmp(code, nop2, sizeof(nop2)))
		regs->ip = at + sizeof(nop2);
	else
		regs->ip = at;
}

static int survive(struct notifier_block *nb, unsigned long event, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	const u8 *code = (const u8 *)regs->ip - INT3_INSN_SIZE;
	int n;

	if (event != DIE_INT3 || user_mode(regs) || READ_ONCE(*code) == INT3_INSN_OPCODE)
		return NOTIFY_DONE;
	n = atomic_inc_return(&count);
	if (n > 1 && n <= MAX_SHOWN)
		pr_notice("stale_int3: the CPU ran an int3 that is not in memory, at %pS\n", code);
	run_instruction(regs, code);
	return NOTIFY_STOP;
}

static struct notifier_block notifier = { .notifier_call = survive };

/*
 * int $3 (cd 03) traps as int3 does, but the byte before the next instruction is 03. None of the
 * instructions above starts with 03. The CPU runs it: 03 f8 is add %eax, %edi. Without the notifier
 * the kernel dies.
 */
static bool trap_is_survived(void)
{
	int sum = 1;

	asm volatile(".byte 0xcd, 0x03, 0xf8" : "+D" (sum) : "a" (41) : "cc");
	return sum == 42 && atomic_read(&count) == 1;
}

/* One instruction of each kind, and where it leads; a call leaves its return address. */
static bool instructions_are_known(void)
{
	static const struct {
		u8 code[8];
		int to, ret;
	} known[] = {
		{ { 0xe9, 0x34, 0x12, 0, 0 }, 0x1239 }, { { 0xeb, 0xfe }, 0 },
		{ { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 0, 5 },
		{ { 0x0f, 0x1f, 0x44, 0, 0 }, 5 }, { { 0x66, 0x90 }, 2 }, { { 0x90 }, 0 },
	};
	unsigned long stack[2] = {};
	int i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		const u8 *code = known[i].code;
		struct pt_regs regs = { .sp = (unsigned long)&stack[1] };

		run_instruction(&regs, code);
		if (regs.ip != (unsigned long)code + known[i].to ||
		    regs.sp != (unsigned long)&stack[known[i].ret ? 0 : 1])
			return false;
		if (known[i].ret && stack[0] != (unsigned long)code + known[i].ret)
			return false;
	}
	return true;
}

static int __init stale_int3_init(void)
{
	int err = register_die_notifier(&notifier);

	if (err)
		return err;
	if (instructions_are_known() && trap_is_survived())
		return 0;
	unregister_die_notifier(&notifier);
	return -EIO;
}

/* No exit: the module cannot be removed */
module_init(stale_int3_init);
MODULE_DESCRIPTION("Survives an int3 that an emulated CPU runs although memory does not hold it");
MODULE_LICENSE("GPL");
