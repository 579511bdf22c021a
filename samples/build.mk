# SPDX-License-Identifier: GPL-2.0
# The samples: user programs are built with the rest of the tree, kernel modules with their kernel.

O ?= build

include trace-cmd-ext/sources.mk

CALLPATH := $(O)/samples/callpath/callpath
CALLPATH_SRC := $(wildcard samples/callpath/*.c samples/callpath/*.S)
# No C library, and a frame pointer in every function: see samples/callpath/README.md
CALLPATH_FLAGS := -O2 -g -std=gnu11 -Wall -Wextra -Wno-missing-field-initializers \
	-DCP_REGION_SIZE=524288 -ffreestanding -nostdlib -static -no-pie -fno-pie \
	-fno-optimize-sibling-calls -fno-shrink-wrap -fno-stack-protector \
	-fno-tree-loop-distribute-patterns
# The target machine's form of frame pointers, and no calls of the compiler's library
MACHINE := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
CALLPATH_CHAIN_x86_64 := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fcf-protection=none
CALLPATH_CHAIN_s390x := -mbackchain
CALLPATH_CHAIN_aarch64 := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer
CALLPATH_FLAGS += $(if $(filter aarch64,$(MACHINE)),-mno-outline-atomics)

$(CALLPATH): $(CALLPATH_SRC) $(wildcard samples/callpath/*.h)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CALLPATH_FLAGS) $(CALLPATH_CHAIN_$(MACHINE)) -o $@ $(CALLPATH_SRC)

# The same as distributions compile it, for unwind tables; and with signed return addresses
$(CALLPATH)-bare $(CALLPATH)-pac: $(CALLPATH_SRC) $(wildcard samples/callpath/*.h)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CALLPATH_FLAGS) -fomit-frame-pointer -fasynchronous-unwind-tables \
		-Wl,--build-id -Wl,--eh-frame-hdr $(CALLPATH_BARE) -o $@ $(CALLPATH_SRC)

$(CALLPATH)-pac: CALLPATH_BARE = -mbranch-protection=pac-ret

# Needs no 32-bit library, only the headers, which Debian keeps in the 64-bit directory
$(CALLPATH)32: $(CALLPATH_SRC) $(wildcard samples/callpath/*.h)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) -m32 $(CALLPATH_FLAGS) $(CALLPATH_CHAIN_x86_64) \
		-idirafter /usr/include/$(shell $(CC) -dumpmachine) -o $@ $(CALLPATH_SRC)

$(CALLPATH)32-bare: $(CALLPATH_SRC) $(wildcard samples/callpath/*.h)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) -m32 $(CALLPATH_FLAGS) -fomit-frame-pointer -fasynchronous-unwind-tables \
		-fcf-protection=none -Wl,--build-id -Wl,--eh-frame-hdr \
		-idirafter /usr/include/$(shell $(CC) -dumpmachine) -o $@ $(CALLPATH_SRC)

TEST_PROGRAMS += $(CALLPATH) \
	$(if $(filter x86_64,$(MACHINE)),$(CALLPATH)32 $(CALLPATH)32-bare,$(CALLPATH)-bare) \
	$(if $(filter aarch64,$(MACHINE)),$(CALLPATH)-pac)

# Needs a kernel with the series to run, not to build
BPF_STACK := $(O)/samples/bpf-stack/bpf-stack

$(BPF_STACK): samples/bpf-stack/bpf-stack.c samples/bpf-stack/bpf-stack.h $(BPF_STACK).bpf.o
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) -O2 -g -std=gnu11 -Wall -Wextra -Wno-unused-parameter \
		-o $@ $< $(BPF_LIBS)

$(BPF_STACK).bpf.o: samples/bpf-stack/bpf-stack.bpf.c samples/bpf-stack/bpf-stack.h
	@mkdir -p $(@D)
	$(Q_CC)clang $(BPF_FLAGS) -idirafter /usr/include/$(shell $(CC) -dumpmachine) -c -o $@ $<

TEST_PROGRAMS += $(if $(BPF_LIBS),$(BPF_STACK))

# Modules: KERNEL names the build directory of a patched kernel. They are not part of `all`,
# which needs no kernel.
UNWIND_CLIENT := $(O)/samples/unwind-client/unwind-client.ko

samples-modules: $(UNWIND_CLIENT)

$(UNWIND_CLIENT): $(wildcard samples/unwind-client/*.[ch]) samples/unwind-client/Kbuild
	@test -n "$(KERNEL)" || { echo "KERNEL is not set: name the build directory of a patched" \
		"kernel, for example KERNEL=/usr/src/linux" >&2; exit 1; }
	@mkdir -p $(@D)
	$(Q)cp $^ $(@D)/
	$(MAKE) -C $(KERNEL) O=$(abspath $(KERNEL)) M=$(abspath $(@D)) modules

.PHONY: samples-modules
