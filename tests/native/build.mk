# SPDX-License-Identifier: GPL-2.0
# Recordings of this machine's own kernel, where it allows BPF programs: --source bpf.

O ?= build

NATIVE := $(O)/tests/native
NATIVE_PROGS := $(NATIVE)/swap $(NATIVE)/threads $(NATIVE)/part-a.so $(NATIVE)/part-b.so \
	$(NATIVE)/chain $(NATIVE)/burn $(NATIVE)/memory $(NATIVE)/m32 \
	$(NATIVE)/foreign $(NATIVE)/foreign-32.so $(NATIVE)/foreign-x32.so \
	$(NATIVE)/modes $(NATIVE)/modes32 $(NATIVE)/no-write32 $(NATIVE)/pages-64k.so
# With unwind tables only. On amd64, the other programs are like this.
NATIVE_PROGS += $(if $(filter aarch64 s390x,$(MACHINE)),$(CALLPATH)-bare)
NATIVE_PROGS += $(if $(filter aarch64,$(MACHINE)),$(CALLPATH)-pac)
# x86 only: 32-bit programs, the same, and as distributions compile it; assembler code
NATIVE_PROGS += $(if $(filter x86_64,$(MACHINE)),$(CALLPATH)32 $(CALLPATH)32-bare $(NATIVE)/switch)
NATIVE_CFLAGS := $(filter-out $(SAN_BUILD) $(COVERAGE_BUILD),$(CFLAGS_COMMON))

# of other directories
NATIVE_OTHERS := $(CALLPATH) $(GUEST)/callpath-check $(GUEST)/leave

# Guests of the patched kernel run these, too
TEST_PROGRAMS += $(if $(filter x86_64,$(MACHINE)),$(NATIVE)/m32 $(NATIVE)/modes)

TEST_TARGETS += test-native
TEST_NEEDS += $(NATIVE_PROGS) $(NATIVE_OTHERS)

.PHONY: test-native
test-native: $(O)/trace-ustack $(NATIVE_PROGS) $(NATIVE_OTHERS)
	@tests/lib/once-more tests/native/recordings $(O)
	@tests/lib/once-more tests/native/runtimes $(O)
	@tests/lib/once-more tests/native/python $(O)
	@tests/lib/once-more tests/native/debugger $(O)

$(NATIVE)/chain: tests/native/chain.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -static -no-pie -o $@ $<

$(NATIVE)/pages-64k.so: tests/native/pages-64k.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) -fPIC -shared -o $@ $< -ldl

# Its frame pointer is then the same for both files.
$(NATIVE)/swap: NATIVE_CFLAGS += -fno-omit-frame-pointer

# A path is a function, and a call of a function of its own. Without 32-bit libraries there is no
# such program, and the test says so.
$(NATIVE)/m32: tests/native/m32.c
	@mkdir -p $(@D)
	@rm -f $@
	$(Q_LD)$(CC) -m32 $(NATIVE_CFLAGS) -fno-optimize-sibling-calls -o $@ $< -pthread \
		2>$@.log || :

# The addresses of these programs fit 32 bits, and all calls have the same frame pointer.
$(NATIVE)/modes $(NATIVE)/modes32: tests/native/modes.c
	@mkdir -p $(@D)
	@rm -f $@
	$(Q_LD)$(CC) -m$(if $(findstring 32,$(@F)),32,64) $(NATIVE_CFLAGS) -no-pie -fno-pie \
		-fno-omit-frame-pointer -o $@ $< -pthread 2>$@.log || :

$(NATIVE)/foreign-%.so: tests/native/foreign.S
	@mkdir -p $(@D)
	@rm -f $@
	$(Q_LD)$(CC) -m$* -shared -nostdlib -Wl,-e,foreign -Wl,--build-id -o $@ $< 2>$@.log || :

$(NATIVE)/%: tests/native/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -o $@ $< -ldl -pthread

$(NATIVE)/switch: tests/native/switch.c tests/native/switch.S
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -fno-optimize-sibling-calls -o $@ $^

$(NATIVE)/part-%.so: tests/native/part.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -DNAME=in_part_$* -shared -fPIC -Wl,--build-id \
		-o $@ $<
