#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# Programs as a distribution compiles them, without frame pointers, have complete stacks after the
# tables of all running programs are registered. The test has a shell, interpreters, exceptions,
# loaded libraries, threads, a static program, a program that ran before, and signal handlers on a
# stack of their own.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/{chain,chain-static,throws,altstack,loads}

# Before any table is registered
$TPROG/chain 100000 &
early=$!
check "a program runs" wait_for executes $early chain

check "tables of all that runs are registered" register -a -v
sed 's/^/     /' $TEST_TMP/register.log

record_early()
{
	record -b 16384 -O $OPT $TABLES_EVENTS -- sleep 1 && report
}
check "a program that ran before: recorded" record_early
check "a program that ran before: complete" complete chain \
	--expect chain_c,chain_b,chain_a,main
say "$(tail -n 1 $TEST_TMP/all-figures)"
kill $early

check_case "threads" chain --expect chain_c,chain_b,chain_a,main,_start \
	--expect chain_c,chain_b,chain_a,thread_a -- $TPROG/chain 40
# have_one_frame WHAT EVENT: the user stack at each EVENT has one frame and no mark. Where a thread
# starts, the rows are for the thread that made it, and are wrong at the top of the new stack.
have_one_frame()
{
	awk -v event="$2" '
		function judge() { n += is; bad += is && (frames != 1 || marks); is = 0 }
		/=> \[user\] [^<]/ { frames++ }
		/=> \[user\] </ { marks++ }
		/: user_unwind_cookie: / { judge(); is = last[$1]; frames = marks = 0; next }
		/: / { judge(); last[$1] = $0 ~ event }
		END { judge(); print n + 0 " '"$1"', " bad + 0 " of them not one frame"
		      exit !n || bad }' $TEST_TMP/report
}
have_new_threads_one_frame()
{
	have_one_frame threads "chain-.*: sys_exit: +NR ($exits) = 0\$"
}
# The system call from which a new thread returns: clone(), clone3(), or another number. On arm64 it
# has no such event.
case $ARCH in
amd64) exits='56|435' ;;
s390x) exits=4294967295 ;;
*) exits= ;;
esac
if [ "$exits" ]; then
	check "events of new threads have one frame" have_new_threads_one_frame
	say "$(have_new_threads_one_frame)"
fi

has_newborn_one_frame()
{
	have_one_frame calls 'newborn-.*: sys_enter: +NR 39 [(]'
}
# These programs are in assembler
if [ $ARCH = amd64 ]; then
	need_program $TPROG/{newborn,spawned}
	$TPROG/newborn
	check "threads that stay where they began: a table" settle $TPROG/newborn
	check "threads that stay where they began: recorded" record_command $TPROG/newborn
	check "threads that stay where they began: one frame" has_newborn_one_frame
	say "$(has_newborn_one_frame)"
	check_case "where the stack of the program before began" spawned \
		--expect calls,calls,main,_start -- $TPROG/spawned
fi

check_case "a static program" chain-static --expect chain_c,chain_b,chain_a,main,_start \
	--expect chain_c,chain_b,chain_a,thread_a -- $TPROG/chain-static 40
check_case "C++ exceptions" throws \
	--expect guard::~guard,passes.*,catcher.*,main --expect guard::~guard,thrower.*,passes \
	--expect thrower,passes,catcher,main,_start -- $TPROG/throws 30
check_case "a handler on an alternate stack" altstack \
	--expect handler_b,handler_a,syscall,interrupted_b,interrupted_a,main,_start \
	--expect handler_b,handler_a,interrupted_b,interrupted_a,main,_start -- $TPROG/altstack 40
check_case "loaded libraries" loads --expect plugged_inside,plugged,load,main,_start \
	--expect 'dlopen.*,load,main,_start' -- $TPROG/loads $TPROG/libplug.so 30

cat >script.sh <<'END'
f() { x=$(echo $1; cat /proc/self/stat); g $1; }
g() { ls / >/dev/null; echo $1 | wc -l >/dev/null; read -t 0.01; }
trap 'echo usr1 >/dev/null' USR1
for i in 1 2 3 4 5; do f $i; kill -USR1 $$; done
END
check_case "bash" bash --min 200 --expect main,_start -- bash script.sh

cat >script.py <<'END'
import os, threading, time, subprocess, json, re
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
try:
    open("/nowhere")
except OSError:
    os.getuid()
END
check_case "python3" python3 --min 300 --expect Py_BytesMain,_start -- python3 script.py

git_work()
{
	rm -rf repo && git init -q repo && cd repo && echo 1 >a && git add a &&
		git -c user.name=a -c user.email=a@a commit -q -m 1 && git log >/dev/null &&
		git status >/dev/null && cd ..
}
export -f git_work
check_case "git" git --min 200 -- bash -c git_work

say "all:"
sed 's/^/     /' $TEST_TMP/all-figures
cp $TEST_TMP/all-figures $TEST_OUT/figures
check "the registration ends" unregister
check "no table is left" is "$(count_tables)" 0
finish
