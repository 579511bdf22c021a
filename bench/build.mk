# SPDX-License-Identifier: GPL-2.0
# Measurements: see bench/run. make bench-kernel, bench-report and bench-size measure a part.

O ?= build

BENCH_COST := $(O)/bench/cost
# A frame pointer in every function: both unwinders are to see the same path.
BENCH_COST_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -static -fno-omit-frame-pointer \
	-mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-shrink-wrap \
	-fno-inline-functions -fcf-protection=none -fno-stack-protector

BENCH_TARGETS += bench-all

.PHONY: bench-all bench-kernel bench-report bench-size

$(BENCH_COST): $(wildcard bench/kernel/*.c) bench/kernel/cost.h
	@mkdir -p $(@D)
	$(CC) $(BENCH_COST_FLAGS) -o $@ $(filter %.c,$^)

bench-all: $(BENCH_COST) plugin fixtures kernel
	@O=$(abspath $(O)) bench/run

bench-kernel: $(BENCH_COST) kernel
	@O=$(abspath $(O)) bench/run kernel

bench-report: plugin fixtures
	@O=$(abspath $(O)) bench/run report

bench-size: kernel
	@O=$(abspath $(O)) bench/run size
