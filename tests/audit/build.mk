# SPDX-License-Identifier: GPL-2.0
# The audit module in programs of all kinds, with the kernel played by tests/audit/observe.

O ?= build

AT := $(O)/tests/audit
AT_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -Itests/audit -Ilibunwind-user -I$(O)/libunwind-user
AT_LIBS := $(patsubst %,$(AT)/lib%.so,one two odd broken)
AT_ALL := $(AT)/observe $(AT)/program $(AT_LIBS) $(AT)/libunwind-user-audit.so

CHECK_TARGETS += check-audit

.PHONY: check-audit
check-audit: $(AT_ALL) $(O)/trace-ustack-tables
	@O=$(abspath $(O)) tests/audit/run

$(AT)/observe: tests/audit/observe.c tests/audit/observe_table.c tests/audit/observe.h \
		tests/audit/mark.h $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(CC) $(AT_CFLAGS) -o $@ $(filter %.c %.a,$^) -lelf -liberty -lz -lpthread

$(AT)/program: tests/audit/program.c tests/audit/mark.h
	@mkdir -p $(@D)
	$(CC) $(AT_CFLAGS) -Wl,--build-id -o $@ $< -ldl -pthread

$(AT)/lib%.so: tests/audit/lib/%.c
	@mkdir -p $(@D)
	$(CC) $(AT_CFLAGS) -shared -fPIC -Wl,--build-id -o $@ $(filter-out %/build.mk,$^) $(AT_LINK)

$(AT)/libtwo.so $(AT)/libbroken.so: $(AT)/libone.so
$(AT)/libtwo.so $(AT)/libbroken.so: private AT_LINK = -Wl,-rpath,'$$ORIGIN'
$(AT)/libodd.so: private AT_LINK = -Wl,--build-id=none

# by its path: this file is read before or after the one that makes it
$(AT)/libunwind-user-audit.so: $(O)/libunwind-user/libunwind-user-audit.so
	@mkdir -p $(@D)
	cp $< $@
