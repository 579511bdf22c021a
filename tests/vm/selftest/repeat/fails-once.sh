#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Fails in a boot with other tests, and passes in a boot of its own.
# expect: ok
# first: exit 1, with others: alone
. "/host/tree/tests/guest/lib.sh"
alone()
{
	is "$(wc -l </host/out/jobs)" 1 && is "${TEST_REPEATED:-}" 1
}
check "with others" alone
finish
