// SPDX-License-Identifier: GPL-2.0
/*
 * runtime.c - files that make JIT code, which by their own ABI keeps a frame pointer
 *
 * V8 (node, Electron): all functions that it compiles make a frame with RBP before they call
 * something. But code without a frame may call the write barriers, DoubleToI, and traps of
 * WebAssembly. All of these are builtins, in one block (libunwind-user/flow/v8.c). A builtin has
 * called the outermost of the functions, and the innermost calls builtins or functions of V8. Other
 * code in memory does not.
 *
 * HotSpot (java): the interpreter keeps a frame with RBP, and so do most stubs. Compiled methods do
 * with -XX:+PreserveFramePointer only; this flag is a byte in the memory of libjvm, of the same
 * name. All of this code is between two addresses, CodeCache::_low_bound and _high_bound, and
 * JavaCalls::call_helper() calls it. Some stubs call a function while they have no frame of their
 * own. These functions are known by name:
 *
 *	- adapters from JIT code to the interpreter, of a method that was compiled in the meantime,
 *	- exceptions and uncommon traps, on the way from the frame of a method to another one,
 *	- barriers of garbage collectors, in Reference.get(),
 *	- the end of a method that has run in the reserved part of the stack,
 *	- mathematical functions, unless they are intrinsics,
 *	- virtual threads that go on.
 *
 * Some of these functions end in a jump to another function. Then the stub seems to have called
 * that function. So the list below has the names of both.
 *
 * The stack of a virtual thread has its youngest frames only: the others are in objects until a
 * function returns to them, by way of StubRoutines::_cont_returnBarrier.
 *
 * Erlang (beam.smp) runs each of its processes on a stack in the heap of the process. With +JPperf
 * true, all of its functions keep a frame pointer, which is 0 in the outermost one, and in the
 * scheduler. The int erts_frame_layout is 1 then. Which functions of the runtime are called by code
 * that has no frame yet is not known here. So these stacks are complete, and marked.
 *
 * All of this is known by symbols of the file. Without them nothing is known, and stacks through
 * such code are marked.
 *
 * Source: V8, src/compiler/backend/frame-elider.cc, src/compiler/backend/x64/code-generator-x64.cc
 * (OutOfLineCode), src/execution/frame-constants.h. OpenJDK, src/hotspot/cpu/x86: frame_x86.hpp,
 * x86.ad (MachPrologNode), c1_MacroAssembler_x86.cpp (build_frame()), sharedRuntime_x86_64.cpp,
 * stubGenerator_x86_64.cpp, c1_Runtime1_x86.cpp, and src/hotspot/share/runtime/javaCalls.cpp. OTP,
 * erts/emulator/beam/jit/x86: beam_asm.hpp, process_main.cpp.
 */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

#include "impl.h"

/* Runtimes are large: symbols of smaller files are not read. */
#define MIN_CODE	(2u << 20)
#define MAX_SYMBOLS	(1u << 22)
#define MAX_SIZE	(256u << 20)	/* of a section */
#define ALIGN		64		/* of functions: none is in a smaller gap */

/* A function that code without a frame calls: how the name starts (V8), or a part of it */
struct callee_name {
	const char *name;
	bool needed;			/* a file without this function is not a known runtime */
};

static const struct callee_name v8_callees[] = {
	{ "RecordWrite", true },
	{ "EphemeronKeyBarrier", false },
	{ "IndirectPointerBarrier", false },
	{ "TSAN", false },
	{ "DoubleToI", true },
	{ "ThrowWasmTrap", false },
	{ "WasmTrap", false },
	/* the two traps end in a jump to this function */
	{ "CEntry_Return1_ArgvOnStack_NoBuiltinExit", true },
	/* these make a frame for code that has no frame yet */
	{ "WasmLiftoffFrameSetup", false },
	{ "MaglevOutOfLinePrologue", false },
};

#define THAWS	"12Continuation12prepare_thawE"	/* of virtual threads */

static const struct callee_name hotspot_callees[] = {
	{ "13SharedRuntime22fixup_callers_callsiteE", true },
	{ "10NativeCall23set_destination_mt_safeE", false },
	{ "exception_handler_for_return_addressE", true },
	{ "11OptoRuntime18handle_exception_CE", true },
	{ "14Deoptimization13uncommon_trapE", true },
	{ "13SharedRuntime26enable_stack_reserved_zoneE", false },
	{ "18InterpreterRuntime22slow_signature_handlerE", false },
	{ "19G1BarrierSetRuntime", false },
	{ "17ShenandoahRuntime", false },
	{ "20ShenandoahBarrierSet", false },
	{ "18XBarrierSetRuntime", false },
	{ "_ZN8XBarrier", false },
	{ "18ZBarrierSetRuntime", false },
	{ "16SATBMarkQueueSet", false },
	{ "11PtrQueueSet", false },
	{ "_ZN8ZBarrier", false },
	{ "13SharedRuntime4d", false },
	{ "13SharedRuntime6dlog10E", false },
	{ "13__ieee754_", false },
	{ "12__kernel_", false },
	{ THAWS, false },
	{ "4thawI", false },
	{ "thaw_internal", false },
};

/* A symbol that each runtime has */
#define BLOCK		"v8_Default_embedded_blob_code_"
#define LOW_BOUND	"_ZN9CodeCache10_low_boundE"
#define FRAME_LAYOUT	"erts_frame_layout"

/* The functions of a runtime that code without a frame calls */
struct callees {
	VEC(struct file_range) range;
	uint32_t found;			/* a bit for each name */
};

struct found {
	uint64_t block;			/* of V8 */
	struct file_range builtins, call_helper;
	uint64_t low, high, flag, return_barrier, frame_layout;
	struct callees v8, hotspot;
	bool is_v8, is_hotspot;		/* it may be */
	bool thaws;			/* there are virtual threads */
	bool no_memory;
};

static bool starts_with(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static struct file_range get_range(const GElf_Sym *sym)
{
	return (struct file_range){ sym->st_value, sym->st_value + sym->st_size };
}

static void note_callee(struct found *f, struct callees *c, size_t name, const GElf_Sym *sym)
{
	struct file_range *range = vec_add(&c->range);

	c->found |= 1u << name;
	if (range)
		*range = get_range(sym);
	else
		f->no_memory = true;
}

static void note_builtin(struct found *f, const char *name, const GElf_Sym *sym)
{
	struct file_range range = get_range(sym);
	size_t i;

	if (!f->builtins.start || range.start < f->builtins.start)
		f->builtins.start = range.start;
	if (range.end > f->builtins.end)
		f->builtins.end = range.end;
	for (i = 0; i < ARRAY_SIZE(v8_callees); i++) {
		if (starts_with(name, v8_callees[i].name)) {
			note_callee(f, &f->v8, i, sym);
			return;
		}
	}
}

static void note_function(struct found *f, const char *name, const GElf_Sym *sym)
{
	size_t i;

	if (starts_with(name, "_ZN9JavaCalls11call_helperE") && !strchr(name, '.'))
		f->call_helper = get_range(sym);
	if (strstr(name, THAWS))
		f->thaws = true;
	for (i = 0; i < ARRAY_SIZE(hotspot_callees); i++) {
		if (strstr(name, hotspot_callees[i].name)) {
			note_callee(f, &f->hotspot, i, sym);
			return;
		}
	}
}

static void note_symbol(struct found *f, const char *name, const GElf_Sym *sym)
{
	static const char builtin[] = "Builtins_";
	unsigned int type = GELF_ST_TYPE(sym->st_info);

	if (!strcmp(name, BLOCK))
		f->block = sym->st_value;
	if (!sym->st_size || sym->st_size > MAX_SIZE || sym->st_value > UINT64_MAX - sym->st_size)
		return;
	if (type == STT_FUNC && f->is_v8 && starts_with(name, builtin))
		note_builtin(f, name + strlen(builtin), sym);
	else if (type == STT_FUNC && f->is_hotspot && starts_with(name, "_Z"))
		note_function(f, name, sym);
	else if (type != STT_OBJECT)
		return;
	else if (sym->st_size == 1 && !strcmp(name, "PreserveFramePointer"))
		f->flag = sym->st_value;
	else if (!strcmp(name, LOW_BOUND))
		f->low = sym->st_value;
	else if (!strcmp(name, "_ZN9CodeCache11_high_boundE"))
		f->high = sym->st_value;
	else if (!strcmp(name, "_ZN12StubRoutines19_cont_returnBarrierE"))
		f->return_barrier = sym->st_value;
	else if (sym->st_size == 4 && !strcmp(name, FRAME_LAYOUT))
		f->frame_layout = sym->st_value;
}

/* Look for the name of such a symbol. Nearly all files have none, and this takes little time. */
static bool find_kind(struct found *f, Elf_Scn *names)
{
	Elf_Data *data = elf_getdata(names, NULL);

	if (!data || !data->d_buf)
		return false;
	f->is_v8 = memmem(data->d_buf, data->d_size, BLOCK, sizeof(BLOCK));
	f->is_hotspot = memmem(data->d_buf, data->d_size, LOW_BOUND, sizeof(LOW_BOUND));
	return f->is_v8 || f->is_hotspot ||
	       memmem(data->d_buf, data->d_size, FRAME_LAYOUT, sizeof(FRAME_LAYOUT));
}

static void read_symbols(struct found *f, Elf *elf)
{
	GElf_Shdr sh, names;
	Elf_Scn *scn = NULL;
	Elf_Data *data;
	const char *name;
	GElf_Sym sym;
	size_t i;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_size > MAX_SIZE ||
		    (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) ||
		    !gelf_getshdr(elf_getscn(elf, sh.sh_link), &names) || names.sh_size > MAX_SIZE)
			continue;
		if (!find_kind(f, elf_getscn(elf, sh.sh_link)))
			continue;
		data = elf_getdata(scn, NULL);
		for (i = 0; data && i < MAX_SYMBOLS && gelf_getsym(data, i, &sym); i++) {
			name = elf_strptr(elf, sh.sh_link, sym.st_name);
			if (name)
				note_symbol(f, name, &sym);
		}
	}
}

/* The segment with this code, if there is so much code that the file may be a runtime */
static bool find_code(Elf *elf, GElf_Phdr *code)
{
	GElf_Ehdr ehdr;
	size_t nr, i;

	if (!gelf_getehdr(elf, &ehdr) || ehdr.e_machine != EM_X86_64 || elf_getphdrnum(elf, &nr))
		return false;
	for (i = 0; i < nr; i++) {
		if (gelf_getphdr(elf, i, code) && code->p_type == PT_LOAD &&
		    code->p_flags & PF_X && code->p_filesz >= MIN_CODE)
			return true;
	}
	return false;
}

static bool is_in(const GElf_Phdr *code, const struct file_range *range)
{
	return range->start >= code->p_vaddr && range->end > range->start &&
	       range->end - code->p_vaddr <= code->p_filesz;
}

static struct file_range convert_to_offsets(const GElf_Phdr *code, const struct file_range *range)
{
	uint64_t off = code->p_offset - code->p_vaddr;

	return (struct file_range){ range->start + off, range->end + off };
}

static int compare_starts(const void *a, const void *b)
{
	const struct file_range *x = a, *y = b;

	return cmp_int(x->start, y->start);
}

/* Join each range with the next one if there are less than @gap bytes between them. */
static void join_ranges(struct callees *c, uint64_t gap)
{
	struct file_range *range = c->range.v;
	size_t i, nr = 0;

	for (i = 1; i < c->range.nr; i++) {
		if (range[i].start >= range[nr].end && range[i].start - range[nr].end >= gap)
			range[++nr] = range[i];
		else if (range[i].end > range[nr].end)
			range[nr].end = range[i].end;
	}
	c->range.nr = nr + 1;
}

/*
 * Fill @r with sorted ranges. If there are too many, join ranges across gaps: the code in these
 * gaps then counts, too. False: a needed function is missing, or a range is not in segment @code.
 */
static bool set_callees(struct runtime *r, struct callees *c, const struct callee_name *names,
			size_t nr, const GElf_Phdr *code)
{
	uint64_t gap;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (names[i].needed && !(c->found & 1u << i))
			return false;
	}
	qsort(c->range.v, c->range.nr, sizeof(*c->range.v), compare_starts);
	for (gap = ALIGN; gap == ALIGN || c->range.nr > MAX_FRAMELESS_CALLEES; gap *= 2)
		join_ranges(c, gap);
	for (i = 0; i < c->range.nr; i++) {
		if (!is_in(code, &c->range.v[i]))
			return false;
		r->frameless_callee[i] = convert_to_offsets(code, &c->range.v[i]);
	}
	r->nr_frameless_callees = c->range.nr;
	return true;
}

/* Is the file a runtime? */
static bool find_runtime(struct found *f, Elf *elf, struct runtime *r)
{
	GElf_Phdr code;
	uint64_t off;

	if (!find_code(elf, &code))
		return false;
	read_symbols(f, elf);
	if (f->no_memory)
		return false;
	off = code.p_offset - code.p_vaddr;
	if (f->frame_layout) {
		r->own_stacks = f->frame_layout + off;
		return true;
	}
	if (f->block && f->block <= f->builtins.start && is_in(&code, &f->builtins)) {
		r->callers = convert_to_offsets(&code, &f->builtins);
		r->calls_itself = true;
		return set_callees(r, &f->v8, v8_callees, ARRAY_SIZE(v8_callees), &code);
	}
	if (!f->flag || !f->low || !f->high || !is_in(&code, &f->call_helper))
		return false;
	if (f->thaws && !f->return_barrier)
		return false;
	r->callers = convert_to_offsets(&code, &f->call_helper);
	r->flag = f->flag + off;
	r->low = f->low + off;
	r->high = f->high + off;
	r->return_barrier = f->return_barrier ? f->return_barrier + off : 0;
	return set_callees(r, &f->hotspot, hotspot_callees, ARRAY_SIZE(hotspot_callees), &code);
}

bool bpfsrc_find_runtime(int fd, struct runtime *r)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	struct found f = {};
	bool found;

	memset(r, 0, sizeof(*r));
	found = elf && find_runtime(&f, elf, r);
	vec_free(&f.v8.range);
	vec_free(&f.hotspot.range);
	elf_end(elf);
	return found;
}
