# SPDX-License-Identifier: GPL-2.0
# Unit tests, with objects built with the address and undefined behaviour sanitizers.

O ?= build

UNIT_DIR := $(O)/unit
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(UNIT_DIR)/%)
SAN_FLAGS := $(SAN_BUILD)
ifeq ($(SAN),)
SAN_FLAGS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
endif
SAN_OBJ := $(PLUGIN_CORE:%.c=$(UNIT_DIR)/plugin/%.o) \
	$(patsubst %.c,$(UNIT_DIR)/libunwind-user/%.o,$(UU_SRC) $(UU_DEBUG_SRC))

UNIT_INSERT := $(patsubst %,$(UNIT_DIR)/trace-cmd-ext/record/bpf/%.o,insert messages pages \
	python_names)
UNIT_RUNTIME := $(UNIT_DIR)/trace-cmd-ext/record/bpf/runtime.o
# The steps of the BPF programs for arm64, for this machine
UNIT_STEP := $(UNIT_DIR)/record/step_arm64.o

CHECK_TARGETS += check-unit
CHECK_NEEDS += $(UNIT_BIN)

# Recipes whose programs look for leaks start with this: LeakSanitizer traces the program.
NEED_LEAKS = why=$$(tests/lib/traceable) || { export ASAN_OPTIONS=detect_leaks=0; \
	echo "SKIP: leaks: $$why"; echo '0 passed, 0 failed, 1 skipped'; };

.PHONY: check-unit
check-unit: $(UNIT_BIN) $(FIXTURES)
	@$(NEED_LEAKS) status=0; for t in $(UNIT_BIN); do \
		FIXTURES=$(O)/fixtures $$t 2>&1 || status=1; \
	done; exit $$status

$(UNIT_DIR)/plugin/%.o: plugin/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_DIR)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(UU_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_DIR)/trace-cmd-ext/%.o: trace-cmd-ext/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(UU_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_DIR)/record/test_insert: $(UNIT_INSERT)
$(UNIT_DIR)/record/test_runtime: $(UNIT_RUNTIME)
$(UNIT_DIR)/record/test_step_bpf: $(UNIT_STEP)

$(UNIT_STEP): tests/unit/record/step_arm64.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) -DARCH_ARM64 -Itests/unit/record \
		-Wno-unknown-pragmas -Wno-unused-parameter -Wno-unused-value \
		$(CFLAGS) -MMD -MP -c -o $@ $<

# test_scan plays libtracecmd itself, so nothing links the real one
$(UNIT_DIR)/%: tests/unit/%.c $(SAN_OBJ) $(UNIT_DIR)/plugin/recording/scan.o
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -rdynamic -o $@ $< \
		$(SAN_OBJ) $(if $(filter %/test_scan,$@),$(UNIT_DIR)/plugin/recording/scan.o) \
		$(if $(filter %/test_insert,$@),$(UNIT_INSERT)) \
		$(if $(filter %/test_runtime,$@),$(UNIT_RUNTIME)) \
		$(if $(filter %/test_step_bpf,$@),$(UNIT_STEP)) \
		-lcmocka -ltraceevent $(UU_DEBUG_LIBS)

-include $(UNIT_DIR)/plugin/recording/scan.d $(SAN_OBJ:.o=.d) $(UNIT_INSERT:.o=.d) \
	$(UNIT_RUNTIME:.o=.d) $(UNIT_STEP:.o=.d) \
	$(UNIT_BIN:=.d)
