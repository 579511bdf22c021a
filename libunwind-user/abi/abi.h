/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * abi.h - the layouts that the library shares with other programs
 *
 *	uapi.h		with the kernel: prctl() and ioctl() for unwind tables
 *	format.h	with the audit module, which is a program of its own: the cache of tables
 *
 * These are headers only, and they need no C library: the audit module has none.
 */
#ifndef ABI_H
#define ABI_H

#include "format.h"
#include "uapi.h"

#endif
