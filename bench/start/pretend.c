// SPDX-License-Identifier: GPL-2.0
/*
 * The audit module, for a kernel without unwind tables: it makes its system calls and takes their
 * failure for success. So everything is measured except the kernel's work in prctl().
 */
#define sys_prctl	sys_prctl_real
#include "libunwind-user/audit/sys.h"
#undef sys_prctl

#include "libunwind-user/abi/abi.h"

static int sys_prctl(int option, const void *arg, size_t size)
{
	int ret = sys_prctl_real(option, arg, size);

	if (option == PR_ADD_SFRAME)
		return 0;
	return option == PR_REMOVE_SFRAME ? -ENOENT : ret;
}

#include "libunwind-user/audit/audit.c"
#include "libunwind-user/audit/table.c"
