#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# vm: cpus=2 mem=1536 timeout=900
#
# The known call paths of a program that keeps neither frame pointers nor a back chain, unwound by
# its unwind table. On arm64, the same with signed return addresses.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tables/lib.sh"
need_tables

bare=$CALLPATH-bare
for CALLPATH in $bare $([ $ARCH != arm64 ] || echo ${bare%-bare}-pac); do
	kind=${CALLPATH##*-}
	need_program $CALLPATH $PROG/callpath-check
	programs="-t -p $CALLPATH"
	check "$kind: a table is registered" register $CALLPATH
	check_callpath "$kind: threads and signals" $CALLPATH -t 2 -n 40 -c 2 -d 10,100 \
		-x plain,sleep,yield,futex,pipe,signal,suspend
	check_callpath "$kind: processes" $CALLPATH -t 1 -n 20 -c 2 -s 2 -x all -e $CALLPATH
	check_callpath "$kind: deep" $CALLPATH -n 1 -d 254,400,508,600
	check "$kind: unregistered" unregister
done
finish
