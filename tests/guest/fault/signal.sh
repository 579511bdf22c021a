#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# A request during the delivery of a signal has the stack that the signal interrupts, not the stack
# of its handler.

. "$(dirname "$0")/lib.sh"
need_kernel
need_program $PATHS

# The only event, so that this is the first request of its kernel entry
record_events signal/signal_deliver $PATHS sigreturn 20
check "20 signals are delivered" is "$(count 'signal_deliver: sig=10 ')" 20
check "each stack is the one that the signal interrupts" \
	have_path 'signal_deliver: sig=10 ' --path kill
finish
