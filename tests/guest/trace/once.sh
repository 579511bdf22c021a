#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2
#
# options/userstacktrace_once: user_unwind_again stands for a stack that the task had a moment
# before. An instance gets the stack in full again when it may lack it: its buffer was cleared, was
# swapped with the snapshot, or overwrites what it held.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH
ONCE=userstacktrace_once
need_option $ONCE
I=$T/instances
mkdir $I/once $I/all
for dir in $I/once $I/all; do
	echo 16384 >$dir/buffer_size_kb
	echo mono >$dir/trace_clock
	echo 1 >$dir/options/$OPT
done
check "at boot the option is off" is "$(cat $T/options/$ONCE $I/once/options/$ONCE | tr -d '\n')" 00
check "the option is turned on" write 1 $I/once/options/$ONCE

# read_stacks DIR: write a line "TID COOKIE CPU FLAGS FRAME..." to $TEST_TMP/stacks.NAME for each
# stack in the buffer of the instance, in full or again, in order. A stack that it had not before is
# "TID COOKIE CPU unknown". Nothing is recorded meanwhile, so that no buffer overflows.
read_stacks()
{
	echo 0 >$1/tracing_on
	cat $1/trace >$TEST_TMP/text
	python3 - $TEST_TMP/text >$TEST_TMP/stacks.${1##*/} <<-'EOF'
	import re, sys
	order, known, last = [], {}, None
	for line in open(sys.argv[1]):
	    frame = re.match(r" => +<?(?:0x)?([0-9a-f]+)", line)
	    if frame and last:
	        known[last].append(frame[1])
	        continue
	    last = None
	    found = re.search(r"-(\d+) +\[(\d+)\].*<user unwind (stack|again) (\w+)([^>]*)>", line)
	    if not found:
	        continue
	    tid, cpu, kind, cookie, more = found.groups()
	    if kind == "stack":
	        last = tid, cookie
	        known[last] = [more.replace(" ", ",") or "-"]
	        order.append((tid, cookie, int(cpu), known[last]))
	    else:
	        first = more.split(" as ")[1]
	        order.append((tid, cookie, int(cpu), known.get((tid, first), ["unknown"])))
	for tid, cookie, cpu, stack in order:
	    print(tid, cookie, cpu, *stack)
	EOF
	echo 1 >$1/tracing_on
}

count_again()
{
	count '<user unwind again [0-9a-f]+ as [0-9a-f]+>'
}

count_unknown()
{
	grep -c 'unknown$' $TEST_TMP/stacks.once
}

# record_both COMMAND...: both instances record its system calls
record_both()
{
	local dir
	for dir in $I/once $I/all; do
		echo >$dir/trace
		echo 1 >$dir/options/event-fork
	done
	sh -c 'for dir in "$0"/once "$0"/all; do
			echo $$ >$dir/set_event_pid
			echo 1 >$dir/events/raw_syscalls/sys_enter/enable
		done
		exec "$@"' $I "$@" >/dev/null 2>$TEST_TMP/command.err
	for dir in $I/once $I/all; do
		echo 0 >$dir/events/raw_syscalls/sys_enter/enable
		echo >$dir/set_event_pid
	done
	read_stacks $I/all
	read_stacks $I/once
}

# same_stacks: each stack that both have is the same. Tasks that end, and the first and the last
# system call of the recording, can be in one of them only.
same_stacks()
{
	python3 - $TEST_TMP/stacks.once $TEST_TMP/stacks.all <<-'EOF'
	import sys
	once, every = ({tuple(line.split()[:2]): line.split()[3:] for line in open(path)}
	               for path in sys.argv[1:])
	both = set(once) & set(every)
	wrong = [key for key in both if once[key] != every[key]]
	print("%d stacks in one, %d in the other, %d in both" % (len(once), len(every), len(both)))
	for key in wrong[:3]:
	    print("WRONG: of task %s, cookie %s:\n  %s\n  %s" % (*key, once[key], every[key]))
	sys.exit(bool(wrong) or 100 * len(both) < 99 * len(every) or len(both) < 100)
	EOF
}

check_both()
{
	local what=$1
	shift
	record_both "$@"
	check "$what: both instances have the same stacks" same_stacks
	check "$what: no stack is unknown" none_lost $(count_unknown)
	say "$what: $(count_again) of $(wc -l <$TEST_TMP/stacks.once) stacks again"
}
check_both "dd" dd if=/dev/zero of=/dev/null bs=1 count=2000
check "dd: most stacks come again" at_least "$(count_again)" 3000
check_both "threads, signals, processes, exec by a thread" \
	$CALLPATH -o $TEST_TMP/path -t 4 -n 100 -x all
check_both "Python" python3 -c '
import os, threading
def work(n):
    for i in range(300):
        os.getppid() if i % n else os.stat("/")
all = [threading.Thread(target=work, args=(n,)) for n in (2, 3, 5)]
for t in all: t.start()
for t in all: t.join()'
check "Python: most stacks come again" at_least "$(count_again)" 500

# A task in a loop, while its stacks are thrown away or moved
dd if=/dev/zero of=/dev/null bs=1 2>/dev/null &
loop=$!
wait_for executes $loop dd
echo $loop >$I/once/set_event_pid
echo 1 >$I/once/events/raw_syscalls/sys_enter/enable

# run_loop: record the loop for some time
run_loop()
{
	sleep 0.05
	read_stacks $I/once
}
echo >$I/once/trace
run_loop
check "a loop: a stack comes again and again" at_least "$(count_again)" $((10 * $(count_stacks)))
for ((i = 0; i < 3; i++)); do
	echo >$I/once/trace
	run_loop
	check "after the buffer was cleared: a stack in full" at_least "$(count_stacks)" 1
	check "after the buffer was cleared: no stack is unknown" none_lost $(count_unknown)
	echo 1 >$I/once/snapshot
	run_loop
	check "after a snapshot: a stack in full" at_least "$(count_stacks)" 1
	check "after a snapshot: no stack is unknown" none_lost $(count_unknown)
done
echo 0 >$I/once/options/$ONCE
echo >$I/once/trace
run_loop
check "without the option: each stack in full" at_least "$(count_stacks)" 10
check "without the option: none again" is "$(count_again)" 0
echo 1 >$I/once/options/$ONCE
kill $loop
wait $loop 2>/dev/null
echo 0 >$I/once/events/raw_syscalls/sys_enter/enable
echo >$I/once/set_event_pid

# A flight recorder: the newer half of the buffer has all stacks that it refers to
echo 64 >$I/once/buffer_size_kb
echo >$I/once/trace
echo 1 >$I/once/events/raw_syscalls/sys_enter/enable
for ((i = 0; i < 3; i++)); do
	# on one CPU, where the buffer is overwritten faster, and moved by the scheduler
	taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=8000 2>/dev/null
	dd if=/dev/zero of=/dev/null bs=1 count=4000 2>/dev/null
done
echo 0 >$I/once/events/raw_syscalls/sys_enter/enable
read_stacks $I/once
check "a full buffer: events were overwritten" \
	at_least "$(sed -n 's/^overrun: //p' $I/once/per_cpu/cpu0/stats)" 5000
check "a full buffer: most stacks come again" at_least "$(count_again)" $((3 * $(count_stacks)))
for ((cpu = 0; cpu < NCPU; cpu++)); do
	awk -v cpu=$cpu '$3 == cpu' $TEST_TMP/stacks.once >$TEST_TMP/of_cpu
	lines=$(wc -l <$TEST_TMP/of_cpu)
	say "CPU $cpu: $lines stacks, $(grep -c 'unknown$' $TEST_TMP/of_cpu) unknown"
	check "a full buffer of CPU $cpu: the newer half knows each stack" \
		none_lost $(tail -n $((lines / 2)) $TEST_TMP/of_cpu | grep -c 'unknown$')
done

for dir in $I/once $I/all; do
	echo 0 >$dir/options/$OPT
	check "instance ${dir##*/} can be removed" rmdir $dir
done

# trace.dat: by the checker's own join, and by the plugin's
CALLPATH_OPTIONS="-b 8192 -O $ONCE" check_callpath "trace-cmd" $CALLPATH -t 2 -n 100 -x all

# the same of stacks that nearly all come again
check "trace-cmd, a loop: recorded" record -b 8192 -O $OPT -O $ONCE -e raw_syscalls:sys_enter -- \
	dd if=/dev/zero of=/dev/null bs=1 count=2000
check "trace-cmd, a loop: reported" report
check "trace-cmd, a loop: most stacks come again" \
	at_least "$(grep -c ' user_unwind_again: ' $TEST_TMP/report)" 3000
check "trace-cmd, a loop: no stack is lost" \
	none_lost $(grep -cE '\[user\] <(lost|not recorded)' $TEST_TMP/report)
keep $TEST_TMP/trace.dat $TEST_TMP/text
finish
