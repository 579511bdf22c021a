# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of the faults of the base kernel (FAULTS.md). Tests source this file.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

only_amd64 "fault-paths is in its assembler"
PATHS=$PROG/fault-paths
CLIENT=/proc/fault_client
CHECK="python3 $(dirname "${BASH_SOURCE[0]}")/trace.py"

# load_client [MODULE]: load the module; the end of the test removes it
load_client()
{
	load_module tests/guest/modules/${1:-fault_client}.ko ||
		die "the module ${1:-fault_client} cannot be loaded"
	trap "rmmod ${1:-fault_client}" EXIT
}

# run_script SCRIPT: run commands of modules/fault_client.c in this task
run_script()
{
	echo "$1" >$CLIENT
}

# start_script CPU SCRIPT: run commands in a background task on that CPU; `wait` waits for all tasks
start_script()
{
	taskset -c "$1" bash -c 'echo "$1" >'$CLIENT _ "$2" &
}

# take_log: read and empty the log of the module. count_logged REGEX: the number of matching lines
take_log()
{
	cat $CLIENT >$TEST_TMP/log
	sed 's/^/     | /' $TEST_TMP/log
}

count_logged()
{
	grep -cxE -- "$1" $TEST_TMP/log
}

# in_state PID LETTER: wait until the task is in the state
in_state()
{
	wait_for grep -q "^State:.$2" /proc/$1/status
}

# record_events EVENTS COMMAND...: run COMMAND with the option on. $TEST_TMP/text has the events,
# $TEST_TMP/paths the output of COMMAND.
record_events()
{
	local events=$1 e
	shift
	echo mono >$T/trace_clock
	echo 8192 >$T/buffer_size_kb
	echo 1 >$T/options/$OPT
	echo >$T/trace
	for e in $events; do
		echo 1 >$T/events/$e/enable
	done
	"$@" >$TEST_TMP/paths 2>$TEST_TMP/err </dev/null
	for e in $events; do
		echo 0 >$T/events/$e/enable
	done
	echo 0 >$T/options/$OPT
	save_text
}

# have_path EVENT OPTION...: each EVENT of the last record_events() has the path that was printed as
# its stack
have_path()
{
	$CHECK paths -e "$1" "${@:2}" $TEST_TMP/paths $TEST_TMP/text
}
