#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024 timeout=600
#
# A table never makes a stack shorter than it is without the table, and no frame lies outside of
# code: programs with frame pointers whose code is in no table, and frame pointers that lead to
# junk. The test reads the kernel's records, with no tool in between.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "uncovered is in its assembler"
need_tables
need_program $TPROG/uncovered{,32}

# run_traced PROGRAM PID-CALL GROUP-CALL: record the stacks of PROGRAM in getppid() and getpgrp()
run_traced()
{
	echo 1 >$T/options/$OPT
	echo >$T/trace
	echo "comm ~ \"${1##*/}*\" && (id == $2 || id == $3)" \
		>$T/events/raw_syscalls/sys_enter/filter
	echo 1 >$T/events/raw_syscalls/sys_enter/enable
	$1 || return
	echo 0 >$T/events/raw_syscalls/sys_enter/enable
	echo 0 >$T/options/$OPT
	save_text
	cp $TEST_TMP/text $TEST_OUT/text-$(basename $1)${tables:+-tables}
	: >$TEST_TMP/calls
	awk '
	/sys_enter: NR / { sub(/.*NR /, ""); nr = $1; next }
	match($0, /<user unwind cookie [0-9a-f]+/) {
		if (nr) {
			asked[++n] = substr($0, RSTART + 20, RLENGTH - 20)
			of[n] = nr
		}
		nr = 0
		next
	}
	match($0, /<user unwind stack [^>]*/) {
		split(substr($0, RSTART + 19, RLENGTH - 19), part, " ")
		in_stack = part[1]
		frames[in_stack] = 0
		flags[in_stack] = ""
		for (i = 2; i in part; i++)
			flags[in_stack] = flags[in_stack] " " part[i]
		next
	}
	/^ *=> / { frames[in_stack]++ }
	END {
		for (i = 1; i <= n; i++)
			print of[i], frames[asked[i]] + 0 flags[asked[i]]
	}' $TEST_TMP/text >$TEST_TMP/calls
	[ -s $TEST_TMP/calls ]
}

# count_shapes NR: a line "TIMES FRAMES FLAGS" for each kind of stack of a system call
count_shapes()
{
	sed -n "s/^$1 //p" $TEST_TMP/calls | sort | uniq -c | awk '{ $1 = $1; print }'
}

# find_shortest NR: the number of frames of the shortest stack of a system call
find_shortest()
{
	sed -n "s/^$1 //p" $TEST_TMP/calls | sort -n | awk 'NR == 1 { print $1 }'
}

# Five values are not in code, so the stack is the innermost frame alone. One value is in code, so
# the walk follows both frames. The second frame has the frame pointer 0, so the walk ends there.
judge_junk()
{
	is "$(count_shapes $1)" "5 1$2 incomplete
1 3$2 frame-pointer"
}

check "without tables: recorded" run_traced $TPROG/uncovered 110 111
without=$(find_shortest 110)
say "getppid: $(count_shapes 110)"
say "getpgrp:" $(count_shapes 111)
check "without tables: frame pointers are followed" at_least "$without" 12
check "without tables: no junk" judge_junk 111
go=
if [ -x $TPROG/go-calls ]; then
	check "Go without tables: recorded" run_traced $TPROG/go-calls 110 111
	say "getppid: $(count_shapes 110)"
	go=$(find_shortest 110)
	check "Go without tables: frame pointers are followed" at_least "$go" 12
else
	say "skipped: a Go program; go (golang-go) was not there when this was built"
fi
check "32 bits: recorded" run_traced $TPROG/uncovered32 64 65
say "getppid: $(count_shapes 64)"
check "32 bits: frame pointers are followed" at_least "$(find_shortest 64)" 12
check "32 bits: no junk" judge_junk 65 " compat"

check "tables of all that runs are registered" register -a -v
tables=1
# Also while the tool makes a table, which takes a moment
$TPROG/uncovered
check "the program that is not covered gets a table" wait_for is_listed_times 1 $TPROG/uncovered
check "with tables: recorded" run_traced $TPROG/uncovered 110 111
say "getppid: $(count_shapes 110)"
say "getpgrp:" $(count_shapes 111)
check "with tables: no stack is shorter" at_least "$(find_shortest 110)" "$without"
check "with tables: stacks by frame pointers are flagged" \
	is "$(count_shapes 110 | grep -vc frame-pointer)" 0
check "with tables: no junk" judge_junk 111
if [ "$go" ]; then
	# Following its code takes a while
	$TPROG/go-calls
	check "Go with tables: the program has a table" wait_for is_listed_times 1 $TPROG/go-calls
	check "Go with tables: recorded" run_traced $TPROG/go-calls 110 111
	say "getppid: $(count_shapes 110)"
	check "Go with tables: no stack is shorter" at_least "$(find_shortest 110)" "$go"
fi
check "32 bits, with tables: recorded" run_traced $TPROG/uncovered32 64 65
check "32 bits, with tables: frame pointers are followed" at_least "$(find_shortest 64)" 12
check "32 bits, with tables: no junk" judge_junk 65 " compat"
check "the registration ends" unregister
finish
