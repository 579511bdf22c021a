# SPDX-License-Identifier: GPL-2.0
# What trace-ustack is made of; its tests build it once more, with sanitizers.

tool_room = $(patsubst trace-cmd-ext/%,%,$(sort $(wildcard $(1:%=trace-cmd-ext/%/*.c))))
TOOL_SRC := $(call tool_room,tool stacks flame export report stat record check commands)

# The source of stacks for stock kernels (record/bpf/) needs clang and libbpf. Without them none.c
# stands in for it; the files that read its messages stay.
# The programs are for these machines.
BPF_ARCH_x86_64 := AMD64
BPF_ARCH_aarch64 := ARM64
BPF_ARCH_s390x := S390X
BPF_ARCH := $(BPF_ARCH_$(firstword $(subst -, ,$(shell $(CC) -dumpmachine))))
ifeq ($(origin HAVE_BPF),undefined)
HAVE_BPF := $(if $(BPF_ARCH),$(shell \
	command -v clang >/dev/null && pkg-config --atleast-version=1.0 libbpf && echo 1))
endif
BPF_SRC := $(filter-out %.bpf.c,$(call tool_room,record/bpf))
ifeq ($(HAVE_BPF),1)
BPF_LIBS := $(shell pkg-config --libs libbpf)
BPF_OBJECT := $(O)/trace-cmd-ext/record/bpf/object.o
else
BPF_SRC := $(filter-out $(addprefix record/bpf/,bpf.c check.c events.c flat.c functions.c \
	probes.c python.c runtime.c samples.c tables.c),$(BPF_SRC))
endif
BPF_SYSCALLS := $(O)/trace-cmd-ext/record/bpf/syscalls.inc
TOOL_SRC += $(BPF_SRC)
# unit tests link it without the rest
MODEL_SRC := $(call tool_room,model)
# see tool/memory.c
TOOL_WRAP := $(addprefix -Wl$(COMMA)--wrap=,malloc calloc realloc strdup strndup asprintf \
	vasprintf __asprintf_chk __vasprintf_chk)
