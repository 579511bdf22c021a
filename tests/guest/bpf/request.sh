#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# BPF programs ask for stacks: they get the cookies and the stacks that ftrace records. `make
# test-bpf` builds a kernel that can do it, and boots it.

. "$(dirname "$0")/../lib.sh"
export LC_ALL=C
need_kernel
need_program $CALLPATH $BUILD/samples/bpf-stack/bpf-stack
STACK=$BUILD/samples/bpf-stack

mkfifo $TEST_TMP/in
$STACK/bpf-stack $STACK/bpf-stack.bpf.o <$TEST_TMP/in >$TEST_TMP/bpf 2>$TEST_TMP/err &
bpf=$!
exec 7>$TEST_TMP/in
wait_for grep -q ready $TEST_TMP/bpf || { cat $TEST_TMP/err; die "bpf-stack does not start"; }

echo 4096 >$T/buffer_size_kb
echo 1 >$T/events/sched/sched_process_fork/enable
echo 1 >$T/options/$OPT
# All kinds of fork: threads, vfork, children
$CALLPATH -o $TEST_TMP/path -n 100 -c 2 -t 2 -x plain,fork,vfork
for i in 1 2 3 4 5 6 7 8 9 10; do
	( : )
done
echo 0 >$T/events/sched/sched_process_fork/enable
echo 0 >$T/options/$OPT
save_text
sleep 0.5
exec 7>&-
wait $bpf
check "bpf-stack loses nothing" is $? 0
cat $TEST_TMP/err

# stacks: "TID COOKIE FLAG... FRAME..." of each side, with the names of flags that ftrace prints
awk '/^stack / {
		at = index("0123456789abcdef", substr($6, length($6) - 1, 1)) - 1
		high = length($6) > 2 ? index("01", substr($6, 1, 1)) - 1 : 0
		line = $2 " " $4
		if (at % 2) line = line " truncated"
		if (int(at / 2) % 2) line = line " compat"
		if (int(at / 8)) line = line " incomplete"
		if (high) line = line " frame-pointer"
		for (i = 7; i <= NF; i++) line = line " " $i
		print line
	}' $TEST_TMP/bpf | sort -u >$TEST_TMP/theirs
awk 'function task(s) { sub(/ +\[[0-9]+\].*/, "", s); sub(/.*-/, "", s); return s }
	/<user unwind cookie / {
		c = $0; sub(/.*cookie /, "", c); sub(/>.*/, "", c)
		print task($0), c >asked; key = ""; next
	}
	/<user unwind stack / {
		c = $0; sub(/.*stack /, "", c); sub(/>.*/, "", c)
		key = task($0) " " c; stack[key] = stack[key]; next
	}
	/^ *=> / && key { f = $2; gsub(/[<>]/, "", f); sub(/^(0x)?0*/, "", f)
		stack[key] = stack[key] " " f; next }
	{ key = "" }
	END { for (k in stack) print k stack[k] }' asked=$TEST_TMP/ours-asked $TEST_TMP/text |
	sort -u >$TEST_TMP/ours
sort -u $TEST_TMP/ours-asked -o $TEST_TMP/ours-asked
forks=$(awk '/^fork / && $4 != "0" { print $2, $4 }' $TEST_TMP/bpf | sort -u | tee $TEST_TMP/asked |
	wc -l)
awk '{ print $1, $2 }' $TEST_TMP/theirs | sort -u >$TEST_TMP/answered
check "programs ask for stacks" at_least "$forks" 20
check "programs have each cookie that ftrace has" is \
	"$(comm -23 $TEST_TMP/ours-asked $TEST_TMP/asked | wc -l)" 0
check "each request is answered" is "$(comm -23 $TEST_TMP/asked $TEST_TMP/answered | wc -l)" 0
check "stacks have frames of the program" at_least "$(grep -cE " $IN_PROGRAM" $TEST_TMP/theirs)" 10
same=$(comm -12 $TEST_TMP/theirs $TEST_TMP/ours | wc -l)
check "they are the stacks that ftrace records" at_least "$same" 20
say "$forks requests, $(wc -l <$TEST_TMP/theirs) stacks, $same of them in the trace of ftrace"
# ftrace has those of its events only, and BPF all that it asked for
awk 'FNR == NR { have[$1 " " $2] = $0; next }
     ($1 " " $2) in have && have[$1 " " $2] != $0 { print; print have[$1 " " $2] }' \
	$TEST_TMP/ours $TEST_TMP/theirs >$TEST_TMP/differ
check "no stack differs from that of ftrace" is "$(wc -l <$TEST_TMP/differ)" 0
head -n 4 $TEST_TMP/differ
finish
