# SPDX-License-Identifier: LGPL-2.1-or-later
# libunwind-user: the library, static for now; the top Makefile includes this file. man/ has a page
# for each group of functions. The NAME line of the page lists the functions. The page has the name
# of one function, and the other functions get a link to it.

O ?= build
CFLAGS_COMMON ?= -std=gnu11 -O2 -g -Wall -Wextra

# The directories with sources of the library; docs/architecture.md says which room may use which.
# Only callers of uu_symbols_new_debug() are linked with UU_DEBUG_ROOMS.
GEN_ROOMS := cfi go arch arch/amd64 arch/arm64 arch/s390x arch/i386 rows flow gen
UU_ROOMS := base sframe $(GEN_ROOMS) tables symbols unwind
UU_DEBUG_ROOMS := dwarf symbols/debug
uu_room = $(patsubst libunwind-user/%,%,$(sort $(wildcard $(1:%=libunwind-user/%/*.c))))
UU_SRC := $(call uu_room,$(UU_ROOMS))
UU_DEBUG_SRC := $(call uu_room,$(UU_DEBUG_ROOMS))
UU_OBJ := $(patsubst %.c,$(O)/libunwind-user/%.o,$(UU_SRC) $(UU_DEBUG_SRC))
UU_LIB := $(O)/libunwind-user/libunwind-user.a
# The installed library defines only the functions of unwind-user.h; the rest of the tree uses other
# functions, too. It has a group of objects for each section of the header. So a program that only
# asks for names is not linked with the code that decodes instructions or unpacks debug information.
# Two groups read .eh_frame, two read Go's tables, and three read LEB128 numbers.
UU_PUBLIC := $(O)/libunwind-user/installed/libunwind-user.a
UU_SYMBOLS_OBJ := $(patsubst %.c,$(O)/libunwind-user/%.o,$(filter-out base/bytes.c,\
	$(call uu_room,base symbols)))
UU_DEBUG_OBJ := $(UU_DEBUG_SRC:%.c=$(O)/libunwind-user/%.o)
UU_CFI_OBJ := $(patsubst %.c,$(O)/libunwind-user/%.o,$(call uu_room,cfi go) base/bytes.c)
UU_UNWIND_OBJ := $(filter-out $(UU_SYMBOLS_OBJ) $(UU_DEBUG_OBJ) $(UU_CFI_OBJ) \
	$(O)/libunwind-user/tables%,$(UU_OBJ))
UU_CFLAGS = $(CFLAGS_COMMON) -D_GNU_SOURCE -fPIC -fvisibility=hidden -I. \
	-I$(O)/libunwind-user
# Capstone's static library, if there is one: the shared one has another name in each release
UU_LIBS := -lelf -liberty -lz $(or $(firstword $(wildcard \
	$(addsuffix /libcapstone.a,$(shell $(CC) -print-search-dirs | \
		sed -n 's/^libraries: =//p' | tr : ' ')))),-lcapstone)
# for callers of uu_symbols_new_debug()
UU_DEBUG_LIBS := $(UU_LIBS) -llzma -lzstd -ldl

# Tables in the cache belong to the generator that made them. The generator's version is the hash of
# its source. The header is written only if the version has changed, so that make compiles the files
# again that include it.
$(shell mkdir -p $(O)/libunwind-user && cd $(O)/libunwind-user && \
	printf '\043define GEN_VERSION 0x%sull\n' $$(cd $(CURDIR)/libunwind-user && \
		cat sframe/*.h base/bytes.[ch] $(GEN_ROOMS:%=%/*.[ch]) | \
		sha1sum | cut -c 1-16) >gen_version.$$$$; \
	if cmp -s gen_version.$$$$ gen_version.h; then rm gen_version.$$$$; \
	else mv gen_version.$$$$ gen_version.h; fi)

# The audit module: no C library, one segment of code. A user's CFLAGS must not bring in a library,
# so they come first.
# Empty on architectures without the module: audit/sys.h has the system calls of some only.
AUDIT_SO := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),\
	$(O)/libunwind-user/libunwind-user-audit.so)
AUDIT_SRC := libunwind-user/audit/audit.c libunwind-user/audit/table.c
AUDIT_CFLAGS = $(CFLAGS) $(filter-out $(COVERAGE_BUILD),$(CFLAGS_COMMON)) -D_GNU_SOURCE -fPIC \
	-fvisibility=hidden -ffreestanding -Os $(AUDIT_GCC) -fno-stack-protector -fno-sanitize=all \
	-fno-lto -fno-profile-arcs -U_FORTIFY_SOURCE -fasynchronous-unwind-tables \
	-I. -I$(O)/libunwind-user
# GCC must not turn loops into calls of memset(): the module has no memset()
AUDIT_GCC = $(if $(findstring clang,$(shell $(CC) --version)),,-fno-tree-loop-distribute-patterns)
AUDIT_LDFLAGS = -shared -nostdlib -Wl,-z,defs -Wl,-z,noseparate-code -Wl,-z,norelro \
	-Wl,-z,noexecstack -Wl,--hash-style=gnu -Wl,--build-id -Wl,-init,audit_init

ALL_TARGETS += $(UU_LIB) $(UU_PUBLIC) $(AUDIT_SO)
INSTALL_TARGETS += install-libunwind-user

prefix ?= /usr/local
UU_MAN := $(wildcard libunwind-user/man/*.3)

.PHONY: install-libunwind-user
install-libunwind-user: $(UU_PUBLIC) $(AUDIT_SO)
	install -d $(DESTDIR)$(prefix)/lib/pkgconfig $(DESTDIR)$(prefix)/include
	install -m 644 libunwind-user/unwind-user.h $(DESTDIR)$(prefix)/include/
	install -m 644 $(UU_PUBLIC) $(DESTDIR)$(prefix)/lib/
	$(if $(AUDIT_SO),install -d $(DESTDIR)$(prefix)/lib/trace-ustack)
	$(if $(AUDIT_SO),install -m 755 $(AUDIT_SO) $(DESTDIR)$(prefix)/lib/trace-ustack/)
	sed 's|@PREFIX@|$(prefix)|; s|@VERSION@|$(VERSION)|' libunwind-user/libunwind-user.pc.in \
		>$(DESTDIR)$(prefix)/lib/pkgconfig/libunwind-user.pc
	install -d $(DESTDIR)$(prefix)/share/man/man3
	$(call install_man,$(UU_MAN),$(DESTDIR)$(prefix)/share/man/man3)
	cd $(DESTDIR)$(prefix)/share/man/man3 && for page in $(notdir $(UU_MAN)); do \
		for name in $$(sed -n '/^\.SH NAME/{n;s/ \\-.*//;s/,//g;p;q}' $$page); do \
			[ $$name.3 = $$page ] || ln -sf $$page $$name.3 || exit; \
		done; \
	done

$(O)/libunwind-user/%.o: libunwind-user/%.c
	@mkdir -p $(@D)
	$(Q_CC)$(CC) $(UU_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UU_LIB): $(UU_OBJ)
	@rm -f $@
	$(Q_AR)$(AR) rcs $@ $^

UU_COMMA := ,
UU_EMPTY :=
uu_group = $(1)=$(subst $(UU_EMPTY) $(UU_EMPTY),$(UU_COMMA),$(2))

$(UU_PUBLIC): $(UU_OBJ) scripts/close-archive
	@mkdir -p $(@D)
	$(Q_AR)CC='$(CC)' AR='$(AR)' CFLAGS='$(CFLAGS)' scripts/close-archive $@ uu_ \
		$(call uu_group,symbols,$(UU_SYMBOLS_OBJ)) \
		$(call uu_group,debug,$(UU_DEBUG_OBJ)) \
		$(call uu_group,cfi,$(UU_CFI_OBJ)) \
		$(call uu_group,unwind,$(UU_UNWIND_OBJ))

AUDIT_HDR := $(wildcard $(addprefix libunwind-user/,audit/*.h sframe/*.h abi/*.h))

# Linked twice: the table is made from the first link, and put after the code in the second
AUDIT_BARE := $(O)/libunwind-user/audit-bare.so
AUDIT_SELF := $(O)/libunwind-user/audit-self.sframe
AUDIT_LINK = $(CC) $(AUDIT_CFLAGS) $(AUDIT_LDFLAGS) -o $@ $(AUDIT_SRC)

$(AUDIT_BARE): $(AUDIT_SRC) $(AUDIT_HDR) $(O)/libunwind-user/gen_version.h libunwind-user/build.mk
	$(Q_LD)$(AUDIT_LINK)

AUDIT_OWN := $(O)/libunwind-user/audit/make_own_table

$(AUDIT_OWN): $(AUDIT_OWN).o $(UU_LIB)
	$(Q_LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(UU_LIBS)

$(AUDIT_SELF): $(AUDIT_BARE) $(AUDIT_OWN)
	$(Q_GEN)$(AUDIT_OWN) $< $@

$(O)/libunwind-user/libunwind-user-audit.so: $(AUDIT_SELF)
	$(Q_LD)$(AUDIT_LINK) -DAUDIT_SELF='"$(AUDIT_SELF)"'

-include $(UU_OBJ:.o=.d) $(AUDIT_OWN).d
