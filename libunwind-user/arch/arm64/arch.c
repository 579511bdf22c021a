// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * arch.c - registers and default rules of arm64, see arch/arch.h
 *
 * Little endian only: all distributions for arm64 are. Source: DWARF for the Arm 64-bit
 * Architecture (register numbers).
 */
#include <elf.h>

#include "arm64.h"
#include "libunwind-user/base/base.h"

static const char *const names[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26",
	"x27", "x28", "x29", "x30", "sp",
};

static bool restores_by(const struct cfi_row *row)
{
	(void)row;
	return true;
}

const struct arch arch_arm64 = {
	.name = "arm64",
	.machine = EM_AARCH64,
	.abi = &sframe_arch_arm64,
	.reg_name = names,
	.nr_names = ARRAY_SIZE(names),
	.restores_by = restores_by,
	.get_padding_length = arm64_get_padding_length,
	.plt_pushes = 16,
	.ends_system_call = arm64_ends_system_call,
	.add_plt_rows = arm64_add_plt_rows,
	.flow = &arm64_flow,
	.go = &arm64_go,
};
