#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900 alone
#
# Many short-lived programs that bind functions at their first call: the stacks of events below
# ld.so's _dl_runtime_resolve_*() are complete, too. Binding writes to the program's GOT, so it
# takes page faults, and so does what it reads of the libraries.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "the frame is found by rbx"
need_tables
need_program $USTACK

FAULT=exceptions:page_fault_user
[ -e $T/events/exceptions/page_fault_user ] || skip_test "there is no event $FAULT"

cat >script.sh <<'END'
for ((i = 0; i < 15; i++)); do
	id >/dev/null
	ls / >/dev/null
	git --version >/dev/null
	date >/dev/null
done
END

# has_rbx_frames N: at least N stacks go on from a frame that is found by rbx
cat >through.py <<'END'
import re
import subprocess
import sys

tables, loader, report, wanted = sys.argv[1:]
dump = subprocess.run([tables, "dump", loader], stdout=subprocess.PIPE, check=True).stdout.decode()
rows = re.findall(r"^  0x([0-9a-f]+) cfa=(\w+)", dump, re.M)
spans = [(int(a, 16), int(b, 16)) for (a, base), (b, _) in zip(rows, rows[1:]) if base == "rbx"]
frame, found = None, {}
for line in open(report, encoding="utf-8", errors="replace"):
    if not line.startswith("=> [user]"):
        frame = None
        continue
    if frame and "[user] <" not in line:
        found[frame] = found.get(frame, 0) + 1
    at = re.search(r"/ld-linux-x86-64\.so\.2\+0x([0-9a-f]+)\)$", line)
    frame = at and at[1] if at and any(a <= int(at[1], 16) - 1 < b for a, b in spans) else None
print("     %d stacks go on from a frame that is found by rbx" % sum(found.values()))
sys.exit(sum(found.values()) < int(wanted))
END
has_rbx_frames()
{
	local loader=$(readlink -f /lib64/ld-linux-x86-64.so.2)
	python3 through.py $TABLES $loader $TEST_TMP/report $1
}

# The first run makes the tables
check "a first recording makes the tables" \
	ustack_record --no-summary -e sched:sched_switch bash script.sh
check "short-lived programs are recorded" ustack_record -e $FAULT -e 'sched:*' bash script.sh
sed 's/^/     /' output
check "all stacks are joined" are_all_joined 2000
check "trace-cmd report reads the file" run_report 1000
check "functions were bound during the recording" has_rbx_frames 10
for program in id ls git date; do
	check "$program: all stacks are complete" complete $program --min 100 --percent 100
	sed 's/^/     /' $TEST_TMP/figures
done
check "recordings of short-lived programs leave nothing" nothing_left
keep t.dat $TEST_TMP/report all-output
finish
