/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stacks.h - events gathered by the stacks they have
 *
 *	gather.h	all events of a model, weighed: number, time waited, wake-ups
 *	waits.h		from switch to switch: how long a task was off its CPU
 *	paths.h		the two stacks of an event as one path
 *	fold.h		equal paths as one line
 *	folded.h	a fold as text
 *	tree.h		paths with common outer frames as a tree
 *	strtab.h	strings, each kept once
 */
#ifndef TRACE_USTACK_STACKS_H
#define TRACE_USTACK_STACKS_H

#include "fold.h"
#include "folded.h"
#include "gather.h"
#include "paths.h"
#include "strtab.h"
#include "tree.h"
#include "waits.h"

#endif
