# SPDX-License-Identifier: GPL-2.0
#
# tracefs_remember, tracefs_reset: the state from which each test starts.
#
# The guest's init sources this file, and tests may use it. The reset undoes whatever tracefs can
# hold, and then checks that nothing is left. If a test leaves a state that cannot be undone (an
# instance in use, a trigger that stays), the test has failed, because the next test would suffer
# from it.

TRACEFS=/sys/kernel/tracing
TRACEFS_MEMORY=/run/tracefs-defaults

# Keep what the kernel booted with: options, sizes and clock.
tracefs_remember()
{
	mkdir -p $TRACEFS_MEMORY
	cat $TRACEFS/trace_options >$TRACEFS_MEMORY/trace_options
	cat $TRACEFS/saved_cmdlines_size >$TRACEFS_MEMORY/saved_cmdlines_size
	cat $TRACEFS/tracing_cpumask >$TRACEFS_MEMORY/tracing_cpumask
}

# Remove triggers one by one. Some keep others alive (a snapshot, an onmatch): several passes.
tracefs_clear_triggers()
{
	local dir=$1 file line pass
	for pass in 1 2 3; do
		grep -lsv '^#' "$dir"/events/*/*/trigger >/run/triggers || return 0
		while read -r file; do
			grep -v '^#' "$file" | tac | while read -r line; do
				# A listing ends in run-time state, which a removal must not have.
				line=${line% \[*\]}
				echo "!$line" >"$file" 2>/dev/null ||
					echo "!${line%%:*}" >"$file" 2>/dev/null || true
			done
		done </run/triggers
	done
}

tracefs_reset()
{
	local t=$TRACEFS f opt rc=0 dir

	echo 0 >$t/tracing_on
	echo nop >$t/current_tracer
	echo 0 >$t/events/enable 2>/dev/null
	for f in set_ftrace_filter set_ftrace_notrace set_graph_function set_graph_notrace \
		set_ftrace_pid set_ftrace_notrace_pid set_event_pid set_event_notrace_pid; do
		[ ! -w $t/$f ] || echo >$t/$f 2>/dev/null
	done
	# Function commands ("schedule:traceoff:unlimited") survive an empty filter.
	grep -sE '^[^#].*:' $t/set_ftrace_filter | while IFS=: read -r f opt _; do
		echo "!$f:${opt%%:*}" >>$t/set_ftrace_filter 2>/dev/null
	done
	tracefs_clear_triggers $t
	for f in $t/events/*/filter; do
		echo 0 >"$f" 2>/dev/null
	done
	for dir in $t/instances/*/; do
		[ -d "$dir" ] || continue
		echo 0 >"$dir/events/enable" 2>/dev/null
		echo nop >"$dir/current_tracer" 2>/dev/null
		tracefs_clear_triggers "${dir%/}"
		rmdir "$dir" 2>/dev/null
	done
	for f in synthetic_events dynamic_events kprobe_events uprobe_events; do
		[ ! -w $t/$f ] || echo >$t/$f 2>/dev/null
	done
	while read -r opt; do
		f=$t/options/${opt#no}
		case $opt in
		no*) [ ! -e "$f" ] || echo 0 >"$f" 2>/dev/null ;;
		*) [ ! -e "$t/options/$opt" ] || echo 1 >"$t/options/$opt" 2>/dev/null ;;
		esac
	done <$TRACEFS_MEMORY/trace_options
	echo 0 >$t/snapshot 2>/dev/null
	echo 0 >$t/max_graph_depth 2>/dev/null
	echo 0 >$t/tracing_thresh 2>/dev/null
	echo 0 >$t/function_profile_enabled 2>/dev/null
	echo 0 >/proc/sys/kernel/stack_tracer_enabled 2>/dev/null
	cat $TRACEFS_MEMORY/saved_cmdlines_size >$t/saved_cmdlines_size
	cat $TRACEFS_MEMORY/tracing_cpumask >$t/tracing_cpumask
	echo local >$t/trace_clock
	echo 1408 >$t/buffer_size_kb
	echo >$t/error_log 2>/dev/null
	echo >$t/trace
	echo 1 >$t/tracing_on

	if [ "$(cat $t/current_tracer)" != nop ]; then
		echo "current_tracer stays $(cat $t/current_tracer)"
		rc=1
	fi
	if grep -qs 1 $t/events/enable; then
		echo "an event stays enabled: $(head -n 3 $t/set_event | tr '\n' ' ')"
		rc=1
	fi
	if grep -lsv '^#' $t/events/*/*/trigger >/run/triggers; then
		echo "a trigger stays: $(head -n 3 /run/triggers | tr '\n' ' ')"
		rc=1
	fi
	for f in synthetic_events dynamic_events kprobe_events uprobe_events; do
		# The size of a tracefs file says nothing.
		if [ -n "$(cat $t/$f 2>/dev/null)" ]; then
			echo "$f is not empty: $(head -n 1 $t/$f)"
			rc=1
		fi
	done
	for dir in $t/instances/*/; do
		[ ! -d "$dir" ] || { echo "instance $(basename "$dir") stays"; rc=1; }
	done
	return $rc
}
