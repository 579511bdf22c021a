// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * patterns.c - instructions of s390x that the generator looks for
 *
 * Sources: z/Architecture Principles of Operation. For padding: gas, config/tc-s390.c, and LLVM,
 * SystemZMCAsmBackend.cpp.
 */
#include <string.h>

#include "flow.h"
#include "s390x.h"

/* Branches that are never taken, of 2, 4 and 6 bytes, and zero bytes */
size_t s390x_get_padding_length(const uint8_t *p, size_t len)
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
	return len < 2 ? !*p : !p[0] && !p[1] ? 2 : 0;
}

/*
 * glibc's longjmp(), setcontext() and swapcontext() set r15 from a register other than FP, or load
 * registers, FP included, from memory that is not at r15. Their .eh_frame does not say so. Sources:
 * glibc, sysdeps/s390/s390-64/__longjmp.c, sysdeps/unix/sysv/linux/s390/s390-64/.
 */
size_t s390x_find_stack_switch(const uint8_t *p, size_t len, bool by_fp)
{
	unsigned int from, to;
	size_t i, n;

	for (i = 0; i + 2 <= len; i += n) {
		n = s390x_get_insn_len(p + i);
		if (i + n > len)
			break;
		/* lgr %r15,%rN */
		if (!by_fp && p[i] == 0xb9 && p[i + 1] == 0x04 && p[i + 3] >> 4 == 15 &&
		    (p[i + 3] & 15) != 11)
			return i + n;
		/* lmg */
		from = p[i + 1] >> 4;
		to = p[i + 1] & 15;
		if (p[i] == 0xeb && p[i + 5] == 0x04 && p[i + 2] >> 4 != 15 && from <= 11 &&
		    to >= 11)
			return i + n;
	}
	return len;
}

/* svc; or the end of another instruction that looks like svc: then padding counts as code */
bool s390x_ends_system_call(const uint8_t *p)
{
	return p[0] == 0x0a;
}
