# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of the faults of the base kernel (FAULTS.md). Tests source this file.

. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

only_amd64 "fault-paths is in its assembler"
PATHS=$PROG/fault-paths
CLIENT=/proc/fault_client
CHECK="python3 $(dirname "${BASH_SOURCE[0]}")/trace.py"

# client [MODULE]: load it, until the test ends
client()
{
	load_module tests/guest/modules/${1:-fault_client}.ko ||
		die "the module ${1:-fault_client} cannot be loaded"
	trap "rmmod ${1:-fault_client}" EXIT
}

# Run scripts of modules/fault_client.c: in this task, or in another one on a CPU of its own
run()
{
	echo "$1" >$CLIENT
}

# task CPU SCRIPT: in the background; `wait` waits for all of them
task()
{
	taskset -c "$1" bash -c 'echo "$1" >'$CLIENT _ "$2" &
}

# Read and empty the log of the module. logged REGEX: the number of its lines that match
take_log()
{
	cat $CLIENT >$TEST_TMP/log
	sed 's/^/     | /' $TEST_TMP/log
}

logged()
{
	grep -cxE -- "$1" $TEST_TMP/log
}

# in_state PID LETTER: wait until the task is in that state
in_state()
{
	wait_for grep -q "^State:.$2" /proc/$1/status
}

# traced EVENTS COMMAND...: into $TEST_TMP/text, with the option on; its output in $TEST_TMP/paths
traced()
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
	text
}

# paths EVENT OPTION...: the stack of that event, in the last traced(), is the path that was printed
paths()
{
	$CHECK paths -e "$1" "${@:2}" $TEST_TMP/paths $TEST_TMP/text
}
