#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 append="threadirqs" timeout=900 alone
#
# Interrupts come between an event, its kernel stack and its cookie. Their softirqs write ten or
# a hundred events there. With threadirqs, the end of an interrupt wakes ksoftirqd, and the flags of
# that event do not show the interrupt. Still, every event has its own kernel stack, and every event
# of a user task has a user stack or one of the reasons that stat(1) counts.
#
# The short form has 4 s of load. The long form has 15 s, and so three times as many interrupts in
# these places.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $USTACK

cat >load.py <<'END'
import os, socket, sys, time

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
end = time.time() + float(sys.argv[1])
while time.time() < end:
    for i in range(20):
        s.sendto(b"x" * 900, s.getsockname())
        s.recv(2000)
    r, w = os.pipe()
    os.write(w, b"x")
    os.read(r, 1)
    os.close(r)
    os.close(w)
    open("/proc/self/status").read()
    if not os.fork():
        os._exit(0)
    os.wait()
END

cat >look.py <<'END'
import collections, json, sys

n = none = alien = between = unasked = 0
of = collections.defaultdict(set)
for line in sys.stdin:
    e = json.loads(line)
    if "event" not in e:
        continue
    n += 1
    k = e.get("kernel")
    if not k:
        none += 1
        continue
    funcs = [f.get("func") or "" for f in k]
    # the innermost function is the one that writes this kind of event
    of[e["event"]].add(funcs[0])
    between += "trace_event_buffer_commit" in funcs and any("irq" in f for f in funcs)
    if "user_state" not in e and any(f in ("do_syscall_64", "asm_exc_page_fault") for f in funcs):
        if not any(f in ("do_exit", "bprm_execve", "begin_new_exec") for f in funcs):
            unasked += 1
            if unasked < 5:
                print(e["event"], e.get("tid"), funcs)
alien = [e for e in of if len(of[e]) > 1 or "trace_event_raw_event_" not in list(of[e])[0]]
print("%d events, %d in an interrupt that came between the records of another one; %d without a "
      "kernel stack, %d of user tasks without a request; kernel stacks of other events: %s"
      % (n, between, none, unasked, ", ".join(alien) or "none"))
if none or unasked:
    print("LOST: %d kernel stacks and %d requests" % (none, unasked))
if alien:
    print("WRONG: events with the kernel stack of another one")
sys.exit(not (n > 20000 and between > 20 and not none and not unasked and not alien))
END

seconds=4
[ -z "$TEST_LONG" ] || seconds=15
say "$seconds s of load"
check "the load is recorded" \
	ustack_record -a -b 60000 -e 'sched:*' -e 'kmem:*' python3 load.py $seconds
sed 's/^/     /' output
# not kept: as text it is larger than the memory that holds files here
check "each event has its own kernel stack, and its user stack or a reason" \
	eval "set -o pipefail; $USTACK report --json t.dat | python3 look.py"
$USTACK stat t.dat | head -n 30 | sed 's/^/     /'
keep t.dat
finish
