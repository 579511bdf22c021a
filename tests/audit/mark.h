/* SPDX-License-Identifier: GPL-2.0 */
/* mark.h - prctl(MARK, n): a test program asks observe to check its tables now */
#ifndef MARK_H
#define MARK_H

#define MARK		0x6d61726b
#define MARK_GET_AUXV	0x41555856	/* PR_GET_AUXV */

#endif
