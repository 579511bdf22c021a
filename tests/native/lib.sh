# SPDX-License-Identifier: GPL-2.0
#
# lib.sh BUILD-DIR: the tests of this directory start with it. They go on in a temporary directory,
# or are skipped if this kernel or this user cannot load BPF programs.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
ustack=$(realpath "${TOOL:-$build/trace-ustack}")
native=$build/tests/native
tmp=$(mktemp -d)
started=		# processes to end
helper=			# a process to end after the test
ustack_with=		# a command that runs the tool
# How often a recording with skipped programs is tried. In a guest, some programs are skipped each
# time, so trying again takes time and changes nothing.
tries=5
[ ! -d /host/tree ] || tries=1
trap '[ -z "$started" ] || { kill -CONT $started; kill $started; } 2>/dev/null
[ -z "$helper" ] || kill $helper
remove_probes; remove_maps; rm -rf "$tmp"' EXIT
. "$here/../lib/checks.sh"
. "$here/../lib/probes.sh"
cd "$tmp" || exit 1
export LC_ALL=C

# Python leaves its perf maps, and adds to one that is there: a later process may have the same PID.
remove_maps()
{
	local map
	for map in t.dat.jit/perf-*.map; do
		rm -f "/tmp/${map##*/}"
	done
}

# record OPTION...: record by $SOURCE into t.dat; the file sums has the summary in JSON
record()
{
	remove_maps
	rm -rf t.dat*
	# shellcheck disable=SC2086
	timeout 120 $ustack_with "$ustack" record --source "${SOURCE:-bpf}" --json=sums -o t.dat \
		"$@" >output 2>&1 </dev/null
}

# record_whole OPTION...: record up to $tries times, until no BPF program was skipped. Events of
# skipped programs have no stack.
record_whole()
{
	local i status
	for ((i = 0; i < tries; i++)); do
		rm -f sums path
		record "$@"
		status=$?
		[ -e sums ] || { cat output; echo '{}' >sums; }
		grep -qE '"(runs|ends)_skipped": *[1-9]' sums || break
	done
	return $status
}

# start_part NAME: say how long the part before it took
part= part_start=$SECONDS
start_part()
{
	[ -z "$part" ] || echo "     $part: $((SECONDS - part_start)) s"
	part=${1:-} part_start=$SECONDS
}

at_least() { [ "$1" -ge "$2" ] || { echo "$1 is less than $2"; cat sums; return 1; }; }

"$ustack" check --json >output 2>/dev/null
why=$(python3 -c '
import json
c = json.load(open("output"))
f = {x["name"]: x["text"] for x in c["findings"]}
print("" if c["can"].get("bpf") else f.get("--source bpf") or f.get("tracefs"))')
if [ -n "$why" ]; then
	skip "${0##*/}: ${why#not available: }"
	finish
fi
