# SPDX-License-Identifier: GPL-2.0
# Recordings of this machine's own kernel, where it allows BPF programs: --source bpf.

O ?= build

NATIVE := $(O)/tests/native
NATIVE_PROGS := $(NATIVE)/swap $(NATIVE)/threads $(NATIVE)/part-a.so $(NATIVE)/part-b.so \
	$(NATIVE)/chain $(NATIVE)/burn
NATIVE_CFLAGS := $(filter-out $(SAN_BUILD) $(COVERAGE_BUILD),$(CFLAGS_COMMON))

# of other folders
NATIVE_OTHERS := $(CALLPATH) $(GUEST)/callpath-check $(GUEST)/leave

TEST_TARGETS += test-native
TEST_NEEDS += $(NATIVE_PROGS) $(NATIVE_OTHERS)

.PHONY: test-native
test-native: $(O)/trace-ustack $(NATIVE_PROGS) $(NATIVE_OTHERS)
	@tests/native/recordings $(O)

$(NATIVE)/chain: tests/native/chain.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -static -no-pie -o $@ $<

# Its frame pointer is then the same for both files.
$(NATIVE)/swap: NATIVE_CFLAGS += -fno-omit-frame-pointer

$(NATIVE)/%: tests/native/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -o $@ $< -ldl -pthread

$(NATIVE)/part-%.so: tests/native/part.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(NATIVE_CFLAGS) $(CFLAGS) -DNAME=in_part_$* -shared -fPIC -Wl,--build-id \
		-o $@ $<
