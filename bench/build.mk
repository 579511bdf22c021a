# SPDX-License-Identifier: GPL-2.0
# Measurements: see bench/run. make bench-kernel, bench-report, bench-size, bench-start,
# bench-steps, bench-symbols and bench-tool measure a part.

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

# Modules for LD_AUDIT, which are linked as ours is, and one for LD_PRELOAD
BENCH_START := $(addprefix $(O)/bench/start/,start empty.so preload.so pretend.so)

BENCH_TARGETS += bench-all

.PHONY: bench-all bench-kernel bench-report bench-size bench-start bench-steps bench-symbols \
	bench-tool

$(BENCH_COST): $(wildcard bench/kernel/*.c) bench/kernel/cost.h $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(CC) $(BENCH_COST_FLAGS) -Ilibunwind-user -o $@ $(filter %.c %.a,$^) -lz -lpthread

# by its path: this file is read before the one that names it
$(BENCH_STEPS): bench/unwind/steps.c $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(CC) $(BENCH_STEPS_FLAGS) $(CFLAGS) -o $@ $< $(UU_LIB) $(UU_LIBS) -ldl

$(O)/bench/start/start: bench/start/start.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMMON) -D_GNU_SOURCE -o $@ $<

$(O)/bench/start/preload.so: bench/start/preload.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_COMMON) -shared -fPIC -o $@ $<

# by its path as above: the module is made first, for what it includes
$(O)/bench/start/%.so: bench/start/%.c $(O)/libunwind-user/libunwind-user-audit.so
	@mkdir -p $(@D)
	$(CC) $(AUDIT_CFLAGS) -Ilibunwind-user $(filter-out -Wl$(comma)-init%,$(AUDIT_LDFLAGS)) \
		$(if $(filter %/pretend.so,$@),-Wl$(comma)-init$(comma)audit_init) \
		-DAUDIT_SELF='"$(AUDIT_SELF)"' -o $@ $<

comma := ,

bench-all: $(BENCH_COST) $(BENCH_STEPS) $(BENCH_START) $(O)/symbols/lines $(O)/trace-ustack \
		plugin fixtures kernel
	@O=$(abspath $(O)) bench/run

bench-kernel: $(BENCH_COST) kernel
	@O=$(abspath $(O)) bench/run kernel

bench-report: plugin fixtures
	@O=$(abspath $(O)) bench/run report

bench-start: $(BENCH_START) $(O)/trace-ustack-tables all kernel
	@O=$(abspath $(O)) bench/run start

bench-steps: $(BENCH_STEPS)
	@O=$(abspath $(O)) bench/run steps

bench-symbols: $(O)/symbols/lines
	@O=$(abspath $(O)) bench/run symbols

bench-size: kernel
	@O=$(abspath $(O)) bench/run size

bench-tool: $(O)/trace-ustack plugin fixtures
	@O=$(abspath $(O)) bench/run tool
