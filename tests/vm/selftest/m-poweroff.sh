#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# An orderly power-off in the middle of a test is a failure.
# expect: FAIL the guest powered off while m-poweroff ran
poweroff -f
sleep 100
