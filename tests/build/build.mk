# SPDX-License-Identifier: GPL-2.0
# Tests of make itself: its output, the files it would build and the files it would install. Tests
# of scripts/tally, of the scripts that download packages, and of clones that share a kernel.

CHECK_TARGETS += check-tally check-kernel-lock
TEST_TARGETS += check-build check-downloads

.PHONY: check-build check-downloads check-kernel-lock check-tally
check-tally:
	@tests/build/tally-output

check-build:
	@tests/build/make-output

check-kernel-lock:
	@tests/build/kernel-lock

check-downloads:
	@tests/build/downloads

# The tests of this machine, as if it lacked one thing: a test that needs the thing is skipped.
# T="TARGET..." makes these targets instead.
WITHOUT := bpf perf ptrace user-namespaces namespaces tracefs instances capabilities network \
	terminal input home home-name root root-user-namespaces
WITHOUT_RUN = $(filter-out lint,$(CHECK_TARGETS)) check-build check-downloads check-flame \
	check-flame-browser check-record check-symbols check-tool-damaged test-kshark test-native
FULL_TARGETS += $(WITHOUT:%=test-without-%)

.PHONY: test-without $(WITHOUT:%=test-without-%)
test-without: build test-programs
	@+$(SUB) test-without-steps

test-without-steps:
	@+scripts/tally $(WITHOUT:%=test-without-%)

$(WITHOUT:%=test-without-%): test-without-%:
	@+TALLY_LOGS=$(abspath $(O))/log/$@ tests/build/without $(subst root-,root$(COMMA),$*) \
		scripts/tally -j2 $(or $(T),$(WITHOUT_RUN))
