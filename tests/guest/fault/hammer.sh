#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=4 timeout=400
#
# Many tasks request 16 clients while two others cancel the clients and initialise them again. The
# module judges each request and each callback; modules/fault_hammer.c lists its checks.

. "$(dirname "$0")/lib.sh"
client fault_hammer

check "the tasks that request and cancel end well" $PATHS hammer /proc/fault_hammer 6 150
cat /proc/fault_hammer >$TEST_TMP/hammer
sed 's/^/     | /' $TEST_TMP/hammer
dmesg | grep 'fault_hammer: ' | sed 's/^/     | /'

number()
{
	sed -n "s/^$1 //p" $TEST_TMP/hammer
}

check "clients were cancelled" is "$(number cycles)" 300
check "there were requests" at_least "$(number requests)" 5000
check "there were callbacks" at_least "$(number answers)" 2000
check "no request of a live client is refused" is "$(number refused)" 0
check "no request of a cancelled client is accepted" is "$(number accepted)" 0
check "the first request returns 0, the next ones 1" is "$(number value)" 0
check "each is answered" none_lost "$(number unanswered)"
check "no callback comes without a request" is "$(number unasked)" 0
check "with the same cookie" none_wrong "$(number cookie)"
check "no callback runs when cancel has returned" is "$(number late)" 0
finish
