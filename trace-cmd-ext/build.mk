# SPDX-License-Identifier: GPL-2.0
# Commands over libunwind-user.

O ?= build

TABLES_BIN := $(O)/trace-ustack-tables

ALL_TARGETS += $(TABLES_BIN)

$(TABLES_BIN): trace-cmd-ext/table_main.c $(UU_LIB)
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(UU_LIB)

-include $(TABLES_BIN).d
