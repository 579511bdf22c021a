#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Leaves all kinds of tracing active; the next test must not see any of it.
# expect: ok
cd /sys/kernel/tracing || exit 1
echo 'WARNING: this is no kernel message'
echo 1 >events/sched/enable
mkdir instances/left
echo 'common_pid > 0' >events/sched/sched_switch/filter
echo stacktrace >events/sched/sched_switch/trigger
echo hist:keys=common_pid >>events/sched/sched_wakeup/trigger
echo 'traceoff:5' >>events/sched/sched_waking/trigger
echo 'left int a' >synthetic_events
echo 'p:left schedule' >kprobe_events
echo 'schedule:traceoff' >set_ftrace_filter
echo 1 >options/userstacktrace
echo 64 >buffer_size_kb
echo mono >trace_clock
echo function >current_tracer
sleep 1000 &
