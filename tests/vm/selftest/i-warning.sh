#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: FAIL the kernel complained: WARNING: made by a test
echo '<4>WARNING: made by a test' >/dev/kmsg
