#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# Clients are cancelled while tasks request stacks for them, walk for them and are in their
# callbacks.

. "$(dirname "$0")/lib.sh"
client

say "a cancelled client"
run 'init 0; cancel 0; request 0; request 0; mask'
take_log
check "requests of a cancelled client are refused" is "$(logged 'request 0 = -22')" 2
check "a cancelled client has no bit set" is "$(logged 'mask 0')" 1
check "a cancelled client is not called back" is "$(logged 'callback .*')" 0

say "cancelled with a request pending, and another client in the same kernel entry"
run 'init 0; request 0; cancel 0; init 1; request 1; request 1'
run 'cancel 1'
take_log
check "cancelled with a request pending: the new client's first request returns 0" \
	is "$(logged 'request 1 = 0')" 1
check "cancelled with a request pending: the new client's second request returns 1" \
	is "$(logged 'request 1 = 1')" 1
check "cancelled with a request pending: the new client is called back once" \
	is "$(logged 'callback 1')" 1
check "cancelled with a request pending: the old client is not called back" \
	is "$(logged 'callback 0.*')" 0

say "cancelled between a request's look at its bit and the use of it"
run 'init 0'
task 0 'stopped; cancel 0; init 1'
task 1 'watch-bit 0; request 0; unwatch; ready 1; request 1'
wait
run 'cancel 1'
take_log
check "cancelled inside a request: the request was stopped at the bit" is "$(logged 'stopped 1')" 1
check "cancelled inside a request: the new client does not find its bit set" \
	is "$(logged 'request 1 = 0')" 1
check "cancelled inside a request: the new client is called back once" is "$(logged 'callback 1')" 1
check "cancelled inside a request: the old client is not called back" \
	is "$(logged 'callback 0.*')" 0

say "cancelled while the walk of the stack sleeps in a page fault"
run 'init 0'
coproc FAULTING { exec $PATHS faulting $CLIENT 'request 0'; }
faulting=$FAULTING_PID
read -r _ page <&${FAULTING[0]}
task 0 "lock $faulting 0x$page"
locker=$!
run locked
echo >&${FAULTING[1]}
run 'asked 0'
check "cancelled in a page fault of the walk: the walk sleeps" in_state $faulting D
run 'cancel 0; init 1; unlock'
wait $faulting $locker
run 'cancel 1'
take_log
check "cancelled in a page fault of the walk: there was a request" is "$(logged 'request 0 = 0')" 1
check "cancelled in a page fault of the walk: a client without a request is not called back" \
	is "$(logged 'callback 1.*')" 0
check "cancelled in a page fault of the walk: the old client is not called back" \
	is "$(logged 'callback 0.*')" 0

say "cancelled while its callback runs"
run 'init 0; hold 0'
task 1 'request 0'
run 'called 0'
task 0 'cancel 0'
run 'cancelling 0'
sleep 0.5
take_log
check "cancel waits for a callback that runs" is "$(logged 'cancel 0')" 0
run 'release 0'
wait
take_log
check "cancel ends after the callback" is "$(logged 'cancel 0')" 1

say "cancelled when a walk is about to look at it"
run 'init 1; init 0'
task 0 'stopped; cancel 1'
task 1 'watch-next 0 1; request 0'
wait
run 'unwatch; cancel 0'
take_log
check "cancelled before a walk: the walk was stopped at the client" is "$(logged 'stopped 1')" 1
check "cancelled before a walk: the client is not called back" is "$(logged 'callback 1.*')" 0
check "cancelled before a walk: the client before it in the list is called back" \
	is "$(logged 'callback 0')" 1


say "made a client again while it is requested"
run 'init 0; cancel 0'
task 0 'watch-init 0; init 0; unwatch'
task 1 'stopped; request 0'
wait
run 'cancel 0'
take_log
check "requested during init: init was stopped where the bit is set" is "$(logged 'stopped 1')" 1
check "requested during init: each accepted request is called back" \
	is "$(logged 'callback 0.*')" "$(logged 'request 0 = 0')"
finish
