#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: clients.sh IBSA DROP-IN IBSAD TOPOLOGY
#
# An ordinary user may not open the device file of a port, of which the sysfs is
# that of a fabric: the command and Debian's saquery use ibsad's socket in /run
# without being told to, unless the environment says otherwise. Runs in a mount
# name space of its own. Exit status: 0 passed, 1 failed, 77 a required program
# or right is missing.
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
set -uo pipefail

if [ "${5-}" != inside ]; then
	for tool in saquery setpriv unshare; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	if ! unshare --mount true 2>/dev/null; then
		echo "skipped: no right to make a mount name space" >&2
		exit 77
	fi
	exec unshare --mount "$0" "$1" "$2" "$3" "$4" inside
fi

build=$(dirname "$(dirname "$(realpath "$1")")")
drop_in=$(realpath "$2")
ibsad=$(realpath "$3")
topology=$(realpath "$4")
unset IBSA_FABRIC IBSA_NODE SYSFS_PATH LD_LIBRARY_PATH
mount -t tmpfs none /run || exit 77
mkdir -p /run/ibsad /run/test/lib /run/test/command && cd /run/test || exit 77
# An ordinary user cannot read a build directory that is root's.
cp "$drop_in" lib/libibumad.so.3
cp "$build/command/ibsa" command/ibsa
cp "$build"/libibsa*.so.1 .
export LD_LIBRARY_PATH=/run/test/lib:/run/test
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
	setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		env SYSFS_PATH=/run/test/sys "$@"
}

# same CMD... - compare root at the fabric with the user at ibsad
same() {
	IBSA_FABRIC=unix:/run/test/fabric IBSA_NODE=node1 "$@" >root 2>root.err
	as_user "$@" >user 2>user.err || wrong "$*: $? $(cat user.err)"
	[ -s root ] || wrong "$*: nothing for root: $(cat root.err)"
	cmp root user || wrong "$*: different output"
}

ibsa=command/ibsa
"$ibsa" fabric run "$topology" --socket fabric >fabric.log 2>&1 &
fabric=$!
within 30 test -S fabric || wrong "$(cat fabric.log)"
"$ibsa" fabric sysfs node1 sys --socket fabric >sysfs.log 2>&1 &
sysfs=$!
within 30 test -e sys/class/infiniband_mad/umad0/ibdev ||
	wrong "$(cat sysfs.log)"

as_user "$ibsa" query table NR >user 2>user.err
[ $? -eq 4 ] || wrong "without ibsad: $(cat user.err)"
grep -q /dev/infiniband/umad0 user.err || wrong "$(cat user.err)"

IBSA_FABRIC=unix:/run/test/fabric IBSA_NODE=node1 \
	"$ibsad" --standalone ibsa0 2>ibsad.log &
daemon=$!
within 30 test -S /run/ibsad/ibsa0 || wrong "$(cat ibsad.log)"
same "$ibsa" query table NR
same "$ibsa" query table NR -C ibsa0 -P 1
same "$ibsa" path self 4
same "$ibsa" reach --all
same saquery NR
same saquery -C ibsa0 -P 1 PR

# An empty text in the place of a fabric selects the device itself.
as_user env IBSA_FABRIC= "$ibsa" query table NR >user 2>user.err
[ $? -eq 4 ] || wrong "with IBSA_FABRIC empty: $(cat user.err)"
as_user env IBSA_FABRIC= saquery NR >user 2>&1 &&
	wrong "saquery with IBSA_FABRIC empty: $(cat user)"

# A socket of another user than root is not used.
kill "$daemon"
wait "$daemon" || wrong "ibsad: $(cat ibsad.log)"
IBSA_FABRIC=unix:/run/test/fabric IBSA_NODE=node1 \
	"$ibsad" --standalone --socket moved ibsa0 2>ibsad.log &
daemon=$!
within 30 test -S moved || wrong "$(cat ibsad.log)"
chmod 777 /run/ibsad
setpriv --reuid=65533 --regid=65533 --clear-groups -- /usr/bin/python3 -c '
import socket, time
listener = socket.socket(socket.AF_UNIX)
listener.bind("/run/ibsad/ibsa0")
listener.listen()
time.sleep(60)' &
other=$!
within 30 test -S /run/ibsad/ibsa0 || wrong "no socket of another user"
chmod 777 /run/ibsad/ibsa0
as_user "$ibsa" query table NR >user 2>user.err &&
	wrong "the socket of another user is used"
grep -q 'another user' user.err || wrong "$(cat user.err)"

kill "$other" "$daemon" "$sysfs" "$fabric"
wait
[ "$status" -eq 0 ] && echo "the user needs no option"
exit "$status"
