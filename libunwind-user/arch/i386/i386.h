/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* i386.h - what the files of this directory provide for struct arch */
#ifndef ARCH_I386_H
#define ARCH_I386_H

#include "libunwind-user/arch/arch.h"

extern const struct arch_flow i386_flow;

#endif
