// SPDX-License-Identifier: LGPL-2.1-or-later
/* pointer.c - pointers as .eh_frame encodes them */
#include <dwarf.h>

#include "impl.h"

bool cfi_read_pointer_bytes(struct byte_cursor *c, uint8_t format, uint8_t addr_size,
			    uint64_t *value)
{
	switch (format) {
	case DW_EH_PE_absptr:
		*value = bytes_read_uint(c, addr_size);
		break;
	case DW_EH_PE_uleb128:
		*value = bytes_read_uleb(c);
		break;
	case DW_EH_PE_udata2:
		*value = bytes_read_uint(c, 2);
		break;
	case DW_EH_PE_udata4:
		*value = bytes_read_uint(c, 4);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		*value = bytes_read_uint(c, 8);
		break;
	case DW_EH_PE_signed:
		*value = bytes_read_uint(c, addr_size);
		if (addr_size == 4)
			*value = (int32_t)*value;
		break;
	case DW_EH_PE_sleb128:
		*value = bytes_read_sleb(c);
		break;
	case DW_EH_PE_sdata2:
		*value = (int16_t)bytes_read_uint(c, 2);
		break;
	case DW_EH_PE_sdata4:
		*value = (int32_t)bytes_read_uint(c, 4);
		break;
	default:
		return false;
	}
	return !c->bad;
}

bool cfi_read_pointer(const struct cfi_section *sec, struct byte_cursor *c, uint8_t enc,
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
		if (v > bytes_count_left(c))
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
