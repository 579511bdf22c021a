#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would pass if it were repeated.
# expect: FAIL exit 1
[ "${TEST_REPEATED:-}" = 1 ] && exit
. /host/tree/tests/lib/checks.sh
check "no frame is wrong" eval 'seq 100; echo "WRONG: a frame"; false'
finish
