# SPDX-License-Identifier: GPL-2.0
# Functions, inlines and lines, against libdw's DIEs and other tools, see agree.py.

O ?= build

SYMBOLS_DIR := $(O)/symbols

TEST_TARGETS += check-symbols
TEST_TARGETS += test-symbols-compilers test-symbols-foreign
TEST_NEEDS += $(SYMBOLS_DIR)/lines $(SYMBOLS_DIR)/dies
FULL_TARGETS += test-symbols-libc

.PHONY: check-symbols test-symbols-compilers test-symbols-foreign test-symbols-libc

$(SYMBOLS_DIR)/lines: tests/symbols/lines.c $(UU_LIB)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $< $(UU_LIB) $(UU_DEBUG_LIBS)

$(SYMBOLS_DIR)/dies: tests/symbols/dies.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $< -ldw -lelf

check-symbols: $(SYMBOLS_DIR)/lines $(SYMBOLS_DIR)/dies plugin
	@tests/symbols/agreement quick $(SYMBOLS_DIR)

test-symbols-compilers test-symbols-foreign test-symbols-libc: test-symbols-%: \
		$(SYMBOLS_DIR)/lines $(SYMBOLS_DIR)/dies
	@tests/symbols/agreement $* $(SYMBOLS_DIR)
