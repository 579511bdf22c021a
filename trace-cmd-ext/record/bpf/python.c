// SPDX-License-Identifier: GPL-2.0
/*
 * python.c - files with an interpreter of CPython, and where it keeps its frames
 *
 * python.bpf.h uses the result. Each such file exports the symbols _PyRuntime, PyCode_Type and
 * Py_Version, stripped or not.
 *
 * CPython 3.11 does not say where its fields are. Their places here are those of its headers; only
 * final releases are taken. _PyRuntime of 3.13 starts with a table of offsets. Each minor version
 * has its own layout of this table. Interpreters without the GIL say so there, and are not taken.
 *
 * 3.12 has no such table, and has its frames in a third way. 3.14 has another layout of the table.
 * Neither version is known here. Builds with Py_TRACE_REFS have larger objects. PyCode_Type has the
 * size of code objects, by which such builds are known.
 *
 * Source: CPython, Include/internal/pycore_frame.h, pycore_code.h, pycore_runtime.h,
 * pycore_debug_offsets.h, Include/cpython/pystate.h, code.h, unicodeobject.h.
 */
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "impl.h"

#define MAX_SIZE	(64u << 20)	/* of a section */
#define MAX_SYMBOLS	(1u << 20)

struct found {
	int fd;
	Elf *elf;
	GElf_Phdr code;
	uint64_t runtime, code_type, version;
};

/* The layout of 3.11; addresses are filled in. */
static const struct python python_311 = {
	.interpreters = 40,
	.next_interpreter = 0,
	.threads = 16,
	.next_thread = 8,
	.thread_id = 152,
	.thread_top = 56,
	.cframe_frame = 8,
	.cframe_previous = 16,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instr = 56,
	.frame_owner = 69,
	.frame_entry = 68,
	.first_line = 72,
	.file_name = 112,
	.name = 128,
	.table = 136,
	.first_traceable = 168,
	.instructions = 184,
	.kind_shift = 2,
	.ascii_size = 48,
	.compact_size = 72,
};

/* The start of _PyRuntime in 3.13: struct _Py_DebugOffsets, up to what is used here */
struct offsets_313 {
	char cookie[8];
	uint64_t version, free_threaded;
	struct {
		uint64_t size, finalizing, interpreters_head;
	} runtime;
	struct {
		uint64_t size, id, next, threads_head, gc, imports_modules, sysdict, builtins;
		uint64_t ceval_gil, gil_runtime_state, gil_enabled, gil_locked, gil_holder;
	} interpreter;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id, native_thread_id;
		uint64_t datastack_chunk, status;
	} thread;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, co_code_adaptive;
	} code;
};

/* PY_VERSION_HEX: the release level, of final releases */
#define RELEASE		0xf0

/* Of struct _typeobject. The size of code objects is that up to co_code_adaptive. */
#define BASICSIZE	32

/* Before co_code_adaptive there are co_extra, and _co_firsttraceable before that. */
#define FIRST_TRACEABLE	16

/* Read initialized data of the file at an address. */
static bool read_data(const struct found *f, uint64_t addr, void *to, size_t size)
{
	GElf_Phdr ph;
	size_t nr, i;

	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD || addr < ph.p_vaddr ||
		    addr - ph.p_vaddr > ph.p_filesz || ph.p_filesz - (addr - ph.p_vaddr) < size)
			continue;
		return !fd_pread_all(f->fd, to, size, addr - ph.p_vaddr + ph.p_offset);
	}
	return false;
}

static void note_symbols(struct found *f, const GElf_Shdr *sh, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *name;
	GElf_Sym sym;
	size_t i;

	for (i = 0; data && i < MAX_SYMBOLS && gelf_getsym(data, i, &sym); i++) {
		if (GELF_ST_TYPE(sym.st_info) != STT_OBJECT || !sym.st_shndx)
			continue;
		name = elf_strptr(f->elf, sh->sh_link, sym.st_name);
		if (!name)
			continue;
		if (!strcmp(name, "_PyRuntime"))
			f->runtime = sym.st_value;
		else if (!strcmp(name, "PyCode_Type"))
			f->code_type = sym.st_value;
		else if (!strcmp(name, "Py_Version"))
			f->version = sym.st_value;
	}
}

/* A file has one section of this type. A file with more of them is not read again and again. */
static bool find_symbols(struct found *f)
{
	GElf_Shdr sh, names;
	Elf_Scn *scn = NULL;

	do {
		scn = elf_nextscn(f->elf, scn);
		if (!scn || !gelf_getshdr(scn, &sh))
			return false;
	} while (sh.sh_type != SHT_DYNSYM);
	if (sh.sh_size > MAX_SIZE || !gelf_getshdr(elf_getscn(f->elf, sh.sh_link), &names) ||
	    names.sh_size > MAX_SIZE)
		return false;
	note_symbols(f, &sh, scn);
	return f->runtime && f->code_type && f->version;
}

/* The first segment with code: mappings of others count from other addresses */
static bool find_code(struct found *f)
{
	GElf_Ehdr ehdr;
	size_t nr, i;

	if (!gelf_getehdr(f->elf, &ehdr) || ehdr.e_machine != EM_X86_64 ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64 || elf_getphdrnum(f->elf, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(f->elf, i, &f->code) && f->code.p_type == PT_LOAD &&
		    f->code.p_flags & PF_X)
			return true;
	return false;
}

static bool set_offsets_313(struct python *p, const struct offsets_313 *o, uint64_t version)
{
	if (memcmp(o->cookie, "xdebugpy", sizeof(o->cookie)) || o->version != version ||
	    o->free_threaded || o->thread.next != o->thread.prev + sizeof(uint64_t))
		return false;
	*p = (struct python){
		.interpreters = o->runtime.interpreters_head,
		.next_interpreter = o->interpreter.next,
		.threads = o->interpreter.threads_head,
		.next_thread = o->thread.next,
		.thread_id = o->thread.thread_id,
		.thread_top = o->thread.current_frame,
		.frame_code = o->frame.executable,
		.frame_previous = o->frame.previous,
		.frame_instr = o->frame.instr_ptr,
		.frame_owner = o->frame.owner,
		.first_line = o->code.firstlineno,
		.file_name = o->code.filename,
		.name = o->code.qualname,
		.table = o->code.linetable,
		.first_traceable = o->code.co_code_adaptive - FIRST_TRACEABLE,
		.instructions = o->code.co_code_adaptive,
		.kind_shift = 2,
		.ascii_size = 40,
		.compact_size = 56,
	};
	return true;
}

static bool has_size(const struct found *f, const struct python *p)
{
	uint64_t size;

	return read_data(f, f->code_type + BASICSIZE, &size, sizeof(size)) &&
	       size == p->instructions;
}

/* The programs read so much of a thread, a frame and a code object. */
static bool is_in_reach(const struct python *p)
{
	return p->frame_code < 72 && p->frame_previous < 72 && p->frame_instr < 72 &&
	       p->frame_owner < 72 && p->instructions <= 256 && p->first_line < p->instructions &&
	       p->file_name < p->instructions && p->name < p->instructions &&
	       p->table < p->instructions && p->first_traceable < p->instructions &&
	       p->thread_id < 256 && p->thread_top < 256 && p->next_thread < 256;
}

static bool find_layout(const struct found *f, struct python *p)
{
	struct offsets_313 offsets;
	uint64_t version;

	if (!read_data(f, f->version, &version, sizeof(version)) ||
	    (version & RELEASE) != RELEASE)
		return false;
	switch (version >> 16) {
	case 0x30b:
		*p = python_311;
		return true;
	case 0x30d:
		return read_data(f, f->runtime, &offsets, sizeof(offsets)) &&
		       set_offsets_313(p, &offsets, version);
	default:
		return false;
	}
}

bool bpfsrc_find_python(int fd, struct python *p)
{
	struct found f = { .fd = fd };
	uint64_t off;
	bool found;

	memset(p, 0, sizeof(*p));
	f.elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	found = f.elf && find_code(&f) && find_symbols(&f) && find_layout(&f, p) &&
		has_size(&f, p) && is_in_reach(p);
	elf_end(f.elf);
	off = f.code.p_offset - f.code.p_vaddr;
	p->runtime = f.runtime + off;
	p->code_type = f.code_type + off;
	return found;
}
