/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* amd64.h - what the files of this directory provide for struct arch */
#ifndef ARCH_AMD64_H
#define ARCH_AMD64_H

#include "libunwind-user/arch/arch.h"

size_t amd64_get_padding_length(const uint8_t *p, size_t len);
bool amd64_ends_system_call(const uint8_t *p);
size_t amd64_find_stack_switch(const uint8_t *p, size_t len, bool by_fp);
bool amd64_starts_stack(const uint8_t *p, size_t len);
size_t amd64_decode_push(const uint8_t *p, size_t len, int32_t *bytes);
size_t amd64_find_last_jump(const uint8_t *p, size_t len, int32_t *off);

int amd64_add_plt_rows(const struct arch_plt *to, uint64_t start, uint64_t end);

extern const struct arch_flow amd64_flow;
extern const struct arch_go amd64_go;

#endif
