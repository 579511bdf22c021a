/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json.h - writes JSON (RFC 8259) value by value
 *
 *	struct jsonw j = { .file = stdout };
 *
 *	jsonw_object(&j, NULL);
 *	jsonw_string(&j, "file", path);
 *	jsonw_array(&j, "stacks");
 *	jsonw_number(&j, NULL, 7);
 *	jsonw_end(&j);
 *	jsonw_end(&j);
 *
 * The writer sets the commas. @key is NULL in an array and for the outermost value. Everywhere else
 * @key is a string that needs no escapes. Names in a trace are bytes, and JSON is text: the writer
 * replaces each byte that is not part of valid UTF-8 by U+FFFD. Writing to a file allocates no
 * memory. A caller that writes to a struct text checks its @failed for lack of memory; a caller
 * that writes to a file checks the file for write errors.
 */
#ifndef UU_JSON_H
#define UU_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct text;

struct jsonw {
	FILE *file;		/* the output, or NULL: then the output goes to @text */
	struct text *text;
	uint64_t arrays;	/* a bit for each open level, innermost in bit 0: is it an array? */
	bool comma;		/* the next value needs a comma before it */
};

void jsonw_object(struct jsonw *j, const char *key);
void jsonw_array(struct jsonw *j, const char *key);
/* Close the innermost object or array; at most 64 may be open. */
void jsonw_end(struct jsonw *j);

/* @s NULL writes null. */
void jsonw_string(struct jsonw *j, const char *key, const char *s);
void jsonw_bytes(struct jsonw *j, const char *key, const char *s, size_t len);
void jsonw_number(struct jsonw *j, const char *key, uint64_t n);
void jsonw_signed(struct jsonw *j, const char *key, int64_t n);
/* Writes @digits digits after the point. */
void jsonw_real(struct jsonw *j, const char *key, double x, int digits);
void jsonw_bool(struct jsonw *j, const char *key, bool b);
void jsonw_null(struct jsonw *j, const char *key);
/* A string of lower-case hexadecimal digits, two a byte. */
void jsonw_hex(struct jsonw *j, const char *key, const uint8_t *v, size_t len);
/* A string, "0x" and lower-case hexadecimal digits. */
void jsonw_address(struct jsonw *j, const char *key, uint64_t addr);
/* A value that is JSON already. */
void jsonw_value(struct jsonw *j, const char *key, const char *value);

/* Write a member's name that may need escapes. The next call writes its value, with key NULL. */
void jsonw_name(struct jsonw *j, const char *s, size_t len);

#endif
