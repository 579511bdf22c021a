// SPDX-License-Identifier: GPL-2.0
/* callpath-check: is each event of a trace joined with its own stack? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "event.h"

static const char usage[] =
"Usage: callpath-check -r RECORD [-p PROGRAM]... [-l] [-t] [-n MIN] [-e EVENT:MIN] [-v N]\n"
"                      [-a] [-k N] [-R] TRACE\n"
"Compares the user stacks of TRACE with the call paths callpath wrote to RECORD.\n"
"TRACE is a trace.dat file, or with -R the text of trace-cmd report (- is standard\n"
"input). The trace must hold raw_syscalls:sys_enter and sys_exit.\n"
"  -p  a program whose tasks are in the trace (its addresses, its entry point)\n"
"  -a  stacks were walked at the event: up to 5% may be missing or say that they are incomplete\n"
"  -k  up to N events, of those at EVENT, too, may have no cookie: no requests were made\n"
"  -l  events were lost: stacks may be missing, each with a reason; none wrong\n"
"  -t  the kernel unwound by tables, so stacks show interrupted instructions\n"
"  -n  at least MIN stacks must be right (1)\n"
"  -e  at least MIN of them at EVENT, for example sched_process_exit:4\n"
"  -v  show N wrong ones (3)\n"
"A line \"WRONG: ...\" or \"LOST: ...\" is for the runner: such a test is not repeated.\n"
"Exit code: 0 all right, 1 not, 2 it could not be checked.\n";

struct event *trace_add(struct trace *trace)
{
	struct event *ev;

	if (trace->nr == trace->room) {
		trace->room = trace->room ? trace->room * 2 : 4096;
		ev = realloc(trace->event, trace->room * sizeof(*ev));
		if (!ev) {
			fprintf(stderr, "no memory for %u events\n", trace->room);
			exit(2);
		}
		trace->event = ev;
	}
	ev = &trace->event[trace->nr++];
	memset(ev, 0, sizeof(*ev));
	return ev;
}

static struct program programs[8];

struct options {
	const char	*record;
	unsigned long	min, min_named, max_skipped;	/* -n, -e, -k */
	int		text;				/* -R */
};

/* Returns 0, or the exit code after a sentence on stderr. */
static int parse_options(struct options *o, struct judge *judge, int argc, char **argv)
{
	char *colon;
	int opt;

	while ((opt = getopt(argc, argv, "r:p:alRtn:e:k:v:")) > 0) {
		switch (opt) {
		case 'r':
			o->record = optarg;
			break;
		case 'p':
			if (judge->nr_programs == 8 ||
			    program_read(&programs[judge->nr_programs++], optarg))
				return 2;
			break;
		case 'a':
			judge->at_event = 1;
			break;
		case 'l':
			judge->lossy = 1;
			break;
		case 'R':
			o->text = 1;
			break;
		case 't':
			judge->tables = 1;
			break;
		case 'n':
			o->min = strtoul(optarg, NULL, 10);
			break;
		case 'e':
			colon = strchr(optarg, ':');
			if (!colon)
				goto wrong;
			*colon = 0;
			judge->name = optarg;
			o->min_named = strtoul(colon + 1, NULL, 10);
			break;
		case 'k':
			o->max_skipped = strtoul(optarg, NULL, 10);
			break;
		case 'v':
			judge->show = strtoul(optarg, NULL, 10);
			break;
		default:
			goto wrong;
		}
	}
	if (o->record && optind + 1 == argc)
		return 0;
wrong:
	fputs(usage, stderr);
	return 2;
}

static void print_verdict(const struct options *o, const struct judge *judge,
			  const struct trace *trace, const struct verdict *v)
{
	printf("  joined: %lu right (%lu cut at the limit, %lu on another CPU), %lu between system "
	       "calls, %lu wrong\n", v->right, v->truncated, v->elsewhere, v->between, v->wrong);
	printf("  frames of the right ones: %lu\n", v->frames);
	if (judge->at_event)
		printf("  a part of the stack: %lu\n", v->partial);
	if (judge->name)
		printf("  at %s: %lu right, %lu wanted\n", judge->name, v->named, o->min_named);
	if (judge->lossy)
		printf("  in gaps of the trace: %lu right, %lu cannot be judged\n", v->placed,
		       v->unplaced);
	printf("  missing: %lu still in the kernel, %lu lost, %lu not recorded\n",
	       v->pending, v->lost, v->not_recorded);
	printf("  no cookie: %lu exiting, %lu without reason, %lu unexplained; "
	       "no entry: %lu; not judged: %lu\n",
	       v->exiting, v->no_cookie, v->unexplained, v->unknown, v->unplaced);
	if (!o->text)
		printf("  stacks: %u, %u of them unasked for, %u broken\n", trace->stacks,
		       trace->stacks_unused, trace->broken);
}

static int is_bad(const struct options *o, const struct judge *judge, const struct trace *trace,
		  const struct verdict *v)
{
	unsigned long missing = v->pending + v->lost + v->not_recorded;

	if (v->wrong || v->right < o->min || v->named + o->max_skipped < o->min_named ||
	    (o->min_named && !v->named) || v->unexplained)
		return 1;
	if (judge->at_event)
		return (v->partial + v->no_cookie) * 100 > v->right * 5 || missing || v->unknown;
	if (judge->lossy)
		return (v->not_recorded && trace->dropped) || v->unplaced > v->right / 100;
	return missing || v->no_cookie || v->unknown || v->unplaced || trace->broken ||
	       trace->dropped;
}

/* Prints the lines for the runner. */
static void print_final(const struct judge *judge, const struct trace *trace,
			const struct verdict *v)
{
	unsigned long lost = v->unexplained;

	if (v->wrong)
		printf("WRONG: %lu stacks are not those of their events\n", v->wrong);
	if (!judge->lossy)
		lost += v->lost + v->not_recorded + v->no_cookie + trace->broken + trace->dropped;
	else if (trace->dropped)
		lost += v->not_recorded;
	if (lost)
		printf("LOST: %lu stacks, requests or gaps of the trace\n", lost);
}

int main(int argc, char **argv)
{
	struct truth truth = { 0 };
	struct trace trace = { 0 };
	struct judge judge = { .show = 3, .programs = programs, .truth = &truth };
	struct options o = { .min = 1 };
	struct verdict v;
	int bad;

	if (parse_options(&o, &judge, argc, argv) || truth_load(&truth, o.record))
		return 2;
	if (truth.head->refused) {
		fprintf(stderr, "%s: %u entries found no space; run callpath with a larger -z\n",
			o.record, truth.head->refused);
		return 2;
	}
	if (o.text ? read_report(&trace, argv[optind], programs, judge.nr_programs) :
		     read_dat(&trace, argv[optind]))
		return 2;
	judge_all(&judge, &trace, &v);
	printf("%s: %u events, %u entries%s\n", argv[optind], trace.nr, truth.entries,
	       trace.dropped ? ", events were dropped" : "");
	print_verdict(&o, &judge, &trace, &v);
	/* -k: so many requests were never made */
	if (v.no_cookie <= o.max_skipped)
		v.no_cookie = 0;
	bad = is_bad(&o, &judge, &trace, &v);
	print_final(&judge, &trace, &v);
	printf("  %s\n", bad ? "NOT RIGHT" : "all right");
	truth_free(&truth);
	return bad;
}
