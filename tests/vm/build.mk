# SPDX-License-Identifier: GPL-2.0
# The harness checks itself: what it cannot fail, it cannot test.

CHECK_TARGETS += lint check-harness
TEST_TARGETS += check-harness-guest

.PHONY: lint check-harness check-harness-guest

lint:
	@scripts/lint

check-harness:
	@tests/vm/check-harness

check-harness-guest: kernel
	@O=$(abspath $(O)) tests/vm/check-harness --kernel $(KERNEL)
