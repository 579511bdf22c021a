#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A 32-bit program on arm64: its stack is only the current address, and has the flags for 32-bit and
# incomplete. There is no compiler for such a program here, so the program is written in machine
# words.

. "$(dirname "$0")/../lib.sh"
[ $ARCH = arm64 ] || skip_test "on arm64 only: there are 32-bit Arm programs"
need_kernel

python3 - $TEST_TMP/arm <<'END'
import struct, sys
CODE = [0xe3a04014,     # mov r4, #20
        0xe3a07040,     # 1: mov r7, #64 (getppid)
        0xef000000,     # svc 0
        0xe2544001,     # subs r4, r4, #1
        0x1afffffb,     # bne 1b
        0xe3a00000,     # mov r0, #0
        0xe3a07001,     # mov r7, #1 (exit)
        0xef000000]     # svc 0
code = struct.pack("<8I", *CODE)
size = 52 + 32 + len(code)
head = struct.pack("<16sHHIIIIIHHHHHH", b"\x7fELF\x01\x01\x01", 2, 40, 1, 0x10054, 52, 0,
                   0x5000200, 52, 32, 1, 0, 0, 0)
load = struct.pack("<8I", 1, 0, 0x10000, 0x10000, size, size, 5, 0x1000)
open(sys.argv[1], "wb").write(head + load + code)
END
chmod +x $TEST_TMP/arm
echo 1 >$T/options/$OPT
echo 'comm == "arm" && id == 64' >$T/events/raw_syscalls/sys_enter/filter
echo 1 >$T/events/raw_syscalls/sys_enter/enable
check "the 32-bit program runs" $TEST_TMP/arm
echo 0 >$T/events/raw_syscalls/sys_enter/enable
echo 0 >$T/events/raw_syscalls/sys_enter/filter
save_text
join_events
check "each call has a cookie" is "$(count_events sys_enter)" 20
check "each stack is the address where the call returns to" is \
	"$(grep -c '^sys_enter 10060$' $TEST_TMP/joined)" 20
check "each stack is marked compat and incomplete" \
	is "$(count '<user unwind stack [0-9a-f]+ compat incomplete>')" 20
keep $TEST_TMP/text
finish
