#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1024 timeout=300
#
# Tables live as long as the tracer, and serve only the contents of a file for which they were made.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $TPROG/{chain,chain-static}

# The program that the task ran before it executed the traced program
others="/usr/bin/trace-cmd $LIBS/libc.so.6 $LOADER"

check "at boot no table is registered" is "$(count_tables)" 0
check "a tracer registers two tables" register -q $TPROG/chain $LIBS/libc.so.6
check "user_unwind_tables lists the program" is "$(count_tables_of $TPROG/chain)" 1
list_has_build_id()
{
	local id=$(readelf -n $TPROG/chain | sed -n 's/.*Build ID: //p')
	grep -qE "^$TPROG/chain $id [0-9]+ [0-9]+ [0-9]+$" $LIST || { cat $LIST; return 1; }
}
check "user_unwind_tables shows build ID, size and counts" list_has_build_id
check "SIGKILL ends the tracer" unregister -KILL
check "SIGKILL of the tracer leaves no table" is "$(count_tables)" 0

check "two tracers: the first one registers a table" register -q $TPROG/chain
first=$(cat $TEST_TMP/register.pid)
check "two tracers: the second one registers a table" register -q $TPROG/chain
check "two tracers: both tables are listed" is "$(count_tables_of $TPROG/chain)" 2
kill -KILL $first
check "two tracers: one table stays if one of them is killed" \
	wait_for is_listed_times 1 $TPROG/chain
check "two tracers: the other one ends" unregister
check "two tracers: no table is left" is "$(count_tables)" 0

# Other contents under the same name: such a program has no table, and does not get the old one
cp $TPROG/chain-static ./app
check "a file is registered" register -q ./app $others
check "the registered program is recorded" record_command ./app 20
check "the registered program has complete stacks" \
	complete app --expect chain_c,chain_b,chain_a,main
rewrite_app()
{
	cat $1 >./app
}
check "a rewritten file: other contents are written" rewrite_app $CALLPATH
check "a rewritten file: recorded" record_command ./app -o path -n 50
check "a rewritten file: no stack is by the old table" \
	complete app --percent 0 --min 1 --never chain_a
is_listed_changed()
{
	grep -F "$(realpath ./app)\\040(changed) " $LIST
}
check "a rewritten file: listed as changed" is_listed_changed
cat $TPROG/chain-static >./app
touch -d '2001-02-03' ./app
check "old content, new time: recorded" record_command ./app 20
check "old content, new time: stacks are complete by build ID" complete app \
	--expect chain_c,chain_b,chain_a,main
check_not "old content, new time: not listed as changed" is_listed_changed

# Without a build ID, only the time shows it
check "old content, new time: unregistered" unregister
cat >strip.py <<'EOF'
import struct, sys
def note(kind):
    return struct.pack("=III", 4, 20, kind) + b"GNU\0"
data = open(sys.argv[1], "rb").read()
assert data.count(note(3)) == 1
open(sys.argv[2], "wb").write(data.replace(note(3), note(9)))
EOF
check "no build ID: the program gets another kind of note" \
	python3 strip.py $TPROG/chain-static ./app
check "no build ID: registered" register -q ./app $others
check "no build ID: recorded" record_command ./app 20
check "no build ID: stacks are complete" \
	complete app --expect chain_c,chain_b,chain_a,main
count_lookups()
{
	awk -v p="$(realpath ./app)" 'index($1, p) == 1 { print $4 }' $LIST
}
n=$(count_lookups)
touch -d '2001-02-03' ./app
check "no build ID, another time: recorded" record_command ./app 20
check "no build ID, another time: the program has no table" \
	complete app --percent 0 --min 1 --never chain_a
check "no build ID, another time: listed as changed" is_listed_changed
check "no build ID, another time: the old table is not asked" is "$(count_lookups)" "$n"

# Replaced by rename: a task that runs the old file keeps its table
rm -f app
cp $TPROG/chain-static ./app
check "no build ID: unregistered" unregister
check "replaced while it runs: registered" register -q ./app $others
./app 100000 &
pid=$!
check "replaced while it runs: the program runs" wait_for executes $pid app
cp /bin/sleep ./new && mv ./new ./app
record_running()
{
	record -b 16384 -O $OPT $TABLES_EVENTS -- sleep 2 && report
}
check "replaced while it runs: recorded" record_running
check "replaced while it runs: stacks are complete" complete app --flags-only --min 100
keep $TEST_TMP/trace.dat $TEST_TMP/report
kill $pid
wait $pid 2>/dev/null
# several runs: the kernel does not always save the name of a task that executes a program
check "replaced, a new run: recorded" record_command sh -c 'for i in 1 2 3 4 5; do ./app 0.02; done'
check "replaced, a new run: no stack is by the old table" \
	complete app --percent 0 --min 1 --never chain_a

# Removed files and files of other mount namespaces get tables through their mappings
cp $TPROG/chain-static ./gone
mkdir mnt
unshare -m sh -c "mount -t tmpfs none mnt && cp ./gone mnt/hidden && exec $PWD/mnt/hidden 100000" &
hidden=$!
./gone 100000 &
gone=$!
check "a removed file: the program runs" wait_for executes $gone gone
check "a file of another mount namespace: the program runs" wait_for executes $hidden hidden
rm ./gone
check "replaced: unregistered" unregister
check "the files of all running programs are registered" register -a -v
sed 's/^/     /' $TEST_TMP/register.log
check "a removed file: listed" grep -q 'gone' $LIST
check "a file of another mount namespace: listed" grep -q 'hidden' $LIST
check "a removed file, and one of another mount namespace: recorded" record_running
check "a removed file: stacks are complete" complete gone --flags-only --min 100
check "a file of another mount namespace: stacks are complete" \
	complete hidden --flags-only --min 100
kill $gone $hidden
check "all running programs: unregistered" unregister

# Again, with nothing new: all tables come from the cache, except that of the vDSO
check "a full cache: registered" register -a
sed 's/^/     /' $TEST_TMP/register.log
count_cached()
{
	sed -nE 's/^([0-9]+) files have tables \(([0-9]+) from.*/\1 \2/p' $TEST_TMP/register.log
}
are_all_cached()
{
	local all cached
	read -r all cached <<<"$(count_cached)"
	is $cached $((all - 1))
}
check "a full cache: all tables but that of the vDSO come from the cache" are_all_cached
check "a full cache: unregistered" unregister
for f in $TRACE_USTACK_TABLES/*; do
	middle=$(($(stat -c %s $f) / 2))
	# Any other one than the current one
	byte=$(od -An -tu1 -j $middle -N 1 $f)
	printf "\\$(printf %o $((byte ^ 1)))" |
		dd of=$f bs=1 seek=$middle conv=notrunc status=none
done
check "a damaged cache: registered" register -a
check "a damaged cache: all tables are made again" is "$(count_cached | cut -d ' ' -f 2)" 0

# Programs and libraries that are executed and loaded from now on
cp $TPROG/chain-static ./later
cp $TPROG/libplug.so ./later.so
check_not "a program that has not run yet: no table" grep -q later $LIST
./later 1
check "a program that ran for a moment: a table" wait_for is_listed $TEST_TMP/later
$TPROG/loads ./later.so 1
check "a library that was loaded: a table" wait_for is_listed $TEST_TMP/later.so
check "a damaged cache: unregistered" unregister

$TABLES run sh -c "cat $LIST >in-run; exit 7" >run.log 2>&1
check "run returns the status of its command" is $? 7
check "run registers tables while its command runs" grep -q libc.so.6 in-run
check "run leaves no tables" is "$(count_tables)" 0
finish
