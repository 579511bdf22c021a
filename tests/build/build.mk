# SPDX-License-Identifier: GPL-2.0
# Tests of make itself: its output, the files it would build and the files it would install; and of
# scripts/tally.

CHECK_TARGETS += check-tally
TEST_TARGETS += check-build

.PHONY: check-build check-tally
check-tally:
	@tests/build/tally-output

check-build:
	@tests/build/make-output
