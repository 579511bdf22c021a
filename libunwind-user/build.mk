# SPDX-License-Identifier: LGPL-2.1-or-later
# libunwind-user: the library, static for now; included by the top Makefile.

O ?= build
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra

UU_SRC := symbols.c symbols_elf.c
# shared with the kernel, see sframe_env.h
UU_SRC += sframe_read.c step.c
# .eh_frame to SFrame, see gen_impl.h
UU_SRC += cfi.c cfi_expr.c cfi_run.c gen.c gen_amd64.c gen_code.c gen_image.c gen_pack.c gen_rows.c
UU_OBJ := $(UU_SRC:%.c=$(O)/libunwind-user/%.o)
UU_LIB := $(O)/libunwind-user/libunwind-user.a
UU_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -fPIC -fvisibility=hidden -Ilibunwind-user
UU_LIBS := -lelf -liberty

ALL_TARGETS += $(UU_LIB)
INSTALL_TARGETS += install-libunwind-user

prefix ?= /usr/local

.PHONY: install-libunwind-user
install-libunwind-user: $(UU_LIB)
	install -d $(DESTDIR)$(prefix)/lib/pkgconfig $(DESTDIR)$(prefix)/include
	install -m 644 libunwind-user/unwind-user.h $(DESTDIR)$(prefix)/include/
	install -m 644 $(UU_LIB) $(DESTDIR)$(prefix)/lib/
	sed 's|@PREFIX@|$(prefix)|' libunwind-user/libunwind-user.pc.in \
		>$(DESTDIR)$(prefix)/lib/pkgconfig/libunwind-user.pc

$(O)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UU_LIB): $(UU_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

-include $(UU_OBJ:.o=.d)
