// SPDX-License-Identifier: GPL-2.0
/*
 * python.c - files with an interpreter of CPython, and where it keeps its frames
 *
 * python.bpf.h uses the result. Each such file exports the symbols _PyRuntime, PyCode_Type and
 * Py_Version, stripped or not.
 *
 * CPython 3.11 and 3.12 do not say where their fields are. The places here are those of their
 * headers; only final releases are taken. _PyRuntime of 3.13 and 3.14 starts with a table of
 * offsets. Each minor version has its own layout of this table. Interpreters without the GIL say so
 * there, and are not taken.
 *
 * Builds with Py_TRACE_REFS have larger objects. PyCode_Type has the size of code objects, by which
 * such builds are known.
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

/* The layouts of 3.11 and 3.12; addresses are filled in. */
static const struct python_layout python_311 = {
	.interpreters = 40,
	.next_interpreter = 0,
	.threads = 16,
	.next_thread = 8,
	.thread_id = 152,
	.thread_top = 56,
	.has_cframes = 1,
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

static const struct python_layout python_312 = {
	.interpreters = 40,
	.next_interpreter = 0,
	.threads = 72,
	.next_thread = 8,
	.thread_id = 136,
	.thread_top = 56,
	.has_cframes = 1,
	.cframe_frame = 0,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instr = 56,
	.frame_owner = 70,
	.first_line = 68,
	.file_name = 112,
	.name = 128,
	.table = 136,
	.first_traceable = 176,
	.instructions = 192,
	.kind_shift = 2,
	.ascii_size = 40,
	.compact_size = 56,
};

/* Of struct _Py_DebugOffsets, at the start of _PyRuntime: the first fields of four parts */
struct debug_offsets {
	struct {
		char cookie[8];
		uint64_t version, free_threaded;
		uint64_t runtime_size, finalizing, interpreters_head;
		uint64_t interpreter_size, id, next, threads_head;
	} head;
	struct {
		uint64_t size, prev, next, interp, current_frame, thread_id;
	} thread;
	struct {
		uint64_t size, previous, executable, instr_ptr, localsplus, owner;
	} frame;
	struct {
		uint64_t size, filename, name, qualname, linetable, firstlineno, argcount;
		uint64_t localsplusnames, localspluskinds, co_code_adaptive;
	} code;
};

/* Where the parts are; and bits of a frame's pointer to its code that are not of the address */
struct debug_layout {
	uint32_t thread, frame, code, code_tag;
};

static const struct debug_layout debug_313 = { .thread = 152, .frame = 224, .code = 272 };

/* f_executable is a _PyStackRef; Py_TAG_REFCNT */
static const struct debug_layout debug_314 = {
	.thread = 176,
	.frame = 248,
	.code = 312,
	.code_tag = 1,
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

static bool read_offsets(const struct found *f, const struct debug_layout *at,
			 struct debug_offsets *o)
{
	return read_data(f, f->runtime, &o->head, sizeof(o->head)) &&
	       read_data(f, f->runtime + at->thread, &o->thread, sizeof(o->thread)) &&
	       read_data(f, f->runtime + at->frame, &o->frame, sizeof(o->frame)) &&
	       read_data(f, f->runtime + at->code, &o->code, sizeof(o->code));
}

static bool set_by_offsets(struct python_layout *p, const struct found *f, uint64_t version,
			   const struct debug_layout *at)
{
	struct debug_offsets o;

	if (!read_offsets(f, at, &o) || memcmp(o.head.cookie, "xdebugpy", sizeof(o.head.cookie)) ||
	    o.head.version != version || o.head.free_threaded ||
	    o.thread.next != o.thread.prev + sizeof(uint64_t))
		return false;
	*p = (struct python_layout){
		.interpreters = o.head.interpreters_head,
		.next_interpreter = o.head.next,
		.threads = o.head.threads_head,
		.next_thread = o.thread.next,
		.thread_id = o.thread.thread_id,
		.thread_top = o.thread.current_frame,
		.frame_code = o.frame.executable,
		.frame_previous = o.frame.previous,
		.frame_instr = o.frame.instr_ptr,
		.frame_owner = o.frame.owner,
		.code_tag = at->code_tag,
		.first_line = o.code.firstlineno,
		.file_name = o.code.filename,
		.name = o.code.qualname,
		.table = o.code.linetable,
		.first_traceable = o.code.co_code_adaptive - FIRST_TRACEABLE,
		.instructions = o.code.co_code_adaptive,
		.kind_shift = 2,
		.ascii_size = 40,
		.compact_size = 56,
	};
	return true;
}

static bool has_size(const struct found *f, const struct python_layout *p)
{
	uint64_t size;

	return read_data(f, f->code_type + BASICSIZE, &size, sizeof(size)) &&
	       size == p->instructions;
}

/* The programs read so much of a thread, a frame and a code object. */
static bool is_in_reach(const struct python_layout *p)
{
	const uint32_t frame = PYTHON_FRAME_SIZE, code = PYTHON_CODE_SIZE;

	return p->frame_code < frame && p->frame_previous < frame && p->frame_instr < frame &&
	       p->frame_owner < frame && p->instructions <= code &&
	       p->first_line < p->instructions && p->file_name < p->instructions &&
	       p->name < p->instructions && p->table < p->instructions &&
	       p->first_traceable < p->instructions && p->thread_id < code &&
	       p->thread_top < code && p->next_thread < code;
}

static bool find_layout(const struct found *f, struct python_layout *p)
{
	uint64_t version;

	if (!read_data(f, f->version, &version, sizeof(version)) ||
	    (version & RELEASE) != RELEASE)
		return false;
	switch (version >> 16) {
	case 0x30b:
		*p = python_311;
		return true;
	case 0x30c:
		*p = python_312;
		return true;
	case 0x30d:
		return set_by_offsets(p, f, version, &debug_313);
	case 0x30e:
		return set_by_offsets(p, f, version, &debug_314);
	default:
		return false;
	}
}

bool bpfsrc_find_python(int fd, struct python_layout *p)
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
