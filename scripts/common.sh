# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts of this directory: the directories, the messages, and queries to Debian's
# archive.
#
# Scripts source this file. Everything that a script makes outside the build directory is under
# $CACHE and may be deleted at any time: each script makes again whatever is missing.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${TRACE_USTACK_CACHE:-${XDG_CACHE_HOME:-~/.cache}/trace-ustack}
KERNEL_SERIES=7.3		# linux-source-$KERNEL_SERIES is the base of kernel-patches/
GUEST_SUITE=trixie		# the guest's Debian; the kernel source is in its backports
RETRY_PAUSES=${RETRY_PAUSES-5 20}	# seconds between the tries of a download
UNAVAILABLE=4		# exit status: what was asked for is not available here and now
export LC_ALL=C.UTF-8

me=$(basename "$0")

say()
{
	printf '%s: %s\n' "$me" "$*" >&2
}

die()
{
	say "$*"
	exit 1
}

# unavailable WHY: the last line on stderr is the reason. Tests skip then; they do not fail.
unavailable()
{
	say "$*${HINT:+; $HINT}"
	exit $UNAVAILABLE
}

# try_logged LOG WHAT COMMAND...: run COMMAND, which takes long. A terminal gets a status line that
# changes, other outputs a line every half minute. Returns the status of COMMAND.
try_logged()
{
	local log=$1 what=$2 start=$SECONDS pid rc=0 every=30 last=$SECONDS
	shift 2
	mkdir -p "$(dirname "$log")"
	say "$what (log: $log)"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	trap 'kill $pid 2>/dev/null; exit 130' INT TERM
	[ -t 2 ] && every=2
	while kill -0 $pid 2>/dev/null; do
		sleep 0.5
		[ $((SECONDS - last)) -ge $every ] || continue
		last=$SECONDS
		if [ -t 2 ]; then
			printf '\r\033[K%4ds %s' $((SECONDS - start)) "$(print_progress "$log")" >&2
		else
			say "$((SECONDS - start)) s: $(print_progress "$log")"
		fi
	done
	trap - INT TERM
	[ ! -t 2 ] || printf '\r\033[K' >&2
	wait $pid || rc=$?
	[ $rc != 0 ] || say "$what: done in $((SECONDS - start)) s"
	return $rc
}

# run_logged LOG WHAT COMMAND...: try_logged(), and the work must succeed.
run_logged()
{
	try_logged "$@" || die_logged "$1" "$2" $?
}

# die_logged LOG WHAT STATUS: print the end of the log, and $HINT, which names a remedy.
die_logged()
{
	tail -n 25 "$1" >&2
	die "$2 failed (exit $3); the whole log is $1${HINT:+; }${HINT:-}"
}

# print_progress LOG: the last line of LOG, and the number of objects that a kernel build has made.
print_progress()
{
	local n
	n=$(grep -cE '^  (CC|AS|LD|AR)' "$1" || true)
	[ "$n" -lt 20 ] || printf '%s objects, ' "$n"
	tail -n 1 "$1" | tr -d '\r' | cut -c 1-70
}

# hash_of FILE...: one short name for the content of all files; "-" is standard input.
hash_of()
{
	cat -- "$@" | sha256sum | cut -c 1-12
}

# list_holders FILE: the processes that hold the lock() of FILE
list_holders()
{
	local info pid
	for info in $(grep -ls "^lock:.*:$(stat -c %i "$1") " /proc/[0-9]*/fdinfo/9); do
		pid=${info#/proc/} pid=${pid%%/*}
		printf ' %s in %s' "$pid" "$(readlink "/proc/$pid/cwd")"
	done
}

# lock NAME [-s]: one script at a time makes NAME in the cache. With -s, no script makes NAME until
# this process and its children end. Without a cache, the script ends here.
lock()
{
	local why
	why=$({ mkdir -p "$CACHE" && : >"$CACHE/.lock-$1"; } 2>&1) ||
		unavailable "no place for the cache: ${why##*$'\n'}; set TRACE_USTACK_CACHE"
	exec 9>"$CACHE/.lock-$1"
	flock ${2:-} -n 9 && return
	say "waiting for other runs that make or use $1:$(list_holders "$CACHE/.lock-$1")"
	flock ${2:-} 9
}

# cross_prefix ARCH: the prefix of the names of compilers for Debian's architecture ARCH.
cross_prefix()
{
	case $1 in
	"$(dpkg --print-architecture 2>/dev/null || echo amd64)") ;;
	amd64) echo x86_64-linux-gnu- ;;
	s390x) echo s390x-linux-gnu- ;;
	arm64) echo aarch64-linux-gnu- ;;
	*) die "there are no guests of architecture '$1', only of amd64, s390x and arm64" ;;
	esac
}

# use_ccache TOP: the kernel's make is about to compile below TOP. $ccache goes before the compiler.
use_ccache()
{
	ccache=
	command -v ccache >/dev/null || return 0
	ccache="ccache "
	export CCACHE_BASEDIR=$1 CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros
	export CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache}
}

need_debian()
{
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		unavailable "this machine has no apt-get: $1 needs Debian or a derivative; $2"
}

# The mirror that this machine itself uses for its main archive.
debian_mirror()
{
	local code uri
	if [ -n "${DEBIAN_MIRROR:-}" ]; then
		printf '%s\n' "$DEBIAN_MIRROR"
		return
	fi
	code=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	uri=$(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' \
		'Created-By: Packages' | awk -v code="$code" '
		$2 != "main" || $3 ~ /security/ { next }
		$1 == code && !best { best = $3 }
		$3 ~ /debian\/?$/ && !other { other = $3 }
		END { print best ? best : other }')
	[ -n "$uri" ] || unavailable "apt-get indextargets names no Debian archive on this" \
		"machine; add one to /etc/apt/sources.list or set DEBIAN_MIRROR=URI"
	printf '%s\n' "$uri"
}

# The key file that Debian's own archive is signed with on this machine.
debian_keyring()
{
	local k
	for k in /usr/share/keyrings/debian-archive-keyring.gpg \
		/usr/share/keyrings/debian-archive-keyring.pgp; do
		if [ -r "$k" ]; then
			printf '%s\n' "$k"
			return
		fi
	done
	unavailable "Debian's archive keys are missing; apt-get install debian-archive-keyring"
}

# In apt's messages: the archive or the network is at fault; the suite serves, but lacks a package.
ARCHIVE_FAULT='404 |unexpected size|Hash Sum|[Ff]ailed to fetch|Could not (resolve|connect|open)'
ARCHIVE_FAULT+='|timed out|Temporary failure|[Uu]nable to connect|Unable to fetch'
ARCHIVE_FAULT+='|is not signed|is expired|Could not get lock'
ARCHIVE_FAULT+='|not valid yet|does not have a Release file|no longer has a Release file'
ARCHIVE_LACKS='Unable to locate|installation candidate|was not found|unmet dependencies|held broken'

# archive_fault LOG: print the first line with a fault of these two kinds; fails if LOG has none.
archive_fault()
{
	grep -m1 -E "^(E:|Err:|  ).*($ARCHIVE_FAULT|$ARCHIVE_LACKS)" "$1" |
		sed -E 's/^(E: | +)//; s/ \[IP: .*//' | cut -c 1-160
}

# from_archive LOG WHAT ARCH SUITES COMMAND...: run COMMAND SUITE with the first of SUITES that
# serves. A mirror in the middle of its sync, or no network, costs some tries. Then the suite counts
# as broken for 30 minutes, so that the next script does not wait again.
from_archive()
{
	local log=$1 what=$2 arch=$3 suites=$4 suite broken pause reason status why=
	shift 4
	mkdir -p "$CACHE/broken"
	for suite in $suites; do
		broken=$CACHE/broken/$suite-$arch
		# Another run may remove it now
		reason=$(find "$broken" -mmin -30 -exec cat {} + 2>/dev/null) || true
		if [ -n "$reason" ]; then
			why+="${why:+; }$suite for $arch: $reason"
			continue
		fi
		for pause in $RETRY_PAUSES ''; do
			status=0
			try_logged "$log" "$what from $suite" "$@" "$suite" || status=$?
			if [ $status = 0 ]; then
				rm -f "$broken"
				[ -z "$why" ] || say "$what: from $suite, because $why"
				return
			fi
			reason=$(archive_fault "$log") || die_logged "$log" "$what" $status
			[[ ! $reason =~ $ARCHIVE_LACKS ]] || break
			[ -n "$pause" ] || { printf '%s\n' "$reason" >"$broken"; break; }
			say "$reason; the next try is in $pause s"
			sleep "$pause"
		done
		why+="${why:+; }$suite for $arch: $reason"
	done
	unavailable "$what is not available: $why"
}

# bootstrap LOG WHAT ARCH SUITES TARGET OPTION...: mmdebstrap makes TARGET with these options. A
# word of SUITES can be several suites that are used together: A,B.
bootstrap()
{
	local log=$1 what=$2 arch=$3 suites=$4 mirror keyring mode=root
	need_debian "$what" "${HINT:-there is no other way yet}"
	command -v mmdebstrap >/dev/null ||
		unavailable "$what is not available: mmdebstrap is missing; run scripts/apt-deps" \
			"as root"
	mirror=$(debian_mirror)
	keyring=$(debian_keyring)
	[ "$(id -u)" = 0 ] || mode=unshare
	shift 4
	from_archive "$log" "$what" "$arch" "$suites" bootstrap_suites "$arch" "$@"
	write_versions "$log" "$log.versions"
}

bootstrap_suites()
{
	local arch=$1 target=$2 suites=${!#} suite sources=()
	set -- "${@:3:$#-3}"
	for suite in ${suites//,/ }; do
		sources+=("deb $mirror $suite main")
	done
	rm -rf "$target"
	mmdebstrap --verbose --mode=$mode --architectures="$arch" --keyring="$keyring" \
		--aptopt="$(apt-config dump Acquire::Check-Valid-Until)" "$@" \
		"${suites%%,*}" "$target" "${sources[@]}"
}

# write_versions LOG FILE: what apt downloaded, a line each: PACKAGE:ARCH VERSION SUITE
write_versions()
{
	# Get:N URI SUITE/COMPONENT ARCH PACKAGE ARCH VERSION [SIZE]
	awk '/^Get:/ && $8 ~ /^\[/ { sub("/.*", "", $3); print $5 ":" $6, $7, $3 }' "$1" >"$2"
}

# hand_out PATH NAME: print PATH. PATH.versions, if it is there, is what scripts/fetched prints.
hand_out()
{
	if [ -e "$1.versions" ]; then
		mkdir -p "$CACHE/versions"
		ln -sfT "$1.versions" "$CACHE/versions/$2"
	fi
	printf '%s\n' "$1"
}
