#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The map event says which file an address of a stack is in, as /proc/PID/maps does. It comes the
# first time a stack touches the mapping, and again whenever a reader could not know otherwise.

. "$(dirname "$0")/../lib.sh"
need_kernel
need_program $CALLPATH $PROG/dlopen-host $PROG/libtouch.so

host=$PROG/dlopen-host

# maps_of PID: the map events of a process in the last save_text(), as lines
# "START-END PGOFF DEV INO [BUILDID] PATH"
maps_of()
{
	sed -n "s/.*<user unwind map $1 \(.*\)>\$/\1/p" $TEST_TMP/text
}

# count_maps PID PATH: the number of map events of a process and a file
count_maps()
{
	maps_of $1 | grep -cE " $2\$"
}

# start_host STEP...: start a program that does one step for each make_step()
start_host()
{
	coproc HOST { exec $host "$@" 2>&1; }
	pid=$HOST_PID
	out=${HOST[0]} in=${HOST[1]}
	check "${host##*/} waits for a line" wait_for is_asleep $pid ${host##*/}
}

# count_sleeps: how often the program has gone to sleep
count_sleeps()
{
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' /proc/$pid/status
}

# has_stepped SLEEPS: the program waits for a line again, or has ended
has_stepped()
{
	! readlink /proc/$pid/exe >/dev/null ||
		{ [ "$(count_sleeps)" != "$1" ] && is_asleep $pid ${host##*/}; }
}

make_step()
{
	local before=$(count_sleeps)
	echo >&$in
	check "the process makes a step" wait_for has_stepped $before
}

end_host()
{
	eval "exec $in>&-"
	wait $pid 2>/dev/null
}

trace_getppid()
{
	echo 1 >$T/options/$OPT
	echo 1 >$T/events/syscalls/sys_enter_getppid/enable
}

need_option userstacktrace_maps
[ -e $T/events/syscalls/sys_enter_getppid/enable ] || die "there is no event sys_enter_getppid"
trace_getppid

# The map events say what /proc/PID/maps says
start_host wait 5 keep:$PROG/libtouch.so wait 5 wait
# Drop the mappings that the shell touched before it executed the program
echo >$T/trace
make_step
save_running_text
cp /proc/$pid/maps $TEST_TMP/proc
check "the program's mapping is recorded" at_least "$(count_maps $pid $host)" 1
check "the library's mapping is recorded" at_least "$(count_maps $pid .*/libtouch.so)" 1
check "each mapping is recorded once, however many stacks" is \
	"$(count_maps $pid $host) $(count_maps $pid .*/libtouch.so)" "1 1"
are_maps_of_proc()
{
	local range pgoff dev ino rest n=0
	maps_of $pid >$TEST_TMP/maps
	while read -r range pgoff dev ino rest; do
		grep -qE "^0*${range%-*}-0*${range#*-} r-xp $pgoff $dev $ino " $TEST_TMP/proc || {
			echo "$range $pgoff $dev $ino $rest is not in /proc/PID/maps:"
			grep r-xp $TEST_TMP/proc
			return 1
		}
		grep "^0*${range%-*}-" $TEST_TMP/proc | grep -qF " ${rest##* }" || {
			echo "another path than $rest in /proc/PID/maps"
			return 1
		}
		n=$((n + 1))
	done <$TEST_TMP/maps
	# the two, and what called main(): on s390x Debian's libc keeps no chain that leads there
	at_least $n $([ $ARCH = s390x ] && echo 2 || echo 3)
}
check "range, offset, device, inode and path are those of /proc/PID/maps" are_maps_of_proc
read -r line <&$out
check "the library's function is in the recorded mapping" \
	test $((0x$(maps_of $pid | sed -n 's/-.*libtouch.so$//p' | head -n 1))) -le \
	$((${line##* }))
maps_of $pid >$TEST_TMP/maps
check "the build ID is that of the file" \
	grep -q " $(cat $PROG/libtouch.buildid) .*libtouch.so" $TEST_TMP/maps

# Nothing new: the same stacks again record no mapping. A cleared buffer has lost them.
n=$(maps_of $pid | wc -l)
make_step
save_running_text
check "more stacks of the same mappings record no mapping" is "$(maps_of $pid | wc -l)" $n
end_host

start_host 3 wait 3 wait 3 wait 3
save_running_text
check "a new process: the mapping is recorded" is "$(count_maps $pid $host)" 1
echo >$T/trace
make_step
save_running_text
check "a cleared buffer: the mapping is recorded again" is "$(count_maps $pid $host)" 1
mkdir $T/instances/m
echo 1 >$T/instances/m/events/syscalls/sys_enter_getppid/enable
echo 1 >$T/instances/m/options/$OPT
make_step
save_running_text $T/instances/m
check "an instance that starts to receive gets the mapping" is "$(count_maps $pid $host)" 1
echo 0 >$T/instances/m/tracing_on
echo >$T/instances/m/trace
echo 1 >$T/instances/m/tracing_on
make_step
save_running_text $T/instances/m
check "an instance that receives again gets the mapping" is "$(count_maps $pid $host)" 1
end_host
rmdir $T/instances/m || check "the instance can be removed" false

# After exec: the same process, other files
echo >$T/trace
$host 2 2 >/dev/null &
wait $!
bash -c "echo \$\$ >$TEST_TMP/pid; exec $host 3"
pid=$(cat $TEST_TMP/pid)
save_running_text
check "after exec the new program is recorded" is "$(count_maps $pid $host)" 1
$CALLPATH -o $TEST_TMP/path -n 40 -x exec,plain
save_running_text
check "each program that callpath executes is recorded" at_least \
	"$(count "<user unwind map [0-9]+ .*$CALLPATH>")" 2

# Another file in the same place: libraries that are opened and closed in turn
cp $PROG/libtouch.so $TEST_TMP/second.so
start_host $PROG/libtouch.so $TEST_TMP/second.so $PROG/libtouch.so wait
save_running_text
read -r line1 <&$out
read -r line2 <&$out
say "$line1"
say "$line2"
check "two libraries are mapped in one place in turn" is "${line1##* }" "${line2##* }"
check "two libraries in one place: the first one is recorded" \
	at_least "$(count_maps $pid .*/libtouch.so)" 1
check "two libraries in one place: the second one is recorded" \
	is "$(count_maps $pid $TEST_TMP/second.so)" 1
check "two libraries in one place: the first one is recorded again" \
	is "$(count_maps $pid .*/libtouch.so)" 2
end_host

# A program file that is removed
cp $host $TEST_TMP/gone
host=$TEST_TMP/gone
start_host 3 wait 3 wait
rm $TEST_TMP/gone
echo >$T/trace
make_step
save_running_text
check "a removed file is named as /proc/PID/maps names it" at_least \
	"$(count_maps $pid "$TEST_TMP/gone \(deleted\)")" 1
end_host
host=$PROG/dlopen-host

# A long path: as long as the file system takes it
deep=$TEST_TMP
for i in $(seq 12); do
	deep=$deep/$(printf 'd%.0s' $(seq 240))
done
if mkdir -p "$deep" && cp $CALLPATH "$deep/prog"; then
	echo >$T/trace
	"$deep/prog" -o $TEST_TMP/path -n 30
	save_running_text
	check "a path of ${#deep} bytes is whole" at_least "$(count " $deep/prog>")" 1
else
	check "a long path can be made" false
fi

# are_first_frames_mapped: the first frame of each stack is in a recorded mapping of the process
are_first_frames_mapped()
{
	record -b 8192 -O $OPT -e syscalls -- bash -c \
		"/bin/ls / >/dev/null; python3 -c 'print(1)';
		$CALLPATH -o $TEST_TMP/path -n 50 -x all" ||
		return 1
	TRACEEVENT_PLUGIN_DIR=/nowhere trace-cmd report -N -i $TEST_TMP/trace.dat 2>/dev/null |
		grep -E 'user_unwind_(map|stack):' >$TEST_TMP/report || return 1
	python3 - $TEST_TMP/report <<-'END'
	import re, sys
	maps, stacks = {}, []
	for line in open(sys.argv[1]):
	    found = re.search(r"user_unwind_map: +([0-9a-f]+)-([0-9a-f]+) .*tgid=(\d+)", line)
	    if found:
	        maps.setdefault(int(found[3]), []).append((int(found[1], 16), int(found[2], 16)))
	    found = re.search(r"tgid=(\d+) flags=([0-9a-f]+) stack=\{?([^}]*)", line)
	    if found:
	        addresses = [int(x, 16) for x in re.findall("0x[0-9a-f]+", found[3])]
	        stacks.append((int(found[1]), addresses))
	bad = n = 0
	for tgid, frames in stacks:
	    n += 1
	    # Frames after the first are only as good as the frame pointers of the code
	    if frames and not any(s <= frames[0] < e for s, e in maps.get(tgid, [])):
	        bad += 1
	        if bad < 4:
	            print("tgid %d: %x is in none of %d mappings" %
	                  (tgid, frames[0], len(maps.get(tgid, []))))
	print("%d stacks, %d not covered, %d mappings" % (n, bad, sum(map(len, maps.values()))))
	sys.exit(bad > 0 or n < 100)
	END
}
check "each stack's first frame is in a mapping that was recorded" are_first_frames_mapped

# A flight recorder: the buffer has overwritten its oldest events several times, with some of the
# mappings. The buffer still has all mappings that its stacks need.
echo 0 >$T/events/enable
echo 1 >$T/options/$OPT
echo >$T/trace
echo 1 >$T/events/raw_syscalls/sys_enter/enable
taskset -c 0 $CALLPATH -o $TEST_TMP/path -n 20000 -x plain -z 256
echo 0 >$T/events/raw_syscalls/sys_enter/enable
save_text
count_overrun()
{
	sed -n 's/^overrun: //p' $T/per_cpu/cpu0/stats
}
check "a full buffer: events were overwritten" at_least "$(count_overrun)" 20000
check "a full buffer: every frame of the newer half is in a recorded mapping" are_frames_mapped 0.5
check "a full buffer: the mapping is recorded a few times only" \
	at_most "$(count "<user unwind map .*$CALLPATH>")" 4

# A buffer that is read all the time has its mappings once
mkdir $T/instances/m
echo 1 >$T/instances/m/options/$OPT
echo 1 >$T/instances/m/events/raw_syscalls/sys_enter/enable
cat $T/instances/m/trace_pipe >$TEST_TMP/text &
reader=$!
taskset -c 0 $CALLPATH -o $TEST_TMP/path -n 6000 -x plain -z 256
echo 0 >$T/instances/m/events/raw_syscalls/sys_enter/enable
is_read_to_the_end()
{
	is "$(sed -n 's/^entries: //p' $T/instances/m/per_cpu/cpu*/stats | sort -u)" 0
}
check "a buffer read all the time: it is read to its end" wait_for is_read_to_the_end
sleep 0.5	# the reader writes the last part
kill $reader
wait $reader 2>/dev/null
check "a buffer read all the time: more stacks than it holds" at_least "$(count_stacks)" 5000
# A reader that has to wait for the CPU can be late by most of a buffer
check "a buffer read all the time: the mapping comes once or twice" \
	at_most "$(count "<user unwind map .*$CALLPATH>")" 2
check "a buffer read all the time: the mapping comes" \
	at_least "$(count "<user unwind map .*$CALLPATH>")" 1
echo 0 >$T/instances/m/options/$OPT
rmdir $T/instances/m || check "the instance can be removed" false
finish
