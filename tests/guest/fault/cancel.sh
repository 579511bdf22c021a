#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Clients are cancelled while tasks request stacks for them, walk for them and are in their
# callbacks.

. "$(dirname "$0")/lib.sh"
load_client

say "a cancelled client"
run_script 'init 0; cancel 0; request 0; request 0; mask'
take_log
check "requests of a cancelled client are refused" is "$(count_logged 'request 0 = -22')" 2
check "a cancelled client has no bit set" is "$(count_logged 'mask 0')" 1
check "a cancelled client is not called back" is "$(count_logged 'callback .*')" 0

say "cancelled with a request pending, and another client in the same kernel entry"
run_script 'init 0; request 0; cancel 0; init 1; request 1; request 1'
run_script 'cancel 1'
take_log
check "cancelled with a request pending: the new client's first request returns 0" \
	is "$(count_logged 'request 1 = 0')" 1
check "cancelled with a request pending: the new client's second request returns 1" \
	is "$(count_logged 'request 1 = 1')" 1
check "cancelled with a request pending: the new client is called back once" \
	is "$(count_logged 'callback 1')" 1
check "cancelled with a request pending: the old client is not called back" \
	is "$(count_logged 'callback 0.*')" 0

say "cancelled between a request's look at its bit and the use of it"
run_script 'init 0'
start_script 0 'stopped; cancel 0; init 1'
start_script 1 'watch-bit 0; request 0; unwatch; ready 1; request 1'
wait
run_script 'cancel 1'
take_log
check "cancelled inside a request: the request was stopped at the bit" \
	is "$(count_logged 'stopped 1')" 1
check "cancelled inside a request: the new client does not find its bit set" \
	is "$(count_logged 'request 1 = 0')" 1
check "cancelled inside a request: the new client is called back once" \
	is "$(count_logged 'callback 1')" 1
check "cancelled inside a request: the old client is not called back" \
	is "$(count_logged 'callback 0.*')" 0

say "cancelled while the walk of the stack sleeps in a page fault"
run_script 'init 0'
coproc FAULTING { exec $PATHS faulting $CLIENT 'request 0'; }
faulting=$FAULTING_PID
read -r _ page <&${FAULTING[0]}
start_script 0 "lock $faulting 0x$page"
locker=$!
run_script locked
echo >&${FAULTING[1]}
run_script 'asked 0'
check "cancelled in a page fault of the walk: the walk sleeps" in_state $faulting D
run_script 'cancel 0; init 1; unlock'
wait $faulting $locker
run_script 'cancel 1'
take_log
check "cancelled in a page fault of the walk: there was a request" \
	is "$(count_logged 'request 0 = 0')" 1
check "cancelled in a page fault of the walk: a client without a request is not called back" \
	is "$(count_logged 'callback 1.*')" 0
check "cancelled in a page fault of the walk: the old client is not called back" \
	is "$(count_logged 'callback 0.*')" 0

say "cancelled while its callback runs"
run_script 'init 0; hold 0'
start_script 1 'request 0'
run_script 'called 0'
start_script 0 'cancel 0'
run_script 'cancelling 0'
sleep 0.5
take_log
check "cancel waits for a callback that runs" is "$(count_logged 'cancel 0')" 0
run_script 'release 0'
wait
take_log
check "cancel ends after the callback" is "$(count_logged 'cancel 0')" 1

say "cancelled when a walk is about to look at it"
run_script 'init 1; init 0'
start_script 0 'stopped; cancel 1'
start_script 1 'watch-next 0 1; request 0'
wait
run_script 'unwatch; cancel 0'
take_log
check "cancelled before a walk: the walk was stopped at the client" \
	is "$(count_logged 'stopped 1')" 1
check "cancelled before a walk: the client is not called back" is "$(count_logged 'callback 1.*')" 0
check "cancelled before a walk: the client before it in the list is called back" \
	is "$(count_logged 'callback 0')" 1


say "made a client again while it is requested"
run_script 'init 0; cancel 0'
start_script 0 'watch-init 0; init 0; unwatch'
start_script 1 'stopped; request 0'
wait
run_script 'cancel 0'
take_log
check "requested during init: init was stopped where the bit is set" \
	is "$(count_logged 'stopped 1')" 1
check "requested during init: each accepted request is called back" \
	is "$(count_logged 'callback 0.*')" "$(count_logged 'request 0 = 0')"
finish
