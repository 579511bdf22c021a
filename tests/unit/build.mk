# SPDX-License-Identifier: GPL-2.0
# Unit tests, over objects built with the address and undefined behaviour sanitizers.

O ?= build

UNIT_DIR := $(O)/unit
UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(UNIT_DIR)/%)
SAN_FLAGS := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
SAN_OBJ := $(PLUGIN_CORE:%.c=$(UNIT_DIR)/plugin/%.o) $(UU_SRC:%.c=$(UNIT_DIR)/libunwind-user/%.o)

CHECK_TARGETS += check-unit

.PHONY: check-unit
check-unit: $(UNIT_BIN) $(FIXTURES)
	@status=0; for t in $(UNIT_BIN); do \
		FIXTURES=$(O)/fixtures $$t 2>&1 || status=1; \
	done; exit $$status

$(UNIT_DIR)/plugin/%.o: plugin/%.c
	@mkdir -p $(@D)
	$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_DIR)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT_DIR)/%: tests/unit/%.c $(SAN_OBJ)
	@mkdir -p $(@D)
	$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(SAN_OBJ) \
		-lcmocka -ltraceevent $(UU_LIBS)

-include $(SAN_OBJ:.o=.d) $(UNIT_BIN:=.d)
