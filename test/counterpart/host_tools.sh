#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: host_tools.sh IBSA DROP-IN DGX.NET
#
# Runs Debian's OpenSM and diagnostics as processes of the host dgx1 on a fabric
# server: each adapter has the place in the fabric that DGX.NET gives it. Each of
# the file's three fabrics has an OpenSM at an adapter of dgx1, and then, in another
# server, an SA of the server. With OpenSM, /sys has the device files of dgx1, and
# programs without DROP-IN read them there.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ -z "${4-}" ]; then
	served_need ibstat ibping sminfo iblinkinfo smpquery saquery opensm \
		ibstatus ibportstate ibv_devices
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC LD_LIBRARY_PATH
	export IBSA_NODE=dgx1 HOST_FOLDER=$folder
	"$1" fabric exec --sysfs --sa none "$3" -- "$0" "$1" "$2" "$3" opensm &&
		"$1" fabric exec "$3" -- "$0" "$1" "$2" "$3" embedded
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH=$drop_in
cd "$HOST_FOLDER" || exit 1
status=0
subnet_manager=$4
compute=$(echo {0..7})
[ "$subnet_manager" = opensm ] || compute=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# same WHAT WANTED GOT - compare a result with the wanted one
same() {
	[ "$2" = "$3" ] || wrong "$1 is '$3', not '$2'"
}

# has TEXT CMD... - check that CMD succeeds and prints a line that has TEXT
has() {
	local words=$1
	shift
	"$@" >out 2>err || wrong "$*: exit status $?: $(tail -n 2 err)"
	grep -qF -- "$words" out || wrong "$*: no '$words': $(head -n 3 out)"
}

# field NAME CMD... - the value that ibstat prints after NAME
field() {
	local name=$1
	shift
	"$@" | sed -n "s/^[[:space:]]*$name: //p"
}

guid() {
	printf '0xb83fd203000%d0%d01' "$1" "$2"
}

# Start OpenSM at an adapter, unless the server has SAs, and wait until it has set up its fabric.
manager() {
	[ "$subnet_manager" = opensm ] || return 0
	mkdir "sm$1"
	OSM_TMP_DIR=sm$1 OSM_CACHE_DIR=sm$1 opensm -g "$(guid 1 "$1")" \
		-F opensm.conf -f "sm$1/log" >"sm$1/out" 2>&1 &
	managers+=("$!")
	within 60 grep -q 'SUBNET UP' "sm$1/log" ||
		wrong "OpenSM at mlx5_$1: $(tail -n 3 "sm$1/log" "sm$1/out")"
}

# adapter N RATE SWITCH NODES LINKS - check what the tools say of mlx5_N, which
# has a cable to SWITCH in a fabric with NODES end ports and switches, and LINKS
# cables
adapter() {
	local ca=mlx5_$1 lid
	has 'State: Active' ibstat "$ca" 1
	same "$ca: rate" "$2" "$(field Rate ibstat "$ca" 1)"
	same "$ca: GUID" "$(guid 1 "$1")" "$(field 'Port GUID' ibstat "$ca" 1)"
	lid=$(field 'Base lid' env IBSA_NODE=dgx8 ibstat "$ca" 1)
	has ".dgx1 $ca" smpquery -C "$ca" -P 1 nodedesc -D 0
	has ".$3" smpquery -C "$ca" -P 1 nodedesc -D 0,1
	has ".dgx8 $ca" smpquery -C "$ca" -P 1 nodedesc "$lid"
	has "$(guid 8 "$1")" smpquery -C "$ca" -P 1 nodeinfo "$lid"
	has "$lid" saquery -C "$ca" -P 1 -L "dgx8 $ca"
	saquery -C "$ca" -P 1 NR >out 2>err || wrong "saquery: $(cat err)"
	same "$ca: NodeRecords" "$4" "$(grep -c 'NodeDescription' out)"
	iblinkinfo -C "$ca" -P 1 -l >out 2>err || wrong "iblinkinfo: $(cat err)"
	same "$ca: ends of links" $((2 * $5)) "$(grep -c 'Active/  LinkUp' out)"
	grep -q "\" *$3\".*\"dgx1 $ca\"" out || wrong "no link $3 - $ca"
}

# ping_host FROM TO N - check that ibping of host FROM gets answers from mlx5_N of
# host TO, by LID and by GUID, and none from the next LID, where no server runs
ping_host() {
	local ca=mlx5_$3 lid server
	lid=$(field 'Base lid' env "IBSA_NODE=$2" ibstat "$ca" 1)
	IBSA_NODE=$2 ibping -S -C "$ca" -P 1 &
	server=$!
	IBSA_NODE=$1 within 30 ibping -C "$ca" -P 1 -c 1 -t 200 "$lid" ||
		wrong "no answer from $ca of $2"
	IBSA_NODE=$1 has ' 3 received, 0% packet loss' \
		ibping -C "$ca" -P 1 -c 3 -f "$lid"
	IBSA_NODE=$1 has ' 3 received, 0% packet loss' \
		ibping -C "$ca" -P 1 -c 3 -f -G "$(guid "${2#dgx}" "$3")"
	IBSA_NODE=$1 has ' 0 received, 100% packet loss' \
		ibping -C "$ca" -P 1 -c 1 -t 100 "$((lid + 1))"
	kill "$server"
	wait "$server" 2>/dev/null
}

# of_itself N - check that the SM of mlx5_N is at this adapter
of_itself() {
	has "sm guid $(guid 1 "$1")" sminfo -C "mlx5_$1" -P 1
}

# status N NAME - the value that ibstatus prints of mlx5_N after NAME
status() {
	ibstatus "mlx5_$1" | sed -n "s/^[[:space:]]*$2:[[:space:]]*//p"
}

# shellcheck disable=SC2317 # within() calls these
shows() { [ "$(status 2 "$1")" = "$2" ]; }

# Compare what ibstat reads in /sys with what it reads of the fabric server.
# shellcheck disable=SC2317
ibstat_is_the_same() {
	[ "$(env -u LD_LIBRARY_PATH -u IBSA_FABRIC ibstat)" = "$(ibstat)" ]
}

# list_devices N - run ibv_devices where the device files of N adapters exist,
# which it needs besides /sys
list_devices() {
	# shellcheck disable=SC2016 # for the shell that unshare starts
	unshare -rm sh -c 'mount -t tmpfs none /dev && mkdir /dev/infiniband &&
		for i in $(seq 0 $(($1 - 1))); do
			: >/dev/infiniband/uverbs$i
		done && ibv_devices' sh "$1"
}

# Check what programs find in /sys.
rendered_sys() {
	local i
	if [ -n "${SYSFS_PATH-}" ]; then
		echo 'without a rendered /sys: namespaces are not permitted here'
		return
	fi
	within 5 ibstat_is_the_same || wrong 'ibstat differs in /sys'
	for i in {0..9}; do
		same "ibstatus mlx5_$i: LID" "$(printf '0x%x' \
			"$(field 'Base lid' ibstat "mlx5_$i" 1)")" \
			"$(status "$i" 'base lid')"
		same "ibstatus mlx5_$i: state" '4: ACTIVE' "$(status "$i" state)"
		same "ibstatus mlx5_$i: GID" \
			"fe80:0000:0000:0000:b83f:d203:0001:0${i}01" \
			"$(status "$i" 'default gid')"
	done
	same 'ibv_devices' "$(for i in {0..9}; do
		echo "mlx5_$i b83fd20300010${i}00"
	done)" \
		"$(list_devices 10 | awk '/mlx5/ { print $1, $2 }' | sort)"
	same 'ibv_devices without device files' '' \
		"$(ibv_devices | grep mlx5)"
	same 'rate' '400 Gb/sec (4X NDR)' "$(status 2 rate)"
	"$ibsa" fabric link speed 'dgx1 mlx5_2/1' 1xSDR
	within 5 shows rate '2.5 Gb/sec (1X SDR)' ||
		wrong "the rate of a slow link is $(status 2 rate)"
	# A sweep of OpenSM gives the port its LID back.
	for _ in {1..5}; do
		ibportstate -C mlx5_0 -P 1 \
			"$(field 'Base lid' ibstat mlx5_2 1)" 1 lid 999 \
			>out 2>err || wrong "ibportstate: $(cat out err)"
		within 2 shows 'base lid' 0x3e7 && return
	done
	wrong "a new LID is $(status 2 'base lid')"
}

same 'ibstat -l' "$(printf 'mlx5_%d\n' {0..9})" "$(ibstat -l)"
echo 'force_log_flush TRUE' >opensm.conf
managers=()
manager 0
manager 8
manager 9
# 64 adapters, 8 leaf switches and 4 spines; 64 cables and 8 from each leaf
for i in $compute; do
	adapter "$i" 400 "leaf$((i + 1))" 76 128
done
adapter 8 200 storage 11 10
adapter 9 100 management 10 9
of_itself 0
of_itself 8
of_itself 9
ping_host dgx1 dgx2 2
ping_host dgx2 dgx1 2
[ "$subnet_manager" = opensm ] || exit "$status"
rendered_sys
kill "${managers[@]}"
wait "${managers[@]}" 2>/dev/null
exit "$status"
