#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: selectors.sh IBSA DROP-IN FABRIC
#
# Comparisons of MTU, rate and packet life time select the same paths at OpenSM
# and at the embedded SA, and OpenSM refuses none of them.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${4-}" != inside ]; then
	served_need opensm jq
	SELECTORS_FOLDER=$(mktemp -d)
	export SELECTORS_FOLDER
	trap 'rm -rf "$SELECTORS_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		SELECTORS_SA=$sa "$1" fabric exec --sa $sa "$3" --socket \
			"$SELECTORS_FOLDER/s" -- "$0" "$@" inside || status=1
	done
	exit "$status"
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$SELECTORS_FOLDER" || exit 1
status=0

# expect STATUS PATH SELECTOR... - check the exit status of a path query with
# these selectors, and the path's MTU and rate
expect() {
	local want=$1 path=$2 got=0
	shift 2
	"$ibsa" path self node3 --ndjson --fields mtu_text,rate_text "$@" \
		>out 2>err || got=$?
	[ "$got" -eq "$want" ] &&
		[ "$(jq -r '.mtu_text + " " + .rate_text' out)" = "$path" ] &&
		return
	echo "WRONG: SA $SELECTORS_SA: $*: status $got: $(cat out err)"
	status=1
}

[ "$SELECTORS_SA" != none ] || sm_start || {
	echo "OpenSM does not start: $(tail opensm.log)"
	exit 1
}
export IBSA_NODE='node2 mlx5_0'
expect 0 '2048 100Gb/s'
expect 0 '2048 100Gb/s' mtu=2048
expect 1 '' mtu=4096
expect 0 '2048 100Gb/s' 'mtu>=2048'
expect 1 '' 'mtu>2048'
expect 0 '2048 100Gb/s' 'mtu<=4096'
expect 0 '1024 100Gb/s' 'mtu<=1024'
expect 0 '2048 100Gb/s' rate=100Gb
expect 0 '2048 100Gb/s' 'rate>=100Gb'
expect 0 '2048 100Gb/s' 'rate>=28Gb'
expect 1 '' 'rate>100Gb'
expect 0 '2048 100Gb/s' 'rate<=300Gb'
expect 0 '2048 40Gb/s' 'rate<=40Gb'
expect 0 '2048 100Gb/s' 'packet_life_time<=18'
expect 0 '2048 100Gb/s' 'packet_life_time>=18' 'mtu>=256'
expect 1 '' 'packet_life_time>=19'
[ "$status" -ne 0 ] || echo "checked: comparisons, SA $SELECTORS_SA"
sm_stop
exit "$status"
