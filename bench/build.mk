# SPDX-License-Identifier: GPL-2.0
# Measurements: see bench/run. make bench-kernel, bench-report, bench-size, bench-steps,
# bench-symbols and bench-tool measure a part.

O ?= build

BENCH_COST := $(O)/bench/cost
# A frame pointer in every function: both unwinders are to see the same path.
BENCH_COST_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -static -fno-omit-frame-pointer \
	-mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-shrink-wrap \
	-fno-inline-functions -fcf-protection=none -fno-stack-protector

# The peers follow frame pointers; what we follow holds for any code.
BENCH_STEPS := $(O)/bench/steps
BENCH_STEPS_FLAGS := $(CFLAGS_COMMON) -D_GNU_SOURCE -O2 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -fno-stack-protector -Ilibunwind-user

BENCH_TARGETS += bench-all

.PHONY: bench-all bench-kernel bench-report bench-size bench-steps bench-symbols bench-tool

$(BENCH_COST): $(wildcard bench/kernel/*.c) bench/kernel/cost.h $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(CC) $(BENCH_COST_FLAGS) -Ilibunwind-user -o $@ $(filter %.c %.a,$^) -lz -lpthread

# by its path: this file is read before the one that names it
$(BENCH_STEPS): bench/unwind/steps.c $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(CC) $(BENCH_STEPS_FLAGS) $(CFLAGS) -o $@ $< $(UU_LIB) $(UU_LIBS) -ldl

bench-all: $(BENCH_COST) $(BENCH_STEPS) $(O)/symbols/lines $(O)/trace-ustack plugin fixtures kernel
	@O=$(abspath $(O)) bench/run

bench-kernel: $(BENCH_COST) kernel
	@O=$(abspath $(O)) bench/run kernel

bench-report: plugin fixtures
	@O=$(abspath $(O)) bench/run report

bench-steps: $(BENCH_STEPS)
	@O=$(abspath $(O)) bench/run steps

bench-symbols: $(O)/symbols/lines
	@O=$(abspath $(O)) bench/run symbols

bench-size: kernel
	@O=$(abspath $(O)) bench/run size

bench-tool: $(O)/trace-ustack plugin fixtures
	@O=$(abspath $(O)) bench/run tool
