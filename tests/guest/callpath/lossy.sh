#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=400
#
# Buffers are far too small, so stacks are lost: no stack is joined wrongly, and each missing stack
# has a reason.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check

# Events are lost by overwriting. How many trace-cmd reads in time is a matter of luck.
check_lossy()
{
	local what=$1
	shift
	# A slow kernel may make fewer events than are read
	for try in 1 2 3; do
		CALLPATH_OPTIONS="$1" check "$what: recorded" record_callpath $CALLPATH -t 5 \
			-n 120 -c 4 -x plain,yield,pipe,signal -z 256
		$PROG/callpath-check -l -v 0 -r $TEST_TMP/path $programs $TEST_TMP/trace.dat \
			>$TEST_TMP/verdict
		! grep -q 'events were dropped' $TEST_TMP/verdict || break
	done
	sed 's/^/     /' $TEST_TMP/verdict
	check "$what: no stack is wrong" $PROG/callpath-check -l -n 20 -r $TEST_TMP/path $programs \
		$TEST_TMP/trace.dat
	check "$what: events were dropped" grep -q 'events were dropped' $TEST_TMP/verdict
	check_plugin "$what" -l -n 20
	# The next run overwrites them
	mkdir -p "$TEST_TMP/${what// /-}"
	mv $TEST_TMP/trace.dat $TEST_TMP/path $TEST_TMP/report "$TEST_TMP/${what// /-}"
	keep -r "$TEST_TMP/${what// /-}"
}

# The recorders of trace-cmd read ten times a second; the buffer overflows many times meanwhile
check_lossy "overwriting" "-b 8 -s 100000"
check_lossy "with kernel stacks" "-b 8 -s 100000 -T"

# A flight recorder: only what is in the buffers at the end
record_flight()
{
	local e opts=()
	for e in $CALLPATH_EVENTS; do
		opts+=("$e")
	done
	trace-cmd start -C mono -b 64 -O $OPT "${opts[@]}" >/dev/null || return 1
	$CALLPATH -o $TEST_TMP/path -t 5 -n 120 -c 4 -x plain,yield,pipe,signal -z 256 || return 1
	trace-cmd stop
	trace-cmd extract $PLAIN -o $TEST_TMP/trace.dat >$TEST_TMP/record.log 2>&1
	rc=$?
	trace-cmd reset >/dev/null 2>&1
	return $rc
}
rm -f $TEST_TMP/trace.dat $TEST_TMP/path
check "flight recorder: recorded" record_flight
$PROG/callpath-check -l -r $TEST_TMP/path $programs $TEST_TMP/trace.dat | sed 's/^/     /'
check "flight recorder: no stack is wrong" \
	$PROG/callpath-check -l -n 20 -r $TEST_TMP/path $programs $TEST_TMP/trace.dat
check_plugin "flight recorder" -l -n 20
keep $TEST_TMP/trace.dat $TEST_TMP/path
finish
