# SPDX-License-Identifier: GPL-2.0
# Programs that the scripts of the guest tests run: checkers and small test programs.

O ?= build

GUEST := $(O)/tests/guest
NM ?= nm
GUEST_CFLAGS := $(filter-out $(COVERAGE_BUILD),$(CFLAGS_COMMON)) -O2 -g -std=gnu11 -Wall -Wextra
TRACECMD_FLAGS = $(shell pkg-config --cflags libtracecmd libtraceevent)
TRACECMD_LIBS = $(shell pkg-config --libs libtracecmd libtraceevent)

GUEST_CHECK := $(addprefix tests/guest/check/,callpath-check.c event.h judge.c join.c program.c \
	read_dat.c read_report.c truth.c truth.h) samples/callpath/record.h \
	libunwind-user/base/vec.h

$(GUEST)/callpath-check: $(GUEST_CHECK)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(GUEST_CFLAGS) $(TRACECMD_FLAGS) -o $@ $(filter %.c,$^) $(TRACECMD_LIBS)

$(GUEST)/callpath-ptrace: tests/guest/check/callpath-ptrace.c tests/guest/check/truth.c \
		tests/guest/check/truth.h samples/callpath/record.h libunwind-user/base/vec.h
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(GUEST_CFLAGS) -o $@ $(filter %.c,$^)

# One file each, run in the guest with the guest's own C library
GUEST_PROGS := $(patsubst tests/guest/prog/%.c,$(GUEST)/%,$(wildcard tests/guest/prog/*.c))
# contains x86 assembler
GUEST_X86 := $(if $(filter-out x86_64,$(MACHINE)),$(addprefix $(GUEST)/,fault-paths \
	tables/newborn tables/spawned))

$(GUEST)/%: tests/guest/prog/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(GUEST_CFLAGS) -fno-omit-frame-pointer -o $@ $< -ldl -pthread

$(GUEST)/libtouch.so: tests/guest/prog/lib/touch.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(GUEST_CFLAGS) -fno-omit-frame-pointer -shared -fPIC -Wl,--build-id -o $@ $<

# Programs of the tests of unwind tables: no frame pointers, as a distribution compiles
GUEST_TABLES := $(patsubst tests/guest/prog/tables/%,$(GUEST)/tables/%,$(basename \
	$(wildcard tests/guest/prog/tables/*.c tests/guest/prog/tables/*.cc))) \
	$(GUEST)/tables/chain-static $(GUEST)/tables/libplug.so \
	$(if $(and $(filter x86_64,$(MACHINE)),$(shell command -v musl-gcc)),\
		$(addprefix $(GUEST)/tables/musl-,calls calls-static calls-stripped)) \
	$(if $(filter x86_64,$(MACHINE)),$(addprefix $(GUEST)/tables/,uncovered uncovered32)) \
	$(if $(and $(filter x86_64,$(MACHINE)),$(shell command -v go)),\
		$(addprefix $(GUEST)/tables/go-,busy calls calls-stripped cgo cgo-pie cgo.so load \
			switches switches-pie switches-stripped))
TABLES_CFLAGS := $(filter-out -std=%,$(GUEST_CFLAGS)) -fomit-frame-pointer -Wl,--build-id

$(GUEST_TABLES): $(wildcard tests/guest/prog/tables/*.h) $(wildcard libunwind-user/abi/*.h)

$(GUEST)/tables/%: tests/guest/prog/tables/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(TABLES_CFLAGS) -D_GNU_SOURCE -I. -o $@ $< -ldl -pthread

$(GUEST)/tables/%: tests/guest/prog/tables/%.cc
	@mkdir -p $(@D)
	$(Q_LD)$(CXX) $(TABLES_CFLAGS) -o $@ $<

$(GUEST)/tables/%-static: tests/guest/prog/tables/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(TABLES_CFLAGS) -D_GNU_SOURCE -static -o $@ $< -pthread

# As a distribution of musl compiles: no unwind tables either
MUSL_CFLAGS := $(TABLES_CFLAGS) -D_GNU_SOURCE -fno-asynchronous-unwind-tables -fno-unwind-tables

$(GUEST)/tables/musl-%: tests/guest/prog/tables/musl/%.c
	@mkdir -p $(@D)
	$(Q_LD)musl-gcc $(MUSL_CFLAGS) -o $@ $<

$(GUEST)/tables/musl-%-static: tests/guest/prog/tables/musl/%.c
	@mkdir -p $(@D)
	$(Q_LD)musl-gcc $(MUSL_CFLAGS) -static -o $@ $<

$(GUEST)/tables/musl-%-stripped: $(GUEST)/tables/musl-%-static
	$(Q_GEN)strip -o $@ $<

# Like compilers of other languages: frame pointers, and no other information about frames
BARE_CFLAGS := $(filter-out -g -fomit-frame-pointer,$(TABLES_CFLAGS)) -fno-omit-frame-pointer \
	-fno-asynchronous-unwind-tables -fno-unwind-tables -s

$(GUEST)/tables/uncovered: tests/guest/prog/tables/bare/uncovered.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(BARE_CFLAGS) -o $@ $<

$(GUEST)/tables/uncovered32: tests/guest/prog/tables/bare/uncovered.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) -m32 $(BARE_CFLAGS) -fno-stack-protector -fno-pie -no-pie -nostdlib \
		-idirafter /usr/include/$(shell $(CC) -dumpmachine) -o $@ $<

# Go programs keep frame pointers and have no .eh_frame; static, without a C library
$(GUEST)/tables/go-%: tests/guest/prog/tables/go/%.go
	@mkdir -p $(@D)
	$(Q_GEN)GOCACHE=$(abspath $(O))/go-cache GO111MODULE=off CGO_ENABLED=0 go build -o $@ $<

$(GUEST)/tables/go-%-pie: tests/guest/prog/tables/go/%.go
	@mkdir -p $(@D)
	$(Q_GEN)GOCACHE=$(abspath $(O))/go-cache GO111MODULE=off CGO_ENABLED=0 \
		go build -buildmode=pie -o $@ $<

# With a C library, and C code in between
$(addprefix $(GUEST)/tables/,go-cgo go-cgo-pie go-cgo.so): tests/guest/prog/tables/go/cgo.go
	@mkdir -p $(@D)
	$(Q_GEN)GOCACHE=$(abspath $(O))/go-cache GO111MODULE=off CGO_ENABLED=1 CC="$(CC)" \
		go build $(if $(filter %-pie,$@),-buildmode=pie) \
		$(if $(filter %.so,$@),-buildmode=c-shared) -o $@ $<
	@rm -f $(basename $@).h

$(GUEST)/tables/go-load: tests/guest/prog/tables/go/load.c $(GUEST)/tables/go-cgo.so
	$(Q_LD)$(CC) $(TABLES_CFLAGS) -o $@ $< -L$(@D) -l:go-cgo.so '-Wl,-rpath,$$ORIGIN'

# As Debian has them: names are in .gopclntab only
$(GUEST)/tables/go-%-stripped: $(GUEST)/tables/go-%
	$(Q_GEN)strip -o $@ $<

$(GUEST)/tables/lib%.so: tests/guest/prog/tables/lib/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(TABLES_CFLAGS) -D_GNU_SOURCE -shared -fPIC -o $@ $<

# The guest has no tool that reads build IDs
$(GUEST)/libtouch.buildid: $(GUEST)/libtouch.so
	$(Q_GEN)readelf -n $< | sed -n 's/.*Build ID: //p' >$@

# The guest has no tool that reads symbols either: for uprobes and to look at addresses
$(GUEST)/callpath.sym: $(CALLPATH)
	@mkdir -p $(@D)
	$(Q_GEN)$(NM) $< >$@

# reads the registers of x86
GUEST_PTRACE := $(if $(filter x86_64,$(MACHINE)),$(GUEST)/callpath-ptrace)
GUEST_ALL := $(GUEST)/callpath-check $(GUEST_PTRACE) $(filter-out $(GUEST_X86),$(GUEST_PROGS) \
	$(GUEST_TABLES)) $(GUEST)/libtouch.so $(GUEST)/libtouch.buildid \
	$(GUEST)/callpath.sym
TEST_PROGRAMS += $(GUEST_ALL)

# The record of callpath against its own stack, under ptrace: needs no kernel of ours
check-callpath: $(CALLPATH) $(CALLPATH)32 $(GUEST)/callpath-ptrace
	tests/guest/check/callpath-ptrace.sh $(O)

CHECK_TARGETS += check-callpath
CHECK_NEEDS += $(CALLPATH) $(CALLPATH)32 $(GUEST)/callpath-ptrace

# Modules that the guest tests load, built with their kernel
X86_MODULES := $(if $(filter-out x86_64,$(MACHINE)),late_step stale_int3)
GUEST_MODULES := $(filter-out $(X86_MODULES),$(patsubst tests/guest/modules/%.c,%,\
	$(wildcard tests/guest/modules/*.c)))

$(GUEST)/modules/%.ko: tests/guest/modules/%.c $(wildcard tests/guest/modules/*.h) \
		tests/guest/modules/Kbuild
	@test -n "$(KERNEL)" || { echo "KERNEL is not set: name the build directory of a patched" \
		"kernel, for example KERNEL=/usr/src/linux" >&2; exit 1; }
	@mkdir -p $(@D)
	$(Q)cp tests/guest/modules/*.[ch] tests/guest/modules/Kbuild $(@D)/
	$(MAKE) -C $(KERNEL) O=$(abspath $(KERNEL)) M=$(abspath $(@D)) modules

tests-modules: $(patsubst %,$(GUEST)/modules/%.ko,$(GUEST_MODULES))

.PHONY: check-callpath tests-modules
