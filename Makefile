# SPDX-License-Identifier: GPL-2.0
# trace-ustack: the only entry point. `make help` lists the targets.
#
# The build.mk of each directory says what the directory builds (ALL_TARGETS, and TEST_PROGRAMS for
# tests alone), checks without a kernel (CHECK_TARGETS), measures (BENCH_TARGETS) and installs
# (INSTALL_TARGETS). This file only knows the order of the large steps: packages, kernel, build,
# guests.
#
# make demo and make test install packages and then call make again, because each build.mk asks
# pkg-config while make reads it. The other targets install nothing and name missing packages.

# SAN=address,undefined or SAN=thread builds everything with these sanitizers, in a separate
# directory. COVERAGE=1 builds everything to count which lines run, in another directory; see make
# coverage. WERROR=1 makes a warning an error, but not with SAN: what gcc inserts for sanitizers
# keeps it from seeing that a variable is set.
COMMA := ,
SAN ?=
COVERAGE ?=
WERROR ?=
ifneq ($(SAN),)
O ?= build/$(firstword $(subst $(COMMA), ,$(SAN)))
SAN_BUILD := -O1 -fsanitize=$(SAN) -fno-omit-frame-pointer \
	$(if $(findstring undefined,$(SAN)),-fno-sanitize-recover=undefined)
endif
COVERAGE_O := build/coverage
ifneq ($(COVERAGE),)
O ?= $(COVERAGE_O)
COVERAGE_BUILD := -O1 --coverage -DCOVERAGE -Wno-maybe-uninitialized
LDFLAGS += --coverage
endif
O ?= build
prefix ?= /usr/local
DESTDIR ?=
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra $(if $(SAN),,$(if $(WERROR),-Werror)) \
	$(SAN_BUILD) $(COVERAGE_BUILD)

# Each step prints one short line. V=1 prints the commands instead, make -s prints neither.
V ?=
ifneq ($(V),1)
Q := @
ifeq ($(findstring s,$(firstword -$(MAKEFLAGS))),)
Q_STEP = @printf '  %-7s %s\n' $(1) $@;
endif
Q_CC = $(or $(call Q_STEP,CC),@)
Q_LD = $(or $(call Q_STEP,LD),@)
Q_AR = $(or $(call Q_STEP,AR),@)
Q_GEN = $(or $(call Q_STEP,GEN),@)
endif

# One version for the tool, the library's pkg-config file and the man pages
VERSION := $(file <VERSION)
# In a clone, --version adds this; the makes below this make do not ask git again
ifeq ($(origin TRACE_USTACK_COMMIT),undefined)
TRACE_USTACK_COMMIT := $(shell test ! -e .git || git describe --always --dirty 2>/dev/null)
endif
export TRACE_USTACK_COMMIT
# install_man PAGES,DIRECTORY: install pages, with the version after the name in their .TH lines
install_man = for page in $(1); do to=$(2)/$${page\#\#*/}; \
	sed 's/^\(\.TH [^ ]* [0-9] "[^"]*" "[^"]*\)"/\1 $(VERSION)"/' $$page >$$to && \
	chmod 644 $$to || exit; done

# Installs and checks packages. With `make DEPS=:` this is left to the user.
DEPS ?= scripts/apt-deps
JOBS ?= $(shell nproc)

# The guests boot the kernel of the build directory KERNEL. By default scripts/build-kernel makes
# this directory. A user who sets KERNEL keeps that directory up to date.
# KVARIANT is base, patched, debug, s390x or arm64.
KVARIANT ?= patched
# From KERNEL_OURS a make below this make knows whether the user has set KERNEL.
ifeq ($(KERNEL),)
KERNEL := $(shell scripts/build-kernel --path $(KVARIANT) | sed 's,/arch/[^/]*/boot/[^/]*$$,,')
KERNEL_OURS := $(KERNEL)
endif
# WITH_KERNEL goes before a command that boots the kernel or reads its directory: no other clone
# changes the directory until the command ends.
ifeq ($(KERNEL),$(KERNEL_OURS))
KERNEL_BUILD = scripts/build-kernel $(KVARIANT)
WITH_KERNEL = $(KERNEL_BUILD)
else
WITH_KERNEL =
KERNEL_BUILD = test -n '$(wildcard $(addprefix $(KERNEL)/arch/,x86/boot/bzImage s390/boot/bzImage \
	arm64/boot/Image))' || { echo "KERNEL=$(KERNEL) holds no arch/x86/boot/bzImage: build it" \
	"or unset KERNEL" >&2; false; }
endif
# LONG=1 runs the long form of the guest tests that have one, as make test-full does.
LONG ?=
RUN_TESTS = O=$(abspath $(O)) $(WITH_KERNEL) tests/vm/run-tests --kernel $(KERNEL) \
	--label $(KVARIANT) $(if $(LONG),--long)
VM = O=$(abspath $(O)) $(WITH_KERNEL) tests/vm/vm --kernel $(KERNEL)
SUB = $(MAKE) --no-print-directory
# Recipes that need guests start with this. If a mirror fails, the target is one skip.
NEED = tests/vm/need $(NEED_OPTION) $@ || exit $$(( $$? != 4 ));

export O KERNEL KERNEL_OURS KVARIANT

ALL_TARGETS :=
# Programs that only tests use, here and in the guest
TEST_PROGRAMS :=
CHECK_TARGETS :=
# CHECK_TARGETS run in parallel, so make builds their common prerequisites first
CHECK_NEEDS :=
# So do TEST_TARGETS. guest-tests runs before them and alone, because its guests need all processors
TEST_TARGETS :=
TEST_NEEDS :=
FULL_TARGETS :=
BENCH_TARGETS :=
INSTALL_TARGETS :=
# Modules are built with their kernel; the rest of the tree needs no kernel.
MODULE_TARGETS := samples-modules tests-modules

.DEFAULT_GOAL := all
.PHONY: all build check check-needs check-steps clean compile_commands.json coverage deps demo \
	demo-here demo-steps fetched guest-tests help install kernel modules programs test \
	test-full test-full-steps test-needs test-programs test-steps vm vm-test bench baseline \
	ftracetest-base ftracetest-patched ftracetest-debug guest-tests-debug

include $(sort $(wildcard */build.mk */*/build.mk))

help:
	@echo 'make              build the library, the plugin and the tool in $$O ($(O))'
	@echo 'make demo         complete stacks of bash, python3, git, a server: on the kernel'
	@echo '                  that runs, if it allows BPF (demo-here: only this), then from a'
	@echo '                  guest with the patched kernel'
	@echo 'make check        run the tests that need no kernel (less than a minute)'
	@echo 'make test         make check, all guest tests on the patched kernel, seconds of'
	@echo '                  fuzzing, and the tests that take longer than a minute'
	@echo 'make test-full    make test; ftracetest on the base and patched kernels; guest'
	@echo '                  tests and ftracetest on a debug kernel; make test-arch; long'
	@echo '                  tests of the host (hours)'
	@echo 'make test-arch    guest tests on s390x and arm64 (hours); test-arch-s390x or'
	@echo '                  test-arch-arm64 T=N: some of them on one architecture'
	@echo 'make test-stock-7.3, -6.12, -6.1   recordings on a kernel of Debian, in a guest'
	@echo 'make test-off     boots a kernel with the options of the series off'
	@echo 'make test-bpf     boots a kernel with BTF, where BPF programs ask for stacks'
	@echo 'make fuzz         the fuzzing of make test, for hours: see tests/fuzz/README.md'
	@echo 'make bench        measurements; bench-compare: against perf, bpftrace, LTTng'
	@echo 'make vm           a shell in the guest; CMD="..." runs a command instead'
	@echo 'make vm-test T=N  run the guest test N (tests/guest/); T can hold several names'
	@echo 'make kernel       fetch, patch, configure and build; KVARIANT=base, patched,'
	@echo '                  debug, s390x or arm64'
	@echo 'make kernel-deb   Debian packages of a kernel with the series: CONFIG=debian,'
	@echo '                  running, local or a file; see docs/install-kernel.md'
	@echo 'make check-series compile the kernel after each patch, on four architectures (hours)'
	@echo 'make ftracetest-patched, -base, -debug   one ftracetest of test-full'
	@echo 'make baseline     run ftracetest on the base kernel, and write tests/baseline/'
	@echo 'make install      install below prefix=$(prefix), with DESTDIR= put before it'
	@echo 'make deps         install the Debian packages of make test (root); demo and'
	@echo '                  test do this, too; scripts/apt-deps has smaller lists'
	@echo 'make lint         check the rules of the tree, and the style of changed lines'
	@echo '                  (BASE=REV: changed since REV)'
	@echo 'make coverage     show which lines make check runs'
	@echo 'make compile_commands.json   for clangd and other tools'
	@echo 'make clean        remove $(O); kernels and images stay cached: docs/testing.md'
	@echo
	@echo 'LONG=1            the long form of guest tests that have one, as in make test-full'
	@echo 'V=1               show the commands           WERROR=1       warnings are errors'
	@echo 'SAN=address,undefined, SAN=thread   build with sanitizers, in a directory in build/'
	@echo 'KERNEL=DIR        boot the kernel in DIR      KERNEL_SRC=DIR  patch that tree'
	@echo 'OPT="cpus=4 ..."  the machine of make vm      ACCEL=tcg       never try KVM'

all: $(ALL_TARGETS)

programs: all $(TEST_PROGRAMS)

deps:
	@$(DEPS)

# have-LIST fails if a package of this list of scripts/apt-deps is missing, and names it
.PHONY: have-check have-guest have-test
have-check have-guest have-test: have-%:
	@$(DEPS) --check $*

SUB_BUILD = $(SUB) $(if $(filter 1,$(V)),,-s) \
	$(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

build: have-check
	@+$(SUB_BUILD) programs

kernel: have-guest
	@$(KERNEL_BUILD)

# Modules belong to one kernel: make builds modules again that are older than the kernel.
# The base kernel has no modules, because it lacks the functions that they use.
modules: kernel build
ifneq ($(KVARIANT),base)
	@$(WITH_KERNEL) sh -c 'find $(O) -name "*.ko" ! -newer $(KERNEL)/Module.symvers -delete; \
		$(SUB) -s $(MODULE_TARGETS) KERNEL=$(KERNEL) >$(O)/modules.log 2>&1 || \
		{ cat $(O)/modules.log; echo "kernel modules do not build, see above" >&2; false; }'
endif

check: build
	@+$(SUB_BUILD) check-needs
	@+$(SUB) check-steps

# They take longest, so they start first: otherwise one of them runs alone at the end.
CHECK_LONG := check-unit check-tool check-model check-golden

check-needs: $(CHECK_NEEDS)

check-steps:
	@+scripts/tally -j $(filter $(CHECK_LONG),$(CHECK_TARGETS)) \
		$(filter-out $(CHECK_LONG),$(CHECK_TARGETS))

# Status 4: some packages are not available now. The tests that need them say so.
TEST_DEPS = $(DEPS) $(1) || { test $$? = 4 && $(DEPS) --check check; }

test:
	@$(call TEST_DEPS,test)
	@scripts/where
	@+$(SUB) test-steps

test-needs: check-needs $(TEST_NEEDS)

# If one does not build, the tests that need it fail, and the others run.
test-programs: build
	@+$(SUB_BUILD) -k test-needs || echo 'some programs of tests do not build, see above'

# Groups for scripts/tally. Of a group, those that take longest start first.
TEST_LONG := test-stock-7.3 test-native test-stock-6.12 check-harness-guest check-races check-leaks
TEST_GROUPS = -j2 $(filter $(CHECK_LONG),$(CHECK_TARGETS)) \
	$(filter-out $(CHECK_LONG),$(CHECK_TARGETS)) -1 guest-tests \
	-j2 $(foreach t,$(TEST_LONG),$(filter $(t),$(TEST_TARGETS))) \
	$(filter-out $(TEST_LONG),$(TEST_TARGETS))

test-steps: build test-programs
	@+scripts/tally $(TEST_GROUPS) -1 fetched

# Print what came out of Debian's archive; a target of tally, where it counts as no test
fetched:
	@scripts/fetched
	@echo '0 passed, 0 failed'

guest-tests:
	@+$(NEED) $(SUB) modules && $(RUN_TESTS)

demo:
	@tests/vm/demo --plan --kernel $(KERNEL)
	@$(DEPS) demo
	@+$(SUB) demo-here
	@$(DEPS) guest
	@+$(SUB) demo-steps

# The kernel that runs, with what is built in seconds: nothing of the guest
demo-here:
	@+$(SUB_BUILD) all
	@tests/vm/demo-here

demo-steps: kernel build
	@$(WITH_KERNEL) tests/vm/demo --kernel $(KERNEL)

vm: modules
	@$(VM) --opt '$(OPT)' $(if $(CMD),run '$(CMD)',shell)

vm-test: modules
	@test -n "$(T)" || { echo 'make vm-test needs T=NAME, for a test of tests/guest/' >&2; \
		false; }
	@$(RUN_TESTS) $(T)

# The kernel's own tests run on both kernels, against the stored result of the unpatched kernel.
# Then all our tests run on the debug kernel, too. It has its own modules, hence a build directory.
BASELINE = tests/baseline/ftracetest-7.3.txt
DEBUG_O = $(O)/debug

test-full:
	@$(call TEST_DEPS,test full arch)
	@scripts/where
	@+$(SUB) test-full-steps

test-full-steps: build test-programs
	@+LONG=1 scripts/tally $(TEST_GROUPS) -1 ftracetest-base ftracetest-patched \
		guest-tests-debug ftracetest-debug $(FULL_TARGETS) fetched

ftracetest-base ftracetest-patched: ftracetest-%: build
	@$(NEED) O=$(abspath $(O)) scripts/build-kernel $* tests/vm/ftracetest --label $* \
		--compare $(BASELINE)

guest-tests-debug:
	@+KERNEL= $(SUB) guest-tests KVARIANT=debug O=$(DEBUG_O) \
		$(if $(DEBUG_KERNEL),KERNEL=$(DEBUG_KERNEL))

# PART=I/N runs a part: the debug kernel is several times slower.
ftracetest-debug: build
	@$(NEED) O=$(abspath $(DEBUG_O)) scripts/build-kernel debug tests/vm/ftracetest \
		--label debug --compare $(BASELINE) $(if $(PART),--part $(PART))

baseline: build
	@O=$(abspath $(O)) scripts/build-kernel base tests/vm/ftracetest --label base \
		--write $(BASELINE)

bench: have-test modules
	@test -n "$(BENCH_TARGETS)" || { echo 'there is nothing to measure yet: no build.mk adds' \
		'to BENCH_TARGETS' >&2; false; }
	@+$(SUB) $(BENCH_TARGETS)

install: all $(INSTALL_TARGETS)

# Which lines does `make check` run? If a test fails, there is still a report.
# Tests also run programs as other users, and these programs must write their counts.
coverage:
	@$(DEPS) --check work
	@mkdir -p $(COVERAGE_O) && find $(COVERAGE_O) -name '*.gcda' -delete
	@+chmod -R a+rwX $(COVERAGE_O); umask 0; $(SUB) COVERAGE=1 O=$(COVERAGE_O) check; rc=$$?; \
		scripts/coverage $(COVERAGE_O) && exit $$rc

# Made from the commands that make would run if nothing were built yet
compile_commands.json:
	@$(MAKE) -nBs --no-print-directory V=1 programs check-needs $(BENCH_COST) $(BENCH_STEPS) \
		$(BENCH_START) $(BENCH_GEN) $(BENCH_EVENT) $(FAKE_TRACEFS) $(RECORD_JIT) \
		$(addprefix $(SYMBOLS_DIR)/,lines dies) $(addprefix $(FUZZ_DIR)/fuzz_,records \
		sframe gen dwarf files) | scripts/compile-commands >$@.new
	@mv $@.new $@

clean:
	rm -rf $(O)
