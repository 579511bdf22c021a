#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A failed test that is skipped when it is repeated has failed.
# expect: FAIL skipped when repeated; first: exit 3
# first: exit 3
[ "${TEST_REPEATED:-}" = 1 ] || exit 3
echo 'SKIP: not a second time'
exit 4
