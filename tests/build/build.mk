# SPDX-License-Identifier: GPL-2.0
# The promises of make itself: what it prints, builds and installs.

TEST_TARGETS += check-build

.PHONY: check-build
check-build:
	@tests/build/make-output
