# SPDX-License-Identifier: GPL-2.0
# Measurements: see bench/measure. Each of these targets measures one part: make bench-kernel,
# bench-report, bench-size, bench-start, bench-steps, bench-gen, bench-symbols and bench-tool. make
# bench-arch measures on s390x; bench-stock and bench-samples, as root, on the kernel that runs.

O ?= build

BENCH_COST := $(O)/bench/cost
# A frame pointer in every function: both unwinders must see the same path.
BENCH_COST_FLAGS := -std=gnu11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -static -fno-omit-frame-pointer \
	-mno-omit-leaf-frame-pointer -fno-optimize-sibling-calls -fno-shrink-wrap \
	-fno-inline-functions -fcf-protection=none -fno-stack-protector

# The peers follow frame pointers; our way works for any code.
BENCH_STEPS := $(O)/bench/steps
BENCH_STEPS_FLAGS := $(CFLAGS_COMMON) -D_GNU_SOURCE -O2 -fno-omit-frame-pointer \
	-fno-optimize-sibling-calls -fno-stack-protector -I.

# Modules for LD_AUDIT, which are linked as ours is, and one for LD_PRELOAD
BENCH_START := $(addprefix $(O)/bench/start/,start empty.so preload.so pretend.so)

BENCH_GEN := $(O)/bench/gen

BENCH_EVENT := $(O)/bench/event

BENCH_TARGETS += bench-all
# make test compiles these, too, and does not run them
TEST_NEEDS += $(BENCH_COST) $(BENCH_STEPS) $(BENCH_START) $(BENCH_GEN) $(BENCH_EVENT)

.PHONY: bench-all bench-compare bench-gen bench-kernel bench-report bench-size bench-start \
	bench-samples bench-steps bench-stock bench-symbols bench-tool

# with the call path of BENCH_COST
$(BENCH_EVENT): bench/compare/event.c bench/kernel/entries.c bench/kernel/cost.h
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(BENCH_COST_FLAGS) -o $@ $(filter %.c,$^)

$(BENCH_COST): $(wildcard bench/kernel/*.c) bench/kernel/cost.h $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(BENCH_COST_FLAGS) -I. -o $@ $(filter %.c %.a,$^) \
		$(filter %capstone.a -lcapstone,$(UU_LIBS)) -lz -lpthread

# by its path: make reads this file before the build.mk that sets UU_LIB
$(BENCH_STEPS): bench/unwind/steps.c $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(BENCH_STEPS_FLAGS) $(CFLAGS) -o $@ $< $(UU_LIB) $(UU_LIBS) -ldl

$(O)/bench/start/start: bench/start/start.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) -D_GNU_SOURCE -o $@ $<

$(O)/bench/start/preload.so: bench/start/preload.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) -shared -fPIC -o $@ $<

# by its path as above: the module is made first, because the sources include generated files
$(O)/bench/start/%.so: bench/start/%.c $(O)/libunwind-user/libunwind-user-audit.so
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AUDIT_CFLAGS) -I. $(filter-out -Wl$(comma)-init%,$(AUDIT_LDFLAGS)) \
		$(if $(filter %/pretend.so,$@),-Wl$(comma)-init$(comma)audit_init) \
		-DAUDIT_SELF='"$(AUDIT_SELF)"' -o $@ $<

comma := ,

$(BENCH_GEN): bench/gen/gen.c $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) -D_GNU_SOURCE -I. $(CFLAGS) -o $@ $< $(UU_LIB) \
		$(UU_LIBS)

# in a guest of s390x
.PHONY: bench-arch bench-arch-guest
bench-arch:
	@+$(SUB) make-arch-s390x ARCH_TARGET=bench-arch-guest

bench-arch-guest: modules arch-perf
	@O=$(abspath $(O)) $(WITH_KERNEL) bench/measure arch

bench-all: $(BENCH_COST) $(BENCH_STEPS) $(BENCH_START) $(BENCH_GEN) $(O)/symbols/lines \
		$(O)/trace-ustack plugin fixtures kernel
	@O=$(abspath $(O)) $(WITH_KERNEL) bench/measure

# It has a kernel, a guest and modules of its own, so make bench leaves it out
bench-compare: $(BENCH_EVENT) $(O)/trace-ustack
	@O=$(abspath $(O)) bench/compare/tracers

bench-kernel: $(BENCH_COST) kernel
	@O=$(abspath $(O)) $(WITH_KERNEL) bench/measure kernel

bench-report: plugin fixtures
	@O=$(abspath $(O)) bench/measure report

bench-start: $(BENCH_START) $(O)/trace-ustack-tables all kernel
	@O=$(abspath $(O)) $(WITH_KERNEL) bench/measure start

bench-steps: $(BENCH_STEPS)
	@O=$(abspath $(O)) bench/measure steps

# Nothing of the guest; without other work on this machine
bench-stock: $(O)/trace-ustack
	@O=$(abspath $(O)) bench/measure stock

bench-samples: $(O)/trace-ustack
	@O=$(abspath $(O)) bench/measure samples

bench-symbols: $(O)/symbols/lines
	@O=$(abspath $(O)) bench/measure symbols

bench-size: kernel
	@O=$(abspath $(O)) $(WITH_KERNEL) bench/measure size

bench-gen: $(BENCH_GEN)
	@O=$(abspath $(O)) bench/measure gen

bench-tool: $(O)/trace-ustack plugin fixtures
	@O=$(abspath $(O)) bench/measure tool
