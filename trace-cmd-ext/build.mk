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
	$(BPF_LIBS) -lm -lz

# The BPF programs, as an object file in the tool
BPF_WALK := $(O)/trace-cmd-ext/record/bpf/walk.bpf.o
ifeq ($(BPF_LIBS),)
all: bpf-is-left-out
endif
.PHONY: bpf-is-left-out
bpf-is-left-out:
	@echo '  no clang or no libbpf-dev: trace-ustack is built without --source bpf'

# A cross compiler has the headers of libbpf below its sysroot.
BPF_FLAGS = -target $(if $(filter S390X,$(BPF_ARCH)),bpfeb,bpfel) -mcpu=v3 -g -O2 -Wall -I. \
	-DARCH_$(BPF_ARCH) $(addprefix -I,$(addsuffix /usr/include,$(PKG_CONFIG_SYSROOT_DIR)))

$(BPF_WALK): trace-cmd-ext/record/bpf/walk.bpf.c
	@mkdir -p $(@D)
	$(Q_CC)clang $(BPF_FLAGS) -MMD -MP -c -o $@ $<

$(O)/trace-cmd-ext/record/bpf/object.o: trace-cmd-ext/record/bpf/object.S $(BPF_WALK)
	$(Q_CC)$(CC) -I$(dir $(BPF_WALK)) -c -o $@ $<

# The text that --version prints. Written here, and only if it has changed.
TOOL_VERSION_H := $(O)/trace-cmd-ext/version.h
$(shell mkdir -p $(O)/trace-cmd-ext && new=$(TOOL_VERSION_H).$$$$ && \
	printf '\043define TRACE_USTACK_VERSION "%s"\n' \
		'$(VERSION)$(TRACE_USTACK_COMMIT:%= (%))' >$$new && \
	if cmp -s $$new $(TOOL_VERSION_H); then rm $$new; else mv $$new $(TOOL_VERSION_H); fi)

$(TABLES_BIN): $(TABLES_OBJ) $(UU_LIB)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $^ $(UU_LIBS)

$(TOOL_BIN): $(TOOL_OBJ) $(BPF_OBJECT) $(TOOL_PLUGIN_OBJ) $(UU_LIB)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) $(LDFLAGS) $(TOOL_WRAP) -o $@ $(TOOL_OBJ) \
		$(BPF_OBJECT) $(TOOL_PLUGIN_OBJ) $(UU_LIB) $(TOOL_LIBS)

$(TOOL_OBJ): TOOL_FLAGS = $(PLUGIN_INC) $(if $(BPF_LIBS),,-DNO_BPF)
# flame/svg.c includes it: a string, line by line
FLAME_JS := $(O)/trace-cmd-ext/flame/flame_js.h
$(O)/trace-cmd-ext/flame/svg.o: $(FLAME_JS)
$(O)/trace-cmd-ext/flame/svg.o: TOOL_FLAGS += -I$(dir $(FLAME_JS))
$(FLAME_JS): trace-cmd-ext/flame/flame.js trace-cmd-ext/build.mk
	@mkdir -p $(@D)
	$(Q_GEN)sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< >$@
# events.c includes it: names of system calls by number
$(O)/trace-cmd-ext/record/bpf/events.o: $(BPF_SYSCALLS)
$(O)/trace-cmd-ext/record/bpf/events.o: TOOL_FLAGS += -I$(dir $(BPF_SYSCALLS))
$(BPF_SYSCALLS): trace-cmd-ext/build.mk
	@mkdir -p $(@D)
	$(Q_GEN)echo '#include <sys/syscall.h>' | $(CC) -E -dM - | sed -n \
		's/^#define __NR\(3264\)\{0,1\}_\([a-z0-9_]*\) \([0-9]*\)$$/[\3] = "\2",/p' >$@
$(O)/trace-cmd-ext/check/kernel.o: TOOL_FLAGS += -DTRACEEVENT_LIB='"$(TRACEEVENT_LIB)"'
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

-include $(TABLES_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(BPF_WALK:.o=.d)
