/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * abi.h - what the library agrees on with others
 *
 *	uapi.h		with the kernel: prctl() and ioctl() for unwind tables
 *	format.h	with the audit module, which is a program of its own: the cache of tables
 *
 * Headers only, without a C library: the audit module has none.
 */
#ifndef ABI_H
#define ABI_H

#include "format.h"
#include "uapi.h"

#endif
