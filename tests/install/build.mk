# SPDX-License-Identifier: GPL-2.0
# What is installed, as those see it who build against it.

CHECK_TARGETS += check-install

.PHONY: check-install
check-install: all
	@CC='$(CC)' CXX='$(CXX)' tests/install/installed $(O)
