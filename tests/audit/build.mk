# SPDX-License-Identifier: GPL-2.0
# The audit module in programs of all kinds; tests/audit/observe plays the kernel.

O ?= build

AT := $(O)/tests/audit
AT_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -Itests/audit -I. -I$(O)/libunwind-user
AT_LIBS := $(patsubst %,$(AT)/lib%.so,one two odd broken)
AT_OWN := $(patsubst %,$(AT)/libown-%.so,good old broken outside) $(AT)/program-own
AT_ALL := $(AT)/observe $(AT)/program $(AT_LIBS) $(AT_OWN) $(AT)/libunwind-user-audit.so

# on architectures with the module; tests/guest/tables/audit.sh runs these programs, too
ifneq ($(filter x86_64-%,$(shell $(CC) -dumpmachine)),)
CHECK_TARGETS += check-audit
TEST_PROGRAMS += $(AT_ALL)
endif

.PHONY: check-audit
.SECONDARY: $(AT)/own/lib.so.sframe $(AT)/own/program.sframe
check-audit: $(AT_ALL) $(O)/trace-ustack-tables
	@O=$(abspath $(O)) tests/audit/programs

$(AT)/observe: tests/audit/observe.c tests/audit/observe_table.c tests/audit/observe.h \
		tests/audit/mark.h $(O)/libunwind-user/libunwind-user.a
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AT_CFLAGS) -o $@ $(filter %.c %.a,$^) $(UU_LIBS) -lpthread

$(AT)/program: tests/audit/program.c tests/audit/mark.h
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AT_CFLAGS) -Wl,--build-id -o $@ $< -ldl -pthread

$(AT)/lib%.so: tests/audit/lib/%.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AT_CFLAGS) -shared -fPIC -Wl,--build-id -Wl,-soname,$(@F) -o $@ $^ $(AT_LINK)

$(AT)/libtwo.so $(AT)/libbroken.so: $(AT)/libone.so
$(AT)/libtwo.so $(AT)/libbroken.so: private AT_LINK = -Wl,-rpath,'$$ORIGIN'
$(AT)/libodd.so: private AT_LINK = -Wl,--build-id=none

# Tables in the files themselves; only very new linkers write them
$(AT)/own/lib.so: tests/audit/lib/own.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AT_CFLAGS) -shared -fPIC -Wl,--build-id -Wl,-z,relro -o $@ $<

$(AT)/own/program: tests/audit/program.c tests/audit/lib/own.c tests/audit/mark.h
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(AT_CFLAGS) -Wl,--build-id -Wl,-z,relro -o $@ $(filter %.c,$^) -ldl -pthread

$(AT)/own/%.sframe: $(AT)/own/% $(O)/trace-ustack-tables
	$(Q_GEN)$(O)/trace-ustack-tables make $< -o $@ >/dev/null

$(AT)/libown-%.so: $(AT)/own/lib.so $(AT)/own/lib.so.sframe tests/audit/mk_own.py
	$(Q_GEN)tests/audit/mk_own.py $< $<.sframe $@ $*
	$(Q)chmod 755 $@

$(AT)/program-own: $(AT)/own/program $(AT)/own/program.sframe tests/audit/mk_own.py
	$(Q_GEN)tests/audit/mk_own.py $< $<.sframe $@ good
	$(Q)chmod 755 $@

# by its path: make reads this file before or after the build.mk that makes the module. The tests
# ignore the system's cache, because this machine's tables in it would change the results.
$(AT)/libunwind-user-audit.so: $(O)/libunwind-user/libunwind-user-audit.so
	@mkdir -p $(@D)
	$(Q_GEN)sed 's,/var/cache/trace-ustack/tables,/not/there/trace-ustack/tables,' $< >$@
	$(Q)chmod 755 $@
	$(Q)! cmp -s $< $@
