#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: ok
cd /sys/kernel/tracing || exit 1
bad=0
is()
{
	local have
	have=$(cat "$1")
	[ "$have" = "$2" ] || { echo "$1 is '$have', not '$2'"; bad=1; }
}
is current_tracer nop
is events/enable 0
is set_event ''
is kprobe_events ''
is synthetic_events ''
is events/sched/sched_switch/filter none
is options/userstacktrace 0
is tracing_on 1
# Rounded to whole pages of the ring buffer.
[ "$(cat buffer_size_kb)" -ge 1400 ] || { echo "buffer: $(cat buffer_size_kb)"; bad=1; }
grep -q '\[local\]' trace_clock || { echo 'another clock'; bad=1; }
grep -v '^#' events/sched/*/trigger set_ftrace_filter && bad=1
[ -z "$(ls instances)" ] || { ls instances; bad=1; }
! pgrep -x sleep || bad=1
exit $bad
