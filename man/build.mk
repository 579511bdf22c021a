# SPDX-License-Identifier: GPL-2.0
# Man pages of the programs in bin/ and of the audit module. The plugin's page is in plugin/.

O ?= build
prefix ?= /usr/local

INSTALL_TARGETS += install-man
CHECK_TARGETS += check-man

.PHONY: check-man install-man

install-man:
	install -d $(DESTDIR)$(prefix)/share/man/man1 $(DESTDIR)$(prefix)/share/man/man7
	$(call install_man,$(wildcard man/*.1),$(DESTDIR)$(prefix)/share/man/man1)
	$(call install_man,$(wildcard man/*.7),$(DESTDIR)$(prefix)/share/man/man7)

# Everything that is installed, as it would be
check-man: all
	@rm -rf $(O)/check-man
	@$(MAKE) -s --no-print-directory install DESTDIR= prefix=$(abspath $(O))/check-man
	@scripts/check-man $(O)/check-man
