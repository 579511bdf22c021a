#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: ok
[ "$TEST_LONG" = 1 ] || exit 1
[ -e /sys/kernel/tracing/trace ] || exit 1
[ -x /host/tree/tests/vm/guest/init ] && echo kept >"$TEST_OUT/kept"
