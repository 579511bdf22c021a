// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * patterns.c - instructions of arm64 that the generator looks for
 *
 * Source: Arm Architecture Reference Manual, A-profile. Instructions are little endian, whatever
 * the byte order of data.
 */
#include <string.h>

#include "arm64.h"

/* nop, and zero bytes (udf #0) */
size_t arm64_get_padding_length(const uint8_t *p, size_t len)
{
	if (len < 4)
		return !*p;
	return !memcmp(p, "\x1f\x20\x03\xd5", 4) || !memcmp(p, "\0\0\0\0", 4) ? 4 : 0;
}

/*
 * The upper half of svc #n, n < 0x800. hvc and smc have it too, but user programs do not have them.
 */
bool arm64_ends_system_call(const uint8_t *p)
{
	return !p[0] && p[1] == 0xd4;
}
