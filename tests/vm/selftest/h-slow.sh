#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: timeout=5
# expect: FAIL longer than its 5 s
sleep 1000
