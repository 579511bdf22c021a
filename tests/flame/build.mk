# SPDX-License-Identifier: GPL-2.0
# Tests of flame graphs and exports: unit tests, the tool's output, and the picture in a browser.

O ?= build

include trace-cmd-ext/sources.mk

FLAME_TEST := $(O)/flame-test
FLAME_PARTS := $(addprefix stacks/,fold tree strtab folded) \
	$(addprefix tool/,tool run output) $(addprefix flame/,colour svg) export/proto
FLAME_PARTS_OBJ := $(FLAME_PARTS:%=$(O)/tool-test/%.o) \
	$(addprefix $(O)/unit/libunwind-user/base/,json.o utf8.o)

CHECK_TARGETS += check-flame-unit
CHECK_NEEDS += $(FLAME_TEST)/test_flame
TEST_TARGETS += check-flame check-flame-browser

.PHONY: check-flame-unit check-flame check-flame-browser flame-update
check-flame-unit: $(FLAME_TEST)/test_flame
	@$(NEED_LEAKS) $<

# flame/svg.c is compiled in whatever directory the compiler runs
check-flame: $(O)/trace-ustack $(FIXTURES)
	@cd / && $(CC) -D_GNU_SOURCE -I$(CURDIR) -I$(abspath $(dir $(FLAME_JS))) \
		-c -o /dev/null $(CURDIR)/trace-cmd-ext/flame/svg.c
	@tests/flame/outputs $(O)

check-flame-browser: $(O)/trace-ustack $(FIXTURES)
	@tests/flame/browser $(O)

# make the present output the expected text; read the difference
flame-update: $(O)/trace-ustack $(FIXTURES)
	@tests/flame/outputs --update $(O)

$(FLAME_TEST)/test_flame: tests/flame/test_flame.c $(FLAME_PARTS_OBJ)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -o $@ \
		$(filter %.c %.o,$^) -lcmocka -lm

$(O)/tool-test/flame/svg.o: $(FLAME_JS)
$(O)/tool-test/flame/svg.o: PLUGIN_CFLAGS += -I$(dir $(FLAME_JS))

-include $(FLAME_TEST)/test_flame.d
