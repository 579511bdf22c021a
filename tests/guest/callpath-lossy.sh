#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=240
#
# Buffers far too small: stacks are lost, none is joined wrongly, and each missing one has a reason.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $CALLPATH $PROG/callpath-check

# Loses events by overwriting: what trace-cmd reads in time and what not is a matter of luck
lossy()
{
	local what=$1
	shift
	CALLPATH_OPTIONS="$1" check "$what: recorded" callpath_record $CALLPATH -t 6 -n 250 -c 4 \
		-x plain,yield,pipe,signal -z 256
	$PROG/callpath-check -l -r $TEST_TMP/path $programs $TEST_TMP/trace.dat | sed 's/^/     /'
	check "$what: none wrong" $PROG/callpath-check -l -n 20 -r $TEST_TMP/path $programs \
		$TEST_TMP/trace.dat
	check "$what: events were dropped" grep -q 'events were dropped' <($PROG/callpath-check \
		-l -r $TEST_TMP/path $programs $TEST_TMP/trace.dat)
	plugin_case "$what" -l -n 20
}

lossy "overwriting" "-b 8"
lossy "with kernel stacks" "-b 8 -T"
finish
