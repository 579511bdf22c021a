/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recording.h - trace.dat read: from libtraceevent's records to what the join takes
 *
 *	tepweak.h	libtraceevent's functions, which the host program has or has not
 *	decode.h	the fields of a record
 *	feed.h		a record of ours, handed to the join
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
