# SPDX-License-Identifier: GPL-2.0
# trace-ustack: the only entry point. `make help` lists what there is.
#
# Each folder says in its own build.mk what it builds (ALL_TARGETS), how it is checked without a
# kernel (CHECK_TARGETS), measured (BENCH_TARGETS) and installed (INSTALL_TARGETS). This file knows
# the order of the large steps only: packages, kernel, build, guests.
#
# The large targets call make again after the packages are there, because the fragments ask
# pkg-config while they are read.

# SAN=address,undefined or SAN=thread: everything built with these sanitizers, in an own folder.
COMMA := ,
SAN ?=
ifneq ($(SAN),)
O ?= build/$(firstword $(subst $(COMMA), ,$(SAN)))
SAN_BUILD := -O1 -fsanitize=$(SAN) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined)
endif
O ?= build
prefix ?= /usr/local
DESTDIR ?=
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra $(SAN_BUILD)
# What installs packages; DEPS=: where that is done by other means.
DEPS ?= scripts/apt-deps
JOBS ?= $(shell nproc)

# KERNEL is the build folder of the kernel the guests boot: that of scripts/build-kernel, or given
# by the user, who then also keeps it up to date. KVARIANT is base, patched, debug, s390x or arm64.
KVARIANT ?= patched
# KERNEL_OURS tells a make below this one which of the two it is.
ifeq ($(KERNEL),)
KERNEL := $(shell scripts/build-kernel --path $(KVARIANT) | sed 's,/arch/[^/]*/boot/[^/]*$$,,')
KERNEL_OURS := $(KERNEL)
endif
ifeq ($(KERNEL),$(KERNEL_OURS))
KERNEL_BUILD = scripts/build-kernel $(KVARIANT)
else
KERNEL_BUILD = test -n '$(wildcard $(addprefix $(KERNEL)/arch/,x86/boot/bzImage s390/boot/bzImage \
	arm64/boot/Image))' || { echo "KERNEL=$(KERNEL) holds no arch/x86/boot/bzImage: build it" \
	"or unset KERNEL" >&2; false; }
endif
RUN_TESTS = O=$(abspath $(O)) tests/vm/run-tests --kernel $(KERNEL) --label $(KVARIANT)
VM = O=$(abspath $(O)) tests/vm/vm --kernel $(KERNEL)
SUB = $(MAKE) --no-print-directory

export O KERNEL KERNEL_OURS KVARIANT

ALL_TARGETS :=
CHECK_TARGETS :=
# What those need besides all: they run at once, and must not build the same at once
CHECK_NEEDS :=
TEST_TARGETS :=
FULL_TARGETS :=
BENCH_TARGETS :=
INSTALL_TARGETS :=
# Built with the kernel they are for; the rest of the tree needs none.
MODULE_TARGETS := samples-modules tests-modules

.DEFAULT_GOAL := all
.PHONY: all build check check-needs check-steps clean deps demo guest-tests help install kernel \
	modules test test-full test-full-steps test-steps vm vm-test bench baseline \
	ftracetest-base ftracetest-patched ftracetest-debug guest-tests-debug

include $(sort $(wildcard */build.mk */*/build.mk))

help:
	@echo 'make              build the plugin, the library and the samples under $$O ($(O))'
	@echo 'make demo         complete stacks of bash, python3, git and a server, from a guest'
	@echo '                  with the patched kernel'
	@echo 'make test         make check, then all guest tests on the patched kernel'
	@echo 'make check        tests that need no kernel (less than a minute)'
	@echo 'make test-full    make test, ftracetest on the base and the patched kernel, and all'
	@echo '                  again on a debug kernel (hours)'
	@echo 'make test-arch    guest tests on s390x and arm64, a part of test-full (hours);'
	@echo '                  test-arch-s390x or -arm64 with T=N: some of them on one'
	@echo 'make bench        measurements; bench-compare: perf, bpftrace and LTTng beside it'
	@echo 'make vm           a shell in the guest; CMD="..." runs a command instead'
	@echo 'make vm-test T=N  the guest test tests/guest/N.sh; several names are possible'
	@echo 'make kernel       fetch, patch, configure and build; KVARIANT=base, patched,'
	@echo '                  debug, s390x or arm64'
	@echo 'make ftracetest-patched, -base, -debug   a part of test-full by itself'
	@echo 'make baseline     write tests/baseline/: ftracetest on the base kernel'
	@echo 'make install      DESTDIR= prefix=$(prefix)'
	@echo 'make deps         install the Debian packages all this needs (root)'
	@echo 'make clean        remove $(O); kernels and images are cached, see docs/testing.md'
	@echo
	@echo 'KERNEL=DIR        boot the kernel built in DIR      KERNEL_SRC=DIR  patch that tree'
	@echo 'OPT="cpus=4 ..."  the machine of make vm            ACCEL=tcg       never try KVM'

all: $(ALL_TARGETS)

deps:
	@$(DEPS)

build: deps
	@$(SUB) -s $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) all

kernel: deps
	@$(KERNEL_BUILD)

# Modules belong to one kernel: those older than it are made again.
# There are none for the base kernel: it lacks what they use.
modules: kernel build
ifneq ($(KVARIANT),base)
	@find $(O) -name '*.ko' ! -newer $(KERNEL)/Module.symvers -delete
	@$(SUB) -s $(MODULE_TARGETS) KERNEL=$(KERNEL) >$(O)/modules.log 2>&1 || \
		{ cat $(O)/modules.log; echo 'kernel modules do not build, see above' >&2; false; }
endif

check: build
	@+$(SUB) -s $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS)) check-needs
	@+$(SUB) check-steps

check-needs: $(CHECK_NEEDS)

check-steps:
	@+scripts/tally -j $(CHECK_TARGETS)

test: build
	@+$(SUB) test-steps

test-steps:
	@+scripts/tally $(CHECK_TARGETS) guest-tests $(TEST_TARGETS)

guest-tests: modules
	@$(RUN_TESTS)

demo:
	@tests/vm/demo --plan --kernel $(KERNEL)
	@+$(SUB) kernel build
	@tests/vm/demo --kernel $(KERNEL)

vm: modules
	@$(VM) --opt '$(OPT)' $(if $(CMD),run '$(CMD)',shell)

vm-test: modules
	@test -n "$(T)" || { echo 'make vm-test needs T=NAME, for tests/guest/NAME.sh' >&2; \
		false; }
	@$(RUN_TESTS) $(T)

# The kernel's own tests on both kernels against the stored result of the unpatched one, then every
# test of ours on the debug kernel too. It has modules of its own kernel, hence a build folder.
BASELINE = tests/baseline/ftracetest-7.3.txt
DEBUG_O = $(O)/debug

test-full: build
	@$(DEPS) --full --arch
	@+$(SUB) test-full-steps

test-full-steps:
	@+scripts/tally $(CHECK_TARGETS) guest-tests $(TEST_TARGETS) ftracetest-base \
		ftracetest-patched guest-tests-debug ftracetest-debug $(FULL_TARGETS)

ftracetest-base ftracetest-patched: ftracetest-%: build
	@kernel=$$(scripts/build-kernel $*) && O=$(abspath $(O)) tests/vm/ftracetest \
		--kernel $$kernel --label $* --compare $(BASELINE)

guest-tests-debug:
	@+KERNEL= $(SUB) guest-tests KVARIANT=debug O=$(DEBUG_O) \
		$(if $(DEBUG_KERNEL),KERNEL=$(DEBUG_KERNEL))

# PART=I/N runs a part; the debug kernel is several times slower.
ftracetest-debug: build
	@kernel=$$(scripts/build-kernel debug) && O=$(abspath $(DEBUG_O)) tests/vm/ftracetest \
		--kernel $$kernel --label debug --compare $(BASELINE) $(if $(PART),--part $(PART))

baseline: build
	@kernel=$$(scripts/build-kernel base) && O=$(abspath $(O)) tests/vm/ftracetest \
		--kernel $$kernel --label base --write $(BASELINE)

bench: modules
	@test -n "$(BENCH_TARGETS)" || { echo 'there is nothing to measure yet: no build.mk adds' \
		'to BENCH_TARGETS' >&2; false; }
	@+$(SUB) $(BENCH_TARGETS)

install: all $(INSTALL_TARGETS)

clean:
	rm -rf $(O)
