# SPDX-License-Identifier: GPL-2.0
# Tests of make itself: its output, the files it would build and the files it would install.

TEST_TARGETS += check-build

.PHONY: check-build
check-build:
	@tests/build/make-output
