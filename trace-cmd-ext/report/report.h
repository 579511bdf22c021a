/* SPDX-License-Identifier: GPL-2.0 */
/* report.h - the data of trace-ustack report, its text and JSON output, its processes */
#ifndef TRACE_USTACK_REPORT_H
#define TRACE_USTACK_REPORT_H

#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/base/base.h"

/* A report, which several processes print in pieces: each reads all, and makes the text of some. */
struct report {
	struct model *m;
	const struct decode *decode;
	bool json, lines, filtered;
	bool library_reads_ahead;			/* printer_reads_ahead() */
	void (*print_no_match)(const char *path);	/* of the whole file */
	struct printer *printer;
	struct text out;		/* of the pieces of one turn */
	VEC(char *) frame_texts;	/* of @m's frames, NULL until first used; json_free() */
};

/*
 * text.c: the text of trace-cmd report. For some files libtracecmd prints two records at once and
 * skips the second. Then libtracecmd has to iterate, and a single process prints.
 */
bool printer_reads_ahead(struct model *m);
/* NULL if there is not enough memory. */
struct printer *printer_new(struct report *r);
void printer_free(struct printer *p);
/* Add the lines before all records. */
void printer_add_head(struct printer *p, struct text *out);
void printer_add_record(struct printer *p, struct text *out, uint32_t buffer,
			struct tep_record *rec);

/* json.c */
void json_add_event(struct report *r, const struct model_event *ev);
void json_free(struct report *r);

/*
 * out.c: print everything with this many processes; 0, or a negative errno. If a signal ended a
 * process, report_print() raises that signal. If it cannot write the output, it prints an error and
 * returns REPORT_NO_OUTPUT.
 */
#define REPORT_NO_OUTPUT	(-ECANCELED)
int report_print(struct report *r, uint32_t processes);

/* A good number of processes for this machine. */
uint32_t report_choose_processes(void);

#endif
