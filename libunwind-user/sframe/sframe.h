/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sframe.h - SFrame sections: their format, a reader, and the step from a frame to its caller
 *
 * Most files of this directory are byte for byte the same as files in kernel/unwind/ of the kernel
 * series; scripts/check-shared compares them. So they have the same names as there, and include
 * nothing of the library. Kernel and library each have their own sframe_env.h.
 */
#ifndef SFRAME_H
#define SFRAME_H

#include "sframe_env.h"
#include "sframe_format.h"
#include "sframe_read.h"
#include "step.h"

/* The constants of each architecture; a file that does not use them gets no copy. */
#include "sframe_amd64.h"
#include "sframe_i386.h"
#include "sframe_arm64.h"
#include "sframe_s390x.h"

/* The kernel does not have this. */
#include "sframe_list.h"

#endif
