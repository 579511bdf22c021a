// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a trace event, which happens once, when the module is loaded.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "module_event.h"

static int __init module_event_init(void)
{
	trace_module_event(1);
	return 0;
}

static void __exit module_event_exit(void)
{
}

module_init(module_event_init);
module_exit(module_event_exit);
MODULE_DESCRIPTION("A module with a trace event");
MODULE_LICENSE("GPL");
