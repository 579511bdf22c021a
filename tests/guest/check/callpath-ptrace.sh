#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# callpath-ptrace.sh BUILD: check the records of callpath, 64 and 32 bits, with ptrace.

build=$1
passed=0 failed=0 skipped=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

one()
{
	name=$1
	shift
	if "$build/tests/guest/callpath-ptrace" "$tmp/record" "$@" >"$tmp/log" 2>&1; then
		echo "ok   callpath-ptrace: $name"
		passed=$((passed + 1))
	elif grep -qE 'SETOPTIONS|cannot run it: Exec format' "$tmp/log"; then
		echo "SKIP: callpath-ptrace: $name: $(head -n 1 "$tmp/log")"
		skipped=$((skipped + 1))
	else
		echo "FAIL callpath-ptrace: $name"
		sed 's/^/    | /' "$tmp/log"
		failed=$((failed + 1))
	fi
}

c64=$build/samples/callpath/callpath
c32=$build/samples/callpath/callpath32
one "64 bits" $c64 -t 3 -n 100 -c 2 -x all -d 10,100,400,600
one "32 bits" $c32 -t 3 -n 100 -c 2 -x all -d 10,100,400,600
one "64 bits, executing 32" $c64 -n 60 -x exec,execthread,vfork -e $c32
one "32 bits, executing 64" $c32 -n 60 -x exec,execthread,vfork -e $c64
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
