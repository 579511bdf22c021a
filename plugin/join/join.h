/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * join.h - from the records of a recording to user stacks with files and names
 *
 *	requests.h	requests and stacks, joined by task and cookie
 *	nest.h, runs.h	which kernel entry a cookie belongs to; several events of one entry
 *	maps.h		the file that an address lies in
 *	jit.h		names of JIT code
 *	frames.h	the printed lines
 *
 * The join does not know the format of a recording and prints nothing. Only jit.c opens files.
 */
#ifndef USTACK_JOIN_H
#define USTACK_JOIN_H

#include "frames.h"
#include "jit.h"
#include "maps.h"
#include "nest.h"
#include "requests.h"
#include "runs.h"

#endif
