#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# Programs that register their own tables through the audit module: stacks are complete without a
# tracer's tables, from the moment the module is loaded. Before that moment only the kernel and the
# loader have run, without a table. The test recognizes those early stacks by the system calls that
# register the first two tables, of the loader and of the module.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
only_amd64 "the audit module is made"
need_tables
AUDIT=$BUILD/tests/audit
need_program $TPROG/{chain,loads,registered} $BUILD/libunwind-user/libunwind-user-audit.so \
	$AUDIT/{observe,program}

# On the root file system, as an installed module: the build ID identifies it
MODULE=/usr/local/lib/trace-ustack/libunwind-user-audit.so
mkdir -p ${MODULE%/*} && cp $BUILD/libunwind-user/libunwind-user-audit.so $MODULE
SYSTEM=/usr/lib/x86_64-linux-gnu/libaudit-test.so
trap 'rm -rf $MODULE $SYSTEM /var/cache/trace-ustack /usr/local/bin/registered*' EXIT
TABLES_EVENTS+=" -e sched:sched_process_fork -e sched:sched_process_exec"

list_libraries()
{
	ldd "$@" 2>/dev/null | awk '/=> \// { print $3 }' | sort -u
}
fill_cache()
{
	local p=$(realpath /usr/bin/{bash,python3,cat,ls,wc,env,true,sleep})
	$TABLES make -v "$@" $AUDIT /lib64/ld-linux-x86-64.so.2 $TPROG/{chain,loads,registered} \
		$TPROG/libplug.so $p /usr/lib/python3*/lib-dynload \
		$(list_libraries $p $TPROG/chain /usr/lib/python3*/lib-dynload/*.so)
}
check "the cache is filled" fill_cache
say "$(fill_cache | tail -n 1)"

run_with_module()
{
	LD_AUDIT=$MODULE "$@"
}
check "a start registers program, loader, vDSO and libc" run_with_module $TPROG/registered start
check "no table is registered without the module" $TPROG/registered none
check "dlopen() registers a table" run_with_module $TPROG/registered load $TPROG/libplug.so
check "dlclose() removes the table, and the next dlopen() registers the table again" \
	run_with_module $TPROG/registered unload $TPROG/libplug.so
check "children have the tables of their parent" run_with_module $TPROG/registered fork
check "exec drops the tables of the old program" run_with_module $TPROG/registered exec
check "no table is found without a cache" env TRACE_USTACK_TABLES=/nowhere LD_AUDIT=$MODULE \
	$TPROG/registered none

# tests/audit/programs compares each table with its file, on the host. Here the same is done with
# the guest's C library, whose loader may call the module in another order.
run_observed()
{
	OBSERVED_AUDIT=$MODULE $AUDIT/observe -c $TRACE_USTACK_TABLES "${@:2}" \
		$AUDIT/program $1 $AUDIT
}
for what in start load stay fail namespaces threads small errno forks exec reuse own; do
	check "observed: $what" run_observed $what
done
check "observed: a filter of system calls" run_observed locked -k
check "observed: the end of a process while threads load" run_observed leave -x

# check_case WHAT COMM CHECK-OPTION... -- COMMAND...: the stacks of COMMAND are complete, by the
# tables that the audit module registers
check_case()
{
	local what=$1 comm=$2 opts=()
	shift 2
	while [ "$1" != -- ]; do
		opts+=("$1")
		shift
	done
	shift
	check "$what: recorded" record_command env LD_AUDIT=$MODULE "$@"
	check "$what: complete" complete "$comm" --registered 2 "${opts[@]}"
	say "$(tail -n 1 $TEST_TMP/all-figures), $(sed -n 2p $TEST_TMP/figures)"
	cp $TEST_TMP/figures $TEST_OUT/figures-$comm
	[ "$(wc -l <$TEST_TMP/figures)" = 2 ] || cp $TEST_TMP/report $TEST_OUT/report-$comm
}
check "no tracer has a table" is "$(count_tables)" 0

check_case "threads" chain --expect chain_c,chain_b,chain_a,main,_start \
	--expect chain_c,chain_b,chain_a,thread_a -- $TPROG/chain 40
check_case "loaded libraries" loads --expect plugged_inside,plugged,load,main,_start \
	--expect 'dlopen.*,load,main,_start' --expect 'la_objopen,.*' \
	-- $TPROG/loads $TPROG/libplug.so 30

cat >script.sh <<'END'
f() { x=$(echo $1; cat /proc/self/stat); g $1; }
g() { ls / >/dev/null; echo $1 | wc -l >/dev/null; read -t 0.01; }
trap 'echo usr1 >/dev/null' USR1
for i in 1 2 3 4 5; do f $i; kill -USR1 $$; done
END
check_case "bash" bash --min 200 --expect main,_start -- bash script.sh
check "ls, started by bash: complete" complete ls --registered 2 --min 20 --expect main,_start
say "$(tail -n 1 $TEST_TMP/all-figures)"

cat >script.py <<'END'
import os, threading, time, subprocess, json, re, decimal, ctypes
def deep(n):
    if n:
        return deep(n - 1)
    os.getppid()
    time.sleep(0.001)
def work():
    for i in range(20):
        deep(i)
t = [threading.Thread(target=work) for i in range(3)]
[x.start() for x in t]
work()
[x.join() for x in t]
subprocess.run(["true"])
END
check_case "python3" python3 --min 300 --expect Py_BytesMain,_start -- python3 script.py

# For setuid programs, the loader takes only setuid modules from system directories. The module then
# ignores the settings and files of the user, and reads root's cache.
cp $MODULE $SYSTEM && chmod u+s $SYSTEM
cp $TPROG/registered /usr/local/bin/registered-setuid && chmod u+s /usr/local/bin/registered-setuid
run_setuid()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups env LD_AUDIT=libaudit-test.so \
		TRACE_USTACK_TABLES=$TRACE_USTACK_TABLES /usr/local/bin/registered-setuid "$@"
}
check "a setuid program ignores the tables of the user" run_setuid none
check "root's cache is filled" env TRACE_USTACK_TABLES= $TABLES make -q /usr/local/bin \
	/lib64/ld-linux-x86-64.so.2 $(list_libraries $TPROG/registered)
check "root's cache serves setuid programs" run_setuid start
run_as_user()
{
	setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nowhere TRACE_USTACK_TABLES= \
		LD_AUDIT=$MODULE "$@"
}
cp $TPROG/registered /usr/local/bin/registered
check "root's cache serves all users" run_as_user /usr/local/bin/registered start
check "no tracer has a table at the end" is "$(count_tables)" 0
cp $TEST_TMP/all-figures $TEST_OUT/figures
finish
