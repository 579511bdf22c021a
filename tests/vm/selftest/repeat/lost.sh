#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would pass if it were repeated.
# expect: FAIL exit 1
[ "${TEST_REPEATED:-}" = 1 ] && exit
. "/host/tree/tests/guest/lib.sh"
check "each has its stack" none_lost 2
finish
