// SPDX-License-Identifier: GPL-2.0
/* output.c - open and close output files. See output.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"
#include "output.h"

static int output_failed(struct output *o, const char *what)
{
	tool_error("%s: %s: %s; choose another file with -o", o->path, what, strerror(errno));
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	o->temporary = NULL;
	return TOOL_OUTPUT;
}

/* Is the path that of a device or a pipe? Such a file gets the output directly. */
static int is_special(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISREG(st.st_mode);
}

bool output_is_input(const char *path, const char *input)
{
	struct stat a, b;

	return path && input && !stat(path, &a) && !stat(input, &b) && S_ISREG(a.st_mode) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int output_open(struct output *o, const char *path)
{
	mode_t mask;
	int fd;

	memset(o, 0, sizeof(*o));
	o->path = path;
	o->f = stdout;
	if (!path)
		return 0;
	if (is_special(path)) {
		o->f = fopen(path, "we");
		return o->f ? 0 : output_failed(o, "cannot be written");
	}
	if (asprintf(&o->temporary, "%s.XXXXXX", path) < 0)
		o->temporary = NULL;
	fd = o->temporary ? mkostemp(o->temporary, O_CLOEXEC) : -1;
	if (fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
		return output_failed(o, "cannot be written");
	}
	mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask);
	o->f = fdopen(fd, "w");
	if (!o->f) {
		close(fd);
		return output_failed(o, "cannot be written");
	}
	return 0;
}

int output_close(struct output *o, int code)
{
	if (!o->path)
		return code;
	if (fflush(o->f) || ferror(o->f)) {
		fclose(o->f);
		return output_failed(o, "cannot be written");
	}
	if (fclose(o->f))
		return output_failed(o, "cannot be written");
	if (!o->temporary)
		return code;
	if (code != TOOL_OK)
		unlink(o->temporary);
	else if (rename(o->temporary, o->path))
		return output_failed(o, "cannot be replaced");
	free(o->temporary);
	o->temporary = NULL;
	return code;
}
