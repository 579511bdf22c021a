// SPDX-License-Identifier: LGPL-2.1-or-later
/* arch.c - the list of architectures that tables are made for */
#include "arch.h"
#include "libunwind-user/base/base.h"

static const struct arch *const archs[] = { &arch_amd64, &arch_arm64, &arch_s390x, &arch_i386 };

const struct arch *arch_find(uint16_t machine, bool big_endian)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(archs); i++) {
		if (archs[i]->machine == machine && archs[i]->abi->big_endian == big_endian)
			return archs[i];
	}
	return NULL;
}

const struct arch *arch_find_by_abi(uint8_t abi)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(archs); i++) {
		if (archs[i]->abi->abi == abi)
			return archs[i];
	}
	return NULL;
}
