#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=400
#
# Many tasks request 16 clients while two others cancel the clients and initialise them again. The
# module judges each request and each callback; modules/fault_hammer.c lists its checks.

. "$(dirname "$0")/lib.sh"
load_client fault_hammer

check "the tasks that request and cancel end well" $PATHS hammer /proc/fault_hammer 6 150
cat /proc/fault_hammer >$TEST_TMP/hammer
sed 's/^/     | /' $TEST_TMP/hammer
dmesg | grep 'fault_hammer: ' | sed 's/^/     | /'

count_of()
{
	sed -n "s/^$1 //p" $TEST_TMP/hammer
}

check "clients were cancelled" is "$(count_of cycles)" 300
check "there were requests" at_least "$(count_of requests)" 5000
check "there were callbacks" at_least "$(count_of answers)" 2000
check "no request of a live client is refused" is "$(count_of refused)" 0
check "no request of a cancelled client is accepted" is "$(count_of accepted)" 0
check "the first request returns 0, the next ones 1" is "$(count_of value)" 0
check "each accepted request is called back" none_lost "$(count_of unanswered)"
check "no callback comes without a request" is "$(count_of unasked)" 0
check "each callback has the cookie of its request" none_wrong "$(count_of cookie)"
check "no callback runs when cancel has returned" is "$(count_of late)" 0
finish
