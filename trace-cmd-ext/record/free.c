// SPDX-License-Identifier: GPL-2.0
/*
 * free.c - free the memory of a recording, wherever it ended
 *
 * Members that were not made yet are NULL. Others have closed descriptors, removed instances and
 * ended processes by then.
 */
#include <stdlib.h>

#include "impl.h"

static void free_buffer(struct rec_buffer *b, int nr_cpus)
{
	int cpu;

	for (cpu = 0; b->stats && cpu < nr_cpus; cpu++)
		free(b->stats[cpu]);
	free(b->stats);
	free(b->stream);
	free(b->size);
	tracefs_instance_free(b->instance);
}

void rec_free(struct rec *r)
{
	size_t i;

	for (i = 0; i < NR_BUFS; i++)
		free_buffer(&r->buf[i], r->nr_cpus);
	for (i = 0; i < r->nr_events; i++) {
		free(r->event[i].system);
		free(r->event[i].name);
	}
	free(r->event);
	rec_bpf_free(r);
	free(r->function);
	rec_gate_free(r);
	rec_jit_stop(r);
	free(r->comms);
	free(r->own);
}
