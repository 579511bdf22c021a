# SPDX-License-Identifier: LGPL-2.1-or-later
# The trace-cmd plugin. The top Makefile includes this file after libunwind-user's.
# The plugin alone: make -f libunwind-user/build.mk -f plugin/build.mk plugin

O ?= build
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra

plugin_room = $(patsubst plugin/%,%,$(sort $(wildcard $(1:%=plugin/%/*.c))))
# without libtraceevent's host: unit tests link these
PLUGIN_CORE := $(filter-out recording/scan.c,$(call plugin_room,join recording))
PLUGIN_SRC := $(PLUGIN_CORE) recording/scan.c \
	$(addprefix trace-cmd/,options.c handlers.c plugin_ustack_join.c)
PLUGIN_OBJ := $(PLUGIN_SRC:%.c=$(O)/plugin/%.o)
PLUGIN_STUB := $(O)/plugin/plugin_ustack.so
PLUGIN_SO := $(O)/plugin/ustack/plugin_ustack_join.so
PLUGIN_INC := $(shell pkg-config --cflags libtracecmd libtraceevent 2>/dev/null)
PLUGIN_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -fPIC -fvisibility=hidden -I. $(PLUGIN_INC)

ALL_TARGETS += $(PLUGIN_STUB) $(PLUGIN_SO)
INSTALL_TARGETS += install-plugin

.PHONY: plugin install-plugin
plugin: $(PLUGIN_STUB) $(PLUGIN_SO)

$(O)/plugin/%.o: plugin/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(PLUGIN_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# libtraceevent is not linked: its functions are the host program's
$(PLUGIN_STUB): $(O)/plugin/trace-cmd/plugin_ustack.o
	$(Q_LD)$(CC) -shared $(LDFLAGS) -o $@ $^

$(PLUGIN_SO): $(PLUGIN_OBJ) $(UU_LIB)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) -shared $(LDFLAGS) -Wl,--exclude-libs,ALL -o $@ $^ $(UU_LIBS)

prefix ?= /usr/local
# where this machine's libtraceevent looks; elsewhere it finds plugins by TRACEEVENT_PLUGIN_DIR
TRACEEVENT_LIB := $(shell pkg-config --variable=libdir libtraceevent 2>/dev/null)
PLUGIN_LIB = $(if $(filter /usr /usr/local,$(prefix)),$(TRACEEVENT_LIB),$(prefix)/lib)
PLUGIN_DIR ?= $(PLUGIN_LIB)/traceevent/plugins

install-plugin: plugin
	install -d $(DESTDIR)$(PLUGIN_DIR)/ustack $(DESTDIR)$(prefix)/share/man/man1
	install -m 644 $(PLUGIN_STUB) $(DESTDIR)$(PLUGIN_DIR)/
	install -m 644 $(PLUGIN_SO) $(DESTDIR)$(PLUGIN_DIR)/ustack/
	$(call install_man,plugin/man/trace-cmd-ustack.1,$(DESTDIR)$(prefix)/share/man/man1)

# KernelShark's plugin, if KernelShark's headers are installed. It is not installed in the directory
# of libtraceevent's plugins, because libtraceevent loads every plugin there.
SHARK_C := $(call plugin_room,kernelshark)
SHARK_OBJ := $(SHARK_C:%.c=$(O)/plugin/%.o)
SHARK_DRAW := $(O)/plugin/kernelshark/draw.o
SHARK_SO := $(O)/plugin/kernelshark/plugin-ustack.so
# -I of KernelShark's headers; set this to build for another version
SHARK_INC ?= $(shell pkg-config --cflags libkshark json-c gl glu 2>/dev/null)
# the headers cause warnings
SHARK_CFLAGS = $(patsubst -I%,-isystem %,$(SHARK_INC))
# the parts that the join needs, without printing
SHARK_CORE := $(patsubst %.c,$(O)/plugin/%.o,$(filter-out %/frames.c %/jit.c,\
	$(call plugin_room,join recording)))

$(SHARK_OBJ) $(SHARK_DRAW): PLUGIN_CFLAGS += $(SHARK_CFLAGS)

$(SHARK_DRAW): plugin/kernelshark/draw.cpp
	@mkdir -p $(@D)
	$(Q_CC)$(CXX) -std=c++17 $(filter-out -std=%,$(PLUGIN_CFLAGS)) $(CXXFLAGS) -MMD -MP -c \
		-o $@ $<

# the program that loads it brings libkshark-plot and libkshark-gui
$(SHARK_SO): $(SHARK_OBJ) $(SHARK_DRAW) $(SHARK_CORE)
	@mkdir -p $(@D)
	$(Q_LD)$(CXX) -shared $(LDFLAGS) -o $@ $^

.PHONY: shark install-shark
shark: $(SHARK_SO)

# the directory where this machine's KernelShark looks for plugins by name, from its headers
SHARK_DIR_HERE = $(shell sed -n 's/^\#define KS_PLUGIN_INSTALL_PREFIX "\(.*\)"/\1/p' \
	$(patsubst -I%,%/KsCmakeDef.hpp,$(filter %/kernelshark,$(SHARK_INC))) 2>/dev/null)
SHARK_DIR ?= $(or $(if $(filter /usr /usr/local,$(prefix)),$(SHARK_DIR_HERE)),$\
	$(prefix)/lib/kernelshark/plugins)

install-shark: shark
	install -d $(DESTDIR)$(SHARK_DIR)
	install -m 644 $(SHARK_SO) $(DESTDIR)$(SHARK_DIR)/

ifneq ($(SHARK_INC),)
ALL_TARGETS += $(SHARK_SO)
INSTALL_TARGETS += install-shark
endif

-include $(SHARK_OBJ:.o=.d) $(SHARK_DRAW:.o=.d)
-include $(PLUGIN_OBJ:.o=.d) $(O)/plugin/trace-cmd/plugin_ustack.d
