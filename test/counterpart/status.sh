#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: status.sh IBSA DROP-IN FABRIC
#
# Compares ibsa status with sminfo and with the counts of ibnetdiscover, which
# read the nodes themselves, at a fabric server with a host of several adapters.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${4-}" != inside ]; then
	served_need sminfo ibnetdiscover iblinkinfo jq
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	STATUS_FOLDER=$folder "$1" fabric exec "$3" --socket "$folder/s" -- \
		"$0" "$1" "$2" "$3" inside
	exit
fi

ibsa=$(realpath "$1")
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$(realpath "$2")")
cd "$STATUS_FOLDER" || exit 1
status=0

# same WHAT OURS THEIRS
same() {
	[ "$2" = "$3" ] && [ -n "$2" ] && return
	echo "WRONG: $1: $2, but the other program has $3"
	status=1
}

# compare NODE - compare all numbers at this node
compare() {
	export IBSA_NODE=$1
	"$ibsa" status -j >out || status=1
	sminfo >sm || status=1
	ibnetdiscover >nodes || status=1
	iblinkinfo --line >links 2>/dev/null || status=1
	same "$1: LID of the SM" "$(jq '.[0].sm_lid' out)" \
		"$(sed 's/.*sm lid \([0-9]*\) .*/\1/' sm)"
	same "$1: GUID of the SM" "$(jq -r '.[0].sm_guid' out)" \
		"$(printf '0x%016x' \
			"$(sed 's/.*sm guid \(0x[0-9a-f]*\),.*/\1/' sm)")"
	same "$1: switches" "$(jq '.[0].switches' out)" "$(grep -c '^Switch' nodes)"
	same "$1: adapters" "$(jq '.[0].adapters' out)" "$(grep -c '^Ca' nodes)"
	same "$1: hosts" "$(jq '.[0].hosts' out)" "$(sed -n \
		's/^Ca.*# "\([^ "]*\).*/\1/p' nodes | sort -u | wc -l)"
	# Each link is in two lines.
	same "$1: links" "$(jq '.[0].links * 2' out)" \
		"$(grep -c 'Active.*==>.*"' links)"
}

compare dgx1
compare nas1
"$ibsa" fabric sm move spine2 || status=1
"$ibsa" fabric link down leaf2/9 || status=1
"$ibsa" fabric link down 'dgx4 mlx5_6/1' || status=1
compare dgx1
exit "$status"
