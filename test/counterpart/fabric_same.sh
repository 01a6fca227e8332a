#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: fabric_same.sh IBSA DROPIN
#
# Tests that a fabric server behaves as ibsim does. OpenSM sets up the same
# topology twice: on ibsim, and on a fabric server without an embedded SA,
# through the library DROPIN in place of libibumad. Debian's diagnostics must
# print the same for every node on both, except for the differences that are
# listed in this file.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "${BASH_SOURCE[0]}")/fabric.sh"

ibsa=$(realpath "$1")
dropin=$(dirname "$(realpath "$2")")
fabric_need opensm ibnetdiscover smpquery perfquery ibroute iblinkinfo \
	ibtracert saquery sminfo
unset LD_LIBRARY_PATH
served_pids=()
served_env=()
host='host-r3 mlx5_0'

# ours HOST CMD... - run a program at a node of the fabric server
ours() {
	local host=$1
	shift
	env "${served_env[@]}" "IBSA_NODE=$host" "$@"
}

serve() {
	"$ibsa" fabric run "$FABRIC_DATA/b.net" --sa none \
		--socket "$FABRIC_DIR/served" >"$FABRIC_DIR/served.log" 2>&1 &
	served_pids+=($!)
	fabric_await "$FABRIC_DIR/served.log" serves $!
	served_env=(LD_LIBRARY_PATH="$dropin"
		IBSA_FABRIC="unix:$FABRIC_DIR/served")
	mkdir "$FABRIC_DIR/osm-ours"
	# Start OpenSM without a shell function, so that $! is the process id of
	# OpenSM itself.
	env "${served_env[@]}" "IBSA_NODE=$FABRIC_SM" \
		OSM_TMP_DIR="$FABRIC_DIR/osm-ours" \
		OSM_CACHE_DIR="$FABRIC_DIR/osm-ours" \
		opensm -F "$FABRIC_DIR/opensm.conf" \
		-f "$FABRIC_DIR/osm-ours/log" \
		>"$FABRIC_DIR/osm-ours/out" 2>&1 </dev/null &
	served_pids+=($!)
	fabric_await "$FABRIC_DIR/osm-ours/log" 'SUBNET UP' $!
}

unserve() {
	local i
	for ((i = ${#served_pids[@]} - 1; i >= 0; i--)); do
		fabric_end "${served_pids[i]}"
	done
	fabric_stop
}

# These values may differ: the time at which the output was written, and
# - capability bits: ibsim's adapters do not support client reregistration and
#   system image GUIDs, further bits of them depend on the state of the link, and
#   those of CapabilityMask2 do not depend on the supported widths and speeds;
# - values that ibsim does not store when the SM sets them: the M_Key lease
#   period, timeouts, thresholds, enabled widths and speeds, enforcement of
#   partitions;
# - widths and speeds that the ports support: on ibsim all widths and the speeds
#   up to QDR, so iblinkinfo prints what a link could be; on a fabric server
#   those of the topology file, so OpenSM sets fewer ports and sends fewer SMPs;
# - the port at which a packet arrived, which ibsim does not report for packets
#   with LIDs.
normal() {
	sed -E -e '/^# Topology file: generated/d' -e '/^# Initiated from/d' \
		-e 's/((CapMask|CapabilityMask2):\.*0x).*/\1/' -e '/^\t\t\t\tIs[A-Z]/d' \
		-e '/^(MkeyLeasePeriod|SubnetTimeout|LocalPort):/d' \
		-e '/^(LocalPhysErr|OverrunErr):/d' \
		-e '/^PartEnforce(In|Out)b:/d' \
		-e '/^Link(Width|Speed|SpeedExt)(Enabled|Supported):/d' \
		-e 's/activity count [0-9]+/activity count/' \
		-e 's/\( *(Could be [^)]*)?\)$/( )/' "$1"
}

# same CMD... - check that CMD prints the same at the same host on ibsim and on
# the fabric server
same() {
	local status_a=0 status_b=0
	fabric_run "$host" "$@" >"$FABRIC_DIR/theirs" 2>/dev/null ||
		status_a=$?
	ours "$host" "$@" >"$FABRIC_DIR/ours" 2>/dev/null || status_b=$?
	[ "$status_a" = "$status_b" ] ||
		wrong "$*: exit status $status_a and $status_b"
	diff -u --label ibsim <(normal "$FABRIC_DIR/theirs") \
		--label ours <(normal "$FABRIC_DIR/ours") >&2 ||
		wrong "$*: the outputs differ"
}

fabric_start
trap unserve EXIT
serve
same ibnetdiscover
same iblinkinfo
same sminfo
for lid in 1 2 3 4 5 6; do
	for what in nodedesc nodeinfo portinfo switchinfo pkeys sl2vl vlarb \
		guidinfo; do
		same smpquery "$what" "$lid"
	done
	same ibroute "$lid"
	same ibtracert 1 "$lid"
done
for port in 0 1 4 23 25; do
	for what in portinfo pkeys sl2vl vlarb; do
		same smpquery "$what" 2 "$port"
		same smpquery "$what" 3 "$port"
	done
done

# The fabric server stores these values of PortInfo as OpenSM has set them;
# ibsim does not store them.
kept=$(ours "$FABRIC_SM" smpquery portinfo 4)
for field in MkeyLeasePeriod:.................0 \
	SubnetTimeout:...................18 LocalPhysErr:....................8 \
	LocalPort:.......................1; do
	grep -qxF "$field" <<<"$kept" || wrong "LID 4 lacks $field"
done

# When a link of the fabric server changes, OpenSM receives a trap, and then has
# a node less or more.
nodes() {
	ours 'host-r1 mthca0' saquery NR 2>/dev/null |
		grep -c 'NodeDescription' || true
}

await_nodes() {
	local end=$((SECONDS + 20))
	until [ "$(nodes)" = "$1" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			wrong "there are $(nodes) nodes, not $1"
			return
		fi
		sleep 0.1
	done
}

link() {
	"$ibsa" fabric link "$1" "$host/1" \
		--fabric "unix:$FABRIC_DIR/served" || wrong "link $1"
}

await_nodes 6
link down
await_nodes 5
link up
await_nodes 6
grep -q 'num:128 (Link state change)' "$FABRIC_DIR/osm-ours/log" ||
	wrong 'OpenSM has had no trap 128'
exit "$failed"
