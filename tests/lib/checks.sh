# SPDX-License-Identifier: GPL-2.0
#
# checks.sh: the shell tests count and print their checks with these functions; bash sources the
# file. check() prints each check that fails and checks_lines lines of its output. Of the lines
# after those, it prints the ones that say WRONG or LOST: tests/vm/runner.py repeats no such test.
# With checks_verbose=1, check() prints each check that passes, too. finish prints the sum that
# scripts/tally reads and ends the test.

passed=0 failed=0 skipped=0
checks_verbose=${checks_verbose:-} checks_lines=${checks_lines:-30}

# pass [WHAT], fail WHAT, skip WHAT: count it
pass()
{
	passed=$((passed + 1))
	[ -z "$checks_verbose" ] || [ -z "${1:-}" ] || echo "ok    $*"
}

fail()
{
	failed=$((failed + 1))
	echo "FAIL: $*"
}

skip()
{
	skipped=$((skipped + 1))
	echo "SKIP: $*"
}

# not_fetched STATUS WHAT...: a script that fetches failed. Status 4: it is not available now
not_fetched()
{
	if [ "$1" = 4 ]; then
		skip "${*:2}"
	else
		fail "${*:2}: status $1"
	fi
}

# check WHAT COMMAND...: the command must succeed; if it fails, show its output
check()
{
	local what=$1 out
	shift
	if out=$("$@" 2>&1); then
		pass "$what"
	else
		fail "$what: $*"
		[ -z "$out" ] || awk -v max="$checks_lines" \
			'NR <= max || /^(WRONG|LOST): / { print "  | " $0 }' <<<"$out"
	fi
}

# Conditions for check: has REGEX [FILE], has_not REGEX [FILE]: a line of the file; default: output
has() { grep -qE -- "$1" "${2:-output}" || { cat "${2:-output}"; return 1; }; }
has_not() { ! has "$@" >/dev/null || { cat "${2:-output}"; return 1; }; }

# run_test COMMAND...: the sum that a test prints is added to ours, its other lines are passed on
run_test()
{
	local line status before=$failed
	local sum='^([^ ]+: )?([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'

	while IFS= read -r line; do
		if [[ $line =~ $sum ]]; then
			passed=$((passed + BASH_REMATCH[2]))
			failed=$((failed + BASH_REMATCH[3]))
			skipped=$((skipped + ${BASH_REMATCH[5]:-0}))
		else
			printf '%s\n' "$line"
		fi
	done < <("$@" 2>&1)
	wait $!
	status=$?
	[ $status = 0 ] || [ $failed -gt $before ] ||
		fail "$1 ends with status $status and counts no failure"
}

# is VALUE WANTED: a condition for check
is() { [ "$1" = "$2" ] || { echo "'$1' is not '$2'"; return 1; }; }

finish()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	exit $((failed > 0))
}
