#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: trace.sh IBSA DROP-IN PAIRS FABRIC...
#
# Tests that "ibsa trace", which queries the SA, shows the same ports and GUIDs
# at each hop as ibtracert, which reads the forwarding tables by SMPs: for
# PAIRS random pairs of LIDs (of hosts and switches) of each FABRIC, with the
# embedded SA and with OpenSM.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${1-}" != inside ]; then
	served_need opensm ibtracert jq
	TRACE_FOLDER=$(mktemp -d)
	TRACE_DROP_IN=$(dirname "$(realpath "$2")")
	TRACE_IBSA=$(realpath "$1")
	TRACE_PAIRS=$3
	export TRACE_FOLDER TRACE_DROP_IN TRACE_IBSA TRACE_PAIRS
	trap 'rm -rf "$TRACE_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for fabric in "${@:4}"; do
		for sa in embedded none; do
			TRACE_SA=$sa "$TRACE_IBSA" fabric exec "$fabric" \
				--sa $sa --socket "$TRACE_FOLDER/s" -- \
				"$0" inside "$(basename "$fabric")" || status=1
		done
	done
	exit "$status"
fi

drop_in=$TRACE_DROP_IN
cd "$TRACE_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $fabric, SA $TRACE_SA: $*"
	status=1
}

# Print pairs of LIDs, chosen at random with a fixed seed.
pairs() {
	"$TRACE_IBSA" -j query table NR | jq -r '.[].lid' |
		awk -v count="$TRACE_PAIRS" 'BEGIN { srand(16) }
			{ lid[NR] = $1 }
			END {
				for (i = 0; i < count; i++)
					print lid[1 + int(rand() * NR)],
						lid[1 + int(rand() * NR)]
			}'
}

# ours FROM TO - print a line for each link of ibsa trace between two LIDs: its
# port, GUID of the next port, number of the next port
ours() {
	"$TRACE_IBSA" -j trace "lid:$1" "lid:$2" |
		jq -r '.[] | "\(.port) \(.peer_port_guid) \(.peer_port)"'
}

# theirs FROM TO - print the same lines for ibtracert, which writes the port of
# a link in brackets
theirs() {
	LD_LIBRARY_PATH=$drop_in ibtracert "$1" "$2" |
		sed -nE 's/^\[([0-9]+)\] -> [a-z ]*\{(0x[0-9a-f]+)\}\[([0-9]+)\].*/\1 \2 \3/p'
}

fabric=$2
if [ "$TRACE_SA" = none ] && ! sm_start; then
	wrong "OpenSM does not start: $(tail opensm.log)"
	exit 1
fi
pairs >pairs
links=0
while read -r from to; do
	ours "$from" "$to" >ours 2>err </dev/null || wrong "$from $to: $(<err)"
	theirs "$from" "$to" >theirs 2>err </dev/null ||
		wrong "ibtracert $from $to: $(<err)"
	cmp -s ours theirs ||
		wrong "$from $to: $(diff ours theirs | tr '\n' ';')"
	links=$((links + $(wc -l <ours)))
done <pairs
[ "$(wc -l <pairs)" -eq "$TRACE_PAIRS" ] && [ $links -gt "$TRACE_PAIRS" ] ||
	wrong "only $links links in $(wc -l <pairs) pairs"
echo "checked: $TRACE_PAIRS pairs of $fabric, $links links, SA $TRACE_SA"
sm_stop
exit $status
