/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* s390x.h - what the files of this directory provide for struct arch */
#ifndef ARCH_S390X_H
#define ARCH_S390X_H

#include "libunwind-user/arch/arch.h"

size_t s390x_get_padding_length(const uint8_t *p, size_t len);
bool s390x_ends_system_call(const uint8_t *p);
size_t s390x_find_stack_switch(const uint8_t *p, size_t len, bool by_fp);

int s390x_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end);

extern const struct arch_flow s390x_flow;

#endif
