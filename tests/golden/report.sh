#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# report.sh - print the output of trace-cmd report for one fixture
#
#	report.sh TRACE-CMD PLUGIN-DIR FIXTURE-DIR SOURCE FILE
#
# The output has a section for each "# report: ARGS" line of SOURCE. trace-cmd
# reads FILE in FIXTURE-DIR, whose root/ is the sysroot. If TRACE_CMD_RUN is
# set, it goes before TRACE-CMD (another version's dynamic loader).
set -u
tracecmd=$1 plugins=$2 fixtures=$3 source=$4 file=$5

cd "$fixtures" || exit 1
# a HOME without plugins of its own; fixed zone and language
export HOME=$fixtures TRACEEVENT_PLUGIN_DIR=$plugins LC_ALL=C TZ=UTC
grep '^# report:' "$source" | sed 's/^# report: *//' | while IFS= read -r args; do
	echo "\$ trace-cmd report $args"
	case $args in
	*-O\ ustack:sysroot=*) sysroot= ;;
	*) sysroot="-O ustack:sysroot=$fixtures/root" ;;
	esac
	case $args in
	*"-i "*) ;;
	*) args="$args -i $file" ;;
	esac
	# shellcheck disable=SC2086 # words on purpose
	timeout 60 ${TRACE_CMD_RUN:-} "$tracecmd" report $sysroot $args 2>&1 ||
		echo "exit status $?"
done
