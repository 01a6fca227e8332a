#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: alias_lid.sh IBSA DROP-IN TOPOLOGY
#
# Tests that an SA that receives a request at an alias LID (a further LID of a
# port whose LMC is not 0) replies from the base LID of its port. OpenSM runs
# on a fabric server and sets the LMC of all ports to 1. ibsa queries it at
# each LID of its port, from OpenSM's own host and from another host.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, TOPOLOGY the file of the fabric. Exit status: 0 passed, 1 failed,
# 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${4-}" != inside ]; then
	served_need ibstat opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	ALIAS_FOLDER=$folder "$1" fabric exec "$3" --sa none \
		--socket "$folder/s" -- "$0" "$1" "$2" "$3" inside
	exit
fi

ibsa=$(realpath "$1")
# Search libraries only in the build directory of the drop-in.
drop_in=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH=$drop_in
cd "$ALIAS_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

sm_start 'lmc 1' || wrong "OpenSM: $(tail -n 3 opensm.log)"
[ "$(ibstat | sed -n 's/.*LMC: //p' | head -n 1)" = 1 ] ||
	wrong 'OpenSM has not set the LMC'
base=$(ibstat | sed -n 's/.*SM lid: //p' | head -n 1)

# ask NODE LID - check whether the SA answers a query that NODE sends to LID
ask() {
	IBSA_NODE=$1 "$ibsa" query get CPI --sa "$2" -t 3000 >out 2>err &&
		grep -q '^resp_time_value' out
}

for node in node1 node2; do
	ask "$node" "$base" || wrong "$node at LID $base: $(cat err)"
	ask "$node" $((base + 1)) ||
		wrong "$node at LID $((base + 1)): $(cat err)"
	ask "$node" $((base + 2)) && wrong "$node at LID $((base + 2)): it answers"
done
sm_stop TERM
[ "$status" -eq 0 ] && echo "OpenSM answers at LIDs $base and $((base + 1))"
exit "$status"
