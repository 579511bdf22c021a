// SPDX-License-Identifier: LGPL-2.1-or-later
/* cursor.c - reads numbers and pointers as .eh_frame encodes them */
#include <dwarf.h>

#include "cursor.h"

uint64_t cfi_read_uleb_slow(struct cfi_cursor *c)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		if (c->p == c->end)
			return cfi_fail(c);
		b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		/* drop bits that do not fit: offsets and registers are smaller */
		if ((shift == 63 && (b & 0x7e)) || (shift > 63 && (b & 0x7f)))
			return cfi_fail(c);
		shift += 7;
	} while (b & 0x80);
	return v;
}

int64_t cfi_read_sleb(struct cfi_cursor *c)
{
	unsigned int shift = 0;
	uint64_t v = 0;
	uint8_t b;

	do {
		if (c->p == c->end)
			return cfi_fail(c);
		b = *c->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
		if (shift > 70)
			return cfi_fail(c);
	} while (b & 0x80);
	if (shift < 64 && (b & 0x40))
		v |= ~0ULL << shift;
	return v;
}

struct cfi_cursor cfi_take_bytes(struct cfi_cursor *c, uint64_t size)
{
	struct cfi_cursor sub = *c;

	if (size > cfi_bytes_left(c)) {
		cfi_fail(c);
		sub = *c;
		return sub;
	}
	sub.end = sub.p + size;
	c->p += size;
	return sub;
}

bool cfi_read_pointer_bytes(struct cfi_cursor *c, uint8_t format, uint8_t addr_size,
			    uint64_t *value)
{
	switch (format) {
	case DW_EH_PE_absptr:
		*value = cfi_read_uint(c, addr_size);
		break;
	case DW_EH_PE_uleb128:
		*value = cfi_read_uleb(c);
		break;
	case DW_EH_PE_udata2:
		*value = cfi_read_uint(c, 2);
		break;
	case DW_EH_PE_udata4:
		*value = cfi_read_uint(c, 4);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*value = cfi_read_uint(c, 8);
		break;
	case DW_EH_PE_signed:
		*value = cfi_read_uint(c, addr_size);
		if (addr_size == 4)
			*value = (int32_t)*value;
		break;
	case DW_EH_PE_sleb128:
		*value = cfi_read_sleb(c);
		break;
	case DW_EH_PE_sdata2:
		*value = (int16_t)cfi_read_uint(c, 2);
		break;
	case DW_EH_PE_sdata4:
		*value = (int32_t)cfi_read_uint(c, 4);
		break;
	default:
		return false;
	}
	return !c->bad;
}

bool cfi_read_pointer(const struct cfi_section *sec, struct cfi_cursor *c, uint8_t enc,
		      uint64_t *value)
{
	uint64_t base = 0, v, at;

	if (enc == DW_EH_PE_omit || (enc & DW_EH_PE_indirect))
		return false;
	switch (enc & 0x70) {
	case DW_EH_PE_absptr:
		break;
	case DW_EH_PE_pcrel:
		base = sec->vaddr + (c->p - sec->data);
		break;
	case DW_EH_PE_textrel:
		if (!sec->have_text)
			return false;
		base = sec->text_base;
		break;
	case DW_EH_PE_datarel:
		if (!sec->have_data)
			return false;
		base = sec->data_base;
		break;
	case DW_EH_PE_aligned:
		at = sec->vaddr + (c->p - sec->data);
		v = -at & (sec->addr_size - 1);
		if (v > cfi_bytes_left(c))
			return false;
		c->p += v;
		break;
	default:		/* funcrel: from the function whose start this is */
		return false;
	}
	if (!cfi_read_pointer_bytes(c, enc & 0x0f, sec->addr_size, &v))
		return false;
	v += base;
	*value = sec->addr_size == 4 ? (uint32_t)v : v;
	return true;
}
