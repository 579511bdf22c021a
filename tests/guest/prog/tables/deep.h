/* SPDX-License-Identifier: GPL-2.0 */
/* For functions that must have a frame of their own, and do work after their calls. */
#ifndef DEEP_H
#define DEEP_H

#define DEEP	__attribute__((noinline, noclone))
#define KEEP(p)	__asm__ volatile("" : : "g"(p) : "memory")

#endif
