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

check "no table in the beginning" is "$(all_tables)" 0
check "registered" register -q $TPROG/chain $LIBS/libc.so.6
check "listed" is "$(tables_of $TPROG/chain)" 1
list_has_build_id()
{
	local id=$(readelf -n $TPROG/chain | sed -n 's/.*Build ID: //p')
	grep -qE "^$TPROG/chain $id [0-9]+ [0-9]+ [0-9]+$" $LIST || { cat $LIST; return 1; }
}
check "with its build ID, size and counts" list_has_build_id
check "ended by SIGKILL" unregister -KILL
check "no table is left" is "$(all_tables)" 0

check "two tracers: the first" register -q $TPROG/chain
first=$(cat $TEST_TMP/register.pid)
check "two tracers: the second" register -q $TPROG/chain
check "both are listed" is "$(tables_of $TPROG/chain)" 2
kill -KILL $first
check "one is left" wait_for listed_times 1 $TPROG/chain
check "ended" unregister
check "no table is left after both tracers" is "$(all_tables)" 0

# Other contents under the same name: such a program has no table, and does not get the old one
cp $TPROG/chain-static ./app
check "a file is registered" register -q ./app $others
check "the registered program is recorded" traced ./app 20
check "the registered program has complete stacks" \
	complete app --expect chain_c,chain_b,chain_a,main
rewrite()
{
	cat $1 >./app
}
check "rewritten in place by something else" rewrite $CALLPATH
check "recorded" traced ./app -o path -n 5
check "no stack is by the old table" complete app --percent 0 --min 1 --never chain_a
changed()
{
	grep -F "$(realpath ./app)\\040(changed) " $LIST
}
check "the rewritten file is listed as changed" changed
cat $TPROG/chain-static >./app
touch -d '2001-02-03' ./app
check "old content, new time: recorded" traced ./app 20
check "old content, new time: stacks are complete by build ID" complete app \
	--expect chain_c,chain_b,chain_a,main
check_not "old content, new time: not listed as changed" changed

# Without a build ID, only the time shows it
check "ended" unregister
cat >strip.py <<'EOF'
import struct, sys
def note(kind):
    return struct.pack("=III", 4, 20, kind) + b"GNU\0"
data = open(sys.argv[1], "rb").read()
assert data.count(note(3)) == 1
open(sys.argv[2], "wb").write(data.replace(note(3), note(9)))
EOF
check "a program gets another kind of note" python3 strip.py $TPROG/chain-static ./app
check "one without a build ID is registered" register -q ./app $others
check "a program without a build ID is recorded" traced ./app 20
check "a program without a build ID has complete stacks" \
	complete app --expect chain_c,chain_b,chain_a,main
lookups()
{
	awk -v p="$(realpath ./app)" 'index($1, p) == 1 { print $4 }' $LIST
}
n=$(lookups)
touch -d '2001-02-03' ./app
check "at another time: recorded" traced ./app 20
check "no build ID, another time: the program has no table" \
	complete app --percent 0 --min 1 --never chain_a
check "no build ID, another time: listed as changed" changed
check "no build ID, another time: the old table is not asked" is "$(lookups)" "$n"

# Replaced by rename: a task that runs the old file keeps its table
rm -f app
cp $TPROG/chain-static ./app
check "ended" unregister
check "registered again" register -q ./app $others
./app 100000 &
pid=$!
check "a task runs it" wait_for executes $pid app
cp /bin/sleep ./new && mv ./new ./app
running_still()
{
	record -b 16384 -O $OPT $TABLES_EVENTS -- sleep 2 && report
}
check "replaced while it runs: recorded" running_still
check "replaced while it runs: stacks are complete" complete app --flags-only --min 100
kill $pid
check "the new file: recorded" traced ./app 0.1
check "the new file: no stack is by the old table" complete app --percent 0 --min 1 --never chain_a

# Removed files and files of other mount namespaces get tables through their mappings
cp $TPROG/chain-static ./gone
mkdir mnt
unshare -m sh -c "mount -t tmpfs none mnt && cp ./gone mnt/hidden && exec $PWD/mnt/hidden 100000" &
hidden=$!
./gone 100000 &
gone=$!
check "the one runs" wait_for executes $gone gone
check "the other runs" wait_for executes $hidden hidden
rm ./gone
check "ended" unregister
check "all that runs is registered" register -a -v
sed 's/^/     /' $TEST_TMP/register.log
check "a file that was removed has a table" grep -q 'gone' $LIST
check "one of another mount namespace has one" grep -q 'hidden' $LIST
check "they are recorded" running_still
check "complete stacks: removed" complete gone --flags-only --min 100
check "complete stacks: in another namespace" complete hidden --flags-only --min 100
kill $gone $hidden
check "ended" unregister

# Again, with nothing new: all tables come from the cache, except that of the vDSO
check "a warm start" register -a
sed 's/^/     /' $TEST_TMP/register.log
from_cache()
{
	sed -nE 's/^([0-9]+) files have tables \(([0-9]+) from.*/\1 \2/p' $TEST_TMP/register.log
}
warm()
{
	local all cached
	read -r all cached <<<"$(from_cache)"
	is $cached $((all - 1))
}
check "all but the vDSO come from the cache" warm
check "ended" unregister
for f in $TRACE_USTACK_TABLES/*; do
	middle=$(($(stat -c %s $f) / 2))
	# Any other one than the current one
	byte=$(od -An -tu1 -j $middle -N 1 $f)
	printf "\\$(printf %o $((byte ^ 1)))" |
		dd of=$f bs=1 seek=$middle conv=notrunc status=none
done
check "damaged files in the cache" register -a
check "are made again" is "$(from_cache | cut -d ' ' -f 2)" 0

# Programs and libraries that are executed and loaded from now on
cp $TPROG/chain-static ./later
cp $TPROG/libplug.so ./later.so
check_not "a program that does not run yet has no table" grep -q later $LIST
./later 1
check "a program has a table once it ran, however shortly" wait_for listed $TEST_TMP/later
$TPROG/loads ./later.so 1
check "a library that was loaded has a table" wait_for listed $TEST_TMP/later.so
check "ended" unregister

$TABLES run sh -c "cat $LIST >in-run; exit 7" >run.log 2>&1
check "run returns the status of its command" is $? 7
check "run registers tables while its command runs" grep -q libc.so.6 in-run
check "run leaves no tables" is "$(all_tables)" 0
finish
