#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tests after a dead guest still run.
# vm: cpus=4
# expect: ok
[ "$(nproc)" = 4 ]
