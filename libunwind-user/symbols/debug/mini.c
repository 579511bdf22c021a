// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * mini.c - .gnu_debugdata, the symbol table that some distributions leave in stripped files
 *
 * The section is an ELF file, compressed with xz, with .symtab and little else ("MiniDebugInfo" of
 * GDB's manual).
 */
#include <lzma.h>
#include <stdlib.h>

#include "debug.h"

#define MAX_PLAIN	(256u << 20)
#define MAX_MEMORY	(128u << 20)	/* of the decoder: xz -9 needs 65 MB */

/* Unpack @from to less than @max bytes, and free the result with free(). NULL: an error. */
static uint8_t *unpack_xz(const void *from, size_t len, size_t max, size_t *size)
{
	lzma_stream z = LZMA_STREAM_INIT;
	size_t room = 4 * len + 4096;
	lzma_ret ret = LZMA_OK;
	uint8_t *to, *p;

	if (room > max)
		room = max;
	to = malloc(room);
	if (!to || lzma_stream_decoder(&z, MAX_MEMORY, 0) != LZMA_OK) {
		free(to);
		return NULL;
	}
	z.next_in = from;
	z.avail_in = len;
	z.next_out = to;
	z.avail_out = room;
	for (;;) {
		ret = lzma_code(&z, LZMA_FINISH);
		if (ret != LZMA_OK || z.avail_out || room == max)
			break;
		*size = room;
		room = room > max / 2 ? max : room * 2;
		p = realloc(to, room);
		if (!p)
			break;
		to = p;
		z.next_out = to + *size;
		z.avail_out = room - *size;
	}
	*size = room - z.avail_out;
	lzma_end(&z);
	if (ret == LZMA_STREAM_END)
		return to;
	free(to);
	return NULL;
}

int debugdata_collect(struct collect *c, Elf *elf, size_t max)
{
	Elf_Scn *scn = debugfile_find_section(elf, ".gnu_debugdata");
	Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
	uint8_t *image;
	size_t size;
	Elf *mini;
	int ret = 0;

	if (!data || !data->d_buf)
		return 0;
	image = unpack_xz(data->d_buf, data->d_size, max < MAX_PLAIN ? max : MAX_PLAIN, &size);
	if (!image)
		return 0;
	mini = elf_memory((char *)image, size);
	if (mini && elf_kind(mini) == ELF_K_ELF) {
		ret = symtab_collect(c, mini);
		if (!ret)
			ret = 1;
	}
	elf_end(mini);
	free(image);
	return ret;
}
