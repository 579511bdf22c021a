# SPDX-License-Identifier: GPL-2.0
# The harness checks itself: what it cannot fail, it cannot test.

CHECK_TARGETS += lint check-shared check-harness
TEST_TARGETS += check-harness-guest

.PHONY: lint check-shared check-harness check-harness-guest

lint:
	@scripts/lint

check-shared:
	@scripts/check-shared

check-harness:
	@tests/vm/check-harness

check-harness-guest: kernel
	@O=$(abspath $(O)) tests/vm/check-harness --kernel $(KERNEL)
