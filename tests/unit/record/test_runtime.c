// SPDX-License-Identifier: GPL-2.0
/* test_runtime.c - which files are runtimes, and which of their functions count */
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "trace-cmd-ext/record/bpf/impl.h"

#define TEXT		0x401000ull	/* of so many bytes, at OFF in the file */
#define TEXT_SIZE	(9ull << 20)
#define OFF		0x1000ull
#define SYMS		(OFF + TEXT_SIZE)
#define MAX_SYMS	512
#define NAMES		(SYMS + MAX_SYMS * sizeof(Elf64_Sym))
#define SHDRS		(NAMES + 0x10000)
#define DATA		(TEXT + TEXT_SIZE + 0x1000)

static Elf64_Sym syms[MAX_SYMS];
static size_t nr_syms;
static char names[0x10000];
static size_t names_size;
static uint64_t text_size;
static uint16_t machine;
static struct runtime r;

static int fresh_file(void **state)
{
	(void)state;
	nr_syms = 1;
	names_size = 1;
	text_size = TEXT_SIZE;
	machine = EM_X86_64;
	return 0;
}

static void symbol(const char *name, uint64_t addr, uint64_t size, unsigned int type)
{
	syms[nr_syms++] = (Elf64_Sym) {
		.st_name = names_size, .st_value = addr, .st_size = size, .st_shndx = 1,
		.st_info = ELF64_ST_INFO(STB_LOCAL, type),
	};
	strcpy(names + names_size, name);
	names_size += strlen(name) + 1;
}

static void function(const char *name, uint64_t at, uint64_t size)
{
	symbol(name, TEXT + at, size, STT_FUNC);
}

static bool find(void)
{
	Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(eh),
		.e_phoff = sizeof(eh), .e_phnum = 1, .e_phentsize = sizeof(Elf64_Phdr),
		.e_shoff = SHDRS, .e_shnum = 3, .e_shentsize = sizeof(Elf64_Shdr),
	};
	Elf64_Phdr ph = {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = OFF, .p_vaddr = TEXT,
		.p_filesz = text_size, .p_memsz = text_size,
	};
	Elf64_Shdr sh[3] = {
		[1] = { .sh_type = SHT_SYMTAB, .sh_offset = SYMS, .sh_link = 2,
			.sh_size = nr_syms * sizeof(*syms), .sh_entsize = sizeof(*syms) },
		[2] = { .sh_type = SHT_STRTAB, .sh_offset = NAMES, .sh_size = names_size },
	};
	int fd = memfd_create("runtime", 0);
	bool found;

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &eh, sizeof(eh), 0), sizeof(eh));
	assert_int_equal(pwrite(fd, &ph, sizeof(ph), sizeof(eh)), sizeof(ph));
	assert_int_equal(pwrite(fd, syms, sh[1].sh_size, SYMS), sh[1].sh_size);
	assert_int_equal(pwrite(fd, names, names_size, NAMES), names_size);
	assert_int_equal(pwrite(fd, sh, sizeof(sh), SHDRS), sizeof(sh));
	found = bpfsrc_find_runtime(fd, &r);
	close(fd);
	return found;
}

static int fresh_v8(void **state)
{
	fresh_file(state);
	symbol("v8_Default_embedded_blob_code_", TEXT + 0x1000, 0, STT_NOTYPE);
	function("Builtins_DoubleToI", 0x5000, 0x54);
	function("Builtins_RecordWriteSaveFP", 0x1000, 0x120);
	function("Builtins_RecordWriteIgnoreFP", 0x1140, 0x20);
	function("Builtins_CEntry_Return1_ArgvOnStack_NoBuiltinExit", 0x7000, 0x100);
	function("Builtins_ArrayMap", 0x9000, 0x1000);
	return 0;
}

static int fresh_hotspot(void **state)
{
	fresh_file(state);
	function("_ZN9JavaCalls11call_helperEP9JavaValue", 0x100, 0x300);
	function("_ZN13SharedRuntime22fixup_callers_callsiteEP6MethodPh", 0x1000, 0x10);
	function("_ZN13SharedRuntime36exception_handler_for_return_addressEP10JavaThreadPh",
		 0x2000, 0x10);
	function("_ZN11OptoRuntime18handle_exception_CEP10JavaThread", 0x3000, 0x10);
	function("_ZN14Deoptimization13uncommon_trapEP10JavaThreadii", 0x4000, 0x10);
	symbol("PreserveFramePointer", DATA, 1, STT_OBJECT);
	symbol("_ZN9CodeCache10_low_boundE", DATA + 8, 8, STT_OBJECT);
	symbol("_ZN9CodeCache11_high_boundE", DATA + 16, 8, STT_OBJECT);
	return 0;
}

/* Another name for the symbols with this one */
static void rename_symbol(const char *name)
{
	size_t i;

	for (i = 1; i < nr_syms; i++) {
		if (!strcmp(names + syms[i].st_name, name))
			names[syms[i].st_name] = '-';
	}
}

static bool is_frameless_callee(uint64_t at)
{
	unsigned int i;

	for (i = 0; i < r.nr_frameless_callees; i++) {
		if (OFF + at >= r.frameless_callee[i].start && OFF + at < r.frameless_callee[i].end)
			return true;
	}
	return false;
}

static void erlang_is_known_by_its_frame_layout(void **state)
{
	(void)state;
	text_size = 3 << 20;
	symbol("erts_frame_layout", DATA, 4, STT_OBJECT);
	assert_true(find());
	assert_int_equal(r.own_stacks, DATA - TEXT + OFF);
	assert_int_equal(r.nr_frameless_callees, 0);
	assert_int_equal(r.callers.end, 0);
}

static void v8_is_known_by_its_builtins(void **state)
{
	(void)state;
	assert_true(find());
	assert_true(r.calls_itself);
	assert_int_equal(r.callers.start, OFF + 0x1000);
	assert_int_equal(r.callers.end, OFF + 0xa000);
	assert_int_equal(r.flag, 0);
	assert_int_equal(r.low, 0);
	assert_true(is_frameless_callee(0x1000));
	assert_true(is_frameless_callee(0x115f));
	assert_false(is_frameless_callee(0x1160));
	assert_true(is_frameless_callee(0x5053));
	assert_false(is_frameless_callee(0x9000));
	/* there is no room for a function between the write barriers */
	assert_int_equal(r.nr_frameless_callees, 3);
}

static void v8_without_a_name_that_is_needed(void **state)
{
	(void)state;
	rename_symbol("Builtins_DoubleToI");
	assert_false(find());
}

/* Sizes of a hostile file: the end of each symbol would be before its start. */
static void symbols_that_end_outside_of_memory(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 2 * MAX_FRAMELESS_CALLEES; i++)
		function("Builtins_RecordWriteSaveFP", -TEXT - 0x100 * (i + 1), 0x8000);
	assert_true(find());
	assert_int_equal(r.nr_frameless_callees, 3);
}

static void hotspot_is_known_by_its_functions(void **state)
{
	(void)state;
	function("_ZN13SharedRuntime36exception_handler_for_return_addressEP10JavaThreadPh.cold",
		 0x5000, 0x10);
	assert_true(find());
	assert_false(r.calls_itself);
	assert_int_equal(r.callers.start, OFF + 0x100);
	assert_int_equal(r.callers.end, OFF + 0x400);
	assert_int_equal(r.flag, OFF + DATA - TEXT);
	assert_int_equal(r.low, OFF + DATA - TEXT + 8);
	assert_int_equal(r.high, OFF + DATA - TEXT + 16);
	assert_int_equal(r.return_barrier, 0);
	assert_int_equal(r.nr_frameless_callees, 5);
	assert_true(is_frameless_callee(0x4000));
	assert_true(is_frameless_callee(0x500f));
	assert_false(is_frameless_callee(0x100));
}

static void hotspot_with_virtual_threads(void **state)
{
	(void)state;
	symbol("_ZN12StubRoutines19_cont_returnBarrierE", DATA + 24, 8, STT_OBJECT);
	assert_true(find());
	assert_int_equal(r.return_barrier, OFF + DATA - TEXT + 24);
	function("_ZN12Continuation12prepare_thawEP10JavaThreadb", 0x6000, 0x10);
	assert_true(find());
	rename_symbol("_ZN12StubRoutines19_cont_returnBarrierE");
	assert_false(find());
}

static void hotspot_without_a_symbol_that_is_needed(void **state)
{
	static const char *const needed[] = {
		"_ZN9JavaCalls11call_helperEP9JavaValue",
		"_ZN13SharedRuntime22fixup_callers_callsiteEP6MethodPh",
		"_ZN14Deoptimization13uncommon_trapEP10JavaThreadii",
		"PreserveFramePointer",
		"_ZN9CodeCache10_low_boundE",
		"_ZN9CodeCache11_high_boundE",
	};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		fresh_hotspot(state);
		rename_symbol(needed[i]);
		assert_false(find());
	}
}

static void more_functions_than_there_is_room_for(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < 3 * MAX_FRAMELESS_CALLEES; i++)
		function("_ZN19G1BarrierSetRuntime5entryEv", 0x10000 + i * 0x400, 0x10);
	assert_true(find());
	assert_true(r.nr_frameless_callees <= MAX_FRAMELESS_CALLEES);
	for (i = 0; i < 3 * MAX_FRAMELESS_CALLEES; i++)
		assert_true(is_frameless_callee(0x10000 + i * 0x400));
	assert_true(is_frameless_callee(0x1000));
	assert_false(is_frameless_callee(0x100));
}

static void a_function_that_is_not_in_the_code(void **state)
{
	(void)state;
	function("_ZN19G1BarrierSetRuntime5entryEv", TEXT_SIZE, 0x10);
	assert_false(find());
}

static void other_files(void **state)
{
	(void)state;
	text_size = 1 << 20;
	assert_false(find());
	text_size = TEXT_SIZE;
	machine = EM_AARCH64;
	assert_false(find());
	machine = EM_X86_64;
	nr_syms = 1;
	assert_false(find());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(erlang_is_known_by_its_frame_layout, fresh_file),
		cmocka_unit_test_setup(v8_is_known_by_its_builtins, fresh_v8),
		cmocka_unit_test_setup(v8_without_a_name_that_is_needed, fresh_v8),
		cmocka_unit_test_setup(symbols_that_end_outside_of_memory, fresh_v8),
		cmocka_unit_test_setup(hotspot_is_known_by_its_functions, fresh_hotspot),
		cmocka_unit_test_setup(hotspot_with_virtual_threads, fresh_hotspot),
		cmocka_unit_test_setup(hotspot_without_a_symbol_that_is_needed, fresh_hotspot),
		cmocka_unit_test_setup(more_functions_than_there_is_room_for, fresh_hotspot),
		cmocka_unit_test_setup(a_function_that_is_not_in_the_code, fresh_hotspot),
		cmocka_unit_test_setup(other_files, fresh_hotspot),
	};

	return cmocka_run_group_tests_name("runtime", tests, NULL, NULL);
}
