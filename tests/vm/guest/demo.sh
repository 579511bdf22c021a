#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh: the guest's half of make demo. Programs as Debian ships them work, and trace-ustack
# records all tasks of the guest. The script leaves the recording and the input of demo-show in
# /host/out/files. It leaves the traced programs in root/ there, so that the host can symbolize
# addresses.

set -u
B=/host/tree/build
F=/host/out/files
DURATION=4
mkdir -p $F

print_step()
{
	echo "guest: $*"
}

give_up()
{
	echo "guest: $*" >&2
	exit 1
}

[ -e /sys/kernel/tracing/options/userstacktrace_deferred ] ||
	give_up "this kernel ($(uname -r)) has no options/userstacktrace_deferred, so it is not" \
		"the patched kernel; make kernel builds the patched kernel"

# Under emulation on a busy host, this kernel may measure the TSC wrong (72 MHz for 2596 MHz was
# seen), and its time then runs away. Another boot is likely to get it right: 75 asks for one.
if dmesg | grep -q 'PIT calibration deviates'; then
	echo "guest: the clock of this guest runs at a wrong speed: this machine was busy"
	exit 75
fi

# The root file system is ext4 on a disk, so fsync() waits here.
mkdir -p ~/demo && cd ~/demo || exit 1

cat >store.py <<'END'
import sqlite3
db = sqlite3.connect("notes.db")
db.execute("create table if not exists note (text)")
while True:
	db.execute("insert into note values ('note')")
	db.commit()
END

cat >commits.sh <<'END'
git init -q repository
cd repository
git config user.name somebody
git config user.email somebody@example.org
git config core.fsync committed
for ((n = 0; ; n++)); do
	echo $n >file
	git add file
	git commit -q -m "$n"
done
END

cat >clients.sh <<'END'
until exec 3<>/dev/tcp/127.0.0.1/8000; do
	sleep 0.2
done
echo >answers
while :; do
	printf 'GET /page HTTP/1.0\r\n\r\n' >&3
	cat <&3 >/dev/null
	exec 3<>/dev/tcp/127.0.0.1/8000
done
END

cat >load.sh <<'END'
python3 -m http.server 8000 --bind 127.0.0.1 >server.log 2>&1 &
python3 store.py &
bash commits.sh &
bash clients.sh 2>/dev/null &
wait
END

print_step "starting the load: bash, python3, git and a server (python3 -m http.server)"
echo "a page" >page
# below the recorder, which starts before its time counts
nice -n 19 setsid bash load.sh &
load=$!
disown $load	# the shell does not report its end
for ((i = 0; i < 300; i++)); do
	[ ! -e answers ] || break
	sleep 0.2
done
[ -e answers ] || {
	cat server.log
	give_up "python3 -m http.server answers no client on port 8000, see above"
}

print_step "recording all tasks for $DURATION s: trace-ustack record -a -e sched"
$B/trace-ustack record -q -a -e sched --duration $DURATION -o $F/trace.dat ||
	give_up "trace-ustack record failed, see above; trace-ustack check says what is missing"
kill -9 -- -$load

print_step "reading the recording: trace-cmd report, and trace-ustack stat, flame, report"
trace-cmd report -i $F/trace.dat >$F/trace-cmd.txt 2>trace-cmd.err &
trace_cmd=$!
$B/trace-ustack stat --json --all $F/trace.dat >$F/stat.json &&
	$B/trace-ustack flame -o $F/flame.svg $F/trace.dat &&
	$B/trace-ustack report $F/trace.dat >$F/report.txt ||
	give_up "trace-ustack cannot read its recording, see above"
mkdir $F/root
grep -o '"file":"/[^"]*"' $F/stat.json | cut -d '"' -f 4 | grep -v '^/host/' |
	xargs -d '\n' cp -L --parents -t $F/root ||
	give_up "the traced programs cannot be copied to the host, see above"
wait $trace_cmd || give_up "trace-cmd report cannot read the recording: $(cat trace-cmd.err)"
