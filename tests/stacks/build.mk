# SPDX-License-Identifier: GPL-2.0
# Stacks by generated tables, against the real stacks of single-stepped programs, see singlestep.c.

O ?= build

STACKS_DIR := $(O)/stacks

CHECK_TARGETS += check-oracle-stacks
CHECK_NEEDS += $(STACKS_DIR)/singlestep $(STACKS_DIR)/gosteps
FULL_TARGETS += test-oracle-stacks

.PHONY: check-oracle-stacks test-oracle-stacks

# amd64 only: the code of calls and returns is written for it
ifeq ($(shell uname -m),x86_64)
$(STACKS_DIR)/singlestep: $(addprefix tests/stacks/,singlestep.c shadow.c space.c verdict.c \
		stacks.h) $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) $(UU_LIBS)

$(STACKS_DIR)/gosteps: tests/stacks/gosteps.c $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(UU_CFLAGS) $(CFLAGS) -o $@ $(filter %.c %.a,$^) $(UU_LIBS)

check-oracle-stacks: $(STACKS_DIR)/singlestep $(STACKS_DIR)/gosteps
	@tests/stacks/every-step quick $(STACKS_DIR)

test-oracle-stacks: $(STACKS_DIR)/singlestep
	@tests/stacks/every-step full $(STACKS_DIR)
else
check-oracle-stacks test-oracle-stacks:
	@bash -c '. tests/lib/checks.sh; skip "single steps: an oracle of amd64"; finish'
endif
