#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ftracetest-one.sh TESTCASE: run one test case of the kernel's own ftracetest, and print its log if
# it fails.
#
# The exit status is the status that the runner expects: 1 if any variant failed, 4 if no variant
# could run here.

cd /host/kselftest/ftrace || exit 1
export TERM=dumb
./ftracetest -k -l "$TEST_TMP/logs" "$1" >"$TEST_TMP/out" 2>&1
cat "$TEST_TMP/out"
grep -vq '\[PASS\]$' <(grep '^\[' "$TEST_TMP/out") && cat "$TEST_TMP"/logs/*-log.*
grep -qE '\[(FAIL|UNRESOLVED|UNDEFINED)\]$' "$TEST_TMP/out" && exit 1
grep -qE '\[(PASS|XFAIL)\]$' "$TEST_TMP/out" && exit 0
grep -qE '\[(UNSUPPORTED|UNTESTED)\]$' "$TEST_TMP/out" || exit 1
echo "SKIP: this kernel or image lacks what it requires"
exit 4
