# SPDX-License-Identifier: GPL-2.0
# Tests of trace-ustack: its text against trace-cmd's text, and its subcommands on good, wrong and
# damaged files.

O ?= build

include trace-cmd-ext/sources.mk

TOOL_TEST := $(O)/tool-test
TOOL_DAMAGED ?= 60
# the whole tool, and the parts that read files, with the sanitizers of the unit tests
TOOL_SAN := $(TOOL_TEST)/trace-ustack
TOOL_SAN_DEPS := $(addprefix $(O)/unit/,$(PLUGIN_CORE:%.c=plugin/%.o) \
	$(patsubst %.c,libunwind-user/%.o,$(UU_SRC) $(UU_DEBUG_SRC)))
TOOL_SAN_OBJ := $(TOOL_SRC:%.c=$(TOOL_TEST)/%.o)
MODEL_SAN_OBJ := $(MODEL_SRC:%.c=$(TOOL_TEST)/%.o)

RANDOM_FILES := $(TOOL_TEST)/random/made
RANDOM_NR ?= 40
RANDOM_SEED ?= 1

MEMORY_TESTS := $(TOOL_TEST)/test_memory $(TOOL_TEST)/test_memory_fortified

CHECK_TARGETS += check-flat check-memory check-model check-tool check-stat-files check-reasons \
	check-orders
CHECK_NEEDS += $(TOOL_TEST)/test_flat $(TOOL_TEST)/test_model $(TOOL_TEST)/test_no_memory \
	$(MEMORY_TESTS) $(RANDOM_FILES)
TEST_TARGETS += check-tool-damaged check-no-memory check-leaks check-races
TEST_NEEDS += $(TOOL_SAN) $(TOOL_TEST)/trace-ustack-tables $(TOOL_TEST)/fail_malloc.so \
	check-races-programs
FULL_TARGETS += check-tool-long

.PHONY: check-flat check-leaks check-memory check-model check-no-memory check-orders check-races \
	check-reasons check-tool check-stat-files check-tool-damaged check-tool-long tool-update
check-model: $(TOOL_TEST)/test_model $(TOOL_TEST)/test_no_memory $(FIXTURES) $(RANDOM_FILES)
	@status=0; for t in $(filter $(TOOL_TEST)/test_%,$^); do \
		FIXTURES=$(O)/fixtures RANDOM_FILES=$(O)/tool-test/random \
		ASAN_OPTIONS=detect_leaks=0 $$t 2>&1 || status=1; \
	done; exit $$status

$(RANDOM_FILES): tests/tool/mk_random.py tests/fixtures/mk_tracedat.py
	@rm -rf $(@D)
	$(Q_GEN)tests/tool/mk_random.py $(RANDOM_SEED) $(RANDOM_NR) $(@D)
	@touch $@

check-tool: $(O)/trace-ustack plugin $(FIXTURES)
	@tests/tool/commands $(O)

# in both byte orders
check-orders: $(O)/trace-ustack plugin fixtures
	@tests/tool/orders $(O)

check-stat-files: $(O)/trace-ustack
	@tests/tool/stat-files $(O)

check-reasons:
	@tests/tool/reasons

check-tool-damaged: $(TOOL_SAN) $(O)/trace-ustack $(FIXTURES)
	@tests/tool/damaged $(O) $(TOOL_DAMAGED)

check-tool-long: $(TOOL_SAN) $(O)/trace-ustack $(FIXTURES)
	@tests/tool/damaged $(O) 5000 7

# Leaks and all else that the sanitizers of the unit tests see, above all after errors
TABLES_SAN := $(TOOL_TEST)/trace-ustack-tables
NO_REPORTS = tests/tool/no-reports

check-leaks: $(TOOL_SAN) $(TABLES_SAN) $(O)/trace-ustack $(FAKE_TRACEFS) $(RECORD_JIT) plugin \
		$(FIXTURES)
	@$(NO_REPORTS) leaks-errors tests/tool/error-cases $(O) $(TOOL_SAN) $(TABLES_SAN) && \
		TOOL=$(TOOL_SAN) $(NO_REPORTS) leaks-tool tests/tool/commands $(O) && \
		TOOL=$(TOOL_SAN) $(NO_REPORTS) leaks-record tests/record/recordings $(O)

$(TABLES_SAN): $(addprefix $(TOOL_TEST)/tables/,main.o make.o serve.o) $(TOOL_SAN_DEPS)
	$(Q_LD)$(CC) $(SAN_FLAGS) $(CFLAGS) -o $@ $^ $(TOOL_LIBS)

# Races in code with threads: tables, the recorder, and walks of stacks in a thread
RACES_O = $(O)/thread
RACES_UNIT = $(addprefix $(RACES_O)/unit/,tables/test_tables_threads tables/test_tables \
	tables/test_tables_cache unwind/test_walk)

.PHONY: check-races-programs
check-races-programs:
	@+$(SUB) -s SAN=thread O=$(RACES_O) $(RACES_UNIT) $(RACES_O)/trace-ustack

check-races: $(O)/trace-ustack $(FAKE_TRACEFS) $(RECORD_JIT) check-races-programs
	@$(NO_REPORTS) races-unit sh -c 'for t in $(RACES_UNIT); do $$t || exit; done' && \
		TOOL=$(RACES_O)/trace-ustack $(NO_REPORTS) races-record tests/record/recordings $(O)

# Memory that ends while it prints
FAIL_MALLOC := $(TOOL_TEST)/fail_malloc.so
check-no-memory: $(O)/trace-ustack $(FAIL_MALLOC) $(FIXTURES)
	@tests/tool/no-memory $(O)

$(FAIL_MALLOC): tests/tool/fail_malloc.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(CFLAGS_COMMON) -D_GNU_SOURCE $(CFLAGS) -fPIC -shared -o $@ $< -ldl

# Tables as BPF programs read them: of files of this machine, and of Debian's for others
TEST_TARGETS += test-flat-foreign
TEST_NEEDS += $(TOOL_TEST)/test_flat
.PHONY: test-flat-foreign

check-flat: $(TOOL_TEST)/test_flat
	@$(NEED_LEAKS) $< 2>&1

test-flat-foreign: $(TOOL_TEST)/test_flat
	@$(NEED_LEAKS) tests/tool/flat-foreign $<

$(TOOL_TEST)/test_flat: tests/tool/test_flat.c $(TOOL_TEST)/record/bpf/flat.o $(TOOL_SAN_DEPS)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -o $@ \
		$(filter %.c %.o,$^) -lcmocka $(TOOL_LIBS)

check-memory: $(MEMORY_TESTS)
	@status=0; for t in $(MEMORY_TESTS); do $$t 2>&1 || status=1; done; exit $$status

# No sanitizers: they have their own memory. A program says if it is not fortified, as compilers may
# do it.
$(TOOL_TEST)/test_memory_fortified: FORTIFY := -O2 -D_FORTIFY_SOURCE=2
$(MEMORY_TESTS): tests/tool/test_memory.c trace-cmd-ext/tool/memory.c trace-cmd-ext/sources.mk
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(filter-out $(SAN_BUILD),$(PLUGIN_CFLAGS)) $(CFLAGS) \
		-U_FORTIFY_SOURCE $(FORTIFY) $(TOOL_WRAP) -o $@ $(filter %.c,$^) -lcmocka

$(TOOL_TEST)/record/bpf/events.o: $(BPF_SYSCALLS)
$(TOOL_TEST)/record/bpf/events.o: PLUGIN_CFLAGS += -I$(dir $(BPF_SYSCALLS))
$(TOOL_TEST)/check/kernel.o: PLUGIN_CFLAGS += -DTRACEEVENT_LIB='"$(TRACEEVENT_LIB)"'

# make the present output the expected text; read the difference
tool-update: $(O)/trace-ustack plugin $(FIXTURES)
	@tests/tool/commands --update $(O)

$(TOOL_TEST)/%.o: trace-cmd-ext/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(PLUGIN_CFLAGS) $(if $(BPF_LIBS),,-DNO_BPF) $(SAN_FLAGS) $(CFLAGS) \
		-MMD -MP -c -o $@ $<

$(TOOL_SAN): $(TOOL_SAN_OBJ) $(MODEL_SAN_OBJ) $(TOOL_SAN_DEPS) $(BPF_OBJECT) \
		$(O)/unit/plugin/trace-cmd/handlers.o $(O)/unit/plugin/recording/scan.o
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(SAN_FLAGS) $(CFLAGS) $(TOOL_WRAP) -o $@ $^ $(TOOL_LIBS)

$(TOOL_TEST)/test_model: tests/tool/test_model.c $(MODEL_SAN_OBJ) $(TOOL_SAN_DEPS) \
		$(patsubst %.c,$(TOOL_TEST)/%.o,$(call tool_room,tool))
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -o $@ \
		$(filter %.c %.o,$^) $(TOOL_WRAP) -lcmocka $(TOOL_LIBS)

# the test itself decides which requests fail
NO_MEMORY_WRAP := $(addprefix -Wl$(COMMA)--wrap=,malloc calloc realloc fork)
$(TOOL_TEST)/test_no_memory: tests/tool/test_no_memory.c $(MODEL_SAN_OBJ) $(TOOL_SAN_DEPS) \
		$(patsubst %.c,$(TOOL_TEST)/%.o,$(filter-out %/memory.c,$(call tool_room,tool))) \
		$(O)/unit/plugin/recording/scan.o
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) $(CFLAGS) -MMD -MP -o $@ \
		$(filter %.c %.o,$^) $(NO_MEMORY_WRAP) -lcmocka $(TOOL_LIBS)

-include $(TOOL_SAN_OBJ:.o=.d) $(MODEL_SAN_OBJ:.o=.d) $(addprefix $(TOOL_TEST)/,test_model.d \
	test_flat.d test_no_memory.d record/bpf/flat.d)
-include $(O)/unit/plugin/trace-cmd/handlers.d
