// SPDX-License-Identifier: GPL-2.0
/* reasons.c - the texts of the reasons. See reasons.h. */
#include "reasons.h"

static const struct {
	const char *name, *about, *remedy;
} ends[END_NR] = {
	[END_OUTSIDE] = {
		"outside", "a frame pointer led to what is no code",
		"compile the code of the last frame with -fno-omit-frame-pointer, or with "
		"-fasynchronous-unwind-tables" },
	[END_NO_TABLE] = {
		"no-table",
		"in a file without a table, where frame pointers led no further",
		"the column \"unwind table\" says why that file has none" },
	[END_NOT_COVERED] = {
		"not-covered", "in code that its table does not know, where frame pointers led no "
		"further",
		"compile that code with -fno-omit-frame-pointer, or write CFI directives" },
	[END_HOLE] = {
		"hole", "in code of which its table says that it cannot be walked",
		"trace-ustack check FILE names the causes" },
	[END_REGISTER] = {
		"register", "in a frame found by a register that only the innermost frame still "
		"has: lazy binding in ld.so",
		"start the program with LD_BIND_NOW=1" },
	[END_NO_FILE] = {
		"no-file", "in code that is in no file: mostly made by a JIT compiler",
		"let the program keep frame pointers in that code (java "
		"-XX:+PreserveFramePointer)" },
	[END_COVERED] = {
		"covered", "in code that a table knows: there was none yet, or the stack could not "
		"be read",
		"record once more with tables: those that are known come first" },
	[END_NO_FRAME] = {
		"no-frame", "without any frame: the task had no user registers to start from",
		"nothing: such a task is about to end, or has just started" },
	[END_UNKNOWN] = {
		"unknown", "in a file that is not here with that build ID",
		"copy FILE.tables with the recording, and give the files with --sysroot" },
};

const char *end_reason_name(enum end_reason end)
{
	return ends[end].name;
}

const char *end_reason_about(enum end_reason end)
{
	return ends[end].about;
}

const char *end_reason_remedy(enum end_reason end)
{
	return ends[end].remedy;
}

const char *table_remedy(enum tables_cause cause)
{
	static const char *const remedy[TABLES_NR_CAUSES] = {
		[TABLES_NO_EH_FRAME] =
			"compile it with -fasynchronous-unwind-tables, or with frame pointers",
		[TABLES_NO_ELF] = "install the file anew, if it is to be a program or library",
		[TABLES_OTHER_ARCH] =
			"use its 64-bit build, or compile it with -fno-omit-frame-pointer",
		[TABLES_NO_PERMISSION] = "run it as root",
		[TABLES_VANISHED] = "record once more, while the file is there",
		[TABLES_NO_ROOM] = "free memory",
		[TABLES_CHANGING] = "record when nobody writes to it",
		[TABLES_ERROR] = "mend what the error says",
	};

	return cause < TABLES_NR_CAUSES ? remedy[cause] : NULL;
}

/* Both are the compiler's and the assembler's doing. */
#define ANEW		"report it to who made the file; compile it with frame pointers until then"
#define ASSEMBLER	"nothing, if few bytes: frames of this code are hand-written assembler"

const char *hole_remedy(unsigned int cause)
{
	static const char *const remedy[STATS_NR_CAUSES] = {
		[CFI_CAUSE_CIE] = ANEW,
		[CFI_CAUSE_AUGMENTATION] = ANEW,
		[CFI_CAUSE_POINTER] = ANEW,
		[CFI_CAUSE_FDE] = ANEW,
		[CFI_CAUSE_OP] = ANEW,
		[CFI_CAUSE_EXPR] = ASSEMBLER,
		[CFI_CAUSE_RANGE] = ASSEMBLER,
		[CFI_CAUSE_SP] = ASSEMBLER,
		[STATS_CAUSE_CFA] = ASSEMBLER,
		[STATS_CAUSE_RA] = ASSEMBLER,
		[STATS_CAUSE_FP] = ASSEMBLER,
		[STATS_CAUSE_OVERLAP] = ANEW,
		[STATS_CAUSE_OUTSIDE] = ANEW,
		[STATS_CAUSE_PLT] = "link it anew, with another linker",
		[STATS_CAUSE_SIGNAL] = ASSEMBLER,
		[STATS_CAUSE_GO] = "nothing: the caller's stack is known only to Go's runtime",
		[STATS_CAUSE_CODE] = ANEW,
		[STATS_CAUSE_FLOW] = "compile it with -fasynchronous-unwind-tables or "
				   "-fno-omit-frame-pointer",
	};

	return cause < STATS_NR_CAUSES ? remedy[cause] : NULL;
}
