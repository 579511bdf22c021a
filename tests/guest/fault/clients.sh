#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# The largest possible number of clients: no other bit is confused with their bits.

. "$(dirname "$0")/lib.sh"
load_client

# A 64-bit word has room for 62 clients, and perf is one of them from the start
say "61 clients, and perf"
run_script "$(for i in {0..60}; do printf 'init %d; ' $i; done)"
run_script 'init 61; init 62; bit 0; bit 28; bit 60'
take_log
check "61 clients can be had" is "$(count_logged 'init [0-9]+ = 0')" 61
check "the 62nd and the 63rd client get an error" is "$(count_logged 'init 6[12] = -16')" 2
check "client 0 has the first bit" is "$(count_logged 'bit 0 = 3')" 1
check "client 28 has the sign bit of an int" is "$(count_logged 'bit 28 = 31')" 1
check "client 60 has the sign bit of a long" is "$(count_logged 'bit 60 = 63')" 1

say "all in one entry"
run_script "$(for i in {0..60}; do printf 'request %d; request %d; ' $i $i; done)"
take_log
check "the first request of each client returns 0" is "$(count_logged 'request [0-9]+ = 0')" 61
check "the second request of each client returns 1" is "$(count_logged 'request [0-9]+ = 1')" 61
check "each client is called back" is "$(count_logged 'callback [0-9]+')" 61
check "no client is called back twice" is "$(grep callback $TEST_TMP/log | sort -u | wc -l)" 61

# In an NMI: a request after another request has read the mask, and before it changes the mask
for id in 2 28 29 60; do
	say "a request in an NMI, inside another request: client $id"
	run_script "watch-mask $id; request $id; unwatch"
	take_log
	check "client $id: a request was stopped at the mask" is "$(count_logged 'stopped 1')" 1
	check "client $id: the request in the NMI returns 1" \
		is "$(count_logged "request $id = 1")" 1
	# The module notes the cookie after the request, so here the callback's cookie comes first
	check "client $id: called back once" is "$(count_logged "callback $id.*")" 1
done

# The callback of client 1 comes before that of client 0, and client 1 is cancelled there. Client 0
# requests the client with bit 63.
say "cancelled in its callback"
run_script 'chain 0 60'
run_script 'hold 1'
start_script 1 'request 0; request 1'
run_script 'called 1'
start_script 0 'cancel 1'
run_script 'cancelling 1; release 1'
wait
take_log
check "client 1, cancelled in its callback, was called" is "$(count_logged 'callback 1')" 1
check "the callback of client 0 requests client 60" is "$(count_logged 'request 60 = 0')" 1
check "client 60 is called back" is "$(count_logged 'callback 60')" 1

say "one more"
run_script 'init 61; init 62; bit 61; request 61'
take_log
check "a new client takes the free place" is "$(count_logged 'init 61 = 0')" 1
check "a new client has the bit of the cancelled client" is "$(count_logged 'bit 61 = 4')" 1
check "no place is free for one client more" is "$(count_logged 'init 62 = -16')" 1
check "a client with the bit of a cancelled client is called back" \
	is "$(count_logged 'callback 61')" 1
finish
