#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: same_requests.sh PROGRAM DRAW UMTAP EXAMPLES [SEED [COUNT]]
#
# Sends the same requests to OpenSM and to the embedded SA, with PROGRAM, and
# compares the replies: on a topology of the tests, on the topologies in
# EXAMPLES, and on topologies that the program DRAW generates: a fixed one, and
# COUNT (3) with the seeds SEED, SEED + 1 and so on. Fails if the replies
# differ in a way that PROGRAM does not list as known, or if a known difference
# no longer occurs.
# UMTAP a library that, preloaded, makes MADs of ibsim whole. SEED is random by
# default. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"

program=$(realpath "$1")
draw=$(realpath "$2")
FABRIC_UMTAP=$(realpath "$3")
examples=$(realpath "$4")
seed=${5:-$((RANDOM * 32768 + RANDOM))}
count=${6:-3}
work=$(mktemp -d "${TMPDIR:-/tmp}/ibsa-same-XXXXXXXX")
trap 'rm -rf "$work"' EXIT

# OpenSM is a job of this shell: while it is listed, no other process can have its
# pid.
sm_signal() {
	if jobs -p | grep -qx "$fabric_sm_pid"; then
		kill -"$1" "$fabric_sm_pid"
	fi
}

# sm_pause - stop OpenSM for six seconds, as on a machine under load
sm_pause() {
	sleep 0.3
	sm_signal STOP
	sleep 6 &
	wait "$!"
	sm_signal CONT
}

# ask TOPOLOGY SM NODE [all|brief|methods [PARTITIONS [pause]]] - run the
# comparison on a topology. End ports of adapters have 2^$lmc LIDs, ports of
# switches have one LID.
ask() {
	echo "$1, SM at $2, asked from $3 ${5:+, with $5}"
	# ibsim can read a file of ibnetdiscover unchanged; other topologies are
	# converted.
	if grep -q '^\[.*lid' "$1"; then
		cp "$1" "$work/net"
	else
		awk -v lmc="${lmc:-0}" -f "$here/ibsim.awk" "$1" >"$work/net"
	fi
	(
		FABRIC_NET=$work/net
		FABRIC_PARTITIONS=${5:-b.default.conf}
		FABRIC_SM=$2
		# With several threads, OpenSM does not answer Sets that it
		# refuses with one; but it is then random which of two equally
		# short ways it uses to discover a node, and so which
		# LocalPortNum PortInfo has.
		[ "${4:-brief}" = methods ] ||
			FABRIC_SM_OPTIONS=('single_thread TRUE' "lmc ${lmc:-0}")
		fabric_start
		fabric_spawn "$3" "$program" "$work/net" \
			"$(realpath "$FABRIC_DATA")/$FABRIC_PARTITIONS" \
			0xfec0000000001234 "$2" "$3" "$seed" "${4:-brief}"
		[ -z "${6:-}" ] || sm_pause
		fabric_wait "$fabric_pid"
	) >"$work/log" 2>&1 || wrong "on $1 from seed $seed"
	grep -v '^ibwarn' "$work/log"
	cat "$work/log" >>"$work/all"
}

echo "seed $seed"
ask "$(realpath "$FABRIC_DATA")/b.net" 'host-r1 mthca0' 'host-r3 mlx5_0' all
ask "$(realpath "$FABRIC_DATA")/b.net" 'host-r1 mthca0' 'host-r3 mlx5_0' \
	methods
for partitions in b reach many; do
	ask "$(realpath "$FABRIC_DATA")/b.net" 'host-r1 mthca0' \
		'host-r3 mlx5_0' brief "$partitions.partitions.conf"
done
ask "$examples/two-hosts.net" node1 node2
ask "$examples/two-hosts.net" node1 node2 methods b.default.conf pause
ask "$examples/four-hosts.net" node1 node3
lmc=2 ask "$examples/two-hosts.net" node1 node2
lmc=3 ask "$examples/four-hosts.net" node1 node3
ask "$examples/fat-tree-16.net" node1 node7
# Seed 3 gives a fabric with several routes and multicast trees, so that these
# are compared in every run.
seeds=(3)
for ((i = 0; i < count; i++)); do
	seeds+=($((seed + i)))
done
for drawn in "${seeds[@]}"; do
	"$draw" "$drawn" >"$work/drawn-$drawn.net"
	ask "$work/drawn-$drawn.net" host1 host2
done

"$program" --differences >"$work/known"
while IFS=$'\t' read -r name reason; do
	if grep -q "^difference $name " "$work/all"; then
		echo "known: $name: $reason"
	else
		wrong "$name does not occur any more: $reason"
	fi
done <"$work/known"
exit "$failed"
