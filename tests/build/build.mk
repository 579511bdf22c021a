# SPDX-License-Identifier: GPL-2.0
# Tests of make itself: its output, the files it would build and the files it would install. Tests
# of the scripts that download packages.

TEST_TARGETS += check-build check-downloads

.PHONY: check-build check-downloads
check-build:
	@tests/build/make-output

check-downloads:
	@tests/build/downloads
