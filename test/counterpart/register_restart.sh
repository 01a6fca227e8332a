#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: register_restart.sh IBSA DROP-IN TOPOLOGY
#
# Tests that a service is registered again in time after each of eight restarts
# of OpenSM at a fabric server. OpenSM restarts without its state, right after
# each registration. The eighth registration must come as soon as the first.
# saquery must show the service.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, TOPOLOGY the file of the fabric. Exit status: 0 passed, 1 failed,
# 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${4-}" != inside ]; then
	served_need opensm saquery
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	KEEP_FOLDER=$folder "$1" fabric exec "$3" --sa none \
		--socket "$folder/s" -- "$0" "$@" inside
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$KEEP_FOLDER" || exit 1
# From the change of the port on, a client may take half a second until it reads
# the record, and half a second until it sets it; the rest is for a busy
# machine.
limit_ms=4000
pid=

fail() {
	echo "FAILED: $*: $(grep -o '"time.*"event":"[^"]*"' events) $(cat err)"
	exit 1
}

registered() { [ "$(grep -c '"registered' events)" -ge "$1" ]; }

quit() {
	[ -z "$pid" ] || { kill "$pid" && wait "$pid"; }
	sm_stop TERM
}

now_ms() { date +%s%3N; }

sm_start || fail 'OpenSM'
trap quit EXIT
IBSA_NODE=node2 "$ibsa" -j service register --renew 1 disk </dev/null >events 2>err &
pid=$!
within 30 registered 1 || fail 'not registered at first'
for round in 1 2 3 4 5 6 7 8; do
	sm_stop
	sm_start || fail "OpenSM, round $round"
	from=$(now_ms)
	within 60 registered $((round + 1)) || fail "round $round: never again"
	took=$(($(now_ms) - from))
	[ "$took" -le "$limit_ms" ] ||
		fail "round $round: away for $took ms after the SM was up"
	times="${times-} $took"
done
LD_LIBRARY_PATH=$drop_in saquery SR 2>/dev/null | grep -q 'disk$' ||
	fail 'saquery does not see it'
echo "registered again after$times ms"
