#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: selectors.sh IBSA DROP-IN FABRIC
#
# Tests that comparisons of MTU, rate and packet life time in queries select
# the same paths at OpenSM and at the embedded SA, and that OpenSM refuses none
# of them. Both run at a fabric server, on the topology FABRIC and on one with
# several rates.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

# OpenSM orders rates by their data: 120 Gb/s (QDR) are less than 100 Gb/s (EDR),
# 30 Gb/s (SDR) less than 25 Gb/s (EDR).
rates_write() {
	cat <<-'END'
		Switch 8 "s1"
		[1] "a"[1] # 4xEDR
		[2] "b"[1] # 4xEDR
		[3] "c"[1] # 12xQDR
		[4] "d"[1] # 12xQDR
		[5] "e"[1] # 1xEDR
		Ca 1 "a" # "node2 mlx5_0"
		Ca 1 "b" # "b mlx5_0"
		Ca 1 "c" # "c mlx5_0"
		Ca 1 "d" # "d mlx5_0"
		Ca 1 "e" # "e mlx5_0"
	END
}

if [ "${4-}" != inside ]; then
	served_need opensm jq
	SELECTORS_FOLDER=$(mktemp -d)
	export SELECTORS_FOLDER
	trap 'rm -rf "$SELECTORS_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	rates_write >"$SELECTORS_FOLDER/rates.net"
	for sa in embedded none; do
		for net in "$3" "$SELECTORS_FOLDER/rates.net"; do
			SELECTORS_SA=$sa SELECTORS_NET=$net "$1" fabric exec \
				--sa $sa "$net" --socket "$SELECTORS_FOLDER/s" \
				-- "$0" "$@" inside || status=1
		done
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
	IBSA_NODE=$source "$ibsa" path self "$target" --format ndjson --fields mtu_text,rate_text "$@" \
		>out 2>err || got=$?
	[ "$got" -eq "$want" ] &&
		[ "$(jq -r 'select(.mtu_text) | .mtu_text + " " + .rate_text' out)" = "$path" ] &&
		return
	echo "WRONG: SA $SELECTORS_SA: $*: status $got: $(cat out err)"
	status=1
}

[ "$SELECTORS_SA" != none ] || sm_start || {
	echo "OpenSM does not start: $(tail opensm.log)"
	exit 1
}
# refused SELECTOR VALUE - check that ibsa path finds no path, because the path
# of the SA has VALUE, which does not meet SELECTOR
refused() {
	expect 1 '' "$1"
	grep -q "constraint excludes every path: $1; the SA returned .* $2\$" err ||
		expect 1 "returned $2" "$1"
}

source='node2 mlx5_0'
target=node3
if [ "$SELECTORS_NET" != "$3" ]; then
	target=b # 100 Gb/s
	refused 'rate>=120Gb' 'rate 100Gb/s'
	refused 'rate>100Gb' 'rate 100Gb/s'
	expect 0 '2048 100Gb/s' 'rate<=100Gb'
	expect 0 '2048 80Gb/s' 'rate<100Gb'
	target=e # 25 Gb/s
	expect 1 '' 'rate>30Gb'
	grep -q ': rate>30Gb; without this constraint there is a path with rate 25Gb/s$' err ||
		expect 1 'the user'"'"'s selector' 'rate>30Gb'
	expect 1 '' 'rate>=30Gb'
	expect 0 '2048 20Gb/s' 'rate<30Gb'
	expect 0 '2048 20Gb/s' 'rate<25Gb'
	source='c mlx5_0'
	target=d # 120 Gb/s
	expect 0 '2048 120Gb/s' 'rate>=120Gb'
	expect 0 '2048 120Gb/s' 'rate>100Gb'
	expect 0 '2048 80Gb/s' 'rate<100Gb'
	refused 'rate<=100Gb' 'rate 120Gb/s'
	IBSA_NODE=$source "$ibsa" query get PR sgid=self dgid=self \
		'rate<=100Gb' >out 2>err
	grep -q "^ibsa: 1 of these records does not meet 'rate<=100Gb'" err ||
		expect 0 'a notice of query' 'rate<=100Gb'
	[ "$status" -ne 0 ] || echo "checked: order of rates, SA $SELECTORS_SA"
	sm_stop
	exit "$status"
fi
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
