# SPDX-License-Identifier: GPL-2.0
#
# Shared by the tests of unwind tables. Tests source this file after lib.sh.

export TABLES=$BUILD/trace-ustack-tables
TPROG=$PROG/tables
LIST=$T/user_unwind_tables
export TRACE_USTACK_TABLES=$TEST_TMP/tables

need_tables()
{
	need_kernel
	[ -e $LIST ] || die "user_unwind_tables is missing: this kernel has no tables by file"
	need_program $TABLES
}

# register OPTION-OR-FILE...: register tables in the background, until unregister; returns when they
# are registered
register()
{
	local i
	$TABLES register "$@" >$TEST_TMP/register.log 2>&1 &
	echo $! >$TEST_TMP/register.pid
	for ((i = 0; i < 1200; i++)); do
		! grep -q '^ready$' $TEST_TMP/register.log || return 0
		kill -0 $! 2>/dev/null || break
		sleep 0.1
	done
	cat $TEST_TMP/register.log
	return 1
}

# unregister [SIGNAL]: end register(), and wait for its end
unregister()
{
	local pid=$(cat $TEST_TMP/register.pid)
	kill ${1:--TERM} $pid || return
	wait_for eval "! kill -0 $pid"
}

# count_tables_of PATH: the number of tables of the file, by user_unwind_tables
count_tables_of()
{
	cat $LIST | awk -v p="$1" '$1 == p' | wc -l
}

# is_listed PATH: the file has a table
is_listed()
{
	[ "$(count_tables_of "$1")" != 0 ] || { cat $LIST; return 1; }
}

# is_listed_times N PATH: the file has N tables
is_listed_times()
{
	is "$(count_tables_of "$2")" $1
}

# settle PROGRAM: after a program has run, its new files get tables. Wait until the program has a
# table, and no file gets a table for half a second.
settle()
{
	local last= now
	wait_for is_listed "$(realpath "$(type -P "$1")")" || return
	while now=$(count_tables) && [ "$now" != "$last" ]; do
		last=$now
		sleep 0.5
	done
}

count_tables()
{
	cat $LIST | wc -l
}

TABLES_EVENTS="-e raw_syscalls -e sched:sched_switch"

# record_command COMMAND...: record the command, and print the report
record_command()
{
	record -b 16384 -O $OPT $TABLES_EVENTS -- "$@" && report
}

# complete COMM OPTION...: all stacks of COMM in the last report are complete; prints their number
complete()
{
	local comm=$1
	shift
	"$(dirname "${BASH_SOURCE[0]}")/stacks.py" --comm "$comm" "$@" $TEST_TMP/report \
		>$TEST_TMP/figures
	local ret=$?
	head -n 1 $TEST_TMP/figures >>$TEST_TMP/all-figures
	[ $ret = 0 ] || cat $TEST_TMP/figures
	return $ret
}

# check_case WHAT COMM CHECK-OPTION... -- COMMAND...: run COMMAND, so that its files are known. Then
# record it: its stacks must be complete.
check_case()
{
	local what=$1 comm=$2 opts=()
	shift 2
	while [ "$1" != -- ]; do
		opts+=("$1")
		shift
	done
	shift
	"$@" >$TEST_TMP/out 2>&1 </dev/null
	check "$what: the files have tables" settle "$1"
	check "$what: recorded" record_command "$@"
	check "$what: complete" complete "$comm" "${opts[@]}"
	say "$(tail -n 1 $TEST_TMP/all-figures)"
	! grep -q '^  ' $TEST_TMP/figures || cp $TEST_TMP/report $TEST_OUT/report-$comm
}
