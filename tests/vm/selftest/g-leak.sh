#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A file that no reset can write stands for any state that cannot be undone.
# vm: own
# expect: FAIL exit 99
echo function >/run/stays
mount --bind /run/stays /sys/kernel/tracing/current_tracer
mount -o remount,bind,ro /sys/kernel/tracing/current_tracer
