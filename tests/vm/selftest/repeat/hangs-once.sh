#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Hits its limit, and passes when it is repeated.
# vm: timeout=5
# expect: ok
# first: longer than its 5 s
[ "${TEST_REPEATED:-}" = 1 ] || sleep 1000
