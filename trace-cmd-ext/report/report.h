/* SPDX-License-Identifier: GPL-2.0 */
/* report.h - what the files of trace-ustack report share */
#ifndef TRACE_USTACK_REPORT_H
#define TRACE_USTACK_REPORT_H

#include "trace-cmd-ext/model/model.h"
#include "libunwind-user/base/base.h"

/*
 * Something that is printed in pieces, one after the other, by several processes: each goes through
 * all the pieces and makes the text of some.
 */
struct report {
	struct model *m;
	const struct decode *decode;
	bool json, lines, filtered;
	bool reads_on;			/* printer_reads_on() */
	void (*none)(const char *path);	/* tells that no event of the file matches */
	struct printer *printer;
	struct text out;		/* of the pieces of one turn */
	VEC(char *) frame_texts;	/* of @m's frames, NULL until one is wanted; json_free() */
};

/*
 * text.c: as trace-cmd report does it. With some files libtracecmd prints two records at
 * once, and passes over the second: then it has to iterate, for one process.
 */
bool printer_reads_on(struct model *m);
/* NULL without memory. */
struct printer *printer_new(struct report *r);
void printer_free(struct printer *p);
/* What comes before all records. */
void printer_head(struct printer *p, struct text *out);
void printer_record(struct printer *p, struct text *out, uint32_t buffer, struct tep_record *rec);

/* json.c */
void json_event(struct report *r, const struct model_event *ev);
void json_free(struct report *r);

/*
 * out.c: print everything with this many processes; 0, or a negative errno. A signal that
 * ended one of them is raised. Output that cannot be written is told.
 */
#define REPORT_NO_OUTPUT	(-ECANCELED)
int report_print(struct report *r, uint32_t processes);

/* A number of processes that is good here. */
uint32_t report_processes(void);

#endif
