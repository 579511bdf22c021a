// SPDX-License-Identifier: GPL-2.0
/*
 * Register an unwind table for this program, as a tracer does
 *
 * The running file is on a shared directory of the host; any file system will do.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cost.h"
#include "libunwind-user/tables/tables.h"

static struct tables_session *session;

void tables_on(void)
{
	struct tables_opts opts = { .size = sizeof(opts), .no_cache = true };
	int ret;

	if (session)
		return;
	ret = tables_open(&opts, &session);
	if (ret == -ENOENT) {
		printf("tables.absent 1\n");
		return;
	}
	if (!ret)
		ret = tables_add_path(session, "/proc/self/exe");
	if (ret) {
		fprintf(stderr, "cost: /proc/self/exe: its table cannot be registered: %s; is this "
			"root, on the patched kernel?\n", strerror(-ret));
		exit(1);
	}
}

void tables_off(void)
{
	if (session)
		tables_close(session);
	session = NULL;
}
