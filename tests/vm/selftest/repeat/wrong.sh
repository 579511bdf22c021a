#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would pass if it were repeated.
# expect: FAIL exit 1
[ "${TEST_REPEATED:-}" = 1 ] && exit
echo 'WRONG: a frame'
exit 1
