#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: saquery.sh IBSA DROP-IN IBSAD TOPOLOGY
#
# Runs command lines of Debian's saquery as an ordinary user, through ibsad, and
# as root, at the port itself, on a fabric that OpenSM manages: their output must
# be the same. sminfo, smpquery and perfquery must fail for the user.
# Exit status: 0 passed, 1 failed, 77 a required program or right is missing.
set -uo pipefail
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"

if [ "${5-}" != inside ]; then
	for tool in saquery sminfo smpquery perfquery opensm setpriv; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	if [ "$(id -u)" -ne 0 ]; then
		echo "skipped: only root can run other users" >&2
		exit 77
	fi
	folder=$(mktemp -d)
	chmod 755 "$folder"
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	IBSAD_FOLDER=$folder "$1" fabric exec "$4" --sa none \
		--socket "$folder/fabric" -- "$0" "$1" "$2" "$3" "$4" inside
	exit
fi

ibsad=$(realpath "$3")
drop_in=$(realpath "$2")
cd "$IBSAD_FOLDER" || exit 1
# An ordinary user cannot read a build directory that is root's.
mkdir lib && cp "$drop_in" lib/libibumad.so.3 && chmod 755 lib lib/*
export LD_LIBRARY_PATH=$IBSAD_FOLDER/lib
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# within SECONDS CMD... - repeat CMD until it succeeds, at most for SECONDS
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

as_user() {
	IBSA_FABRIC=unix:$IBSAD_FOLDER/ibsad setpriv --reuid=65534 \
		--regid=65534 --clear-groups -- "$@"
}

# same ARGUMENT... - compare saquery of root and of the user
same() {
	local root user
	saquery "$@" >root 2>&1
	root=$?
	as_user saquery "$@" >user 2>&1
	user=$?
	[ "$root" -eq 0 ] || wrong "saquery $*: root gets $root"
	[ "$user" -eq "$root" ] || wrong "saquery $*: the user gets $user"
	cmp root user || wrong "saquery $*: different output"
	count=$((count + 1))
}

# refused CMD... - check that CMD succeeds for root, and fails for the user as
# with a libibumad that does not register the class
refused() {
	"$@" >root 2>&1 || wrong "$*: root gets $?"
	as_user "$@" >user 2>&1 && wrong "$*: the user is not refused"
	grep -q 'client_register for mgmt .* failed' user ||
		wrong "$*: $(cat user)"
}

echo 'force_log_flush TRUE' >opensm.conf
OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm -F opensm.conf -f opensm.log \
	>opensm.out 2>&1 &
opensm=$!
within 30 grep -q 'SUBNET UP' opensm.log || wrong "$(tail -n 3 opensm.log)"
"$ibsad" --standalone --socket ibsad ibsa0 2>ibsad.log &
daemon=$!
within 30 "$ibsad" --status --socket ibsad ibsa0 || wrong "ibsad: $(cat ibsad.log)"

count=0
for record in CPI NR PIR SWIR SL2VL LFTR MFTR SMIR LR SR PR VLAR MCMR IIR GIR; do
	same "$record"
done
for option in -N -D -S -s -g -m -x -c -I --list; do
	same "$option"
done
same -p --src-to-dst 1:2
same --sgid-to-dgid "$(saquery PR | grep -m 2 -oE 'fe80::[0-9a-f:]+' |
	paste -sd-)"
same -L 1
same -l 1
same -G 1
same NR 1
same PIR 2/1
same --slid 1 --dlid 3 PR
same --mlid 0xc000 -m
[ "$count" -ge 30 ] || wrong "only $count command lines"

refused sminfo
refused smpquery nodeinfo 1
refused perfquery 1 1
as_user saquery --smkey 0x5 NR >user 2>&1 && wrong "an SM_Key is not refused"
grep -q 0x0700 user || wrong "with an SM_Key: $(cat user)"

kill "$daemon"
wait "$daemon" || wrong "ibsad: $(cat ibsad.log)"
[ -e ibsad ] && wrong "the socket is still there"
kill "$opensm"
wait "$opensm"
[ "$status" -eq 0 ] && echo "$count command lines have the same output"
exit "$status"
