# SPDX-License-Identifier: GPL-2.0
# Tests of trace-ustack record and check: on a made-up tracefs, and on this machine's own tracefs
# if the test may use it.

O ?= build

FAKE_TRACEFS := $(O)/tests/record/fake_tracefs.so
RECORD_JIT := $(O)/tests/record/jit

TEST_TARGETS += check-record
TEST_NEEDS += $(FAKE_TRACEFS) $(RECORD_JIT) $(O)/tool-test/fail_malloc.so

.PHONY: check-record
check-record: $(TOOL_BIN) $(FAKE_TRACEFS) $(RECORD_JIT) $(O)/tool-test/fail_malloc.so
	@tests/record/recordings $(O)

# Preloaded into programs of this machine, too, which have no sanitizers
$(FAKE_TRACEFS) $(RECORD_JIT): CFLAGS_COMMON := $(filter-out $(SAN_BUILD) \
	$(COVERAGE_BUILD),$(CFLAGS_COMMON))

$(FAKE_TRACEFS): tests/record/fake_tracefs.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) $(CFLAGS) -I. -fPIC -shared -o $@ $< -ldl

$(RECORD_JIT): tests/record/jit.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) $(CFLAGS) -o $@ $<
