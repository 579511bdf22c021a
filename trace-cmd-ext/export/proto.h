/* SPDX-License-Identifier: GPL-2.0 */
/*
 * proto.h - protocol buffers, written by hand
 *
 * The wire format is that of protobuf.dev, "Encoding". A message is a struct text. A message within
 * a message is written on its own and then added by proto_message(). A failed text stays failed.
 */
#ifndef TRACE_USTACK_PROTO_H
#define TRACE_USTACK_PROTO_H

#include <stdint.h>

#include "libunwind-user/base/base.h"

/* int32, int64, uint32, uint64, bool, enum: negative numbers as 64 bits */
void proto_number(struct text *t, uint32_t field, uint64_t n);
void proto_bytes(struct text *t, uint32_t field, const void *p, size_t len);
/* A string field must be UTF-8: other bytes become U+FFFD. */
void proto_string(struct text *t, uint32_t field, const char *s);
/* Add the message @m and empty it. */
void proto_message(struct text *t, uint32_t field, struct text *m);
/* A repeated number, packed. */
void proto_packed(struct text *t, uint32_t field, const uint64_t *v, size_t nr);

#endif
