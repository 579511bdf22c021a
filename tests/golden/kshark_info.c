// SPDX-License-Identifier: GPL-2.0
/*
 * kshark_info - print the text of KernelShark's Info column for each record of a file
 *
 *	kshark_info FILE
 *
 * KernelShark's table asks libkshark for the text of a row; this program does the same.
 */
#include <kernelshark/libkshark.h>
#include <kernelshark/libkshark-tepdata.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	struct kshark_context *ctx = NULL;
	struct kshark_entry **rows = NULL;
	ssize_t nr, i;
	int sd;

	if (argc != 2 || !kshark_instance(&ctx))
		return 2;
	sd = kshark_open(ctx, argv[1]);
	if (sd < 0) {
		fprintf(stderr, "kshark_info: %s: cannot be opened\n", argv[1]);
		return 1;
	}
	kshark_tep_init_all_buffers(ctx, sd);
	nr = kshark_load_all_entries(ctx, &rows);
	for (i = 0; i < nr; i++) {
		char *name = kshark_get_event_name(rows[i]);
		char *info = kshark_get_info(rows[i]);

		printf("%s %s\n", name ? name : "?", info ? info : "");
		free(name);
		free(info);
	}
	free(rows);
	kshark_close(ctx, sd);
	kshark_free(ctx);
	return 0;
}
