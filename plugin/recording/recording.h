/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recording.h - read a trace.dat: from libtraceevent's records to the input of the join
 *
 *	tepweak.h	libtraceevent's functions, which the host program may lack
 *	decode.h	the fields of a record
 *	feed.h		from a record to the join
 *	drops.h		where the kernel dropped events
 *	scan.h		a whole file, through libtracecmd
 */
#ifndef PLUGIN_RECORDING_H
#define PLUGIN_RECORDING_H

#include "decode.h"
#include "drops.h"
#include "feed.h"
#include "scan.h"
#include "tepweak.h"

#endif
