// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * section.c - the entries of .eh_frame: CIEs, FDEs and their pointers
 *
 * The reader walks the section once, front to back. .eh_frame_hdr would save nothing, since every
 * FDE is wanted. The reader parses a CIE when the first FDE names it, and keeps it by its offset.
 * An FDE can name any offset, even one in the middle of something. So a CIE may be at most MAX_CIE
 * bytes long: that bounds the work, which is otherwise one pass.
 */
#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/* Compilers write 16 to 40 bytes; hand-written CIEs of 130 bytes were seen. */
#define MAX_CIE		2048

#define LENGTH_64	0xffffffffu

struct parser {
	const struct cfi_section *sec;
	const struct cfi_ops *ops;
	void *arg;			/* of ops */
	VEC(struct cfi_cie *) cies;
	struct hidx numbers;		/* of CIEs, by offset */
	struct cfi_cie *last;		/* of the previous FDE */
};

static struct byte_cursor get_cursor(const struct cfi_section *sec, size_t off)
{
	return (struct byte_cursor){
		.p = sec->data + off, .end = sec->data + sec->size,
		.big_endian = sec->big_endian,
	};
}

/* A pointer to a personality or to language data: only its length matters. */
static bool skip_pointer(const struct cfi_section *sec, struct byte_cursor *c, uint8_t enc)
{
	uint64_t v;

	if (enc == DW_EH_PE_omit)
		return true;
	/* padding comes before an aligned pointer, so its length depends on its place */
	if ((enc & 0x70) == DW_EH_PE_aligned)
		return cfi_read_pointer(sec, c, enc & ~DW_EH_PE_indirect, &v);
	return cfi_read_pointer_bytes(c, enc & 0x0f, sec->addr_size, &v);
}

/* Read the data that the letters after 'z' announce, in their order. */
static enum cfi_cause read_augmentation(const struct cfi_section *sec, struct cfi_cie *cie,
					const char *letter, struct byte_cursor *c)
{
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->enc = bytes_read_u8(c);
			break;
		case 'P':
			if (!skip_pointer(sec, c, bytes_read_u8(c)))
				return CFI_CAUSE_CIE;
			break;
		case 'L':
			bytes_read_u8(c);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':	/* arm64: signed with key B */
		case 'G':	/* arm64: tagged stack */
			break;
		default:
			/* a later letter may be R, and the position of its byte is unknown */
			return CFI_CAUSE_AUGMENTATION;
		}
	}
	return c->bad ? CFI_CAUSE_CIE : CFI_OK;
}

/*
 * Read the length of the entry at @c, and make a cursor for the entry. @is_64: the length has 64
 * bits. A CIE pointer of 4 bytes follows; after a 64-bit length, some tools write 8 bytes.
 */
static bool read_entry(struct byte_cursor *c, struct byte_cursor *entry, bool *is_64)
{
	uint64_t length = bytes_read_uint(c, 4);

	*is_64 = length == LENGTH_64;
	if (*is_64)
		length = bytes_read_uint(c, 8);
	*entry = bytes_take(c, length);
	return !c->bad;
}

/* Run the initial instructions, which are the rest of the CIE. */
static enum cfi_cause run_cie(const struct cfi_section *sec, struct cfi_cie *cie,
			      struct byte_cursor rest)
{
	struct cfi_run run = { .sec = sec, .cie = cie };
	enum cfi_cause cause;
	struct cfi_regs regs;

	memset(&regs, 0, sizeof(regs));
	regs.cfa.how = CFI_BAD;		/* until an instruction defines it */
	regs.cfa.off = CFI_CAUSE_OP;
	regs.flags = cie->signal ? CFI_SIGNAL : 0;
	cie->init = regs;
	cause = cfi_run(&run, rest, &regs);
	cie->init = regs;
	return cause;
}

static enum cfi_cause parse_cie(const struct cfi_section *sec, struct cfi_cie *cie)
{
	struct byte_cursor c = get_cursor(sec, cie->off), entry, data;
	const char *augmentation;
	enum cfi_cause cause;
	uint8_t version;
	size_t len;
	bool is_64;

	if (!read_entry(&c, &entry, &is_64) || bytes_count_left(&entry) < 9 ||
	    bytes_count_left(&entry) > MAX_CIE)
		return CFI_CAUSE_CIE;
	if (bytes_read_uint(&entry, 4))
		return CFI_CAUSE_CIE;
	cie->id_size = 4;
	/* the version comes next and is not 0, so four more zero bytes are part of the id */
	if (is_64 && !(entry.p[0] | entry.p[1] | entry.p[2] | entry.p[3])) {
		entry.p += 4;
		cie->id_size = 8;
	}
	version = bytes_read_u8(&entry);
	if (version != 1 && version != 3 && version != 4)
		return CFI_CAUSE_CIE;
	len = strnlen((const char *)entry.p, bytes_count_left(&entry));
	if (len == bytes_count_left(&entry))
		return CFI_CAUSE_CIE;
	augmentation = (const char *)entry.p;
	entry.p += len + 1;
	if (!strcmp(augmentation, "eh")) {
		/* GCC 2: the address of a table of handlers */
		bytes_read_uint(&entry, sec->addr_size);
		augmentation += 2;
	}
	if (version == 4 && (bytes_read_u8(&entry) != sec->addr_size || bytes_read_u8(&entry)))
		return CFI_CAUSE_CIE;
	cie->code_align = bytes_read_uleb(&entry);
	cie->data_align = bytes_read_sleb(&entry);
	cie->ra_reg = version == 1 ? bytes_read_u8(&entry) : bytes_read_uleb(&entry);
	cie->enc = DW_EH_PE_absptr;
	if (*augmentation == 'z') {
		cie->has_data = true;
		data = bytes_take(&entry, bytes_read_uleb(&entry));
		cause = entry.bad ? CFI_CAUSE_CIE :
			read_augmentation(sec, cie, augmentation + 1, &data);
		if (cause)
			return cause;
	} else if (*augmentation) {
		return CFI_CAUSE_AUGMENTATION;
	}
	if (entry.bad || cie->ra_reg == sec->reg_fp || cie->ra_reg == sec->reg_sp)
		return CFI_CAUSE_CIE;
	return run_cie(sec, cie, entry);
}

/* The CIE at @off, valid until the end. NULL if there is not enough memory. */
static struct cfi_cie *get_cie(struct parser *p, size_t off)
{
	uint64_t hash = hash64(off);
	struct cfi_cie *cie, **place;
	uint32_t i;
	size_t pos;

	if (p->last && p->last->off == off)
		return p->last;
	for_each_hidx_bounded(&p->numbers, hash, pos, i)
		if (p->cies.v[i]->off == off)
			return p->last = p->cies.v[i];
	cie = calloc(1, sizeof(*cie));
	place = cie ? vec_add(&p->cies) : NULL;
	if (!place || hidx_add_bounded(&p->numbers, hash, p->cies.nr - 1)) {
		p->cies.nr -= !!place;
		free(cie);
		return NULL;
	}
	*place = cie;
	cie->off = off;
	cie->cause = parse_cie(p->sec, cie);
	return p->last = cie;
}

/* @id: the CIE pointer, which is at @id_off; @c: the bytes after it */
static int parse_fde(struct parser *p, struct byte_cursor c, size_t id_off, uint32_t id, bool is_64,
		     enum cfi_cause *cause)
{
	const struct cfi_section *sec = p->sec;
	struct cfi_run run = { .sec = sec, .ops = p->ops, .arg = p->arg };
	struct cfi_regs regs;
	struct cfi_cie *cie;
	uint64_t size;
	int ret;

	*cause = CFI_CAUSE_FDE;
	/* relative to the pointer, in practice always backwards, though the field is signed */
	if (id > id_off && id < 0x80000000u)
		return 0;
	if ((int64_t)id_off - (int32_t)id >= (int64_t)sec->size)
		return 0;
	cie = get_cie(p, (int64_t)id_off - (int32_t)id);
	if (!cie)
		return -ENOMEM;
	*cause = cie->cause;
	if (cie->cause)
		return 0;
	run.cie = cie;
	if (is_64 && cie->id_size == 8 && bytes_read_uint(&c, 4)) {
		*cause = CFI_CAUSE_FDE;
		return 0;
	}
	*cause = CFI_CAUSE_POINTER;
	if (!cfi_read_pointer(sec, &c, cie->enc, &run.start))
		return 0;
	/* the size has the format of the start, but no base */
	*cause = CFI_CAUSE_FDE;
	if (!cfi_read_pointer_bytes(&c, cie->enc & 0x07, sec->addr_size, &size))
		return 0;
	if (cie->has_data)
		bytes_take(&c, bytes_read_uleb(&c));
	if (c.bad || __builtin_add_overflow(run.start, size, &run.end))
		return 0;
	*cause = CFI_OK;
	if (!size)
		return 0;
	ret = p->ops->fde(p->arg, run.start, run.end);
	if (ret)
		return ret == CFI_SKIP ? 0 : ret;
	regs = cie->init;
	return cfi_run(&run, c, &regs);
}

int cfi_parse(const struct cfi_section *sec, const struct cfi_ops *ops, void *arg,
	      struct cfi_stats *stats)
{
	struct parser p = { .sec = sec, .ops = ops, .arg = arg };
	struct byte_cursor c, entry;
	enum cfi_cause cause;
	size_t i, id_off;
	int ret = 0;
	uint32_t id;
	bool is_64;

	memset(stats, 0, sizeof(*stats));
	if (!sec->size)
		return 0;
	c = get_cursor(sec, 0);
	while (!ret && bytes_count_left(&c) >= 4) {
		if (!read_entry(&c, &entry, &is_64)) {
			stats->nr_fdes++;
			stats->bad_fdes[CFI_CAUSE_FDE]++;
			break;
		}
		if (entry.p == entry.end) {
			if (sec->ends_at_zero)
				break;
			continue;
		}
		id_off = entry.p - sec->data;
		id = bytes_read_uint(&entry, 4);
		if (!id && !entry.bad) {
			stats->nr_cies++;
			continue;
		}
		stats->nr_fdes++;
		cause = CFI_CAUSE_FDE;
		if (!entry.bad)
			ret = parse_fde(&p, entry, id_off, id, is_64, &cause);
		if (cause)
			stats->bad_fdes[cause]++;
	}
	for (i = 0; i < p.cies.nr; i++)
		free(p.cies.v[i]);
	vec_free(&p.cies);
	hidx_free(&p.numbers);
	return ret;
}

int cfi_find_eh_frame(const uint8_t *hdr, size_t size, uint64_t vaddr, bool big_endian,
		      uint8_t addr_size, uint64_t *eh_frame)
{
	struct cfi_section sec = {
		.data = hdr, .size = size, .vaddr = vaddr, .big_endian = big_endian,
		.addr_size = addr_size, .have_data = true, .data_base = vaddr,
	};
	struct byte_cursor c = get_cursor(&sec, 0);
	uint8_t enc;

	if (size < 4 || bytes_read_u8(&c) != 1)
		return -EINVAL;
	enc = bytes_read_u8(&c);
	c.p += 2;	/* encodings of the count and the table */
	return cfi_read_pointer(&sec, &c, enc, eh_frame) ? 0 : -EINVAL;
}

const char *cfi_get_cause_name(enum cfi_cause cause)
{
	static const char *const name[CFI_NR_CAUSES] = {
		[CFI_OK] = "none",
		[CFI_CAUSE_CIE] = "malformed CIE",
		[CFI_CAUSE_AUGMENTATION] = "unknown augmentation",
		[CFI_CAUSE_POINTER] = "pointer encoding",
		[CFI_CAUSE_FDE] = "malformed FDE",
		[CFI_CAUSE_OP] = "unknown instruction",
		[CFI_CAUSE_EXPR] = "expression",
		[CFI_CAUSE_RANGE] = "offset or register out of range",
		[CFI_CAUSE_SP] = "stack pointer is not the CFA",
	};

	return cause < CFI_NR_CAUSES ? name[cause] : "?";
}
