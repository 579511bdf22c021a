#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Would pass if it were repeated.
# expect: FAIL the kernel complained: WARNING: made by a test
[ "${TEST_REPEATED:-}" = 1 ] || echo '<4>WARNING: made by a test' >/dev/kmsg
