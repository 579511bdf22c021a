# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts of this folder: the folders, the messages, and queries to Debian's archive.
#
# Scripts source this file. Everything that a script makes outside the build directory is under
# $CACHE and may be deleted at any time: each script makes again whatever is missing.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${TRACE_USTACK_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/trace-ustack}
KERNEL_SERIES=7.3		# linux-source-$KERNEL_SERIES is the base of kernel-patches/
GUEST_SUITE=trixie		# the guest's Debian; the kernel source is in its backports
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

# run_logged LOG WHAT COMMAND... : long work. A status line that changes, or without a terminal one
# more line every half minute; if it fails the log's end and $HINT, what can be done about it.
run_logged()
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
			printf '\r\033[K%4ds %s' $((SECONDS - start)) "$(progress_of "$log")" >&2
		else
			say "$((SECONDS - start)) s: $(progress_of "$log")"
		fi
	done
	trap - INT TERM
	[ ! -t 2 ] || printf '\r\033[K' >&2
	wait $pid || rc=$?
	if [ $rc != 0 ]; then
		tail -n 25 "$log" >&2
		die "$what failed (exit $rc); the whole log is $log${HINT:+; }${HINT:-}"
	fi
	say "$what: done in $((SECONDS - start)) s"
}

# progress_of LOG: its last line, and how many objects a kernel build has made so far.
progress_of()
{
	local n
	n=$(grep -cE '^  (CC|AS|LD|AR)' "$1" || true)
	[ "$n" -lt 20 ] || printf '%s objects, ' "$n"
	tail -n 1 "$1" | tr -d '\r' | cut -c 1-70
}

# hash_of FILE... : one short name for the content of some files and of standard input ("-").
hash_of()
{
	cat -- "$@" | sha256sum | cut -c 1-12
}

# lock NAME: one script at a time makes NAME in the cache.
lock()
{
	mkdir -p "$CACHE"
	exec 9>"$CACHE/.lock-$1"
	flock -n 9 || { say "waiting for another run that makes $1"; flock 9; }
}

# cross_prefix ARCH: what the names of the compilers for Debian's architecture ARCH begin with here.
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

need_debian()
{
	command -v apt-get >/dev/null ||
		die "this machine has no apt-get: $1 needs Debian or a derivative; $2"
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
	[ -n "$uri" ] || die "apt-get indextargets names no Debian archive on this machine;" \
		"add one to /etc/apt/sources.list or set DEBIAN_MIRROR=URI"
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
	die "Debian's archive keys are missing; apt-get install debian-archive-keyring"
}
