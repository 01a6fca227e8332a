#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: watch_links.sh IBSA DROP-IN NET
#
# Tests "ibsa watch --links" while OpenSM runs on a fabric server: the events of
# a link that becomes slow, goes down and comes up have the port, and width and
# speed before and after, although OpenSM shows the change only some time after
# it has reported it.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, NET the topology file. Exit status: 0 passed, 1 failed, 77 a
# required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${4-}" != inside ]; then
	served_need opensm jq
	LINKS_FOLDER=$(mktemp -d)
	export LINKS_FOLDER
	trap 'rm -rf "$LINKS_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	"$1" fabric exec "$3" --sa none --socket "$LINKS_FOLDER/s" -- \
		"$0" "$@" inside
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$LINKS_FOLDER" || exit 1
status=0

# change PORT BEFORE AFTER ARG... - ibsa fabric ARG... causes an event of "leaf
# two" with this change
change() {
	local event
	event=$(printf '.name == "leaf two" and .link_port == %s and
		.link_before == "%s" and .link_after == "%s"' "$1" "$2" "$3")
	shift 3
	"$ibsa" fabric "$@" || status=1
	within 20 has "$event" || {
		echo "WRONG: ibsa fabric $*: no event with $event: $(<events)"
		status=1
	}
}
has() { jq -e -s "any(.[]; $1)" events; }

IBSA_NODE='node1 mlx5_0' sm_start || {
	echo "OpenSM does not start: $(tail opensm.log)"
	exit 1
}
IBSA_NODE='node2 mlx5_0' "$ibsa" watch link-state --links --format ndjson \
	>events &
watch=$!
within 20 has '.event == "subscribed"'
change 8 4xEDR 4xSDR link speed 'leaf one/8' 4xSDR
change 1 4xEDR down link down 'node3 mlx5_0/1'
change 1 down 4xEDR link up 'node3 mlx5_0/1'
kill "$watch" && wait "$watch" || status=1
sm_stop
exit "$status"
