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
check "each of the two vDSOs has a table" is "$(tables_of '[vdso]')" 2

# flags PATTERN: the flags of stacks in the file report that match, each with the number of stacks
flags()
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

# unwound WHAT PROGRAM ARGUMENT...: all stacks are right; those of 32 bits are complete, by tables
unwound()
{
	callpath_case "$@"
	$USTACK report --json $TEST_TMP/trace.dat >report 2>/dev/null
	check "$1: by tables" is "$(flags '^32-bit (incomplete|frame)')" ""
	say "$(flags 32-bit)"
}
unwound "threads and signals" $bare -t 3 -n 50 -c 2 -d 10,100 \
	-x plain,sleep,yield,futex,pipe,signal,suspend,fork
unwound "processes" $bare -t 1 -n 20 -c 2 -s 2 -x all -e $bare
unwound "deep" $bare -n 1 -d 254,400,508,600
unwound "64 bits, then 32" $CALLPATH -n 12 -c 2 -x plain,exec,vfork -e $bare
check "the registration ends" unregister

# recorded WHAT ARGUMENT...: record by tables, and report in JSON
recorded()
{
	check "$1: recorded" ustack_record --source ftrace "${@:2}"
	$USTACK report --json t.dat >report 2>/dev/null
}

m32=$BUILD/tests/native/m32
if $m32 >paths 2>stderr; then
	recorded "a program with a C library" -e raw_syscalls:sys_enter $m32
	check "a program with a C library: its functions" \
		python3 "$(dirname "$0")/../../lib/m32.py" paths report
	keep paths report
else
	say "skipped: a program with a C library; $(cat $m32.log stderr 2>&1 | head -n 1)"
fi

modes=$BUILD/tests/native/modes
if $modes 1 2>stderr; then
	recorded "code of 64 and of 32 bits" -e raw_syscalls:sys_enter --filter id==64 $modes 100
	say "$(flags .)"
	check "code of 64 and of 32 bits: no table of the other" is "$(flags '^32-bit$')" ""
	check "code of 64 and of 32 bits: both were recorded" at_least \
		"$(flags 32-bit | awk '{ n += $1 } END { print n + 0 }')" 50
else
	say "skipped: code of 64 and of 32 bits; $(cat $modes.log stderr 2>&1 | head -n 1)"
fi
finish
