// SPDX-License-Identifier: GPL-2.0
/* proto.c - append the fields of a protocol buffer to a text. See proto.h. */
#include "libunwind-user/base/base.h"
#include "proto.h"

enum wire { WIRE_VARINT = 0, WIRE_LEN = 2 };

static void put_varint(struct text *t, uint64_t n)
{
	char buf[10];
	size_t len = 0;

	do
		buf[len++] = (n & 0x7f) | (n > 0x7f ? 0x80 : 0);
	while (n >>= 7);
	text_add_bytes(t, buf, len);
}

static void put_tag(struct text *t, uint32_t field, enum wire wire)
{
	put_varint(t, (uint64_t)field << 3 | wire);
}

void proto_number(struct text *t, uint32_t field, uint64_t n)
{
	put_tag(t, field, WIRE_VARINT);
	put_varint(t, n);
}

void proto_bytes(struct text *t, uint32_t field, const void *p, size_t len)
{
	put_tag(t, field, WIRE_LEN);
	put_varint(t, len);
	text_add_bytes(t, p, len);
}

void proto_string(struct text *t, uint32_t field, const char *s)
{
	size_t len = strlen(s), i = 0, n;
	struct text clean = { 0 };

	while (i < len && (n = utf8_length((const unsigned char *)s + i, len - i)))
		i += n;
	if (i == len) {
		proto_bytes(t, field, s, len);
		return;
	}
	for (i = 0; i < len; i += n) {
		n = utf8_length((const unsigned char *)s + i, len - i);
		if (n)
			text_add_bytes(&clean, s + i, n);
		else
			text_add(&clean, "\xef\xbf\xbd");
		n = n ? n : 1;
	}
	proto_message(t, field, &clean);
	vec_free(&clean);
}

void proto_message(struct text *t, uint32_t field, struct text *m)
{
	t->failed |= m->failed;
	proto_bytes(t, field, m->nr ? m->v : "", m->nr);
	m->nr = 0;
}

void proto_packed(struct text *t, uint32_t field, const uint64_t *v, size_t nr)
{
	struct text m = { 0 };
	size_t i;

	for (i = 0; i < nr; i++)
		put_varint(&m, v[i]);
	proto_message(t, field, &m);
	vec_free(&m);
}
