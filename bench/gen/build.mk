# SPDX-License-Identifier: GPL-2.0
# Making unwind tables: time and size. The files of the oracle, and a large one if it is installed.

O ?= build

BENCH_GEN := $(O)/bench/gen
BENCH_GEN_LIB := $(firstword $(wildcard /usr/lib/x86_64-linux-gnu /usr/lib64))
BENCH_GEN_FILES = $(wildcard $(BENCH_GEN_LIB)/libc.so.6 $(BENCH_GEN_LIB)/ld-linux-x86-64.so.2 \
	$(BENCH_GEN_LIB)/libstdc++.so.6 /usr/bin/bash /usr/bin/python3 /usr/bin/git \
	$(BENCH_GEN_LIB)/libcrypto.so.3)
BENCH_GEN_BIG = $(firstword $(wildcard $(BENCH_GEN_LIB)/libLLVM-*.so.1 \
	$(BENCH_GEN_LIB)/libLLVM.so.*))

BENCH_TARGETS += bench-gen

.PHONY: bench-gen

$(BENCH_GEN): bench/gen/gen.c $(UU_LIB)
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -o $@ $< $(UU_LIB) $(UU_LIBS)

bench-gen: $(BENCH_GEN)
	@$(BENCH_GEN) $(patsubst %/libc.so.6,%/libc.so.6=5,$(BENCH_GEN_FILES)) \
		$(patsubst %,--big %=500,$(BENCH_GEN_BIG))

-include $(BENCH_GEN).d
