#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's half of make demo: record, report, and show one joined stack of each program.
# -T adds the kernel stacks; without it the user stack hangs on the cookie event alone.

set -u
T=/sys/kernel/tracing
B=/host/tree/build
F=/host/out/files
mkdir -p $F

[ -e $T/options/userstacktrace_deferred ] || {
	echo "this kernel has no options/userstacktrace_deferred: it is not the patched one" \
		"($(uname -r)); make kernel builds that"
	exit 1
}

cat >/tmp/load <<END
#!/bin/bash
$B/samples/callpath/callpath -o /tmp/callpath.rec -t 2 -n 20 -c 2 -x all >/dev/null 2>&1
python3 -c 'import time, threading
t = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(4)]
[x.start() for x in t]; [x.join() for x in t]'
git --version | cat
END
chmod +x /tmp/load

cd /tmp || exit 1
set -x
trace-cmd record -q -T -O userstacktrace_deferred -e 'sched:*' -o $F/trace.dat /tmp/load || exit 1
trace-cmd report -i $F/trace.dat >$F/report.txt 2>$F/report.err || { cat $F/report.err; exit 1; }
{ set +x; } 2>/dev/null

grep -q '\[user\]' $F/report.txt || {
	echo "the report holds no joined user stack; its beginning:"
	head -n 30 $F/report.txt
	cat $F/report.err
	exit 1
}

# Of each program the event with the most user frames.
awk '
	function flush(n, rest) {
		rest = block
		n = gsub(/\[user\] [^<]/, "", rest)
		if (n > best[comm]) {
			best[comm] = n
			text[comm] = block
		}
		block = ""
	}
	/^ *[^ ].*-[0-9]+ +\[[0-9]+\]/ {
		if ($0 !~ /kernel_stack|user_unwind/)
			flush()
		comm = $1
		sub(/-[0-9]+$/, "", comm)
	}
	{ block = block $0 "\n" }
	END {
		flush()
		for (comm in text)
			print text[comm]
	}
' $F/report.txt

events=$(grep -cE '^ *[^ ]+-[0-9]+ +\[[0-9]+\]' $F/report.txt)
echo
echo "$events records, $(grep -c 'user_unwind_cookie' $F/report.txt) requests," \
	"$(grep -c 'user_unwind_stack' $F/report.txt) user stacks," \
	"$(grep -c '\[user\]' $F/report.txt) user frames printed"
