#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# expect: FAIL exit 4 (skip) without
exit 4
