#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# 32-bit programs as distributions compile them, without frame pointers, are unwound by tables. The
# stacks of one program are compared with the call paths that it has written, and those of a program
# with a C library with the functions that it has written. In a process with code of 64 and of 32
# bits, no code is unwound by tables of the other kind.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../record/lib.sh"
only_amd64 "there are 32-bit programs"
need_tables
bare=$CALLPATH32-bare
need_program $bare $CALLPATH $PROG/callpath-check $USTACK

programs="-t -p $bare -p $CALLPATH"
check "a table is registered" register $bare
check "each of the two vDSOs has a table" is "$(count_tables_of '[vdso]')" 2

# count_flags PATTERN: the matching flags of stacks in the file report, each with the number of
# stacks
count_flags()
{
	python3 - "$1" <<-'END'
	import collections, json, re, sys
	found = collections.Counter()
	for line in open("report"):
	    found[" ".join(json.loads(line).get("user_flags", []))] += 1
	print(", ".join("%d %s" % (n, f) for f, n in sorted(found.items())
	                if re.search(sys.argv[1], f)))
	END
}

# check_unwound WHAT PROGRAM ARGUMENT...: all stacks are right. Those of 32-bit code are complete,
# and by tables.
check_unwound()
{
	check_callpath "$@"
	$USTACK report --json $TEST_TMP/trace.dat >report 2>/dev/null
	check "$1: all walks are by tables" is "$(count_flags '^32-bit (incomplete|frame)')" ""
	say "$(count_flags 32-bit)"
}
check_unwound "threads and signals" $bare -t 3 -n 50 -c 2 -d 10,100 \
	-x plain,sleep,yield,futex,pipe,signal,suspend,fork
check_unwound "processes" $bare -t 1 -n 20 -c 2 -s 2 -x all -e $bare
check_unwound "deep" $bare -n 1 -d 254,400,508,600
check_unwound "64 bits, then 32" $CALLPATH -n 12 -c 2 -x plain,exec,vfork -e $bare
check "the registration ends" unregister

# record_json WHAT ARGUMENT...: record by tables, and write the report in JSON
record_json()
{
	check "$1: recorded" ustack_record --source ftrace "${@:2}"
	$USTACK report --json t.dat >report 2>/dev/null
}

m32=$BUILD/tests/native/m32
if $m32 >paths 2>stderr; then
	record_json "a program with a C library" -e raw_syscalls:sys_enter $m32
	check "a program with a C library: the frames are the functions that it wrote" \
		python3 "$(dirname "$0")/../../lib/m32.py" paths report
	keep paths report
else
	say "skipped: a program with a C library; $(cat $m32.log stderr 2>&1 | head -n 1)"
fi

modes=$BUILD/tests/native/modes
if $modes 1 2>stderr; then
	record_json "code of 64 and of 32 bits" -e raw_syscalls:sys_enter --filter id==64 $modes 100
	say "$(count_flags .)"
	check "code of 64 and of 32 bits: no walk by tables of the other ABI" \
		is "$(count_flags '^32-bit$')" ""
	check "code of 64 and of 32 bits: stacks of both ABIs are recorded" at_least \
		"$(count_flags 32-bit | awk '{ n += $1 } END { print n + 0 }')" 50
else
	say "skipped: code of 64 and of 32 bits; $(cat $modes.log stderr 2>&1 | head -n 1)"
fi
finish
