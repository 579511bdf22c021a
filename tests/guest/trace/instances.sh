#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 append="rcupdate.rcu_expedited=1"
#
# Many instances at once: each gets its own stacks. There can be 62 clients of deferred unwinding,
# perf included. The next client gets EBUSY and a line in error_log, and nothing else changes.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH

I=$T/instances
for i in $(seq 63); do
	mkdir $I/i$i || die "instance $i cannot be made"
	echo 64 >$I/i$i/buffer_size_kb
done

got=0 refused=
for i in $(seq 63); do
	if err=$(write 1 $I/i$i/options/$OPT); then
		got=$((got + 1))
	elif [ -z "$refused" ]; then
		refused=$i
		error=$err
	fi
done
say "$got instances have the option on"
# perf takes one at boot
check "at least 61 instances have the option on" at_least $got 61
check "at most 62 instances have the option on" at_most $got 62
check "one more instance is refused" at_least "${refused:-0}" 1
check "the refused instance gets EBUSY" grep -q 'Device or resource busy' <<<"$error"
check "error_log says why" grep -qi 'unwind' $I/i$refused/error_log
say "error_log: $(grep -i unwind $I/i$refused/error_log | head -n 1)"
check "the refused option stays off" is "$(cat $I/i$refused/options/$OPT)" 0
check "one more trigger is refused" is \
	"$(write $OPT $I/i$refused/events/sched/sched_switch/trigger | grep -c busy)" 1
check "a refused trigger is not listed" \
	is "$(grep -cv '^#' $I/i$refused/events/sched/sched_switch/trigger)" 0
check "one more function command is refused" is \
	"$(write "${SYS_PREFIX}_getpriority:$OPT" $I/i$refused/set_ftrace_filter | grep -c busy)" 1
check "a refused function command is not listed" \
	is "$(grep -c $OPT $I/i$refused/set_ftrace_filter)" 0

# The refused instance still records
echo 1 >$I/i$refused/events/syscalls/sys_enter_getpriority/enable
$CALLPATH -o $TEST_TMP/path -n 100 -x plain
echo 0 >$I/i$refused/events/syscalls/sys_enter_getpriority/enable
save_text $I/i$refused
check "the refused instance records events" at_least "$(count 'sys_getpriority\(')" 15
check "the refused instance records no cookie" is "$(count_cookies)" 0

# All instances with the option get the stacks of the same call, with the same cookie
event=syscalls/sys_enter_getpriority	# no shell makes this one
for i in $(seq $got); do
	echo 1 >$I/i$i/events/$event/enable
done
$CALLPATH -o $TEST_TMP/path -n 100 -x plain
for i in $(seq $got); do
	echo 0 >$I/i$i/events/$event/enable
done
bad=0 first=
for i in $(seq $got); do
	[ $i != "$refused" ] || continue
	save_text $I/i$i
	join_events
	n=$(count_events sys_getpriority)
	[ "$n" -ge 15 ] && [ "$(count_with_stack sys_getpriority)" = "$n" ] || {
		echo "     instance $i: $n events with a cookie," \
			"$(count_with_stack sys_getpriority) with a stack"
		bad=$((bad + 1))
	}
	# Cookies and stacks of them
	this=$(grep -oE '<user unwind cookie [0-9a-f]+' $TEST_TMP/text; cat $TEST_TMP/joined)
	first=${first:-$this}
	[ "$this" = "$first" ] || {
		echo "     instance $i: other cookies or stacks than the first"
		bad=$((bad + 1))
	}
done
check "every instance has the same events, cookies and stacks" is $bad 0

# One instance is removed: the refused one can take its place
check "one instance turns the option off" write 0 $I/i1/options/$OPT
check "the refused instance gets the free place" write 1 $I/i$refused/options/$OPT
check "the instance that turned the option off is refused" \
	is "$(write 1 $I/i1/options/$OPT | grep -c busy)" 1
for i in $(seq 63); do
	rmdir $I/i$i || check "instance $i can be removed" false
done
check "without instances, the top level turns the option on" write 1 $T/options/$OPT
finish
