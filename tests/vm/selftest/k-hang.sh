#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Stops the guest's own runner, so that only the host can end this test.
# vm: timeout=5
# expect: FAIL timeout: k-hang ran longer than
kill -STOP $(pgrep -f guest/init)
sleep 1000
