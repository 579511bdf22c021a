# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of trace-ustack record. Tests source this file after lib.sh and tables/lib.sh.

USTACK=$BUILD/trace-ustack

# ustack_record ARGUMENT...: record into t.dat, with the tool's output in the file output
ustack_record()
{
	$USTACK record -o t.dat "$@" >output 2>&1 </dev/null
	local ret=$?
	sed 's/^/     /' output >>all-output
	return $ret
}

# start_recorder WHAT ARGUMENT...: start a recorder, and wait until it records; $recorder is its
# PID. Do not run this function by check: the subshell of check would be the parent of the recorder.
start_recorder()
{
	local what=$1
	shift
	rm -f t.dat
	$USTACK record -o t.dat "$@" >output 2>&1 </dev/null &
	recorder=$!
	check "$what: recording" is_recording
}

is_recording()
{
	local i
	for ((i = 0; i < 1200; i++)); do
		# tracing is on in a new instance, too: the files of CPUs come just before it starts
		! ls t.dat.part*.cpu0 >/dev/null 2>&1 ||
			! grep -qs 1 $T/instances/trace-ustack-$recorder/tracing_on || return 0
		kill -0 $recorder 2>/dev/null || break
		sleep 0.1
	done
	cat output
	return 1
}

# has_events MIN: the instance of $recorder has MIN events, or they were read from it
has_events()
{
	at_least "$(cat $T/instances/trace-ustack-$recorder/per_cpu/cpu*/stats |
		awk '/^(entries|read events): / { n += $NF } END { print n + 0 }')" $1
}

# wait_recorder CODE: wait for the end of $recorder; its exit code must be CODE
wait_recorder()
{
	local ret
	wait $recorder
	ret=$?
	check "the recorder ends with exit code $1" is $ret $1
}

# nothing_left: there are no instances, tables, options or temporary files left
nothing_left()
{
	local i
	for ((i = 0; i < 600; i++)); do
		[ -n "$(ls $T/instances)" ] || [ -s $LIST ] || [ -n "$(cat $LIST)" ] || break
		sleep 0.1
	done
	[ -z "$(ls $T/instances)" ] || { echo "instances: $(ls $T/instances)"; return 1; }
	[ -z "$(cat $LIST)" ] || { echo "tables:"; cat $LIST; return 1; }
	! ls -A | grep '\.part' || return 1
	is "$(cat $T/tracing_on $T/options/$OPT $T/options/stacktrace $T/events/enable)" "$before"
}
before=$(cat $T/tracing_on $T/options/$OPT $T/options/stacktrace $T/events/enable)

# summary_count NAME: print the number that the summary has before NAME
summary_count()
{
	grep -oE "[0-9]+ ($1)\b" output | head -n 1 | cut -d ' ' -f 1
}

# are_all_joined: each request has its stack, or its task was in the kernel at the end
are_all_joined()
{
	local asked=$(sed -nE 's/.*asked for ([0-9]+) times.*/\1/p' output)
	at_least "${asked:-0}" ${1:-1} &&
		is $(($(summary_count joined) + $(summary_count pending))) $asked &&
		none_lost "$(summary_count lost)" && none_lost "$(summary_count 'not recorded')" ||
		{ cat output; return 1; }
}

# run_report [N]: trace-cmd report reads the file, without a complaint, and shows N frames or more
run_report()
{
	trace-cmd report -t -i t.dat >$TEST_TMP/report 2>report.err || { cat report.err; return 1; }
	! grep -v '^ *version' report.err || return 1
	at_least "$(grep -c '^=> ' $TEST_TMP/report)" ${1:-1}
}

# know_files N: make tables of N files of the system, as if these had run in earlier recordings
know_files()
{
	local file magic
	find /usr/bin /usr/sbin /usr/lib -type f -size +3k \( -perm -100 -o -name '*.so*' \) |
		sort | while read -r file; do
			read -rN 4 magic <"$file" && [ "$magic" = $'\x7fELF' ] && echo "$file"
		done 2>/dev/null | head -n "$1" >known
	xargs $TABLES make -q <known >made 2>&1
	[ "$(wc -l <known)" = "$1" ]
}

# keep_tool_here: run a copy of the tool in the guest. Pages of the host's files come when the host
# has time, and meanwhile the clock of the idle guest goes on.
keep_tool_here()
{
	cp $USTACK trace-ustack && USTACK=$PWD/trace-ustack
}

# measure_overhead COMMAND...: the ms that COMMAND takes in addition to its recording of 2 s
measure_overhead()
{
	local from=$(date +%s%N)
	"$@" >output 2>&1 </dev/null || { cat output; return 1; }
	echo $((($(date +%s%N) - from) / 1000000 - 2000))
}

# measure_least COMMAND...: the least overhead of three runs, each with the files of know_files
measure_least()
{
	local i
	for i in 1 2 3; do
		install -m 600 known $TRACE_USTACK_TABLES/.paths
		measure_overhead "$@"
	done | sort -n | head -n 1
}
