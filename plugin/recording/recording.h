/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recording.h - read a trace.dat: from libtraceevent's records to the input of the join
 *
 *	weak.h		libtraceevent's functions, which the host program may lack
 *	decode.h	the fields of a record
 *	feed.h		from a record to the join
 *	cursor.h	the parts of the file, one after the other
 *	sections.h	facts that libtracecmd does not return: dropped events, clocks, pages
 *	scan.h		a whole file, through libtracecmd
 */
#ifndef USTACK_RECORDING_H
#define USTACK_RECORDING_H

#include "cursor.h"
#include "decode.h"
#include "feed.h"
#include "scan.h"
#include "sections.h"
#include "weak.h"

#endif
