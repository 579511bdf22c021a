# SPDX-License-Identifier: GPL-2.0
#
# Shared by the guest tests. Tests source this file.
#
# A test is a row of `check WHAT COMMAND...` lines and ends with `finish`. Each check prints ok, or
# FAIL with the output of the command. The test fails if a check has failed.

T=/sys/kernel/tracing
BUILD=/host/tree/build
CALLPATH=$BUILD/samples/callpath/callpath
CALLPATH32=$BUILD/samples/callpath/callpath32
PROG=$BUILD/tests/guest
OPT=userstacktrace_deferred
NCPU=$(nproc)
# Facts of the architecture: Debian's name, the prefix of system call functions, the number
# of sched_yield(), the dynamic loader, where the linker puts a program that is not position
# independent, and a pattern for addresses in such a small program
MACHINE=$(uname -m)
LINKED_AT=0x400000 IN_PROGRAM='40[0-9a-f]{4}'
case $MACHINE in
s390x)
	ARCH=s390x SYS_PREFIX=__s390x_sys NR_YIELD=158 LOADER=/lib/ld64.so.1
	LINKED_AT=0x1000000 IN_PROGRAM='10[0-9a-f]{5}'
	;;
aarch64)
	ARCH=arm64 SYS_PREFIX=__arm64_sys NR_YIELD=124
	LOADER=/lib/ld-linux-aarch64.so.1
	;;
*)
	ARCH=amd64 SYS_PREFIX=__x64_sys NR_YIELD=24
	LOADER=/lib64/ld-linux-x86-64.so.2
	;;
esac
LIBS=/lib/$MACHINE-linux-gnu
# On big-endian machines, trace-cmd 3.3.1 cannot read its own compressed files: "cannot uncompress
# section block"
PLAIN=
[ $ARCH != s390x ] || PLAIN="--compression none"
TEST_TMP=${TEST_TMP:-$(mktemp -d)}
checks_verbose=1 checks_lines=10000
. "${BASH_SOURCE[0]%/*}/../lib/checks.sh"

say()
{
	echo "     $*"
}

# skip_test WHY: end the test with the exit code that says skipped
skip_test()
{
	echo "SKIP: $*"
	exit 4
}

# only_amd64 WHY: skip the test on other architectures
only_amd64()
{
	[ $ARCH = amd64 ] || skip_test "on amd64 only: $*"
}

# die WHY: end a test that cannot start
die()
{
	echo "FAIL: $*"
	exit 1
}

# check_not WHAT COMMAND...: the command must fail
check_not()
{
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		fail "$what: '$*' should have failed"
		[ -z "$out" ] || sed 's/^/  | /' <<<"$out"
	else
		pass "$what"
	fi
}

finish()
{
	[ $failed = 0 ] || echo "$failed checks failed"
	exit $((failed > 0))
}

need_kernel()
{
	[ -e $T/options/$OPT ] ||
		die "options/$OPT is missing: this kernel has no deferred user stacks"
}

# need_option NAME: the kernel has options/NAME
need_option()
{
	[ -e $T/options/$1 ] || die "options/$1 is missing"
}

need_program()
{
	local p
	for p in "$@"; do
		# there are no 32-bit programs elsewhere
		[ "$p" != $CALLPATH32 ] || [ $ARCH = amd64 ] || continue
		[ -x "$p" ] || die "$p is missing: run make first"
	done
}

# load_module NAME [PARAMETER=VALUE...]: load a module of this tree
load_module()
{
	local ko=$BUILD/$1
	shift
	[ -e "$ko" ] || die "$ko is missing: make samples-modules tests-modules with KERNEL set"
	insmod "$ko" "$@"
}

# wait_for COMMAND...: wait until COMMAND succeeds, at most two minutes. If it does not, print its
# output
wait_for()
{
	local end=$((SECONDS + 120)) out
	until out=$("$@" 2>&1); do
		[ $SECONDS -lt $end ] || { echo "not within two minutes: $* $out"; return 1; }
		sleep 0.05
	done
}

# is_asleep PID NAME: the process executes the program NAME, and sleeps
is_asleep()
{
	grep -qx "$2" /proc/$1/comm && grep -q '^State:.S' /proc/$1/status
}

# executes PID NAME: the process has the code of the file NAME
executes()
{
	grep -q " r-xp .*/$2\b" /proc/$1/maps
}

# at_least N MIN, at_most N MAX
at_least()
{
	[ "$1" -ge "$2" ] || { echo "$1 is less than $2"; return 1; }
}

at_most()
{
	[ "$1" -le "$2" ] || { echo "$1 is more than $2"; return 1; }
}

# none_lost N, none_wrong N: N, a number of requests without a stack or of wrong stacks, is 0. The
# runner does not repeat a failed test whose log says "LOST: " or "WRONG: ".
none_lost()
{
	[ "$1" = 0 ] || { echo "LOST: ${1:-unknown} stacks or requests"; return 1; }
}

none_wrong()
{
	[ "$1" = 0 ] || { echo "WRONG: ${1:-unknown} stacks or cookies"; return 1; }
}

# each_has_stack EVENT: each EVENT of the last join_events() has a stack
each_has_stack()
{
	none_lost $(($(count_events "$1") - $(count_with_stack "$1")))
}

# write TEXT FILE: write to tracefs, and print the error if that fails
write()
{
	{ echo "$1" >"$2"; } 2>&1
}

# save_text [DIR]: save the text of the buffer, or of the instance DIR, in $TEST_TMP/text. Recording
# is off meanwhile: otherwise the read could go on for ever.
save_text()
{
	local dir=${1:-$T}
	echo 0 >$dir/tracing_on
	cat $dir/trace >$TEST_TMP/text
	echo 1 >$dir/tracing_on
}

# save_running_text [DIR]: the same while recording goes on, for events that cat does not cause
save_running_text()
{
	cat "${1:-$T}/trace" >$TEST_TMP/text
}

# count PATTERN: the number of matching lines of the last save_text()
count()
{
	grep -cE -- "$1" $TEST_TMP/text
}

count_cookies()
{
	count '<user unwind cookie [0-9a-f]+>'
}

count_stacks()
{
	count '<user unwind stack [0-9a-f]+'
}

# count_unpaired KIND: cookies of the last save_text() in records of one kind only: "asked",
# those of requests, or "have", those of stacks
count_unpaired()
{
	awk -v kind=$1 '
	     match($0, /<user unwind cookie [0-9a-f]+/) {
		asked[substr($0, RSTART + 20, RLENGTH - 20)]
	     }
	     match($0, /<user unwind stack [0-9a-f]+/) {
		have[substr($0, RSTART + 19, RLENGTH - 19)]
	     }
	     END {
		for (c in asked) n["asked"] += !(c in have)
		for (c in have) n["have"] += !(c in asked)
		print n[kind] + 0
	     }' $TEST_TMP/text
}

# count_unasked: stacks that no cookie asked for; count_unanswered: cookies without a stack
count_unasked() { count_unpaired have; }
count_unanswered() { count_unpaired asked; }

# join_events [PID]: write a line to $TEST_TMP/joined for each event of the last save_text() that is
# followed at once by a cookie of the same CPU and task. The line is "EVENT FRAME FRAME..." with the
# stack of that cookie in plain hexadecimal digits, or "EVENT -" if the cookie has no stack.
join_events()
{
	awk -v only="$1" '
	function task(s) { sub(/ +\[[0-9]+\].*/, "", s); sub(/.*-/, "", s); return s }
	/^#/ || !NF { next }
	/^ *=> / {
		if (in_stack == "") next
		frame = $2
		gsub(/[<>]/, "", frame)
		sub(/^(0x)?0*/, "", frame)
		stack[in_stack] = stack[in_stack] " " frame
		next
	}
	{ in_stack = "" }
	!match($0, /\[[0-9]+\]/) { next }
	{
		cpu = substr($0, RSTART, RLENGTH)
		tid = task($0)
		split($0, part, /[0-9]+\.[0-9]+: /)
		rest = part[2]
	}
	rest ~ /^<user unwind cookie/ {
		c = rest; sub(/.*cookie /, "", c); sub(/>.*/, "", c)
		if (owner[cpu] != "" && owner_tid[cpu] == tid && (only == "" || only == tid))
			pairs[++n] = owner[cpu] SUBSEP tid SUBSEP c
		owner[cpu] = ""
		next
	}
	rest ~ /^<user unwind stack/ {
		c = rest; sub(/.*stack /, "", c); sub(/[ >].*/, "", c)
		in_stack = tid SUBSEP c
		seen[in_stack] = 1
		next
	}
	rest ~ /^<stack trace>/ { next }
	{
		name = rest; sub(/[:( ].*/, "", name)
		owner[cpu] = name
		owner_tid[cpu] = tid
	}
	END {
		for (i = 1; i <= n; i++) {
			split(pairs[i], p, SUBSEP)
			k = p[2] SUBSEP p[3]
			print p[1] ((k in seen) ? (stack[k] == "" ? " empty" : stack[k]) : " -")
		}
	}' $TEST_TMP/text >$TEST_TMP/joined
}

# are_frames_mapped [SHARE]: each frame of the last save_text() is in a recorded mapping of its
# process. Only the last SHARE of the stacks counts.
are_frames_mapped()
{
	python3 - $TEST_TMP/text ${1:-1} <<-'EOF'
	import re, sys
	maps, stacks, inside = {}, [], False
	for line in open(sys.argv[1]):
	    found = re.search(r"<user unwind map (\d+) (\w+)-(\w+) ", line)
	    frame = re.match(r" =>  ?<?(?:0x)?([0-9a-f]+)", line)
	    if found:
	        maps.setdefault(int(found[1]), []).append((int(found[2], 16), int(found[3], 16)))
	    if "<user unwind stack" in line:
	        inside = True
	        stacks.append((int(re.search(r"-(\d+) +\[", line)[1]), []))
	    elif frame and inside:
	        stacks[-1][1].append(int(frame[1], 16) - (len(stacks[-1][1]) > 0))
	    else:
	        inside = False
	stacks = stacks[int(len(stacks) * (1 - float(sys.argv[2]))):]
	frames = [(tgid, f) for tgid, s in stacks for f in s]
	bad = [f for f in frames if not any(a <= f[1] < b for a, b in maps.get(f[0], []))]
	print("%d of %d frames are in no mapping that was recorded" % (len(bad), len(frames)))
	sys.exit(len(bad) > 0 or not frames)
	EOF
}

# count_events EVENT, count_with_stack EVENT: the number of these events in the last join_events(),
# and the number of those with a stack
count_events()
{
	grep -cE "^($1) " $TEST_TMP/joined
}

count_with_stack()
{
	grep -cE "^($1) [0-9a-f]+( |\$)" $TEST_TMP/joined
}

# count_cookies_first: the number of kernel stacks in $TEST_TMP/text right after a cookie of the
# same task. A kernel stack belongs before the cookie. Lines of other CPUs may be in between, and
# lines without a task are frames.
count_cookies_first()
{
	awk '{ task = /\[[0-9]+\]/ ? substr($0, 1, index($0, "]")) : "" }
	     task == "" { next }
	     /<user unwind cookie/ { asked[task] = 1; next }
	     asked[task] && /<stack trace>/ { bad++ }
	     { asked[task] = 0 }
	     END { print bad + 0 }' $TEST_TMP/text
}

# record TRACE-CMD-OPTIONS... -- COMMAND...: record COMMAND into $TEST_TMP/trace.dat by trace-cmd.
# RECORD_UNDER: a command that starts trace-cmd
record()
{
	local opts=()
	while [ "$1" != -- ]; do
		opts+=("$1")
		shift
	done
	shift
	${RECORD_UNDER:-} trace-cmd record -q $PLAIN -C mono -o $TEST_TMP/trace.dat \
		"${opts[@]}" "$@" >$TEST_TMP/record.log 2>&1 ||
		{ cat $TEST_TMP/record.log; return 1; }
	! grep -E 'cannot|failed|error' $TEST_TMP/record.log
}

CALLPATH_EVENTS="-e raw_syscalls -e sched:sched_switch -e sched:sched_waking
	-e sched:sched_process_fork -e sched:sched_process_exec -e sched:sched_process_exit"

# Options for each call of callpath-check. Frame pointers do not lead through signal frames on
# amd64; elsewhere the kernel knows these without a table.
programs="-t -p $CALLPATH"
[ $ARCH != amd64 ] || programs="-p $CALLPATH -p $CALLPATH32"

# record_callpath PROGRAM ARGUMENT...: record it into trace.dat; $TEST_TMP/path has the true call
# paths
record_callpath()
{
	local program=$1
	shift
	rm -f $TEST_TMP/path
	record ${CALLPATH_OPTIONS:--b 8192} -O $OPT $CALLPATH_EVENTS -- \
		"$program" -o $TEST_TMP/path "$@"
}

# run_checker [OPTION...]: check the last recording; $TEST_TMP/verdict has the output
run_checker()
{
	$PROG/callpath-check ${CHECK_OPTIONS:-} "$@" -r $TEST_TMP/path $programs \
		$TEST_TMP/trace.dat >$TEST_TMP/verdict || { cat $TEST_TMP/verdict; return 1; }
}

# check_callpath WHAT PROGRAM ARGUMENT...: record the program without losses. All stacks must be
# right, by the checker's own join and in the text of the plugin.
check_callpath()
{
	local what=$1
	shift
	case " $* " in
	*" $CALLPATH32 "*)
		[ $ARCH = amd64 ] || { say "$what: not on $ARCH"; return; } ;;
	esac
	check "$what: recorded" record_callpath "$@"
	check "$what: each event has the right stack" run_checker
	[ ! -s $TEST_TMP/verdict ] || sed 's/^/     /' $TEST_TMP/verdict
	check_plugin "$what" -n ${PLUGIN_MIN:-10}
}

# check_plugin WHAT OPTION...: the stacks in the text of trace-cmd report are right
check_plugin()
{
	local what=$1
	shift
	if [ ! -e "${TRACEEVENT_PLUGIN_DIR:-/nowhere}/plugin_ustack.so" ]; then
		check "$what: the plugin is built" false
		return
	fi
	check "$what: reported" report
	check "$what: trace-cmd report shows the right stacks" \
		$PROG/callpath-check -R ${CHECK_OPTIONS:-} "$@" -r $TEST_TMP/path $programs \
		$TEST_TMP/report
}

report()
{
	trace-cmd report -t -i $TEST_TMP/trace.dat "$@" >$TEST_TMP/report 2>$TEST_TMP/report.err ||
		{ cat $TEST_TMP/report.err; return 1; }
}

# keep FILE...: keep files on the host if the test has failed
keep()
{
	[ $failed = 0 ] || cp "$@" "$TEST_OUT/" 2>/dev/null
}
