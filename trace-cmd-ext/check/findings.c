// SPDX-License-Identifier: GPL-2.0
/* findings.c - the list of findings. See check.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

void check_add(struct check *c, enum check_level level, const char *group, const char *name,
	       const char *remedy, const char *fmt, ...)
{
	struct check_finding *f;
	va_list ap;

	f = realloc(c->finding, (c->nr + 1) * sizeof(*f));
	if (!f)
		return;
	c->finding = f;
	f += c->nr++;
	*f = (struct check_finding){
		.level = level, .group = group, .name = strdup(name),
		.remedy = remedy ? strdup(remedy) : NULL,
	};
	va_start(ap, fmt);
	if (vasprintf(&f->text, fmt, ap) < 0)
		f->text = NULL;
	va_end(ap);
}
