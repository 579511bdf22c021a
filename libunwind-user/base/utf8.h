/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* utf8.h - bytes out of files that may be text */
#ifndef UU_UTF8_H
#define UU_UTF8_H

#include <stddef.h>

/*
 * How many of the @len (1 or more) bytes at @s are one character of valid UTF-8 (Unicode 15.0,
 * table 3-7); 0 if they start with none.
 */
size_t utf8_length(const unsigned char *s, size_t len);

#endif
