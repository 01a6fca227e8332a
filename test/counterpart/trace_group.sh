#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: trace_group.sh IBSA DROP-IN FABRIC
#
# Tests that "ibsa trace --group", which queries the SA, shows the same route
# from each member of a group to each other member as ibtracert -m, which reads
# the multicast forwarding tables by SMPs; with the embedded SA and with
# OpenSM. FABRIC is fat-tree-16.net of the examples.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"
members=(node1 node2 node6 node9 node16)
mgid=ff12:401b:ffff::ffff:ffff

if [ "${1-}" != inside ]; then
	served_need opensm ibtracert jq
	TRACE_FOLDER=$(mktemp -d)
	TRACE_DROP_IN=$(dirname "$(realpath "$2")")
	TRACE_IBSA=$(realpath "$1")
	export TRACE_FOLDER TRACE_DROP_IN TRACE_IBSA
	trap 'rm -rf "$TRACE_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		TRACE_SA=$sa "$TRACE_IBSA" fabric exec "$3" --sa $sa \
			--socket "$TRACE_FOLDER/s" -- "$0" inside || status=1
	done
	exit "$status"
fi

drop_in=$TRACE_DROP_IN
cd "$TRACE_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: SA $TRACE_SA: $*"
	status=1
}

join_all() {
	local node gid
	for node in "${members[@]}"; do
		gid=$(IBSA_NODE=$node "$TRACE_IBSA" -j devices | jq -r '.[0].gid')
		IBSA_NODE=$node "$TRACE_IBSA" query set MCMR mgid=$mgid \
			"port_gid=$gid" join_state=1 >out 2>&1 ||
			wrong "$node cannot join: $(<out)"
	done
}

# tables_are_set - wait until the SM has set the multicast tables: the tree
# then has a link to each member
tables_are_set() {
	[ "$("$TRACE_IBSA" -j trace --group $mgid |
		jq '[.[] | select(.peer // "" | startswith("node"))] | length')" \
		-eq ${#members[@]} ]
}

# ours NODE - print the links of the tree on the route to NODE, from the tree's
# start on
ours() {
	jq -r --arg to "$1" '. as $all |
		[limit(64; {guid: null, row: ($all[] | select(.peer == $to))} |
			recurse(.row as $row | $all[] |
				select(.peer_node_guid == $row.node_guid) |
				{row: .})) | .row] |
		reverse | .[] |
		"\(.port) \(.peer_node_guid | ltrimstr("0x") | ltrimstr("0")) \(.peer_port)"' tree |
		sed -E 's/ 0+/ /'
}

theirs() {
	LD_LIBRARY_PATH=$drop_in ibtracert -m "$mlid" "$1" "$2" |
		sed -nE 's/^\[([0-9]+)\] -> [a-z ]+0x([0-9a-f]+)\[([0-9]+)\].*/\1 \2 \3/p'
}

if [ "$TRACE_SA" = none ] && ! sm_start; then
	wrong "OpenSM does not start: $(tail opensm.log)"
	exit 1
fi
join_all
within 20 tables_are_set || wrong 'the tables have no tree of all members'
mlid=$("$TRACE_IBSA" -j query table MCMR mgid=$mgid | jq '.[0].mlid')
"$TRACE_IBSA" -j query table NR >nodes
lid() {
	jq --arg name "$1" '.[] | select(.node_description == $name) | .lid' nodes
}
count=0
for from in "${members[@]}"; do
	"$TRACE_IBSA" -j trace --group $mgid "$from" >tree 2>err ||
		wrong "$from: $(<err)"
	for to in "${members[@]}"; do
		[ "$from" != "$to" ] || continue
		ours "$to" >ours
		theirs "$(lid "$from")" "$(lid "$to")" >theirs 2>err ||
			wrong "ibtracert $from $to: $(<err)"
		{ [ -s ours ] && cmp -s ours theirs; } ||
			wrong "$from $to: $(diff ours theirs | tr '\n' ';')"
		count=$((count + 1))
	done
done
echo "checked: $count pairs of members, SA $TRACE_SA"
sm_stop
exit $status
