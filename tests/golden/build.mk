# SPDX-License-Identifier: GPL-2.0
# Tests of trace-cmd report with the plugin: its output against stored text.

O ?= build

CHECK_TARGETS += check-golden

.PHONY: check-golden golden-update
check-golden: plugin fixtures
	tests/golden/reports $(O)

# make the output of this machine's trace-cmd the expected text; read the difference
golden-update: plugin fixtures
	tests/golden/reports --update $(O)
