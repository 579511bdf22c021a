#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# Code without .eh_frame, in musl and in programs compiled for musl, gets its rows by following the
# code. The programs have threads, stdio, callbacks from the library and signal handlers. They are
# linked dynamically with the guest's musl, statically, and both again without symbols.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "musl programs are made"
need_tables
LOADER=/lib/ld-musl-x86_64.so.1
if ! [ -x $TPROG/musl-calls ] || ! [ -e $LOADER ]; then
	say "skipped: without musl-gcc (musl-tools) when this was built, or without $LOADER"
	finish
	exit
fi

check "tables of all that runs are registered" register -a -v

# Following 400 KB of code takes its time in a guest
$TPROG/musl-calls 1
check "musl has a table" wait_for is_listed "$(readlink -f $LOADER)"

check_case "a musl program" musl-calls --min 500 --expect chain_c,chain_b,chain_a,main \
	--expect compare,sort,main --expect chain_a,handler,main \
	--expect chain_c,chain_b,chain_a,thread_a -- $TPROG/musl-calls 20
check_case "a static musl program" musl-calls-stat --min 500 \
	--expect chain_c,chain_b,chain_a,main,_start \
	--expect compare,sort,main,_start --expect chain_a,handler,main,_start \
	--expect chain_c,chain_b,chain_a,thread_a,__clone -- $TPROG/musl-calls-static 20
check_case "a static musl program without symbols" musl-calls-stri --min 500 -- \
	$TPROG/musl-calls-stripped 20

say "all:"
sed 's/^/     /' $TEST_TMP/all-figures
cp $TEST_TMP/all-figures $TEST_OUT/figures
check "the registration ends" unregister
finish
