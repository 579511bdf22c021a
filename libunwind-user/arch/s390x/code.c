// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * s390x/code - instructions of s390x that the generator looks for
 *
 * Sources: z/Architecture Principles of Operation; gas, config/tc-s390.c, and LLVM,
 * SystemZMCAsmBackend.cpp (what code is padded with).
 */
#include <string.h>

#include "arch/s390x/s390x.h"

/* Branches that are never taken, of 2, 4 and 6 bytes, and zero bytes */
size_t s390x_padding(const uint8_t *p, size_t len)
{
	/* nopr %r7, nopr */
	if (len >= 2 && p[0] == 0x07 && (p[1] == 0x07 || !p[1]))
		return 2;
	/* nop 0 */
	if (len >= 4 && !memcmp(p, "\x47\0\0\0", 4))
		return 4;
	/* jgnop . */
	if (len >= 6 && !memcmp(p, "\xc0\x04\0\0\0\0", 6))
		return 6;
	return !*p;
}

/* svc; or the end of an instruction that looks like one, and then nothing is said of padding */
bool s390x_enters_kernel(const uint8_t *p)
{
	return p[0] == 0x0a;
}
