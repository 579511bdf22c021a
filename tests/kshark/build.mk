# SPDX-License-Identifier: GPL-2.0
# Tests of the KernelShark plugin: first the part without a window, through libkshark, then the
# whole plugin in a KernelShark on an invisible display.

O ?= build

KSHARK_DIR := $(O)/kshark
KSHARK_DAT := $(KSHARK_DIR)/waits.dat $(KSHARK_DIR)/proved.dat
KSHARK_TEST := $(KSHARK_DIR)/test_shark
KSHARK_OBJ := $(SHARK_C:%.c=$(KSHARK_DIR)/%.o)
# the join, as the unit tests build it
KSHARK_CORE := $(SHARK_CORE:$(O)/plugin/%=$(O)/unit/plugin/%)

CHECK_TARGETS += check-kshark
CHECK_NEEDS += $(KSHARK_TEST) $(KSHARK_DAT)
TEST_TARGETS += test-kshark
FULL_TARGETS += test-kshark-next

.PHONY: check-kshark test-kshark test-kshark-next kshark-picture

$(KSHARK_DAT): $(KSHARK_DIR)/%.dat: tests/kshark/%.src tests/fixtures/mk_tracedat.py
	@mkdir -p $(@D)
	$(Q_GEN)python3 tests/fixtures/mk_tracedat.py $< $@

ifneq ($(SHARK_INC),)
$(KSHARK_DIR)/%.o: plugin/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(PLUGIN_CFLAGS) $(SHARK_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(KSHARK_TEST): tests/kshark/test_shark.c $(KSHARK_OBJ) $(KSHARK_CORE)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SHARK_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD \
		-MP -o $@ $(filter %.c %.o,$^) -lcmocka -lkshark -ltracecmd -ltraceevent

# libkshark does not free all its memory; the C library has no frame pointers, which would show that
check-kshark: $(KSHARK_TEST) $(KSHARK_DAT) fixtures
	@$(NEED_LEAKS) ASAN_OPTIONS=$$ASAN_OPTIONS:fast_unwind_on_malloc=0 \
		LSAN_OPTIONS=suppressions=tests/kshark/leaks:print_suppressions=0 \
		FIXTURES=$(O)/fixtures $(KSHARK_TEST) 2>&1
# KernelShark of this machine, and that of the next Debian release
test-kshark: shark plugin fixtures
	@tests/kshark/window $(O)

test-kshark-next: plugin fixtures
	@tests/kshark/window --suite trixie $(O)

# make docs/kernelshark.png again from the recording of make demo; as root; look at it
kshark-picture: shark plugin fixtures
	@tests/kshark/window --suite trixie --picture docs/kernelshark.png $(O)/demo $(O)
else
check-kshark test-kshark test-kshark-next kshark-picture:
	@bash -c '. tests/lib/checks.sh; skip the KernelShark plugin: needs libkshark-dev \
		libjson-c-dev libgl-dev libglu1-mesa-dev; finish'
endif

-include $(KSHARK_OBJ:.o=.d) $(KSHARK_TEST).d
