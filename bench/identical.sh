#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: bench/identical.sh BUILD
#
# 50 processes that send 10,000 identical path queries to ibsad: prints the line
# "requests N", the requests that arrive at OpenSM, in a capture of the fabric,
# and "replies N", those that OpenSM sends.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$(realpath "${1:?usage: bench/identical.sh BUILD}")
memory=/dev/shm
[ -w $memory ] || memory=${TMPDIR:-/tmp}
folder=$(mktemp -d "$memory/ibsa-identical-XXXXXXXX")
pids=()

# End the programs, the last one first.
stop() {
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		kill "${pids[i]}" 2>/dev/null || true
		wait "${pids[i]}" || true
	done
	pids=()
}
trap 'stop; rm -rf "$folder"' EXIT

# within SECONDS CMD... - repeat CMD until it succeeds
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || {
			echo "identical.sh: no success: $*" >&2
			exit 1
		}
		sleep 0.05
	done
}

has_hit() {
	"$build/command/ibsa" query get NR lid=1 &&
		"$build/ibsad/ibsad" --status --socket ibsad ibsa0 |
		grep -q '^cache_hits *[1-9]'
}

# Print the number of PathRecord MADs with a method in the capture.
mads() {
	tshark -r capture.pcap -Y "infiniband.mad.mgmtclass == 3 &&
		infiniband.mad.attributeid == 0x35 &&
		infiniband.mad.method == $1" -T fields -e frame.number \
		2>/dev/null | wc -l
}

cd "$folder"
"$root/scripts/gen-fabric" 64 -o fabric.net
"$build/command/ibsa" fabric run fabric.net --sa none --socket fabric \
	--record capture.pcap >/dev/null &
pids+=($!)
within 30 test -S fabric
export IBSA_FABRIC=unix:$folder/fabric
echo 'force_log_flush TRUE' >opensm.conf
IBSA_NODE=Hca1 LD_LIBRARY_PATH=$build/libibumad/dropin OSM_TMP_DIR=. \
	OSM_CACHE_DIR=. opensm -F opensm.conf -f opensm.log >opensm.out 2>&1 &
pids+=($!)
within 60 grep -q 'SUBNET UP' opensm.log
export IBSA_NODE=Hca2
"$build/ibsad/ibsad" --standalone --socket ibsad ibsa0 &
pids+=($!)
within 30 test -S ibsad
export IBSA_FABRIC=unix:$folder/ibsad
# ibsad keeps answers after it has subscribed.
within 30 has_hit
clients=()
for ((i = 0; i < 50; i++)); do
	"$build/bench/bench-path-client" 1 200 1 shared >/dev/null &
	clients+=($!)
done
for client in "${clients[@]}"; do
	wait "$client"
done
stop
echo "requests $(mads 1)"
echo "replies $(mads 0x81)"
