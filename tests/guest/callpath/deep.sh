#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Deep recursion: MORE splits a stack that is too large for one event. A stack beyond the limit of
# 512 frames is cut and has the flag TRUNCATED. No stack is lost because of its depth.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $CALLPATH32 $PROG/callpath-check

for program in $CALLPATH $CALLPATH32; do
	[ $program = $CALLPATH ] || [ $ARCH = amd64 ] || continue
	check_callpath "$(basename $program)" $program -n 1 -d 10,100,254,255,256,400,508,600,900
	# 600 and 900: at least sys_enter and sys_exit of three calls each
	check "cut stacks are marked" at_least "$(sed -n 's/.*right (\([0-9]*\) cut.*/\1/p' \
		$TEST_TMP/verdict)" 12
done

# The same with the smallest sub-buffers that the kernel has, and with larger ones
for kb in 4 16; do
	echo $kb >$T/buffer_subbuf_size_kb || die "sub-buffers of $kb KiB cannot be set"
	check_callpath "sub-buffers of $kb KiB" $CALLPATH -n 1 -d 400,600
done
echo 4 >$T/buffer_subbuf_size_kb
finish
