#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: sm_same.sh IBSA DROPIN
#
# Tests that the embedded SM sets up a fabric as OpenSM does: two fabric servers
# serve the same topology, one with the embedded SM, the other with OpenSM,
# through the library DROPIN in place of libibumad. The LIDs, the
# PortInfoRecords of all ports with a link, and the paths from the SM must be the
# same, with 1, 2 and 4 LIDs at each port of an adapter. A service with a lease of 0 seconds must
# live as long.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "${BASH_SOURCE[0]}")/fabric.sh"

ibsa=$(realpath "$1")
dropin=$(dirname "$(realpath "$2")")
fabric_need opensm jq
unset LD_LIBRARY_PATH
FABRIC_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ibsa-sm-XXXXXXXX")
pids=()

finish() {
	local i
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		fabric_end "${pids[i]}"
	done
	pids=()
}
trap 'finish; rm -rf "$FABRIC_DIR"' EXIT

# guid KIND - print the line with the GUID of the next node. Sorted by their
# first bytes, the GUIDs have the same order as by their last: OpenSM on a
# little-endian machine sorts by the last.
guid() {
	serial=$(((serial * 7 + 5) % 61))
	printf '%sguid=0x%02x000000000000%02x\n' "$1" \
		$((2 * serial + 2)) $((2 * serial + 2))
}

# host NAME SWITCH PORT LMC
host() {
	guid ca
	printf 'Ca 1 "%s"\n[1] "%s"[%d] # lid 0 lmc %d "%s" lid 0 4xQDR\n\n' \
		"$1" "$2" "$3" "$4" "$2"
}

# torus LMC - print a torus of 3 x 3 switches with a host each
torus() {
	local i j serial=0 port0=(base enhanced base)
	for i in 0 1 2; do
		for j in 0 1 2; do
			guid switch
			printf 'Switch 8 "t%d%d" # "t%d%d" %s port 0\n' $i $j \
				$i $j "${port0[j]}"
			printf '[2] "t%d%d"[3] # 4xQDR\n' $i $(((j + 1) % 3))
			printf '[4] "t%d%d"[5] # 4xQDR\n\n' $(((i + 1) % 3)) $j
		done
	done
	for i in 0 1 2; do
		for j in 0 1 2; do
			host "n$i$j" "t$i$j" 1 "$1"
		done
	done
}

# tree LMC - print a tree of two leaf switches with three hosts each
tree() {
	local i j serial=0
	guid switch
	printf 'Switch 4 "spine"\n\n'
	for i in 0 1; do
		guid switch
		printf 'Switch 8 "leaf%d"\n[8] "spine"[%d] # 4xQDR\n\n' $i $((i + 1))
	done
	for i in 0 1; do
		for j in 0 1 2; do
			host "n$i$j" "leaf$i" $((j + 1)) "$1"
		done
	done
}

# serve NAME OPTION... - serve the topology $FABRIC_DIR/net at the socket NAME
serve() {
	local name=$1
	shift
	"$ibsa" fabric run "$FABRIC_DIR/net" --socket "$FABRIC_DIR/$name" "$@" \
		>"$FABRIC_DIR/$name.log" 2>&1 &
	pids+=($!)
	fabric_await "$FABRIC_DIR/$name.log" serves $!
}

# at NAME CMD... - run a command at the host n00 of a server
at() {
	local name=$1
	shift
	env "IBSA_FABRIC=unix:$FABRIC_DIR/$name" IBSA_NODE=n00 "$@"
}

# opensm_start LMC - its pid must be OpenSM's, not that of a shell that runs at():
# an OpenSM that is left over takes the port of the next server at the socket
opensm_start() {
	rm -rf "$FABRIC_DIR/osm"
	mkdir "$FABRIC_DIR/osm"
	printf 'force_log_flush TRUE\nsingle_thread TRUE\nlmc %d\n' "$1" \
		>"$FABRIC_DIR/osm.conf"
	env "IBSA_FABRIC=unix:$FABRIC_DIR/theirs" IBSA_NODE=n00 \
		LD_LIBRARY_PATH="$dropin" \
		OSM_TMP_DIR="$FABRIC_DIR/osm" OSM_CACHE_DIR="$FABRIC_DIR/osm" \
		opensm -F "$FABRIC_DIR/osm.conf" -f "$FABRIC_DIR/osm/log" \
		>"$FABRIC_DIR/osm/out" 2>&1 </dev/null &
	pids+=($!)
	fabric_await "$FABRIC_DIR/osm/log" 'SUBNET UP' $!
}

lids() {
	at "$1" "$ibsa" query table NodeRecord -j |
		jq -r '.[] | [.node_description, .port_guid, .lid] | @tsv' | sort
}

ports() {
	at "$1" "$ibsa" query table PortInfoRecord -j |
		jq -c 'sort_by(.endport_lid, .port_num)[] |
			select(.port_state != 1)'
}

# The paths from the SM's port, of which the MTU depends on the other port.
paths() {
	local lid
	lid=$(at "$1" "$ibsa" devices -j | jq '.[0].lid')
	at "$1" "$ibsa" query table PathRecord slid="$lid" -j |
		jq -c 'sort_by(.slid, .dlid)[]'
}

# same WHAT COMMAND - compare what the command prints for both servers
same() {
	"$2" theirs >"$FABRIC_DIR/theirs.out"
	"$2" ours >"$FABRIC_DIR/ours.out"
	[ -s "$FABRIC_DIR/theirs.out" ] || wrong "$1: there are none"
	diff "$FABRIC_DIR/theirs.out" "$FABRIC_DIR/ours.out" >&2 ||
		wrong "$1 differ"
}

# services NAME - print the number of services
services() {
	at "$1" "$ibsa" query table ServiceRecord -j 2>/dev/null | jq length
}

# leases - register a service with a lease of 0 at both servers: both must have
# it at once, and not after 10 seconds
leases() {
	local name end
	for name in theirs ours; do
		at "$name" "$ibsa" query set ServiceRecord service_id=1 \
			service_gid="$(at "$name" "$ibsa" gids -j |
				jq -r '.[0].gid')" service_pkey=0xffff \
			service_lease=0 service_name=short >/dev/null
		[ "$(services "$name")" = 1 ] ||
			wrong "$name: there is no service at once"
	done
	for name in theirs ours; do
		end=$((SECONDS + 10))
		until [ "$(services "$name")" = 0 ]; do
			[ "$SECONDS" -lt "$end" ] || break
			sleep 0.2
		done
		[ "$(services "$name")" = 0 ] ||
			wrong "$name: the service stays"
	done
}

for net in torus tree; do
	for lmc in 0 1 2; do
		"$net" "$lmc" >"$FABRIC_DIR/net"
		serve ours --sa-at n00
		serve theirs --sa none
		opensm_start "$lmc"
		same "$net, LMC $lmc: LIDs" lids
		same "$net, LMC $lmc: PortInfoRecords" ports
		same "$net, LMC $lmc: PathRecords" paths
		[ "$net$lmc" != tree2 ] || leases
		finish
	done
done
exit "$failed"
