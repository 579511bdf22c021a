#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The KUnit tests of the series ran when the kernel booted, and all passed.

. "$(dirname "$0")/../lib.sh"
need_kernel

RESULTS=/sys/kernel/debug/kunit/unwind_sframe/results
zcat /proc/config.gz | grep -qx CONFIG_UNWIND_USER_SFRAME_KUNIT_TEST=y ||
	skip_test "this kernel has no KUnit tests of the series"
cases=$(grep -cE '^ +(not )?ok ' $RESULTS)
check "each test of the plan ran" is "1..$cases" "$(grep -oE '^ +1\.\.[0-9]+' $RESULTS | tr -d ' ')"
while read -r verdict name; do
	check "$name" is "$verdict" ok
done < <(sed -nE 's/^ +not ok/not_ok/; s/^ *(not_ok|ok) [0-9]+ (sframe_[a-z_]+).*/\1 \2/p' \
	$RESULTS)
check "the suite passed" grep -qE '^ok 1 unwind_sframe' $RESULTS
[ $failed = 0 ] || cat $RESULTS
finish
