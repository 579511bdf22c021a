/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format.h - what a cache of tables looks like: file names, headers, who is trusted
 *
 * tables/cache.c writes and reads the cache. audit/audit.c reads it inside any program. So this
 * header uses nothing of a C library: it has fixed-width types, memory and numbers only.
 *
 * A file holds one table. The name of the file says what the table was made from:
 *
 *	BUILDID-VERSION					files that are trusted
 *	[BUILDID]@DEV.INODE.SIZE.MTIME.CTIME-VERSION	all other files
 *
 * The file starts with a struct tables_head. Then come tables_head.stats_size bytes of statistics,
 * then the table.
 */
#ifndef ABI_FORMAT_H
#define ABI_FORMAT_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLES_MAGIC		"UUTABLE2"
#define TABLES_BUILD_ID_MAX	20		/* longer build IDs are cut */
#define TABLES_NAME_SIZE	256
#define TABLES_MAX_FILE		(1ull << 30)	/* bytes */

/* The directory: $TRACE_USTACK_TABLES, else ROOT_DIR for root, else $XDG_CACHE_HOME/USER_DIR ... */
#define TABLES_ENV		"TRACE_USTACK_TABLES"
#define TABLES_ROOT_DIR		"/var/cache/trace-ustack/tables"
#define TABLES_USER_DIR		"trace-ustack/tables"
#define TABLES_HOME_DIR		".cache/" TABLES_USER_DIR	/* ... else in $HOME */

/* The start of a file, in the byte order of the machine: another order has another magic. */
struct tables_head {
	char magic[8];
	uint32_t head_size;		/* bytes before the table */
	uint32_t crc;			/* of everything after this field */
	uint64_t version;		/* of the generator */
	uint64_t file_size;
	uint64_t table_size;
	uint64_t base;			/* as in struct gen_table */
	uint64_t text_start, text_size;
	uint64_t layout;		/* tables_hash_layout() of the file it was made from */
	uint32_t build_id_size;
	uint8_t build_id[TABLES_BUILD_ID_MAX];
	uint32_t stats_size;
	uint32_t reserved;		/* 0 */
};

_Static_assert(sizeof(struct tables_head) == 104, "no padding");

/* The identity of a file on a file system. */
struct tables_inode {
	uint64_t dev, ino, size;
	uint64_t mtime, mtime_nsec, ctime, ctime_nsec;
};

/* May @user trust a file or directory of @owner, with @mode? */
static inline bool tables_is_trusted(uint32_t owner, uint32_t mode, uint32_t user)
{
	return (!owner || owner == user) && !(mode & 022);
}

/*
 * A checksum over program headers and the type of a file. With the same build ID and the same
 * layout, the same code is at the same place. Tools that move code keep the build ID.
 */
static inline uint64_t tables_hash_layout(const Elf64_Ehdr *eh, const Elf64_Phdr *ph,
					  unsigned int nr)
{
	const uint8_t *p = (const uint8_t *)ph, *end = p + (size_t)nr * sizeof(*ph);
	uint64_t h = eh->e_type | (uint64_t)eh->e_machine << 16 | (uint64_t)nr << 32, word;

	for (; p < end; p += sizeof(word)) {
		__builtin_memcpy(&word, p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

/*
 * Find a build ID in the @len bytes of notes at @p, from a segment that is aligned to @align. Sets
 * *@id, and returns the size, at most TABLES_BUILD_ID_MAX; 0 if there is no build ID.
 */
static inline uint32_t tables_find_build_id(const uint8_t *p, size_t len, size_t align,
					    const uint8_t **id)
{
	uint64_t desc, next;
	Elf64_Nhdr n;

	/* Notes are aligned to 8 in a segment that is aligned to 8, else to 4 */
	align = align == 8 ? 8 : 4;
	while (len >= sizeof(n)) {
		__builtin_memcpy(&n, p, sizeof(n));
		desc = (sizeof(n) + (uint64_t)n.n_namesz + align - 1) & ~(uint64_t)(align - 1);
		next = (desc + n.n_descsz + align - 1) & ~(uint64_t)(align - 1);
		if (desc + n.n_descsz > len)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz &&
		    p[12] == 'G' && p[13] == 'N' && p[14] == 'U' && !p[15]) {
			*id = p + desc;
			return n.n_descsz < TABLES_BUILD_ID_MAX ? n.n_descsz : TABLES_BUILD_ID_MAX;
		}
		if (next > len)
			return 0;
		p += next;
		len -= next;
	}
	return 0;
}

static inline char *tables_put_hex(char *to, uint64_t value, unsigned int digits)
{
	while (digits < 16 && value >> 4 * digits)
		digits++;
	while (digits--)
		*to++ = "0123456789abcdef"[value >> 4 * digits & 15];
	return to;
}

/*
 * Write the name of the file that has the table for @build_id (@size bytes, may be 0), made by
 * @version of the generator. If @inode is not NULL, the table is for that file only. @name has
 * TABLES_NAME_SIZE bytes.
 */
static inline void tables_write_name(char *name, const uint8_t *build_id, uint32_t size,
				     const struct tables_inode *inode, uint64_t version)
{
	uint32_t i;

	for (i = 0; i < size; i++)
		name = tables_put_hex(name, build_id[i], 2);
	if (inode) {
		const uint64_t part[] = {
			inode->dev, inode->ino, inode->size, inode->mtime, inode->mtime_nsec,
			inode->ctime, inode->ctime_nsec,
		};

		for (i = 0; i < sizeof(part) / sizeof(*part); i++) {
			*name++ = i ? '.' : '@';
			name = tables_put_hex(name, part[i], 1);
		}
	}
	*name++ = '-';
	name = tables_put_hex(name, version, 16);
	*name = '\0';
}

/* Does the header fit a file of @file_size bytes, with this build ID, layout and version? */
static inline bool tables_head_fits(const struct tables_head *h, uint64_t file_size,
				    const uint8_t *build_id, uint32_t size, uint64_t layout,
				    uint64_t version)
{
	static const char magic[8] = TABLES_MAGIC;
	uint32_t i;

	for (i = 0; i < sizeof(magic); i++) {
		if (h->magic[i] != magic[i])
			return false;
	}
	if (h->build_id_size != size || size > sizeof(h->build_id))
		return false;
	for (i = 0; i < size; i++) {
		if (h->build_id[i] != build_id[i])
			return false;
	}
	return h->version == version && h->layout == layout && h->file_size == file_size &&
	       h->head_size == sizeof(*h) + (uint64_t)h->stats_size &&
	       h->head_size <= file_size && h->table_size == file_size - h->head_size;
}

#endif
