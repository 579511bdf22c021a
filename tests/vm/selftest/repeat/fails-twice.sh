#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: FAIL exit 5
# first: exit 3
[ "${TEST_REPEATED:-}" = 1 ] || exit 3
exit 5
