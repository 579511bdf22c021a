# SPDX-License-Identifier: GPL-2.0
# What the plugin costs trace-cmd report.

O ?= build

BENCH_TARGETS += bench-report

.PHONY: bench-report
bench-report: plugin fixtures
	@bench/report/run $(O) 285000
	@bench/report/run $(O) 1000000
