/* SPDX-License-Identifier: GPL-2.0 */
/* mark.h - what programs of these tests say to observe: prctl(MARK, n), look at me */
#ifndef MARK_H
#define MARK_H

#define MARK		0x6d61726b
#define MARK_GET_AUXV	0x41555856	/* PR_GET_AUXV */

#endif
