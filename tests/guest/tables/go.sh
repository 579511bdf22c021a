#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# Go programs have no .eh_frame. Their tables are made of Go's own (.gopclntab). The stacks of
# goroutines are complete to goexit(): of goroutines that wait for each other, that are preempted,
# and that call the kernel. Where the runtime has switched to the stack of the thread
# (systemstack()), or makes room for the stack of a goroutine (morestack()), no rule leads back to
# the goroutine. The same goes for C code that a goroutine calls (asmcgocall()). These stacks are
# marked, and counted apart.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "Go programs are made"
need_tables
if ! [ -x $TPROG/go-calls ]; then
	say "skipped: without go (golang-go) when this was built"
	finish
	exit
fi

check "tables of all that runs are registered" register -a -v

depth=$(printf ',main.callAt%.0s' {1..11})
switches='runtime\.(systemstack|morestack)(\.abi0)?'
check_calls()
{
	check_case "system calls of a Go program$2" "$1" --min 40 --percent 99.5 --list 6 \
		--excuse "$switches" \
		--expect "syscall.*$depth,main.main,runtime.main,runtime.goexit.*" \
		--expect "syscall.*$depth,main.main.func1,runtime.goexit.*" -- $TPROG/$3
}
check_calls go-calls "" go-calls
check_calls go-calls-stripp " without symbols" go-calls-stripped
TABLES_EVENTS="-e sched:sched_switch -e sched:sched_waking" \
	check_case "goroutines" go-busy --min 500 --percent 99.5 --list 6 --excuse "$switches" \
	--expect 'main.\(\*tree\).insert,main.work,main.main.func1,runtime.goexit.*' \
	-- $TPROG/go-busy 10

# Only calls of Go by C lead back to the C code: that stack is above the stacks of goroutines
check_case "cgo" go-cgo --min 200 --percent 99.5 --list 6 \
	--excuse 'runtime\.(asmcgocall|systemstack|morestack)(\.abi0)?' \
	--expect 'main.goBack,.*cgocallback.*,crosscall2,goBack,.*asmcgocall.*' \
	--expect 'runtime.mstart.*,crosscall.*,threadentry' -- $TPROG/go-cgo

say "all:"
sed 's/^/     /' $TEST_TMP/all-figures
cp $TEST_TMP/all-figures $TEST_OUT/figures
check "the registration ends" unregister
finish
