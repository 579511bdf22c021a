/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* utf8.h - bytes out of files that may be text */
#ifndef UU_UTF8_H
#define UU_UTF8_H

#include <stddef.h>

/*
 * The length of the character of valid UTF-8 (Unicode 15.0, table 3-7) that the @len (1 or more)
 * bytes at @s start with; 0 if they do not start with a valid character.
 */
size_t utf8_length(const unsigned char *s, size_t len);

#endif
