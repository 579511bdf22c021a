# SPDX-License-Identifier: GPL-2.0
# The installed files, as a program sees them that is built against them.

# With COVERAGE=1 each shared object also defines the functions that count lines
CHECK_TARGETS += $(if $(COVERAGE),,check-install)

.PHONY: check-install
check-install: all
	@CC='$(CC)' CXX='$(CXX)' tests/install/installed $(O)
