# SPDX-License-Identifier: GPL-2.0
# The installed files, as a program sees them that is built against them.

# what counts lines is defined in each shared object, too
CHECK_TARGETS += $(if $(COVERAGE),,check-install)

.PHONY: check-install
check-install: all
	@CC='$(CC)' CXX='$(CXX)' tests/install/run $(O)
