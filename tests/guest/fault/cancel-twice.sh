#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 own
#
# A client is cancelled twice: there is one warning, and no other effect.

. "$(dirname "$0")/lib.sh"
load_client

# The test expects the warning, so the warning must not end the test
dmesg -n 1
dmesg -C
run_script 'init 0; init 1; init 2; cancel 1; cancel 1'
check "the second cancel causes one warning" \
	is "$(dmesg | grep -c 'WARNING: .*unwind_deferred_cancel')" 1
check "the second cancel causes no bug, oops or fault" \
	is "$(dmesg | grep -cE 'BUG|Oops|general protection')" 0
dmesg -C
dmesg -n 6
take_log
check "the second cancel returns" is "$(count_logged 'cancel 1')" 2
run_script 'request 0; request 1; request 2'
take_log
check "the other clients are called back" is "$(count_logged 'callback [02]')" 2
check "a request of the cancelled client is refused" is "$(count_logged 'request 1 = -22')" 1
run_script 'init 1; request 1'
take_log
check "the cancelled client can be a client again" is "$(count_logged 'callback 1')" 1
finish
