/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * base.h - containers, texts and reads that every part uses
 *
 *	vec.h	arrays that grow, hashes
 *	text.h	strings that grow
 *	bytes.h	a position in bytes: reads numbers, LEB128 and strings
 *	utf8.h	bytes that may be text
 *	json.h	a JSON writer
 *	cover.h	turns intervals that overlap into pieces that do not
 *	fd.h	reads and writes all bytes of a piece; paths of descriptors
 *	elf32.h	headers of 32-bit ELF files
 *	limit.h	limits of a helper process: its CPU time, and the life of its parent
 *	clock.h	reads clocks
 *	stamp.h	says whether a file has changed
 *	thread.h	starts a thread that handles no signals
 */
#ifndef UU_BASE_H
#define UU_BASE_H

#include "bytes.h"
#include "clock.h"
#include "cover.h"
#include "elf32.h"
#include "fd.h"
#include "json.h"
#include "limit.h"
#include "stamp.h"
#include "text.h"
#include "thread.h"
#include "utf8.h"
#include "vec.h"

#endif
