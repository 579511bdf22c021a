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
# This machine: Debian's name, the kernel's functions for system calls and numbers of some, the
# dynamic loader, where the linker puts a program that is not position independent, and what
# addresses in a small one look like
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

# The runner knows a skipped test by its exit code.
skip()
{
	echo "SKIP: $*"
	exit 4
}

# only_amd64 WHY: this test is of that architecture
only_amd64()
{
	[ $ARCH = amd64 ] || skip "on amd64 only: $*"
}

# End a test that cannot start.
die()
{
	echo "FAIL: $*"
	exit 1
}

# The opposite of check: the command has to fail
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

need_program()
{
	local p
	for p in "$@"; do
		# there are no 32-bit programs elsewhere
		[ "$p" != $CALLPATH32 ] || [ $ARCH = amd64 ] || continue
		[ -x "$p" ] || die "$p is missing: run make first"
	done
}

# load_module NAME [PARAMETER=VALUE...]: one of the tree's own
load_module()
{
	local ko=$BUILD/$1
	shift
	[ -e "$ko" ] || die "$ko is missing: make samples-modules tests-modules with KERNEL set"
	insmod "$ko" "$@"
}

# wait_for COMMAND...: until it succeeds, two minutes at most; then prints what it says
wait_for()
{
	local end=$((SECONDS + 120)) out
	until out=$("$@" 2>&1); do
		[ $SECONDS -lt $end ] || { echo "not within two minutes: $* $out"; return 1; }
		sleep 0.05
	done
}

# asleep PID NAME: this process executes the program NAME, and sleeps
asleep()
{
	grep -qx "$2" /proc/$1/comm && grep -q '^State:.S' /proc/$1/status
}

# executes PID NAME: the process has the code of the file NAME
executes()
{
	grep -q " r-xp .*/$2\b" /proc/$1/maps
}

# at_least N MIN
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

# each_has_stack EVENT: all these events of the last joined() have a stack
each_has_stack()
{
	none_lost $(($(events_of "$1") - $(with_stack "$1")))
}

# The error of a failed write to tracefs: write TEXT FILE
write()
{
	{ echo "$1" >"$2"; } 2>&1
}

# Text of the buffer, of an instance too: text [DIR]. Nothing is recorded meanwhile, or reading
# could go on for ever.
text()
{
	local dir=${1:-$T}
	echo 0 >$dir/tracing_on
	cat $dir/trace >$TEST_TMP/text
	echo 1 >$dir/tracing_on
}

# The same while recording goes on, for events that cat itself does not cause
text_running()
{
	cat "${1:-$T}/trace" >$TEST_TMP/text
}

# count PATTERN: lines of the last text()
count()
{
	grep -cE -- "$1" $TEST_TMP/text
}

cookies()
{
	count '<user unwind cookie [0-9a-f]+>'
}

stacks()
{
	count '<user unwind stack [0-9a-f]+'
}

# unasked: stacks of the last text() that no cookie asked for
unasked()
{
	awk '
	     match($0, /<user unwind cookie [0-9a-f]+/) {
		asked[substr($0, RSTART + 20, RLENGTH - 20)]
	     }
	     match($0, /<user unwind stack [0-9a-f]+/) {
		have[substr($0, RSTART + 19, RLENGTH - 19)]
	     }
	     END { for (c in have) if (!(c in asked)) n++; print n + 0 }' $TEST_TMP/text
}

# unanswered: cookies without a stack
unanswered()
{
	awk 'match($0, /<user unwind cookie [0-9a-f]+/) {
		asked[substr($0, RSTART + 20, RLENGTH - 20)]
	     }
	     match($0, /<user unwind stack [0-9a-f]+/) {
		have[substr($0, RSTART + 19, RLENGTH - 19)]
	     }
	     END { for (c in asked) if (!(c in have)) n++; print n + 0 }' $TEST_TMP/text
}

# joined [PID]: for each event of the last text() that a cookie follows at once, on its CPU and by
# its task: "EVENT FRAME FRAME..." with the stack of that cookie in plain hexadecimal digits, or
# "EVENT -" without one.
joined()
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

# unmapped [SHARE]: each frame of the last text() is in a mapping that was recorded of its process.
# Only the last SHARE of the stacks counts.
unmapped()
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

# events_of EVENT: how many of them the last joined() has; with_stack EVENT: and with a stack
events_of()
{
	grep -cE "^($1) " $TEST_TMP/joined
}

# Kernel stacks in $TEST_TMP/text right after a cookie of the same task. They should come before it.
# Lines of other CPUs may be in between, and those without a task are frames.
cookie_first()
{
	awk '{ task = /\[[0-9]+\]/ ? substr($0, 1, index($0, "]")) : "" }
	     task == "" { next }
	     /<user unwind cookie/ { asked[task] = 1; next }
	     asked[task] && /<stack trace>/ { bad++ }
	     { asked[task] = 0 }
	     END { print bad + 0 }' $TEST_TMP/text
}

with_stack()
{
	grep -cE "^($1) [0-9a-f]+( |\$)" $TEST_TMP/joined
}

# record TRACE-CMD-OPTIONS... -- COMMAND...: into $TEST_TMP/trace.dat, with trace-cmd started by the
# command RECORD_UNDER if that is set
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

# callpath_record PROGRAM ARGUMENT...: trace it into trace.dat; ./record has the true call paths
callpath_record()
{
	local program=$1
	shift
	rm -f $TEST_TMP/path
	record ${CALLPATH_OPTIONS:--b 8192} -O $OPT $CALLPATH_EVENTS -- \
		"$program" -o $TEST_TMP/path "$@"
}

# checked: what the checker says of the last record, in $TEST_TMP/verdict as well
checked()
{
	$PROG/callpath-check ${CHECK_OPTIONS:-} "$@" -r $TEST_TMP/path $programs \
		$TEST_TMP/trace.dat >$TEST_TMP/verdict || { cat $TEST_TMP/verdict; return 1; }
}

# callpath_case WHAT PROGRAM ARGUMENT...: nothing is lost, so all must be right, by the checker's
# own join and in the text that the plugin makes
callpath_case()
{
	local what=$1
	shift
	case " $* " in
	*" $CALLPATH32 "*)
		[ $ARCH = amd64 ] || { say "$what: not on $ARCH"; return; } ;;
	esac
	check "$what: recorded" callpath_record "$@"
	check "$what: each stack is the one of its event" checked
	[ ! -s $TEST_TMP/verdict ] || sed 's/^/     /' $TEST_TMP/verdict
	plugin_case "$what" -n ${PLUGIN_MIN:-10}
}

# plugin_case WHAT OPTION...: the same in the text of trace-cmd report
plugin_case()
{
	local what=$1
	shift
	if [ ! -e "${TRACEEVENT_PLUGIN_DIR:-/nowhere}/plugin_ustack.so" ]; then
		check "$what: the plugin is built" false
		return
	fi
	check "$what: reported" report
	check "$what: trace-cmd report shows it so" \
		$PROG/callpath-check -R ${CHECK_OPTIONS:-} "$@" -r $TEST_TMP/path $programs \
		$TEST_TMP/report
}

report()
{
	trace-cmd report -t -i $TEST_TMP/trace.dat "$@" >$TEST_TMP/report 2>$TEST_TMP/report.err ||
		{ cat $TEST_TMP/report.err; return 1; }
}

# keep FILE...: files that a failed test leaves on the host
keep()
{
	[ $failed = 0 ] || cp "$@" "$TEST_OUT/" 2>/dev/null
}
