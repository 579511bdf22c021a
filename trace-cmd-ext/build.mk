# SPDX-License-Identifier: GPL-2.0
# The commands: trace-ustack, built on the plugin's join, libtracecmd and libunwind-user, and
# trace-ustack-tables, built on libunwind-user alone.

O ?= build

TABLES_BIN := $(O)/trace-ustack-tables
TOOL_BIN := $(O)/trace-ustack

ALL_TARGETS += $(TABLES_BIN) $(TOOL_BIN)
INSTALL_TARGETS += install-tables install-tool

prefix ?= /usr/local

.PHONY: install-tables
install-tables: $(TABLES_BIN)
	install -d $(DESTDIR)$(prefix)/bin
	install -m 755 $(TABLES_BIN) $(DESTDIR)$(prefix)/bin/

TABLES_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard trace-cmd-ext/tables/*.c)))

include trace-cmd-ext/sources.mk
TOOL_OBJ := $(patsubst %.c,$(O)/trace-cmd-ext/%.o,$(TOOL_SRC) $(MODEL_SRC))
TOOL_PLUGIN_OBJ = $(PLUGIN_CORE:%.c=$(O)/plugin/%.o) $(O)/plugin/trace-cmd/handlers.o \
	$(O)/plugin/recording/scan.o
TOOL_LIBS = $(UU_DEBUG_LIBS) $(shell pkg-config --libs libtracecmd libtracefs libtraceevent) \
	-lm -lz
# What --version prints. Written here, and only if it has changed.
TOOL_VERSION_H := $(O)/trace-cmd-ext/version.h
$(shell mkdir -p $(O)/trace-cmd-ext && new=$(TOOL_VERSION_H).$$$$ && \
	printf '\043define TRACE_USTACK_VERSION "%s"\n' \
		'$(VERSION)$(TRACE_USTACK_COMMIT:%= (%))' >$$new && \
	if cmp -s $$new $(TOOL_VERSION_H); then rm $$new; else mv $$new $(TOOL_VERSION_H); fi)

$(TABLES_BIN): $(TABLES_OBJ) $(UU_LIB)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $^ $(UU_LIBS)

$(TOOL_BIN): $(TOOL_OBJ) $(TOOL_PLUGIN_OBJ) $(UU_LIB)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) $(LDFLAGS) $(TOOL_WRAP) -o $@ $(TOOL_OBJ) \
		$(TOOL_PLUGIN_OBJ) $(UU_LIB) $(TOOL_LIBS)

$(TOOL_OBJ): TOOL_FLAGS = $(PLUGIN_INC)
# flame/svg.c includes it: a string, line by line
FLAME_JS := $(O)/trace-cmd-ext/flame/flame_js.h
$(O)/trace-cmd-ext/flame/svg.o: $(FLAME_JS)
$(O)/trace-cmd-ext/flame/svg.o: TOOL_FLAGS += -I$(dir $(FLAME_JS))
$(FLAME_JS): trace-cmd-ext/flame/flame.js trace-cmd-ext/build.mk
	@mkdir -p $(@D)
	$(Q_GEN)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@
$(O)/trace-cmd-ext/commands/trace_ustack.o: $(TOOL_VERSION_H)
$(O)/trace-cmd-ext/commands/trace_ustack.o: TOOL_FLAGS += -include $(TOOL_VERSION_H)

$(O)/trace-cmd-ext/%.o: trace-cmd-ext/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(UU_CFLAGS) $(TOOL_FLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

MAN1 = $(DESTDIR)$(prefix)/share/man/man1
COMPLETIONS = $(DESTDIR)$(prefix)/share/bash-completion/completions

.PHONY: install-tool
install-tool: $(TOOL_BIN)
	install -d $(DESTDIR)$(prefix)/bin $(MAN1) $(COMPLETIONS)
	install -m 755 $(TOOL_BIN) $(DESTDIR)$(prefix)/bin/
	$(call install_man,trace-cmd-ext/man/*.1,$(MAN1))
	install -m 644 trace-cmd-ext/trace-ustack.bash $(COMPLETIONS)/trace-ustack

-include $(TABLES_OBJ:.o=.d) $(TOOL_OBJ:.o=.d)
