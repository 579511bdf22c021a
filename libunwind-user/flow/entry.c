// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * entry.c - where functions start, as far as the file says so
 *
 * The file names function starts in symbols of functions that other files can see, in DT_INIT and
 * DT_FINI, and in resolvers of IRELATIVE relocations. It also names them in the arrays of functions
 * that run at start and end, as they are in the file or as relocations fill them. Calls enter these
 * functions, so the return address is at SP.
 *
 * Any other address of code in a relocation is only an address that the program takes. It can be
 * the address of a function, of a label that something jumps to, or of constants between functions.
 * Two kinds of symbols prove no more. Local symbols of functions: compilers also make them for
 * parts of functions that are jumped to (f.cold). Symbols without a size: a compiler that finds the
 * body of a function unreachable leaves it empty, and the symbol then points into other code.
 *
 * The walk enters such code as not sure. The code has to be proved, see prove.c; a label in a
 * function that has moved SP cannot be proved. Assembler code often has no sizes, so such symbols
 * have another proof, the end of a stub.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

#define CHUNK		(64u << 10)
/* Bytes of all lists of a file; the largest files have 100 MB of symbols with debug information. */
#define MAX_LISTS	(256u << 20)

/* The pc (from text.start on) of an address in a gap; UINT32_MAX for other addresses. */
static uint32_t get_pc(const struct flow *f, uint64_t addr, uint32_t *byte)
{
	uint64_t pc = addr - f->r->img->text.start;

	if (addr < f->r->img->text.start || pc < f->gap[0].start ||
	    pc >= f->gap[f->nr_gaps - 1].end)
		return UINT32_MAX;
	*byte = flow_find_byte(f, pc, NULL);
	return *byte == UINT32_MAX ? UINT32_MAX : pc;
}

static void enter_function(struct flow *f, uint64_t addr)
{
	uint32_t byte, pc = get_pc(f, addr, &byte);

	if (pc != UINT32_MAX && addr != f->r->img->entry)
		flow_enter(f, pc, &f->arch->entered, true);
}

void flow_note_address_taken(struct flow *f, uint64_t addr)
{
	uint32_t byte, pc = get_pc(f, addr, &byte);

	if (pc == UINT32_MAX || f->marks[byte] & (FLOW_ENTRY | FLOW_TAKEN))
		return;
	if (vec_grow32(&f->taken, &f->room_taken, f->nr_taken, sizeof(*f->taken))) {
		f->no_memory = true;
		return;
	}
	f->marks[byte] |= FLOW_TAKEN;
	f->taken[f->nr_taken++] = pc;
}

/* ---------------------------------- lists -------------------------------- */

static void enter_symbol(struct flow *f, const void *entry)
{
	const struct image *img = f->r->img;
	unsigned int type;
	uint32_t byte;
	uint64_t addr;
	Elf64_Sym sym;
	bool local;

	memcpy(&sym, entry, sizeof(sym));
	type = ELF64_ST_TYPE(sym.st_info);
	addr = image_to_host64(img, sym.st_value);
	local = ELF64_ST_BIND(sym.st_info) == STB_LOCAL;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !sym.st_shndx)
		return;
	/* a function whose body is unreachable has size 0: the next code is of another function */
	if (local || !sym.st_size)
		flow_note_address_taken(f, addr);
	else
		enter_function(f, addr);
	if (!local && !sym.st_size && get_pc(f, addr, &byte) != UINT32_MAX)
		f->marks[byte] |= FLOW_NAMED;
	if (sym.st_size && get_pc(f, addr + image_to_host64(img, sym.st_size), &byte) != UINT32_MAX)
		f->marks[byte] |= FLOW_END;
}

static bool is_in_array(const struct flow *f, uint64_t addr)
{
	const struct image *img = f->r->img;
	unsigned int i;

	for (i = 0; i < f->nr_arrays; i++) {
		if (addr >= f->array[i].start && addr < f->array[i].end)
			return true;
	}
	for (i = 0; i < img->nr_lists; i++) {
		if (img->list[i].type >= SHT_INIT_ARRAY && addr >= img->list[i].vaddr &&
		    addr - img->list[i].vaddr < img->list[i].size)
			return true;
	}
	return false;
}

static void enter_relocation(struct flow *f, const void *entry)
{
	const struct image *img = f->r->img;
	uint64_t type, addr;
	Elf64_Rela rela;

	memcpy(&rela, entry, sizeof(rela));
	type = ELF64_R_TYPE(image_to_host64(img, rela.r_info));
	addr = image_to_host64(img, rela.r_addend);
	if (type == f->arch->irelative ||
	    (type == f->arch->relative && is_in_array(f, image_to_host64(img, rela.r_offset))))
		enter_function(f, addr);
	else if (type == f->arch->relative)
		flow_note_address_taken(f, addr);
}

static void enter_pointer(struct flow *f, const void *entry)
{
	uint64_t addr;

	memcpy(&addr, entry, sizeof(addr));
	enter_function(f, image_to_host64(f->r->img, addr));
}

static int enter_list(struct flow *f, const struct image_list *l, uint8_t *chunk, uint64_t *budget)
{
	void (*enter)(struct flow *, const void *);
	uint64_t at, size = l->size, n;
	size_t each, i;
	int ret;

	switch (l->type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
		enter = enter_symbol;
		each = sizeof(Elf64_Sym);
		break;
	case SHT_RELA:
		enter = enter_relocation;
		each = sizeof(Elf64_Rela);
		break;
	default:
		enter = enter_pointer;
		each = sizeof(uint64_t);
	}
	if (size > *budget)
		size = *budget;
	*budget -= size;
	for (at = 0; at < size; at += n) {
		n = size - at < CHUNK / each * each ? size - at : CHUNK / each * each;
		ret = image_read_list(f->r->img, l->off + at, chunk, n);
		/* skip a list that is cut short; the rest of the file may be good */
		if (ret)
			return ret == -ENOMEM ? ret : 0;
		for (i = 0; i + each <= n; i += each)
			enter(f, chunk + i);
	}
	return 0;
}

/* --------------------------------- dynamic ------------------------------- */

static void enter_array(struct flow *f, uint64_t start, uint64_t size)
{
	struct image *img = f->r->img;
	uint8_t pointer[8];
	uint64_t at;

	if (!start || size > CHUNK || start + size < start)
		return;
	f->array[f->nr_arrays++] = (struct image_range){ start, start + size };
	for (at = 0; at + sizeof(pointer) <= size; at += sizeof(pointer)) {
		if (!image_read(img, start + at, pointer, sizeof(pointer)))
			enter_pointer(f, pointer);
	}
}

static void enter_dynamic(struct flow *f)
{
	uint64_t start = f->r->img->dynamic.start, size = f->r->img->dynamic.end - start, at;
	uint64_t value[DT_PREINIT_ARRAYSZ + 1] = { 0 }, tag;
	Elf64_Dyn dyn;

	for (at = 0; at + sizeof(dyn) <= size && at < CHUNK; at += sizeof(dyn)) {
		if (image_read(f->r->img, start + at, &dyn, sizeof(dyn)) || !dyn.d_tag)
			break;
		tag = image_to_host64(f->r->img, dyn.d_tag);
		if (tag <= DT_PREINIT_ARRAYSZ)
			value[tag] = image_to_host64(f->r->img, dyn.d_un.d_val);
	}
	if (value[DT_INIT])
		enter_function(f, value[DT_INIT]);
	if (value[DT_FINI])
		enter_function(f, value[DT_FINI]);
	enter_array(f, value[DT_INIT_ARRAY], value[DT_INIT_ARRAYSZ]);
	enter_array(f, value[DT_FINI_ARRAY], value[DT_FINI_ARRAYSZ]);
	enter_array(f, value[DT_PREINIT_ARRAY], value[DT_PREINIT_ARRAYSZ]);
}

int flow_find_entries(struct flow *f)
{
	const struct image *img = f->r->img;
	uint64_t budget = MAX_LISTS;
	uint8_t *chunk = malloc(CHUNK);
	unsigned int i;
	int ret = 0;

	if (!chunk)
		return -ENOMEM;
	enter_dynamic(f);
	for (i = 0; i < img->nr_lists && !ret; i++)
		ret = enter_list(f, &img->list[i], chunk, &budget);
	free(chunk);
	return ret;
}
