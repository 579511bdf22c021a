#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: skip no such thing
echo 'SKIP: no such thing'
exit 4
