#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: diagnostics.sh IBSA DROP-IN DGX.NET
#
# Sweeps the fabric of 64 adapters in DGX.NET with all programs of infiniband-diags, of
# this Debian release and of the next, as processes of the host dgx1 on a fabric
# server, with OpenSM at dgx1 and a standby at dgx2: errors that are scripted, links
# that are slow, down and disabled, requests that nodes refuse; and with programs of
# libibverbs. Then the OpenSM of dgx1 is killed, and comes back.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
export LC_ALL=C
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"
# shellcheck source=test/counterpart/next.sh
. "$here/next.sh"
status=0
release=this

wrong() {
	echo "WRONG ($release): $*"
	status=1
}

# same WHAT WANTED GOT - compare a result with the wanted one
same() {
	[ "$2" = "$3" ] || wrong "$1 is '$3', not '$2'"
}

# at PROGRAM ARG... - run a program at mlx5_0, without any message to standard error
at() {
	"$1" -C mlx5_0 -P 1 "${@:2}" >out 2>err ||
		wrong "$*: exit status $?: $(head -n 2 err)"
	[ ! -s err ] || wrong "$*: $(head -n 2 err)"
}

# refuses TEXT PROGRAM ARG... - check that a program fails at once with TEXT
refuses() {
	timeout 5 "$2" -C mlx5_0 -P 1 "${@:3}" >out 2>&1 && wrong "${*:2} succeeds"
	grep -qF -- "$1" out || wrong "${*:2}: no '$1': $(head -n 2 out)"
}

# count WANTED PATTERN PROGRAM ARG... - check how many lines have the pattern
count() {
	at "${@:3}"
	same "${*:3}: lines with '$2'" "$1" "$(grep -cE -- "$2" out)"
}

# value NAME - print a value of the last output
value() {
	sed -nE "s/^$1:\.*//p" out
}

# lid NAME - print the LID of the node NAME
lid() {
	saquery -C mlx5_0 -P 1 NR | awk -F '[.]+' -v name="$1" \
		'/[^a-z]lid\./ { lid = $2 } $2 == name { print lid }'
}

# manager HOST PRIORITY - start OpenSM at the host's mlx5_0
manager() {
	mkdir -p "$1"
	printf '%s\n' 'force_log_flush TRUE' "sm_priority $2" "${sm_polling[@]}" \
		>"$1/conf"
	: >"$1/log"
	IBSA_NODE=$1 OSM_TMP_DIR=$1 OSM_CACHE_DIR=$1 opensm \
		-g "0xb83fd203000${1#dgx}0001" -F "$1/conf" -f "$1/log" \
		>"$1/out" 2>&1 &
	pids[${1#dgx}]=$!
}

# await HOST TEXT - wait for a line in the log of the host's OpenSM
await() {
	within 60 grep -q "$2" "$1/log" ||
		wrong "OpenSM of $1: no '$2': $(tail -n 2 "$1/log")"
}

# Each way to address a node gives the same answer.
addresses() {
	local direct
	at smpquery -D nodeinfo 0,1
	sed 1d out >direct
	at smpquery nodeinfo "$leaf1"
	sed 1d out >by-lid
	at smpquery -c nodeinfo "$leaf1" 0
	sed 1d out >combined
	at smpquery -G nodeinfo "$(value PortGuid)"
	sed 1d out >by-guid
	for direct in by-lid combined by-guid; do
		cmp -s direct "$direct" ||
			wrong "nodeinfo: $(diff direct "$direct")"
	done
	count 1 ': leaf1$|\.leaf1$' smpquery -D nodedesc 0,1
}

# Check the attributes of a switch and an adapter, as smpquery prints them.
attributes() {
	at smpquery portinfo "$leaf" 3
	same 'width' 4X "$(value LinkWidthActive)"
	same 'widths' '1X or 4X or 2X' "$(value LinkWidthSupported)"
	same 'speed' '106.25 Gbps' "$(value LinkSpeedExtActive)"
	at smpquery switchinfo "$leaf"
	same 'LifeTime' 18 "$(value LifeTime)"
	count 1 '^64 pkeys capacity for this port' smpquery pkeys "$leaf" 3
	count 1 '^64 pkeys capacity for this port' smpquery pkeys "$far"
	count 1 '^ports: in 16, out  1:' smpquery sl2vl "$leaf" 1
	count 1 '^ports: in  0, out  0:' smpquery sl2vl "$far"
	count 2 '^WEIGHT: ' smpquery vlarb "$leaf" 3
	count 2 '^WEIGHT: ' smpquery vlarb "$far"
	count 1 '^32 guids capacity for this port' smpquery guidinfo "$far"
	count 1 '^LinkSpeedActive:\.*0x00' smpquery mlnxextportinfo "$leaf" 3
	count 4 '^[0-9a-f ]*$' smpdump "$far" 0x15
}

# Check that nodes refuse at once the attributes that they do not have.
refusals() {
	refuses 'switch info query failed' smpquery switchinfo "$far"
	refuses 'port info extended not supported' smpquery portinfoextended \
		"$leaf" 3
	refuses 'port info query failed' smpquery portinfo "$leaf" 250
	refuses 'invalid port number' smpquery pkeys "$leaf" 250
	refuses 'method 1, attribute 1 failure' vendstat -N "$leaf"
	refuses 'failed' ibccquery classportinfo "$far"
}

# links WANTED PATTERN - whether so many ends of links have the pattern
# shellcheck disable=SC2317 # within() calls it
links() {
	iblinkinfo -C mlx5_0 -P 1 -l >out 2>err
	[ ! -s err ] && [ "$(grep -cE -- "$2" out)" -eq "$1" ]
}

# ends WHAT WANTED PATTERN - wait until so many ends of links have the pattern
ends() {
	within 20 links "$2" "$3" || wrong "$1: $(grep -E -- "$3" out | head -n 3)"
}

discovery() {
	at ibnetdiscover
	grep -v '^#' out | sort >net
	"$ibsa" topology --format net -C mlx5_0 -P 1 2>err | grep -v '^#' |
		sort | diff net - >differ ||
		wrong "topology --format net: $(head -n 5 differ err)"
	count 64 '^Ca' ibhosts
	count 12 '^Switch' ibswitches
	count 76 '^(Ca|Switch)' ibnodes
	count 0 . ibrouters
	count 12 '^Unicast lids' dump_fts
	count 12 '^Multicast mlids' dump_fts -M
	count 0 . ibidsverify
	count 76 ' : \(' ibroute "$leaf"
	count 76 'NodeDescription' saquery NR
	# The leaf of mlx5_2 is two hops from that of mlx5_0.
	count 4 '^\[' ibtracert "$near" "$far"
	count 1 "LID start $(printf 0x%x "$far") " ibaddr "$far"
	count 1 "sm lid $near sm guid 0xb83fd20300010001" sminfo
	at ibqueryerrors
	grep -E 'Errors for|GUID .* port' out && wrong 'there are errors'
	ends 'links' 256 'Active/  LinkUp'
	ends 'a link could be more' 0 'Could be'
}

# Errors at one port, and a counter that counts the packets of these programs.
counters() {
	local before
	at perfquery -x "$leaf" 3
	before=$(value PortXmitPkts)
	count 1 "\.dgx3 $adapter\$" smpquery nodedesc "$(lid "dgx3 $adapter")"
	at perfquery -x "$leaf" 3
	[ "$(value PortXmitPkts)" -gt "$before" ] ||
		wrong "PortXmitPkts stays at $before"
	"$ibsa" fabric errors "$switch/3" SymbolErrors +7 || wrong 'fabric errors'
	at perfquery "$leaf" 3
	same 'SymbolErrorCounter' 7 "$(value SymbolErrorCounter)"
	ibqueryerrors -C mlx5_0 -P 1 >out 2>err
	same 'ports with errors' 1 "$(grep -c 'GUID .* port [0-9]*:' out)"
	grep -q 'GUID .* port 3:.*\[SymbolErrorCounter == 7[] ]' out ||
		wrong "ibqueryerrors: $(cat out)"
	clear_counters
}

clear_counters() {
	ibqueryerrors -C mlx5_0 -P 1 -k -K >out 2>err
	at ibqueryerrors
	grep -E 'Errors for|GUID .* port' out && wrong 'errors are not cleared'
}

# A port that is down, with the physical state $1
down_port() {
	at smpquery portinfo "$leaf" 3
	same 'state' Down "$(value LinkState)"
	same 'physical state' "$1" "$(value PhysLinkState)"
	same 'width of a link that is down' 4X "$(value LinkWidthActive)"
	same 'speed of a link that is down' '2.5 Gbps' "$(value LinkSpeedActive)"
	same 'extended speed' 'No Extended Speed' "$(value LinkSpeedExtActive)"
}

# Links that are slow, down, and disabled
changes() {
	"$ibsa" fabric link speed "$switch/3" 2xNDR || wrong 'link speed'
	ends 'a slow link' 2 '\( *2X +106.25 Gbps Active/  LinkUp\).*Could be 4X'
	ends 'one link could be more' 2 'Could be'
	"$ibsa" fabric link down "$switch/3" || wrong 'link down'
	ends 'other links' 254 'Active/  LinkUp'
	down_port Polling
	"$ibsa" fabric link speed "$switch/3" 4xNDR || wrong 'link speed'
	"$ibsa" fabric link up "$switch/3" || wrong 'link up'
	ends 'links' 256 'Active/  LinkUp'
	at ibportstate "$leaf" 3 disable
	ends 'other links' 254 'Active/  LinkUp'
	down_port Disabled
	at ibportstate "$leaf" 3 enable
	ends 'links' 256 'Active/  LinkUp'
	ends 'a link could be more' 0 'Could be'
	clear_counters
}

# printed EVENT - whether ibv_asyncwatch has printed an event of port 1
# shellcheck disable=SC2317 # within() calls it
printed() {
	grep -q "$1 (.*), port 1" events
}

# What programs of libibverbs show of the same host.
verbs() {
	local watch
	ibv_devices >out 2>err
	same 'ibv_devices' 10 "$(grep -c mlx5_ out)"
	ibv_devinfo -v -d mlx5_0 >out 2>err || wrong "ibv_devinfo: $(cat err)"
	grep -qE "port_lid:[[:space:]]+$near$" out || wrong "ibv_devinfo: $(cat out)"
	grep -qE 'PORT_ACTIVE \(4\)' out || wrong "ibv_devinfo: $(cat out)"
	stdbuf -oL ibv_asyncwatch -d "$watched" >events &
	watch=$!
	within 20 grep -q 'async event FD' events || wrong 'no ibv_asyncwatch'
	"$ibsa" fabric link down "dgx1 $watched/1" || wrong 'link down'
	within 20 printed PORT_ERR || wrong "a cable is cut: $(cat events)"
	"$ibsa" fabric link up "dgx1 $watched/1" || wrong 'link up'
	within 20 printed PORT_ACTIVE || wrong "the cable is back: $(cat events)"
	kill "$watch"
	wait "$watch" 2>/dev/null
	ends 'links' 256 'Active/  LinkUp'
	clear_counters
}

# sweep RELEASE N - use the programs of a release at mlx5_0, and change links of
# mlx5_N and of mlx5_N+2. OpenSM ignores a switch after ten traps.
sweep() {
	release=$1 adapter=mlx5_$2 switch=leaf$(($2 + 1)) watched=mlx5_$(($2 + 2))
	near=$(lid 'dgx1 mlx5_0') far=$(lid 'dgx8 mlx5_2')
	leaf1=$(lid leaf1) leaf=$(lid "$switch")
	discovery
	addresses
	attributes
	refusals
	counters
	changes
	verbs
}

# sm HOST STATE - whether the SM of the fabric is at this host
# shellcheck disable=SC2317 # within() calls it
sm() {
	sminfo -C mlx5_0 -P 1 | grep -q "sm guid 0xb83fd203000${1#dgx}0001,.* state 3 "
}

# The master is killed, and comes back. LIDs stay, and links stay active.
failover() {
	release='failover'
	await dgx2 'Entering STANDBY'
	kill -KILL "${pids[1]}"
	wait "${pids[1]}" 2>/dev/null
	await dgx2 'Entering MASTER'
	within 20 sm dgx2 || wrong "sminfo: $(sminfo -C mlx5_0 -P 1 2>&1)"
	within 60 grep -q 'SUBNET UP' dgx2/log
	same 'LID of dgx8' "$far" "$(lid 'dgx8 mlx5_2')"
	ends 'links' 256 'Active/  LinkUp'
	manager dgx1 14
	await dgx1 'SUBNET UP'
	within 20 sm dgx1 || wrong "sminfo: $(sminfo -C mlx5_0 -P 1 2>&1)"
	same 'LID of dgx8' "$far" "$(lid 'dgx8 mlx5_2')"
	ends 'links' 256 'Active/  LinkUp'
}

if [ -z "${DIAGNOSTICS_FOLDER-}" ]; then
	served_need opensm ibnetdiscover iblinkinfo ibqueryerrors perfquery \
		smpquery saquery vendstat ibccquery ibv_devinfo
	next_get
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC LD_LIBRARY_PATH
	IBSA_NODE=dgx1 DIAGNOSTICS_FOLDER=$folder "$1" fabric exec --verbs \
		--sa none "$3" -- "$0" "$@"
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$DIAGNOSTICS_FOLDER" || exit 1
mkdir next
next_programs next "$drop_in"
export LD_LIBRARY_PATH=$drop_in
pids=()
manager dgx1 14
await dgx1 'SUBNET UP'
manager dgx2 4
sweep 'this' 2
(
	unset LD_LIBRARY_PATH
	export PATH=$PWD/next:$PATH IBPATH=$PWD/next
	export PERL5LIB=$next_root/usr/share/perl5
	sweep 'next' 3
	exit "$status"
) || status=1
failover
kill "${pids[@]}"
wait "${pids[@]}" 2>/dev/null
exit "$status"
