# SPDX-License-Identifier: GPL-2.0
# What is installed, as those see it who build against it.

# what counts lines is defined in each shared object, too
CHECK_TARGETS += $(if $(COVERAGE),,check-install)

.PHONY: check-install
check-install: all
	@CC='$(CC)' CXX='$(CXX)' tests/install/installed $(O)
