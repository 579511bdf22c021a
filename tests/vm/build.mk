# SPDX-License-Identifier: GPL-2.0
# The harness tests itself: a harness that cannot fail tests nothing. Guests of other architectures.

CHECK_TARGETS += lint check-shared check-docs check-harness
TEST_TARGETS += check-harness-guest

.PHONY: lint check-shared check-docs check-harness check-harness-guest

lint:
	@scripts/lint $(BASE)

check-shared:
	@scripts/check-shared

check-docs:
	@scripts/check-docs

check-harness:
	@tests/vm/check-harness

check-harness-guest:
	@+$(NEED) $(SUB) kernel && O=$(abspath $(O)) $(WITH_KERNEL) tests/vm/check-harness \
		--kernel $(KERNEL)

# tests/native runs in guests with Debian's own kernels, too. 6.1 is the oldest.
STOCK_SUITE_7.3 := trixie-backports
STOCK_SUITE_6.12 := trixie
STOCK_SUITE_6.1 := bookworm
TEST_TARGETS += test-stock-7.3 test-stock-6.12
FULL_TARGETS += test-stock-6.1
STOCK_TARGETS := test-stock-7.3 test-stock-6.12 test-stock-6.1

.PHONY: $(STOCK_TARGETS)

# The programs that run there: T='NAME...', or all in the long form
STOCK_TESTS = $(or $(T),$(if $(LONG),,recordings))

$(STOCK_TARGETS): NEED_OPTION = --stock=$(STOCK_SUITE_$(@:test-stock-%=%))
$(STOCK_TARGETS): test-stock-%:
	@+$(NEED) $(SUB) build && $(SUB_BUILD) all $(NATIVE_PROGS) $(NATIVE_OTHERS) && \
		kernel=$$(scripts/stock-kernel $(STOCK_SUITE_$*)) && \
		O=$(abspath $(O)) tests/vm/stock --kernel $$kernel --label stock-$* \
		$(if $(LONG),--long) $(STOCK_TESTS)

# The kernel with what the series adds turned off
FULL_TARGETS += test-off

.PHONY: test-off

test-off:
	@+$(NEED) O=$(abspath $(O)) scripts/build-kernel off tests/vm/run-tests --label off \
		tests/guest/off/absent.sh

# BPF programs ask for stacks, on a kernel with BTF
FULL_TARGETS += test-bpf

.PHONY: test-bpf

test-bpf: NEED_OPTION = --packages=kernel-deb
test-bpf: build
	@+$(NEED) O=$(abspath $(O)) scripts/build-kernel bpf tests/vm/run-tests --label bpf \
		tests/guest/bpf/request.sh

# After each patch, on four architectures
FULL_TARGETS += check-series

.PHONY: check-series

check-series: NEED_OPTION = --packages=arch
check-series:
	@+$(NEED) scripts/check-series

# Packages of a kernel, installed and booted in a guest
FULL_TARGETS += test-kernel-deb

.PHONY: kernel-deb test-kernel-deb

CONFIG ?= debian

kernel-deb:
	@$(DEPS) kernel-deb
	@scripts/kernel-deb $(CONFIG)

test-kernel-deb: NEED_OPTION = --packages=kernel-deb
test-kernel-deb: build
	@+$(NEED) $(SUB) kernel && O=$(abspath $(O)) $(WITH_KERNEL) tests/vm/kernel-deb $(KERNEL)

# Guests of s390x and arm64, with everything the guest runs by a cross compiler: O has a directory
# for each. They run the tests that depend on the architecture, mainly of stacks, and
# tests/guest/arch.
TEST_ARCHES := s390x arm64
FULL_TARGETS += test-arch
CROSS_s390x := s390x-linux-gnu
CROSS_arm64 := aarch64-linux-gnu
KARCH_s390x := s390
KARCH_arm64 := arm64

.PHONY: test-arch $(TEST_ARCHES:%=test-arch-%) $(TEST_ARCHES:%=make-arch-%) arch-all arch-tests \
	arch-selftests test-arch-elsewhere

test-arch:
	@+scripts/tally $(TEST_ARCHES:%=test-arch-%) test-arch-elsewhere

# T='NAME...' runs only those
$(TEST_ARCHES:%=test-arch-%): NEED_OPTION = --arch=$(@:test-arch-%=%)
$(TEST_ARCHES:%=test-arch-%): test-arch-%:
	@+$(NEED) $(SUB) make-arch-$* ARCH_TARGET=$(if $(T),arch-tests,arch-all)

# This machine reads the recordings of these guests
test-arch-elsewhere: build
	@arches=; for arch in $(TEST_ARCHES); do \
		tests/vm/need --arch=$$arch $@-$$arch; case $$? in \
		0) arches="$$arches $$arch" ;; 4) ;; *) exit 1 ;; esac; \
	done; tests/vm/elsewhere $(O) $$arches

# The guest's init looks here for programs that its Debian lacks
.PHONY: arch-perf
arch-perf:
	@perf=$$(scripts/build-perf $(KVARIANT)) && install -D -m 755 $$perf $(O)/guest-bin/perf

# make-arch-ARCH ARCH_TARGET=TARGET: a make below this one that compiles for ARCH
$(TEST_ARCHES:%=make-arch-%): make-arch-%:
	@$(DEPS) arch
	@+sysroot=$$(scripts/fetch-sysroot $*) && lib=$$sysroot/usr/lib/$(CROSS_$*) && \
	KERNEL=$(ARCH_KERNEL) PKG_CONFIG_LIBDIR=$$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$$sysroot \
	ARCH=$(KARCH_$*) CROSS_COMPILE=$(CROSS_$*)- $(SUB) $(ARCH_TARGET) KVARIANT=$* O=$(O)/$* \
		CC="$(CROSS_$*)-gcc --sysroot=$$sysroot" CXX="$(CROSS_$*)-g++ --sysroot=$$sysroot" \
		AR=$(CROSS_$*)-ar NM=$(CROSS_$*)-nm

# Recordings on Debian's own kernel of another architecture
STOCK_ARCHES := arm64
FULL_TARGETS += $(STOCK_ARCHES:%=test-stock-%)

.PHONY: $(STOCK_ARCHES:%=test-stock-%) arch-stock

$(STOCK_ARCHES:%=test-stock-%): NEED_OPTION = --arch=$(@:test-stock-%=%) \
	--stock=$(STOCK_SUITE_7.3)
$(STOCK_ARCHES:%=test-stock-%): test-stock-%:
	@+$(NEED) $(SUB) make-arch-$* ARCH_TARGET=arch-stock

arch-stock: all $(NATIVE_PROGS) $(NATIVE_OTHERS)
	@kernel=$$(scripts/stock-kernel $(STOCK_SUITE_7.3) $(KVARIANT)) && \
		O=$(abspath $(O)) tests/vm/stock --kernel $$kernel --label stock-$(KVARIANT) \
		$(if $(LONG),--long) $(STOCK_TESTS)

arch-all:
	@+scripts/tally arch-tests arch-selftests

ARCH_TESTS = checker event-kinds formats maps option perf-defer record-command trigger \
	$(wildcard tests/guest/callpath/*.sh tests/guest/tables/*.sh tests/guest/arch/*.sh)

arch-tests: modules arch-perf
	@$(RUN_TESTS) --slow 3 $(or $(T),$(filter-out %/lib.sh,$(ARCH_TESTS)))

# The selftests of the series
arch-selftests: kernel
	@O=$(abspath $(O)) $(WITH_KERNEL) tests/vm/ftracetest --kernel $(KERNEL) \
		--label $(KVARIANT) --slow 3 --compare $(BASELINE) user_unwind/
