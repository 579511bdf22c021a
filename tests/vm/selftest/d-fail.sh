#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: FAIL exit 3
exit 3
