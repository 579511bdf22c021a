// SPDX-License-Identifier: LGPL-2.1-or-later
/* json.c - the JSON writer, see json.h */
#include <string.h>

#include "json.h"
#include "text.h"
#include "utf8.h"

static void write_bytes(struct jsonw *j, const char *s, size_t len)
{
	if (j->file)
		fwrite_unlocked(s, 1, len, j->file);
	else
		text_add_bytes(j->text, s, len);
}

/* Fast path: most bytes stand for themselves. */
static inline bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct jsonw *j, const char *str, size_t len)
{
	const unsigned char *s = (const unsigned char *)str;
	size_t i = 0, from = 0, n;
	char escape[8];

	write_bytes(j, "\"", 1);
	while (i < len) {
		if (is_plain(s[i])) {
			i++;
			continue;
		}
		n = utf8_length(s + i, len - i);
		if (n > 1) {
			i += n;
			continue;
		}
		write_bytes(j, str + from, i - from);
		if (!n)
			write_bytes(j, "\xef\xbf\xbd", 3);
		else
			write_bytes(j, escape, s[i] == '"' || s[i] == '\\' ?
				    sprintf(escape, "\\%c", s[i]) :
				    sprintf(escape, "\\u%04x", s[i]));
		from = ++i;
	}
	write_bytes(j, str + from, len - from);
	write_bytes(j, "\"", 1);
}

/* Write the comma and the key before a value. */
static void start_value(struct jsonw *j, const char *key)
{
	if (j->comma)
		write_bytes(j, ",", 1);
	if (key) {
		write_bytes(j, "\"", 1);
		write_bytes(j, key, strlen(key));
		write_bytes(j, "\":", 2);
	}
	j->comma = true;
}

static void open_one(struct jsonw *j, const char *key, bool array)
{
	start_value(j, key);
	write_bytes(j, array ? "[" : "{", 1);
	j->arrays = j->arrays << 1 | array;
	j->comma = false;
}

void jsonw_object(struct jsonw *j, const char *key)
{
	open_one(j, key, false);
}

void jsonw_array(struct jsonw *j, const char *key)
{
	open_one(j, key, true);
}

void jsonw_end(struct jsonw *j)
{
	write_bytes(j, j->arrays & 1 ? "]" : "}", 1);
	j->arrays >>= 1;
	j->comma = true;
}

void jsonw_bytes(struct jsonw *j, const char *key, const char *s, size_t len)
{
	start_value(j, key);
	put_string(j, s, len);
}

void jsonw_value(struct jsonw *j, const char *key, const char *value)
{
	start_value(j, key);
	write_bytes(j, value, strlen(value));
}

void jsonw_null(struct jsonw *j, const char *key)
{
	jsonw_value(j, key, "null");
}

void jsonw_string(struct jsonw *j, const char *key, const char *s)
{
	if (s)
		jsonw_bytes(j, key, s, strlen(s));
	else
		jsonw_null(j, key);
}

void jsonw_bool(struct jsonw *j, const char *key, bool b)
{
	jsonw_value(j, key, b ? "true" : "false");
}

void jsonw_number(struct jsonw *j, const char *key, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	/* report --json prints numbers by the million */
	do {
		*--p = '0' + n % 10;
		n /= 10;
	} while (n);
	start_value(j, key);
	write_bytes(j, p, digits + sizeof(digits) - p);
}

void jsonw_signed(struct jsonw *j, const char *key, int64_t n)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%lld", (long long)n);
	jsonw_value(j, key, buf);
}

void jsonw_real(struct jsonw *j, const char *key, double x, int digits)
{
	char buf[400];

	snprintf(buf, sizeof(buf), "%.*f", digits, x);
	jsonw_value(j, key, buf);
}

void jsonw_hex(struct jsonw *j, const char *key, const uint8_t *v, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	char two[2];
	size_t i;

	start_value(j, key);
	write_bytes(j, "\"", 1);
	for (i = 0; i < len; i++) {
		two[0] = hex[v[i] >> 4];
		two[1] = hex[v[i] & 15];
		write_bytes(j, two, 2);
	}
	write_bytes(j, "\"", 1);
}

void jsonw_address(struct jsonw *j, const char *key, uint64_t addr)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "\"0x%llx\"", (unsigned long long)addr);
	jsonw_value(j, key, buf);
}

void jsonw_name(struct jsonw *j, const char *s, size_t len)
{
	start_value(j, NULL);
	put_string(j, s, len);
	write_bytes(j, ":", 1);
	j->comma = false;
}
