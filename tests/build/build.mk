# SPDX-License-Identifier: GPL-2.0
# Tests of make itself: its output, the files it would build and the files it would install. Tests
# of scripts/tally, and of the scripts that download packages.

CHECK_TARGETS += check-tally
TEST_TARGETS += check-build check-downloads

.PHONY: check-build check-downloads check-tally
check-tally:
	@tests/build/tally-output

check-build:
	@tests/build/make-output

check-downloads:
	@tests/build/downloads
