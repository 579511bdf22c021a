/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* arm64.h - what the files of this directory provide for struct arch */
#ifndef ARCH_ARM64_H
#define ARCH_ARM64_H

#include "libunwind-user/arch/arch.h"

size_t arm64_get_padding_length(const uint8_t *p, size_t len);
bool arm64_ends_system_call(const uint8_t *p);

int arm64_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end);

extern const struct arch_flow arm64_flow;
extern const struct arch_go arm64_go;

#endif
