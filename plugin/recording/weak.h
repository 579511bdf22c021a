/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * weak.h - the libtraceevent functions that the plugin calls, all weak
 *
 * perf loads plugins from the same directory, but has its own copy of libtraceevent inside. It
 * exports few symbols of this copy, and complains about a plugin that needs any other symbol.
 */
#ifndef USTACK_WEAK_H
#define USTACK_WEAK_H

#include <traceevent/event-parse.h>

#pragma weak tep_add_plugin_path
#pragma weak tep_find_common_field
#pragma weak tep_find_event_by_name
#pragma weak tep_find_field
#pragma weak tep_find_function
#pragma weak tep_find_function_address
#pragma weak tep_get_cpus
#pragma weak tep_get_long_size
#pragma weak tep_plugin_add_options
#pragma weak tep_plugin_print_options
#pragma weak tep_plugin_remove_options
#pragma weak tep_read_number
#pragma weak tep_register_event_handler
#pragma weak tep_set_loglevel
#pragma weak tep_unregister_event_handler
#pragma weak trace_seq_destroy
#pragma weak trace_seq_init
#pragma weak trace_seq_printf
#pragma weak trace_seq_putc
#pragma weak trace_seq_puts
#pragma weak trace_seq_terminate

#endif
