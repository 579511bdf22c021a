# SPDX-License-Identifier: GPL-2.0
#
# Run the tests that /host/out/jobs lists, each from a clean tracefs state, and report the result of
# each test.
#
# /host/out/settings has the lines NAME=VALUE that the tests find in their environment.
# TEST_REPEATED=1 says that the tests of this boot have failed before.
#
# A line of jobs is "NAME TIMEOUT PATH [ARGUMENT...]". The test's output goes to
# /host/out/log/NAME.log while it runs. Its result goes to /host/out/results as "NAME EXITCODE
# MILLISECONDS". The console gets a mark at the start and at the end of each test, so that the host
# can assign a kernel message or a silence to a test. After a kernel complaint no later result can
# be trusted: lockdep, for example, switches itself off. The guest then stops, and the host boots
# another guest for the remaining tests.

splat='BUG: |WARNING: |KASAN: |UBSAN: |possible circular|possible recursive|inconsistent lock'
splat="$splat|[Uu]nable to handle|Internal error: | ilc:[0-9] \[#"
splat="$splat|suspicious RCU|held lock freed|bad unlock balance|detected stall"

mark()
{
	echo "<5>@@ustack $1 $2" >/dev/kmsg
}

now_ms()
{
	local t=${EPOCHREALTIME/[.,]/}
	echo $((t / 1000))
}

run_one()
{
	local name=$1 limit=$2 path=$3 log=/host/out/log/$1.log start rc left
	export TEST_NAME=$name
	export TEST_OUT=/host/out/files/$name		# files that a test keeps
	export TEST_TMP=/tmp/$name
	mkdir -p "$TEST_OUT" "$TEST_TMP"
	start=$(now_ms)
	mark start "$name"
	(cd "$TEST_TMP" && exec setsid timeout -k 10 "$limit" bash $path) >"$log" 2>&1 </dev/null
	rc=$?
	case $rc in
	124 | 137) echo "(ended after its limit of $limit s)" >>"$log" ;;
	esac
	# End all that the test left running, except this shell and the first process.
	kill -9 -1 2>/dev/null
	if ! left=$(tracefs_reset 2>&1); then
		printf '(tracefs could not be cleaned afterwards)\n%s\n' "$left" >>"$log"
		[ $rc != 0 ] || rc=99
	fi
	rmdir "$TEST_OUT" 2>/dev/null
	rm -rf "$TEST_TMP"
	echo "$name $rc $(($(now_ms) - start))" >>/host/out/results
	mark end "$name"
}

run_jobs()
{
	local name limit path
	mkdir -p /host/out/log /host/out/files
	set -a
	[ ! -e /host/out/settings ] || . /host/out/settings
	set +a
	# The shares are for results; everything else a test makes stays in memory.
	while read -r name limit path <&3; do
		run_one "$name" "$limit" "$path"
		if dmesg | grep -qE "$splat"; then
			echo "the kernel complained during $name: this boot ends"
			break
		fi
	done 3</host/out/jobs
	sync
}
