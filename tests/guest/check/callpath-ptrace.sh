#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# callpath-ptrace.sh BUILD: check the records of callpath, 64 and 32 bits, with ptrace.

build=$1
checks_verbose=1
. "$(dirname "$0")/../../lib/checks.sh"
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

run_one()
{
	name=$1
	shift
	if "$build/tests/guest/callpath-ptrace" "$tmp/record" "$@" >"$tmp/log" 2>&1; then
		pass "callpath-ptrace: $name"
	elif grep -qE 'SETOPTIONS|cannot run it: Exec format' "$tmp/log"; then
		skip "callpath-ptrace: $name: $(head -n 1 "$tmp/log")"
	else
		fail "callpath-ptrace: $name"
		sed 's/^/  | /' "$tmp/log"
	fi
}

c64=$build/samples/callpath/callpath
c32=$build/samples/callpath/callpath32
run_one "64 bits" $c64 -t 3 -n 100 -c 2 -x all -d 10,100,400,600
run_one "32 bits" $c32 -t 3 -n 100 -c 2 -x all -d 10,100,400,600
run_one "64 bits, executing 32" $c64 -n 60 -x exec,execthread,vfork -e $c32
run_one "32 bits, executing 64" $c32 -n 60 -x exec,execthread,vfork -e $c64
finish
