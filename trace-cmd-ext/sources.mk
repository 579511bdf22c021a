# SPDX-License-Identifier: GPL-2.0
# What trace-ustack is made of; its tests build it once more, with sanitizers.

tool_room = $(patsubst trace-cmd-ext/%,%,$(sort $(wildcard $(1:%=trace-cmd-ext/%/*.c))))
TOOL_SRC := $(call tool_room,tool record stacks flame export report stat check commands)
# unit tests link it without the rest
MODEL_SRC := $(call tool_room,model)
# see tool/memory.c
TOOL_WRAP := $(addprefix -Wl$(COMMA)--wrap=,malloc calloc realloc strdup strndup asprintf \
	vasprintf __asprintf_chk __vasprintf_chk)
