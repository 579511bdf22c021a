/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM unwind_client

#if !defined(_UNWIND_CLIENT_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _UNWIND_CLIENT_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(unwind_client_request,

	TP_PROTO(u64 cookie, int ret, unsigned long ip),

	TP_ARGS(cookie, ret, ip),

	TP_STRUCT__entry(
		__field(u64,		cookie)
		__field(unsigned long,	ip)
		__field(int,		ret)
	),

	TP_fast_assign(
		__entry->cookie	= cookie;
		__entry->ip	= ip;
		__entry->ret	= ret;
	),

	TP_printk("cookie=%llx ret=%d at=%pS", __entry->cookie, __entry->ret,
		  (void *)__entry->ip)
);

/* One stack is one or more of these: first is the number of the first frame shown */
TRACE_EVENT(unwind_client_stack,

	TP_PROTO(u64 cookie, unsigned int flags, unsigned int total, unsigned int first,
		 unsigned int nr, const unsigned long *entries),

	TP_ARGS(cookie, flags, total, first, nr, entries),

	TP_STRUCT__entry(
		__field(u64,		cookie)
		__field(unsigned int,	flags)
		__field(unsigned int,	total)
		__field(unsigned int,	first)
		__dynamic_array(unsigned long, stack, nr)
	),

	TP_fast_assign(
		__entry->cookie	= cookie;
		__entry->flags	= flags;
		__entry->total	= total;
		__entry->first	= first;
		memcpy(__get_dynamic_array(stack), entries, nr * sizeof(*entries));
	),

	TP_printk("cookie=%llx flags=%x total=%u first=%u stack=%s", __entry->cookie,
		  __entry->flags, __entry->total, __entry->first,
		  __print_array(__get_dynamic_array(stack),
				__get_dynamic_array_len(stack) / sizeof(long), sizeof(long)))
);

#endif /* _UNWIND_CLIENT_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE unwind-client-trace
#include <trace/define_trace.h>
