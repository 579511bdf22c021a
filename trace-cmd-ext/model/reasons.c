// SPDX-License-Identifier: GPL-2.0
/* reasons.c - the text of each reason and its remedy. See reasons.h. */
#include "reasons.h"

static const struct {
	const char *name, *about, *remedy;
} ends[END_NR] = {
	[END_OUTSIDE] = {
		"outside", "a frame pointer led to an address that is not code",
		"compile the code of the last frame with -fno-omit-frame-pointer, or with "
		"-fasynchronous-unwind-tables" },
	[END_NO_TABLE] = {
		"no-table",
		"in a file without a table, where frame pointers led no further",
		"the column \"unwind table\" says why that file has no table" },
	[END_NOT_COVERED] = {
		"not-covered", "in code that its table does not cover, where frame pointers led no "
		"further",
		"compile that code with -fno-omit-frame-pointer, or write CFI directives" },
	[END_HOLE] = {
		"hole", "in code that cannot be walked, as its table says",
		"trace-ustack check FILE names the causes" },
	[END_REGISTER] = {
		"register", "in a frame found by a register that is not known there: hand-written "
		"code",
		"start the program with LD_BIND_NOW=1, if that frame is in ld.so" },
	[END_NO_FILE] = {
		"no-file", "in code that is in no file, which a JIT compiler usually generated",
		"let the program keep frame pointers in that code (java "
		"-XX:+PreserveFramePointer)" },
	[END_COVERED] = {
		"covered", "in code that a table covers: the table came later, or the stack could "
		"not be read",
		"record once more with tables: known tables are there before the first event" },
	[END_NO_FRAME] = {
		"no-frame", "without any frame: the task had no user registers to start from",
		"no remedy: such a task is about to end, or has just started" },
	[END_UNKNOWN] = {
		"unknown", "in a file that is not here with that build ID",
		"copy FILE.tables with the recording, and give the files with --sysroot" },
};

const char *end_reason_get_name(enum end_reason end)
{
	return ends[end].name;
}

const char *end_reason_get_description(enum end_reason end)
{
	return ends[end].about;
}

const char *end_reason_get_remedy(enum end_reason end)
{
	return ends[end].remedy;
}

const char *get_table_remedy(enum tables_cause cause)
{
	static const char *const remedy[TABLES_NR_CAUSES] = {
		[TABLES_NO_SOURCE] =
			"compile it with -fasynchronous-unwind-tables, or with frame pointers",
		[TABLES_NO_ELF] = "if it should be a program or library, install it again",
		[TABLES_OTHER_ARCH] =
			"use its 64-bit or i386 build (other ABIs have no tables), or compile it "
			"with -fno-omit-frame-pointer",
		[TABLES_NO_PERMISSION] = "run it as root",
		[TABLES_VANISHED] = "record once more, while the file is there",
		[TABLES_NO_ROOM] = "free memory",
		[TABLES_CHANGING] = "record when no process writes to it",
		[TABLES_ERROR] = "fix the cause that the error names",
	};

	return cause < TABLES_NR_CAUSES ? remedy[cause] : NULL;
}

#define REPORT		"report it to the author of the code; compile it with frame pointers " \
			"until then"
#define ASSEMBLER	"ignore it if it is only a few bytes: this code is hand-written assembler"

const char *get_hole_remedy(unsigned int cause)
{
	static const char *const remedy[STATS_NR_CAUSES] = {
		[CFI_CAUSE_CIE] = REPORT,
		[CFI_CAUSE_AUGMENTATION] = REPORT,
		[CFI_CAUSE_POINTER] = REPORT,
		[CFI_CAUSE_FDE] = REPORT,
		[CFI_CAUSE_OP] = REPORT,
		[CFI_CAUSE_EXPR] = ASSEMBLER,
		[CFI_CAUSE_RANGE] = ASSEMBLER,
		[CFI_CAUSE_SP] = ASSEMBLER,
		[STATS_CAUSE_CFA] = ASSEMBLER,
		[STATS_CAUSE_RA] = ASSEMBLER,
		[STATS_CAUSE_FP] = ASSEMBLER,
		[STATS_CAUSE_OVERLAP] = REPORT,
		[STATS_CAUSE_OUTSIDE] = REPORT,
		[STATS_CAUSE_PLT] = "link it again, with another linker",
		[STATS_CAUSE_SIGNAL] = ASSEMBLER,
		[STATS_CAUSE_GO] = "no remedy: only Go's runtime knows the caller's stack",
		[STATS_CAUSE_CODE] = REPORT,
		[STATS_CAUSE_FLOW] = "compile it with -fasynchronous-unwind-tables or "
				   "-fno-omit-frame-pointer",
	};

	return cause < STATS_NR_CAUSES ? remedy[cause] : NULL;
}
