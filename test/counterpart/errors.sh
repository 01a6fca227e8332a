#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: errors.sh IBSA DROP-IN
#
# Tests that Debian's perfquery and ibqueryerrors, through DROP-IN, show the
# errors that "ibsa fabric errors" counts and those of a lossy cable, at the
# right port, and that perfquery -R clears them; with the embedded SA and with
# OpenSM. IBSA is the command ibsa as it was built. Exit status: 0 passed, 1
# failed, 77 a program is not installed.
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin
here=$(realpath "$0")
failed=0

wrong() {
	echo "FAILED ($sa): $*" >&2
	failed=1
}

# value NAME OPTION... - print a counter of port 2 of the switch
value() {
	perfquery "${@:2}" "$switch" 2 >out 2>errors ||
		wrong "perfquery ${*:2}: $(cat errors)"
	sed -n "s/^$1:\.*//p" out
}

# is WANT NAME OPTION... - check a counter of port 2 of the switch
is() {
	local got
	got=$(value "${@:2}")
	[ "$got" = "$1" ] || wrong "perfquery ${*:3}: $2 is $got, not $1"
}

add() {
	"$ibsa" fabric errors "$@" || wrong "fabric errors $*"
}

# Set all counters to 0.
reset() {
	local option
	ibqueryerrors -k -K >out 2>errors
	for option in '' -x -E -D; do
		perfquery ${option:+"$option"} -R "$switch" 2 >out 2>errors ||
			wrong "perfquery -R: $(cat errors)"
	done
}

silent() {
	ibqueryerrors >out 2>errors
	! grep -q 'Errors for\|GUID .* port' out || wrong "errors: $(cat out)"
}

# names COUNTER... - check that ibqueryerrors has errors of one port, with these
# counters
names() {
	local what
	ibqueryerrors >out 2>errors
	[ "$(grep -c 'GUID .* port [0-9]*:' out)" = 1 ] &&
		grep -q 'Errors for.*"S"' out || wrong "not one port: $(cat out)"
	for what; do
		grep -q "GUID .* port 2:.* \[$what [^]]*\]" out ||
			wrong "ibqueryerrors has no $what: $(cat out)"
	done
}

scripted() {
	silent
	add S/2 SymbolErrors +3
	names 'SymbolErrorCounter == 3'
	is 3 SymbolErrorCounter
	is 3 SymbolErrorCounter -x
	perfquery -R "$switch" 2 || wrong 'perfquery -R'
	is 0 SymbolErrorCounter
	is 3 SymbolErrorCounter -x
	perfquery -x -R "$switch" 2 0xffff0000 || wrong 'perfquery -x -R'
	is 0 SymbolErrorCounter -x
	silent
	echo '0 errors S/2 PortXmitWait +12345 # congestion' >script
	"$ibsa" fabric script script || wrong script
	is 12345 PortXmitWait
	is 12345 PortXmitWait -x
	reset
}

# Each counter that an attribute has can be scripted by its name, and changes no
# other one: perfquery has offsets of its own. That of QP1Dropped in PortCounters
# is the one of VL15Dropped, in libibmad: in the specification it is 16 bits
# before it.
each_by_name() {
	local option name
	for option in '' -x -E -D; do
		perfquery ${option:+"$option"} "$switch" 2 >names ||
			wrong "perfquery $option"
		[ -n "$option" ] || sed -i /QP1Dropped/d names
		reset
		while read -r name; do
			add S/2 "$name" +5
			is 5 "$name" ${option:+"$option"}
			[ -n "$option" ] || sed -i /QP1Dropped/d out
			[ "$(grep -c ':\.*5$' out)" = 1 ] ||
				wrong "$name changes others: $(cat out)"
			perfquery ${option:+"$option"} -R "$switch" 2 ||
				wrong "perfquery $option -R"
			is 0 "$name" ${option:+"$option"}
		done < <(sed -n 's/^\([A-Z][A-Za-z0-9]*\):\..*/\1/p' names |
			grep -v '^PortSelect$\|^CounterSelect')
	done
}

rate() {
	local end=$((SECONDS + 60)) before
	add S/2 PortRcvRemotePhysicalErrors +100/s
	until [ "$(value PortRcvRemotePhysicalErrors)" -gt 20 ]; do
		[ "$SECONDS" -lt "$end" ] || wrong 'the rate does not count'
	done
	names PortRcvRemotePhysicalErrors
	add S/2 PortRcvRemotePhysicalErrors 0/s
	before=$(value PortRcvRemotePhysicalErrors)
	is "$before" PortRcvRemotePhysicalErrors
	reset
}

# The first MAD after the fault is a request that host b sends.
lossy() {
	"$ibsa" fabric fault lose=100,1 || wrong fault
	IBSA_NODE=b "$ibsa" -t 5000 query get NodeRecord lid="$switch" >out 2>&1 ||
		wrong "query: $(cat out)"
	names 'PortRcvErrors == 1' 'SymbolErrorCounter == 1'
	is 1 PortLocalPhysicalErrors -E
	reset
	silent
}

start_opensm() {
	local end=$((SECONDS + 60))
	echo 'force_log_flush TRUE' >opensm.conf
	OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm -F opensm.conf -f opensm.log \
		>opensm.out 2>&1 &
	opensm=$!
	until grep -qs 'SUBNET UP' opensm.log; do
		[ "$SECONDS" -lt "$end" ] || {
			wrong "OpenSM: $(tail -n 3 opensm.out)"
			exit 1
		}
		sleep 0.1
	done
}

inside() {
	ibsa=$1 sa=$3 opensm=''
	LD_LIBRARY_PATH=$(dirname "$2")
	export LD_LIBRARY_PATH
	[ "$sa" = embedded ] || start_opensm
	switch=$("$ibsa" query table NodeRecord -j |
		jq '.[] | select(.node_description == "S").lid')
	reset
	scripted
	each_by_name
	rate
	[ "$sa" = none ] || lossy
	[ -z "$opensm" ] || {
		kill "$opensm"
		wait "$opensm"
	}
	exit "$failed"
}

if [ "${1-}" = inside ]; then
	inside "$2" "$3" "$4"
fi
for tool in perfquery ibqueryerrors opensm jq; do
	command -v "$tool" >/dev/null && continue
	echo "skipped: $tool is not installed" >&2
	exit 77
done
unset IBSA_FABRIC LD_LIBRARY_PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ibsa=$(realpath "$1") dropin=$(realpath "$2")
cd "$folder" || exit 1
cat >two.net <<-'END'
	Switch 2 "S" # "S"
	[1] "a"[1]
	[2] "b"[1]
	Ca 1 "a" # "a"
	Ca 1 "b" # "b"
END
for sa in embedded none; do
	IBSA_NODE=a "$ibsa" fabric exec two.net --sa "$sa" -- "$here" inside \
		"$ibsa" "$dropin" "$sa" || failed=1
done
exit "$failed"
