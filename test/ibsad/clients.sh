#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: clients.sh IBSA DROP-IN IBSAD TOPOLOGY KERNEL-PATH [opensm]
#
# An ordinary user may not open the device file of a port, of which the sysfs is
# that of a fabric: the command and Debian's saquery use ibsad's socket in /run
# without being told to, unless the environment says otherwise. The SA is the
# embedded one, or OpenSM. Runs in a mount name space of its own. Exit status: 0 passed, 1 failed, 77 a required program
# or right is missing.
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
set -uo pipefail

if [ "${7-}" != inside ]; then
	for tool in saquery setpriv unshare ${6:+"$6"}; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	if ! unshare --mount true 2>/dev/null; then
		echo "skipped: no right to make a mount name space" >&2
		exit 77
	fi
	exec unshare --mount "$0" "$1" "$2" "$3" "$4" "$5" "${6-}" inside
fi

build=$(dirname "$(dirname "$(realpath "$1")")")
drop_in=$(realpath "$2")
ibsad=$(realpath "$3")
topology=$(realpath "$4")
kernel_path=$(realpath "$5")
source=$(realpath "$(dirname "$0")/../..")
unset IBSA_FABRIC IBSA_NODE SYSFS_PATH LD_LIBRARY_PATH
mount -t tmpfs none /run || exit 77
mkdir -p /run/ibsad /run/test/lib /run/test/command && cd /run/test || exit 77
# An ordinary user cannot read a build directory that is root's.
cp "$drop_in" lib/libibumad.so.3
cp "$build/command/ibsa" command/ibsa
cp "$build"/libibsa*.so.1 .
cp "$kernel_path" kernel-path
cp -r "$source/python/ibsa" .
cp "$build"/python/ibsa/*.py ibsa/ 2>/dev/null
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

# A job's command is the program itself, which gets the job's signals.
user=(setpriv --reuid=65534 --regid=65534 --clear-groups --
	env SYSFS_PATH=/run/test/sys)

as_user() {
	"${user[@]}" "$@"
}

# same CMD... - compare root at the fabric with the user at ibsad, but for times
same() {
	IBSA_FABRIC=unix:/run/test/fabric IBSA_NODE=node1 "$@" >root 2>root.err
	as_user "$@" >user 2>user.err || wrong "$*: $? $(cat user.err)"
	[ -s root ] || wrong "$*: nothing for root: $(cat root.err)"
	sed -i 's/[0-9.]* ms/TIME/' root user
	diff root user || wrong "$*: different output"
}

ibsa=command/ibsa
"$ibsa" fabric run "$topology" --socket fabric ${6:+--sa none} >fabric.log 2>&1 &
fabric=$!
within 30 "$ibsa" fabric stats --socket fabric || wrong "$(cat fabric.log)"
opensm=
if [ -n "$6" ]; then
	echo 'force_log_flush TRUE' >opensm.conf
	IBSA_FABRIC=unix:/run/test/fabric OSM_TMP_DIR=. OSM_CACHE_DIR=. \
		opensm -F opensm.conf -f opensm.log >opensm.out 2>&1 &
	opensm=$!
	within 30 grep -q 'SUBNET UP' opensm.log || wrong "$(cat opensm.out)"
fi
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
within 30 "$ibsad" --status ibsa0 || wrong "$(cat ibsad.log)"
same "$ibsa" query table NR
same "$ibsa" query table NR -C ibsa0 -P 1
same "$ibsa" path self 4
same "$ibsa" reach --all
same "$ibsa" status
same saquery NR
same saquery -C ibsa0 -P 1 PR

gid=$(IBSA_FABRIC=unix:/run/test/fabric IBSA_NODE=node3 "$ibsa" devices -j |
	grep -om 1 'fe80::[0-9a-f:]*')
same ./kernel-path "$gid"
same /usr/bin/python3 -B -c '
import sys, ibsa
with ibsa.open() as client:
    print(client.path(sys.argv[1]))' "$gid"

as_user "$ibsa" doctor -v >doctor.out || wrong "doctor: $? $(cat doctor.out)"
grep -q '^node .* ok .*ibsad serves the port' doctor.out ||
	wrong "no node in $(cat doctor.out)"
grep -q '^sa  .* ok ' doctor.out || wrong "no SA in $(cat doctor.out)"
as_user env IBSA_FABRIC= "$ibsa" doctor >doctor.out 2>&1
[ $? -eq 4 ] || wrong "doctor with IBSA_FABRIC empty: $(cat doctor.out)"

as_user "$ibsa" metrics >metrics.out || wrong "metrics: $?"
grep -q '^ibsa_ibsad{device="ibsa0",kind="clients"} [1-9]' metrics.out ||
	wrong "no clients in $(cat metrics.out)"
grep -q '^ibsa_ibsad_events_total{device="ibsa0",kind="accepted"} [1-9]' \
	metrics.out || wrong "no counters in $(cat metrics.out)"

# Three watches of a user, one of root, metrics and a service that renews, all
# at this port.
"${user[@]}" "$ibsa" metrics --listen 127.0.0.1:0 >metrics.out 2>&1 &
metrics=$!
"${user[@]}" "$ibsa" service register 0x77 user --renew --lease 30 >service.out 2>&1 &
service=$!
watches=()
for i in 1 2 3; do
	"${user[@]}" "$ibsa" watch gid >"watch$i" 2>&1 &
	watches+=($!)
done
env SYSFS_PATH=/run/test/sys "$ibsa" watch gid >watch4 2>&1 &
watches+=($!)
for i in 1 2 3 4; do
	within 30 grep -q subscribed "watch$i" || wrong "watch $i: $(cat "watch$i")"
done
within 30 grep -q 127.0.0.1 metrics.out || wrong "metrics: $(cat metrics.out)"
within 30 sh -c "IBSA_FABRIC=unix:/run/test/fabric $ibsa service lookup user" ||
	wrong "service: $(cat service.out)"
"$ibsa" fabric link down node4/2 --socket fabric || wrong "link down"
for i in 1 2 3 4; do
	within 30 grep -q gid-out "watch$i" || wrong "watch $i: $(cat "watch$i")"
done
kill -TERM "$metrics" "${watches[@]}" "$service"
wait "$metrics" "${watches[@]}" "$service"
within 30 sh -c "! IBSA_FABRIC=unix:/run/test/fabric $ibsa service lookup user" ||
	wrong "the service is still registered"
"$ibsa" fabric link up node4/2 --socket fabric || wrong "link up"

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
within 30 "$ibsad" --status --socket moved ibsa0 || wrong "$(cat ibsad.log)"
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

kill "$other" "$daemon" "$sysfs" ${opensm:+"$opensm"}
[ -z "$opensm" ] || wait "$opensm"
kill "$fabric"
wait
[ "$status" -eq 0 ] && echo "the user needs no option"
exit "$status"
