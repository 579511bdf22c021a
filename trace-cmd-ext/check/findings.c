// SPDX-License-Identifier: GPL-2.0
/* findings.c - the list of findings. See check.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "libunwind-user/base/base.h"

void check_add(struct check *c, enum check_level level, const char *group, const char *name,
	       const char *remedy, const char *fmt, ...)
{
	struct check_finding *f = array_add(c->finding, c->nr);
	va_list ap;

	if (!f)
		return;
	*f = (struct check_finding){
		.level = level, .group = group, .name = strdup(name),
		.remedy = remedy ? strdup(remedy) : NULL,
	};
	va_start(ap, fmt);
	if (vasprintf(&f->text, fmt, ap) < 0)
		f->text = NULL;
	va_end(ap);
}
