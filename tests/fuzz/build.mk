# SPDX-License-Identifier: GPL-2.0
# Fuzzing: libFuzzer on records, unwind tables, ELF files and debug information, and whole damaged
# files.

O ?= build

FUZZ_DIR := $(O)/fuzz
FUZZ_CC ?= clang
FUZZ_RUNS ?= 2000
FUZZ_SFRAME ?= 100000
FUZZ_GEN ?= 10000
FUZZ_DWARF ?= 3000
FUZZ_FILES ?= 150
FUZZ_SAN := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
FUZZ_PLUGIN := $(PLUGIN_CORE) recording/scan.c trace-cmd/options.c trace-cmd/handlers.c
FUZZ_OBJ := $(FUZZ_PLUGIN:%.c=$(FUZZ_DIR)/plugin/%.o) $(UU_SRC:%.c=$(FUZZ_DIR)/libunwind-user/%.o)
FUZZ_DWARF_OBJ := $(patsubst %.c,$(FUZZ_DIR)/libunwind-user/%.o,base/bytes.c base/cover.c \
	$(filter dwarf/%,$(UU_DEBUG_SRC)))
# the plugin as the files' reader loads it, with sanitizers of the compiler it is built with
FUZZ_SO := $(FUZZ_DIR)/plugins/plugin_ustack.so $(FUZZ_DIR)/plugins/ustack/plugin_ustack_join.so

SAN_ALL_OBJ := $(addprefix $(O)/unit/,$(PLUGIN_SRC:%.c=plugin/%.o) $(UU_SRC:%.c=libunwind-user/%.o))

# Inputs that scripts make from descriptions in a second, so they are not in the tree
FUZZ_SEEDS := $(FUZZ_DIR)/seeds/made
FUZZ_SRC := $(wildcard tests/fixtures/*/*.src)
FUZZ_RUN := tests/fuzz/hostile

# make check has less than a minute: fuzzing is a part of make test
TEST_TARGETS += check-fuzz-records check-fuzz-sframe check-fuzz-gen check-fuzz-files \
	check-fuzz-dwarf
TEST_NEEDS += $(addprefix $(FUZZ_DIR)/,fuzz_records fuzz_sframe fuzz_sframe_kernel fuzz_gen \
	fuzz_dwarf fuzz_files) $(FUZZ_SO) $(FUZZ_SEEDS)

.PHONY: check-fuzz-records check-fuzz-sframe check-fuzz-gen check-fuzz-files check-fuzz-dwarf fuzz \
	fuzz-corpus
check-fuzz-records: $(FUZZ_DIR)/fuzz_records $(FUZZ_SEEDS) $(FIXTURES)
	@FUZZ_SYSROOT=$(abspath $(O))/fixtures/root \
		$(FUZZ_RUN) fuzz_records records $(FUZZ_DIR) $(FUZZ_RUNS) -max_len=2048 -timeout=20

check-fuzz-sframe: $(FUZZ_DIR)/fuzz_sframe $(FUZZ_DIR)/fuzz_sframe_kernel $(FUZZ_SEEDS)
	@$(FUZZ_RUN) fuzz_sframe sframe $(FUZZ_DIR) $(FUZZ_SFRAME) -max_len=4096 -timeout=10
	@$(FUZZ_RUN) fuzz_sframe_kernel sframe $(FUZZ_DIR) $(FUZZ_SFRAME) -max_len=4096 -timeout=10

check-fuzz-gen: $(FUZZ_DIR)/fuzz_gen $(FUZZ_SEEDS)
	@$(FUZZ_RUN) fuzz_gen gen $(FUZZ_DIR) $(FUZZ_GEN) -max_len=4096 -timeout=10

check-fuzz-dwarf: $(FUZZ_DIR)/fuzz_dwarf
	@$(FUZZ_RUN) fuzz_dwarf dwarf $(FUZZ_DIR) $(FUZZ_DWARF) -max_len=8192 -timeout=10

check-fuzz-files: $(FUZZ_DIR)/fuzz_files $(FUZZ_SO) $(FIXTURES)
	@tests/fuzz/damaged-files $(FUZZ_DIR) $(O)/fixtures $(FUZZ_FILES)

# the fuzzing of `make test` for hours
fuzz:
	$(MAKE) check-fuzz-records FUZZ_RUNS=2000000
	$(MAKE) check-fuzz-sframe FUZZ_SFRAME=20000000
	$(MAKE) check-fuzz-gen FUZZ_GEN=2000000
	$(MAKE) check-fuzz-dwarf FUZZ_DWARF=2000000
	$(MAKE) check-fuzz-files FUZZ_FILES=20000

# all inputs that scripts make: build/fuzz/seeds, and those by compilers, which are in the tree
fuzz-corpus: $(FUZZ_SEEDS)
	@tests/fuzz/mk_dwarf.py tests/fuzz/corpus/dwarf

$(FUZZ_SEEDS): $(addprefix tests/fuzz/mk_,records.py sframe.py gen.py) \
		tests/fixtures/mk_tracedat.py $(FUZZ_SRC)
	@rm -rf $(@D)
	@mkdir -p $(addprefix $(@D)/,records sframe gen)
	@tests/fuzz/mk_records.py $(@D)/records $(FUZZ_SRC)
	@tests/fuzz/mk_sframe.py $(@D)/sframe
	@tests/fuzz/mk_gen.py $(@D)/gen
	@touch $@

$(FUZZ_DIR)/plugin/%.o: plugin/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(FUZZ_CC) $(PLUGIN_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer-no-link -MMD -MP -c \
		-o $@ $<

$(FUZZ_DIR)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(FUZZ_CC) $(UU_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(FUZZ_DIR)/fuzz_records: tests/fuzz/fuzz_records.c $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(Q_LD)$(FUZZ_CC) $(PLUGIN_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer -MMD -MP -o $@ $< \
		$(FUZZ_OBJ) -ltraceevent $(UU_LIBS)

# the files the kernel has too, and the functions of sframe_list.h
$(FUZZ_DIR)/fuzz_sframe: tests/fuzz/fuzz_sframe.c \
		$(patsubst %,$(FUZZ_DIR)/libunwind-user/sframe/%.o,sframe_read sframe_list step)
	@mkdir -p $(@D)
	$(Q_LD)$(FUZZ_CC) $(UU_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer -MMD -MP -o $@ \
		$(filter %.c %.o,$^)

$(FUZZ_DIR)/fuzz_gen: tests/fuzz/fuzz_gen.c \
		$(addprefix $(FUZZ_DIR)/libunwind-user/sframe/,sframe_read.o sframe_list.o) \
		$(filter $(addprefix $(FUZZ_DIR)/libunwind-user/,\
		$(addsuffix /%,base $(GEN_ROOMS))),\
		$(FUZZ_OBJ))
	@mkdir -p $(@D)
	$(Q_LD)$(FUZZ_CC) $(UU_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer -MMD -MP -o $@ \
		$(filter %.c %.o,$^) $(UU_LIBS)

$(FUZZ_DIR)/fuzz_dwarf: tests/fuzz/fuzz_dwarf.c $(FUZZ_DWARF_OBJ)
	@mkdir -p $(@D)
	$(Q_LD)$(FUZZ_CC) $(UU_CFLAGS) $(FUZZ_SAN) -fsanitize=fuzzer -MMD -MP -o $@ \
		$(filter %.c %.o,$^) -lelf -lz -lzstd

# fuzz_sframe, compiled to read tables as the kernel does
$(FUZZ_DIR)/fuzz_sframe_kernel: tests/fuzz/fuzz_sframe.c \
		$(patsubst %,libunwind-user/sframe/%.c,sframe_read sframe_list step)
	@mkdir -p $(@D)
	$(Q_LD)$(FUZZ_CC) $(UU_CFLAGS) $(FUZZ_SAN) -DSFRAME_AS_KERNEL -Wno-unused-parameter \
		-fsanitize=fuzzer -MMD -MP -o $@ $(filter %.c,$^)

# whole files: the compiler of the unit tests, whose sanitizer runtime is a shared library, as a
# program that loads plugins needs it
$(FUZZ_DIR)/fuzz_files: tests/fuzz/fuzz_files.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) -rdynamic -MMD -MP -o $@ $< -ltracecmd \
		-ltraceevent

$(FUZZ_DIR)/plugins/plugin_ustack.so: plugin/trace-cmd/plugin_ustack.c
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(PLUGIN_CFLAGS) $(SAN_FLAGS) -shared -o $@ $<

$(FUZZ_DIR)/plugins/ustack/plugin_ustack_join.so: $(SAN_ALL_OBJ)
	@mkdir -p $(@D)
	$(Q_LD)$(CC) $(SAN_FLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $^ $(UU_LIBS)


-include $(FUZZ_OBJ:.o=.d) $(SAN_ALL_OBJ:.o=.d) $(FUZZ_DWARF_OBJ:.o=.d) \
	$(FUZZ_DIR)/fuzz_records.d $(FUZZ_DIR)/fuzz_sframe.d \
	$(FUZZ_DIR)/fuzz_sframe_kernel.d \
	$(FUZZ_DIR)/fuzz_gen.d \
	$(FUZZ_DIR)/fuzz_dwarf.d \
	$(FUZZ_DIR)/fuzz_files.d
