#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: FAIL panic: Kernel panic - not syncing: sysrq triggered crash
echo c >/proc/sysrq-trigger
sleep 100
