#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=1500 own
#
# No program has shorter user stacks with tables than without. The same load is recorded twice, once
# with tables of all running programs and once with frame pointers alone. The programs are Debian's,
# unchanged. One program is in Go, which keeps frame pointers and has no .eh_frame. And no frame
# lies outside of an executable mapping.
#
# The short form takes the programs of $short. They differ in their compilers and in their work.
# The long form takes all.
#
# The test omits programs that the image lacks. An image with more programs:
#
#	GUEST_IMAGE=$(scripts/mkimage nodejs sbcl luajit guile-3.0 shellcheck ocaml-nox ruby \
#		php-cli lua5.4 sqlite3 openssl) make vm-test T=tables-never-shorter

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
need_tables
need_program $BUILD/trace-ustack

# recursion, an interpreter, many small processes (git, busybox), threads (sort, zstd), Go, no
# shared library, no unwind tables
short=" bash python3 git sort zstd busybox go-busy chain-static musl-calls "
if [ -n "$TEST_LONG" ]; then
	MIN_PROGRAMS=${MIN_PROGRAMS:-20}
else
	# Go and musl are on amd64 alone, and a busy machine can give a program too few stacks
	MIN_PROGRAMS=${MIN_PROGRAMS:-$([ $ARCH = amd64 ] && echo 7 || echo 5)}
fi
SECONDS_EACH=${SECONDS_EACH:-3}
GO=$TPROG/go-busy

seq 60000 | sed 's/$/ some words that are the same, and a number/' >lines
head -n 4000 lines >some
mkdir -p files && for i in $(seq 200); do head -n $i some >files/$i; done
cat >load.py <<'END'
import json, re, time
def deep(n):
    return deep(n - 1) + 1 if n else len(json.dumps(sorted(str(i) for i in range(300))))
while True:
    deep(30)
    re.sub("(a|b)+c?", "x", "ababcab" * 50)
END
cat >load.js <<'END'
function deep(n) {
	return n ? deep(n - 1) + 1 : JSON.stringify([...Array(300).keys()].sort()).length
}
for (;;) {
	deep(30)
	"ababcab".repeat(50).replace(/(a|b)+c?/g, "x")
}
END
cat >load.lisp <<'END'
(labels ((f (n) (if (zerop n) 0 (+ 1 (f (- n 1))))))
  (loop (f 1000) (format nil "~a" (list 1 2))))
END
cat >load.scm <<'END'
(define (f n) (if (zero? n) 0 (+ 1 (f (- n 1)))))
(let l () (f 1000) (number->string 1/3) (l))
END
cat >load.lua <<'END'
local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end
while true do f(100) string.format("%d %s", 1, "x"):rep(100):gsub("x", "y") end
END
cat >load.ml <<'END'
let rec f n = if n = 0 then 0 else 1 + f (n - 1)
let () = while true do
  ignore (f 1000); ignore (List.sort compare (List.init 1000 (fun i -> -i))) done
END
cat >load.rb <<'END'
def f(n) n == 0 ? 0 : 1 + f(n - 1) end
loop { f(50); (1..999).map(&:to_s).sort }
END
cat >load.sql <<'END'
with recursive n(i) as (select 1 union all select i + 1 from n limit 90000)
	select sum(i * i) from n group by i % 7;
END
cat >load.pl <<'END'
for (;;) { $_ = join ",", sort map { $_ * 7 % 1000 } 1 .. 999; s/9+/x/g }
END
for i in $(seq 40); do echo "f$i() { if true; then echo \"\$1\" | cat; fi; }"; done >load.sh
run_git()
{
	rm -rf repo && git init -q repo && cp -r files repo && cd repo && git add . &&
		git -c user.name=a -c user.email=a@a commit -q -m 1 && git log -p >/dev/null &&
		git grep -c 'same.*number' >/dev/null && git gc -q
}
export -f run_git

# COMM COMMAND...: run again and again for so many seconds. The name is that of the thread, cut at
# 15 bytes; programs that call others are judged by their own stacks.
programs=(
	"bash bash -c 'f() { [ \$1 = 0 ] || f \$((\$1 - 1)); }; for ((;;)); do f 40; done'"
	"dash dash -c 'f() { x=\$((x + 1)); y=\$(echo \$x); }; while :; do f; done'"
	"python3 python3 load.py"
	"git bash -c run_git"
	"gawk gawk '{ for (i = 1; i < NF; i++) n[\$i] += gsub(/e/, \"x\") }' lines"
	"sed sed -E 's/(so|th)(me|at)+/[&]/g; s/[0-9]+/<&>/' lines"
	"grep grep -cE '(some|same).*(a n|w).*er\$' lines"
	"find find /usr -name '*z*' -size +4k"
	"sort sort -R lines"
	"xz xz -T1 -k -c lines"
	"zstd zstd -q -9 -c lines"
	"gzip gzip -9 -c lines"
	"bc bc -l <<<'for (i = 0; i < 30; i++) e(l(i + 2)) * a(i)'"
	"busybox busybox find /usr -exec busybox true ';'"
	"objdump objdump -d /usr/bin/bash"
	"readelf readelf -aW /usr/bin/bash"
	"nm nm -D -C /usr/bin/perf"
	"diff diff lines some"
	"tar tar c /usr/bin"
	"ls ls -lR /usr"
	"trace-cmd trace-cmd list -e"
	"perf perf list"
	"sha256sum sha256sum lines /usr/bin/perf"
	"od od -c lines"
	"file file -z /usr/bin/perf /usr/bin/git"
	"strace strace -o /dev/null find /usr/share -name '*y'"
	"go-busy $GO $SECONDS_EACH"
	"chain-static $TPROG/chain-static 40"
	"musl-calls $TPROG/musl-calls 20"
	"node node load.js"
	"sbcl sbcl --script load.lisp"
	"luajit luajit load.lua"
	"lua5.4 lua5.4 load.lua"
	"guile guile load.scm"
	"ocamlrun ocaml load.ml"
	"shellcheck shellcheck load.sh"
	"perl perl load.pl"
	"ruby ruby load.rb"
	"php php -r 'for (;;) { \$a = range(1, 999); sort(\$a); json_encode(\$a); }'"
	"sqlite3 sqlite3 :memory: '.read load.sql'"
	"openssl openssl speed -seconds 1 rsa2048"
)

there=()
for p in "${programs[@]}"; do
	set -- $p
	[ -n "$TEST_LONG" ] || [[ $short = *" $1 "* ]] || continue
	[ "$2" = bash ] && [ "$1" != bash ] && set -- $1 $1
	! command -v "$2" >/dev/null || there+=("$p")
done

# Each program competes with a loop on its CPU, so the scheduler can interrupt it anywhere.
cat >load <<'END'
for ((i = 0; i < $(nproc); i++)); do yes >/dev/null & done
while IFS= read -r p; do
	end=$((SECONDS + SECONDS_EACH))
	while [ $SECONDS -lt $end ]; do
		timeout $((SECONDS_EACH + 1)) bash -c "exec ${p#* }" >/dev/null 2>&1 </dev/null
	done
done <programs
kill $(jobs -p)
END
printf '%s\n' "${there[@]}" >programs
export SECONDS_EACH

# record_all WHICH: record all programs into WHICH.json
record_all()
{
	record -b 16384 -O $OPT -e sched:sched_switch -- bash load &&
		$BUILD/trace-ustack report --json -j 2 $TEST_TMP/trace.dat >$1.json &&
		$BUILD/trace-ustack stat $TEST_TMP/trace.dat >$TEST_OUT/stat-$1
}

say "${#there[@]} programs, $SECONDS_EACH s each"
check "the image has enough programs" at_least ${#there[@]} $MIN_PROGRAMS
[ $ARCH != amd64 ] ||
	check "the Go program is built (make needs go, Debian: golang-go)" [ -x $GO ]
check "without tables: recorded" record_all without
check "tables of all that runs are registered" register -a
# a first run, so that the files of all programs are known
SECONDS_EACH=1 bash load
check "the programs' files have tables" settle bash
check "with tables: recorded" record_all with
unregister
comms=$(cut -d ' ' -f 1 programs | cut -c 1-15)
"$(dirname "$0")/never-shorter.py" without.json with.json $comms >judged
say "stacks, median and mean of their frames, without and with tables:"
sed 's/^/     /' judged
cp judged $TEST_OUT/figures
# has_good_line NAME: the output has a line for NAME, without a complaint after it
has_good_line()
{
	awk -v name="$1" '
		/^[^ ]/ { is = $1 == name; there += is }
		is && /^ / { bad++ }
		is { print }
		END { exit there != 1 || bad }' judged
}
check "most programs have enough stacks" at_least \
	$((${#there[@]} - $(grep -c 'too few to judge$' judged))) $MIN_PROGRAMS
for comm in $comms; do
	check "$comm: not shorter with tables" has_good_line $comm
done
check "no frame lies outside of a mapping, without tables" has_good_line outside-without
check "no frame lies outside of a mapping, with tables" has_good_line outside-with
keep without.json with.json
finish
