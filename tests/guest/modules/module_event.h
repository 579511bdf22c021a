/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM module_event

#if !defined(_MODULE_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define _MODULE_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(module_event,
	TP_PROTO(int n),
	TP_ARGS(n),
	TP_STRUCT__entry(__field(int, n)),
	TP_fast_assign(__entry->n = n;),
	TP_printk("n=%d", __entry->n)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE module_event
#include <trace/define_trace.h>
