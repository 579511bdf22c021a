# SPDX-License-Identifier: LGPL-2.1-or-later
# libunwind-user: the library, static for now; included by the top Makefile.

O ?= build
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra

UU_SRC := symbols.c symbols_demangle.c symbols_elf.c symbols_extent.c symbols_open.c \
	symbols_perfmap.c cover.c unwind.c
# shared with the kernel, see sframe_env.h
UU_SRC += sframe_read.c step.c
# .eh_frame to SFrame, see gen_impl.h
UU_SRC += cfi.c cfi_expr.c cfi_run.c gen.c gen_check.c gen_code.c gen_image.c gen_list.c \
	gen_pack.c gen_rows.c gen_sig.c gen_write.c
# architectures, see arch/arch.h
UU_SRC += $(addprefix arch/amd64/,arch.c code.c plt.c flow.c flow_table.c)
UU_SRC += $(foreach a,arm64 s390x,$(addprefix arch/$a/,arch.c code.c flow.c plt.c)) \
	arch/s390x/flow_table.c
# rows for code without .eh_frame, see gen_flow.h
UU_SRC += gen_flow.c gen_flow_calls.c gen_flow_edge.c gen_flow_entry.c \
	gen_flow_jump.c gen_flow_prove.c gen_flow_state.c gen_flow_walk.c
# kept and given to the kernel, see tables.h
UU_SRC += tables.c tables_cache.c tables_elf.c tables_follow.c tables_make.c \
	tables_recall.c tables_scan.c
# debug information, see symbols.h: linked by who calls uu_symbols_new_debug()
UU_DEBUG_SRC := symbols_debug.c symbols_debugfile.c symbols_debuginfod.c symbols_lines.c \
	symbols_mini.c dwarf_form.c dwarf_func.c dwarf_line.c dwarf_load.c dwarf_range.c \
	dwarf_unit.c
UU_OBJ := $(patsubst %.c,$(O)/libunwind-user/%.o,$(UU_SRC) $(UU_DEBUG_SRC))
UU_LIB := $(O)/libunwind-user/libunwind-user.a
# What is installed: the same with the functions of unwind-user.h alone, for the rest of the tree
# uses others as well. A group for each section of the header: who only asks for names is not
# linked with what decodes instructions or unpacks debug information. Two of them read .eh_frame.
UU_PUBLIC := $(O)/libunwind-user/installed/libunwind-user.a
UU_SYMBOLS_OBJ := $(filter %/cover.o $(O)/libunwind-user/symbols%,\
	$(UU_SRC:%.c=$(O)/libunwind-user/%.o))
UU_DEBUG_OBJ := $(UU_DEBUG_SRC:%.c=$(O)/libunwind-user/%.o)
UU_CFI_OBJ := $(filter $(O)/libunwind-user/cfi%,$(UU_OBJ))
UU_UNWIND_OBJ := $(filter-out $(UU_SYMBOLS_OBJ) $(UU_DEBUG_OBJ) $(UU_CFI_OBJ) \
	$(O)/libunwind-user/tables%,$(UU_OBJ))
UU_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -fPIC -fvisibility=hidden -Ilibunwind-user \
	-I$(O)/libunwind-user
# Capstone's static library, if there is one: the shared one has another name in each release
UU_LIBS := -lelf -liberty -lz $(or $(firstword $(wildcard \
	$(addsuffix /libcapstone.a,$(shell $(CC) -print-search-dirs | \
		sed -n 's/^libraries: =//p' | tr : ' ')))),-lcapstone)
# for who calls uu_symbols_new_debug()
UU_DEBUG_LIBS := $(UU_LIBS) -llzma -lzstd -ldl

# Tables in the cache belong to the generator that made them: its version is its source. The header
# is written here, and only if that has changed, so that whoever includes it is compiled again.
$(shell mkdir -p $(O)/libunwind-user && cd $(O)/libunwind-user && \
	printf '\043define GEN_VERSION 0x%sull\n' $$(cd $(CURDIR)/libunwind-user && \
		cat cfi*.[ch] gen*.[ch] sframe_*.h arch/*.h arch/*/*.[ch] | \
		sha1sum | cut -c 1-16) >gen_version.tmp; \
	cmp -s gen_version.tmp gen_version.h || mv gen_version.tmp gen_version.h)

# The audit module: no C library, one segment of code. What a user has in CFLAGS must not bring
# one in, so it comes first.
# Empty where there is none: audit_sys.h knows the system calls of some architectures only.
AUDIT_SO := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),\
	$(O)/libunwind-user/libunwind-user-audit.so)
AUDIT_SRC := libunwind-user/audit.c libunwind-user/audit_table.c
AUDIT_CFLAGS = $(CFLAGS) $(CFLAGS_COMMON) -D_GNU_SOURCE -fPIC -fvisibility=hidden -ffreestanding \
	-Os $(AUDIT_GCC) -fno-stack-protector -fno-sanitize=all \
	-fno-lto -fno-profile-arcs -U_FORTIFY_SOURCE -fasynchronous-unwind-tables \
	-I$(O)/libunwind-user
# There is no memset() to make loops calls of
AUDIT_GCC = $(if $(findstring clang,$(shell $(CC) --version)),,-fno-tree-loop-distribute-patterns)
AUDIT_LDFLAGS = -shared -nostdlib -Wl,-z,defs -Wl,-z,noseparate-code -Wl,-z,norelro \
	-Wl,-z,noexecstack -Wl,--hash-style=gnu -Wl,--build-id -Wl,-init,audit_init

ALL_TARGETS += $(UU_LIB) $(UU_PUBLIC) $(AUDIT_SO)
INSTALL_TARGETS += install-libunwind-user

prefix ?= /usr/local

.PHONY: install-libunwind-user
install-libunwind-user: $(UU_PUBLIC) $(AUDIT_SO)
	install -d $(DESTDIR)$(prefix)/lib/pkgconfig $(DESTDIR)$(prefix)/include
	install -m 644 libunwind-user/unwind-user.h $(DESTDIR)$(prefix)/include/
	install -m 644 $(UU_PUBLIC) $(DESTDIR)$(prefix)/lib/
	$(if $(AUDIT_SO),install -d $(DESTDIR)$(prefix)/lib/trace-ustack)
	$(if $(AUDIT_SO),install -m 755 $(AUDIT_SO) $(DESTDIR)$(prefix)/lib/trace-ustack/)
	sed 's|@PREFIX@|$(prefix)|' libunwind-user/libunwind-user.pc.in \
		>$(DESTDIR)$(prefix)/lib/pkgconfig/libunwind-user.pc

$(O)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UU_LIB): $(UU_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

UU_COMMA := ,
UU_EMPTY :=
uu_group = $(1)=$(subst $(UU_EMPTY) $(UU_EMPTY),$(UU_COMMA),$(2))

$(UU_PUBLIC): $(UU_OBJ) scripts/close-archive
	@mkdir -p $(@D)
	CC='$(CC)' AR='$(AR)' CFLAGS='$(CFLAGS)' scripts/close-archive $@ uu_ \
		$(call uu_group,symbols,$(UU_SYMBOLS_OBJ)) \
		$(call uu_group,debug,$(UU_DEBUG_OBJ)) \
		$(call uu_group,cfi,$(UU_CFI_OBJ)) \
		$(call uu_group,unwind,$(UU_UNWIND_OBJ))

AUDIT_HDR := $(addprefix libunwind-user/,audit.h audit_sys.h sframe_format.h tables_format.h \
	unwind_table_uapi.h)

# Linked twice: its own table is made of it, and put behind its code
AUDIT_BARE := $(O)/libunwind-user/audit-bare.so
AUDIT_SELF := $(O)/libunwind-user/audit-self.sframe
AUDIT_LINK = $(CC) $(AUDIT_CFLAGS) $(AUDIT_LDFLAGS) -o $@ $(AUDIT_SRC)

$(AUDIT_BARE): $(AUDIT_SRC) $(AUDIT_HDR) $(O)/libunwind-user/gen_version.h libunwind-user/build.mk
	$(AUDIT_LINK)

$(AUDIT_SELF): $(AUDIT_BARE) $(O)/trace-ustack-tables
	$(O)/trace-ustack-tables make $< -o $@

$(O)/libunwind-user/libunwind-user-audit.so: $(AUDIT_SELF)
	$(AUDIT_LINK) -DAUDIT_SELF='"$(AUDIT_SELF)"'

-include $(UU_OBJ:.o=.d)
