# SPDX-License-Identifier: GPL-2.0
# Commands over libunwind-user.

O ?= build

TABLES_BIN := $(O)/trace-ustack-tables

ALL_TARGETS += $(TABLES_BIN)
INSTALL_TARGETS += install-tables

prefix ?= /usr/local

.PHONY: install-tables
install-tables: $(TABLES_BIN)
	install -d $(DESTDIR)$(prefix)/bin
	install -m 755 $(TABLES_BIN) $(DESTDIR)$(prefix)/bin/

TABLES_OBJ := $(patsubst %,$(O)/trace-cmd-ext/%.o,table_main table_make tables_serve)

$(TABLES_BIN): $(TABLES_OBJ) $(UU_LIB)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $^ $(UU_LIBS)

$(O)/trace-cmd-ext/%.o: trace-cmd-ext/%.c
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(TABLES_OBJ:.o=.d)
