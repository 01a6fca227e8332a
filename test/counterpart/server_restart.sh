#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: server_restart.sh IBSA DROPIN TOPOLOGY
#
# OpenSM and ibping use a fabric server that is killed, and started again at the
# same socket: OpenSM sets up the new fabric, with its port as the SM's, and an
# ibping server that was started before answers.
drop_in=$(dirname "$(realpath "$2")")
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$0")/server.sh"
ibsa=$(realpath "$1") net=$3
served_need opensm ibping
tmp=$(mktemp -d)
cd "$tmp" || exit 1
status=0
server='' pinged=''
trap cleanup EXIT

cleanup() {
	sm_stop
	[ -z "$pinged" ] || kill "$pinged"
	[ -z "$server" ] || kill "$server"
	wait
	cd / && rm -rf "$tmp"
}

wrong() {
	echo "WRONG: $*"
	status=1
}

server_start() {
	"$ibsa" fabric run "$net" --sa none --socket "$tmp/s" >ready 2>server.err &
	server=$!
	within 20 grep -q '^unix:' ready && return
	wrong "server: $(cat server.err)"
	exit 1
}

server_stop() {
	kill "-$1" "$server"
	wait "$server" 2>/dev/null
	server=''
	: >ready
}

port_lid() {
	IBSA_NODE=$1 "$ibsa" devices -j | jq -r '.[0].lid'
}

port_is_up() {
	IBSA_NODE=$1 "$ibsa" devices -j | jq -e '.[0].state == 4'
}

has_sm() {
	"$ibsa" query table PIR -j | jq -e --argjson lid "$(port_lid node1)" \
		'any(.[]; .lid == $lid and (.capability_mask / 2 | floor) % 2 == 1)'
}

pings() {
	LD_LIBRARY_PATH=$drop_in IBSA_NODE=node2 timeout 20 \
		ibping -c 3 -t 500 "$(port_lid node3)" >ping.out 2>&1 &&
		grep -q ' 0% packet loss' ping.out
}

# check WHEN - the subnet is up, its SM's port says so, and ibping is answered
check() {
	local node
	for node in node1 node2 node3; do
		within 25 port_is_up "$node" || wrong "$1: $node is not up"
	done
	within 15 has_sm || wrong "$1: no port has IsSM"
	within 30 pings || wrong "$1: $(cat ping.out)"
}

export IBSA_FABRIC=unix:$tmp/s
server_start
IBSA_NODE=node1 sm_start 'sweep_interval 1' || {
	wrong "OpenSM: $(tail -n 3 opensm.log)"
	exit 1
}
LD_LIBRARY_PATH=$drop_in IBSA_NODE=node3 ibping -S >/dev/null 2>ibping.err &
pinged=$!
check 'first server'
for signal in KILL TERM; do
	server_stop "$signal"
	sleep 1
	server_start
	check "after SIG$signal"
	kill -0 "$sm_pid" || wrong "OpenSM has ended"
	kill -0 "$pinged" || wrong "ibping -S has ended: $(cat ibping.err)"
done
errors=$(grep -c 'ERR 54' opensm.log)
echo "OpenSM: $errors umad errors in the log"
[ "$errors" -le 40 ] || wrong "$(grep 'ERR 54' opensm.log | tail -n 3)"
exit "$status"
