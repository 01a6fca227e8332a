#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: shared.sh IBSA DROP-IN TOPOLOGY
#
# Runs Debian's diagnostics, which use only libibumad, at a fabric server
# through DROP-IN: first with the embedded SA, then with OpenSM as the subnet
# manager. Their output must agree with that of ibsa and with the file
# TOPOLOGY.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -uo pipefail
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"

if [ "${4-}" != inside ]; then
	for tool in ibstat saquery sminfo ibnetdiscover iblinkinfo ibtracert \
		opensm jq; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		echo "SA: $sa"
		SHARED_SA=$sa SHARED_FOLDER=$folder \
			"$1" fabric exec "$3" --sa "$sa" \
			--socket "$folder/s" -- "$0" "$1" "$2" "$3" inside ||
			status=1
		[ ! -e "$folder/s" ] || status=1
	done
	exit "$status"
fi

ibsa=$(realpath "$1")
# Search libraries only in the build directory of the drop-in.
LD_LIBRARY_PATH=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH
cd "$SHARED_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# has TEXT CMD... - check that CMD succeeds and prints TEXT
has() {
	local words=$1
	shift
	"$@" >out 2>err || wrong "$*: exit status $?: $(tail -n 2 err)"
	grep -qE -- "$words" out || wrong "$*: no '$words'"
}

# within SECONDS CMD... - repeat CMD until it succeeds, at most for SECONDS
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.1
	done
}

opensm=
if [ "$SHARED_SA" = none ]; then
	has 'State: Initializing' ibstat
	echo 'force_log_flush TRUE' >opensm.conf
	OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm -F opensm.conf -f opensm.log \
		>opensm.out 2>&1 &
	opensm=$!
	within 30 grep -q 'SUBNET UP' opensm.log ||
		wrong "OpenSM: $(tail -n 3 opensm.log)"
fi

# ibstat shows the local port from the simulated sysfs, and sminfo the SM that
# it finds with its own agent.
has 'State: Active' ibstat
has '^CA .ibsa0' ibstat
has 'SMINFO_MASTER' sminfo
mask=$(ibstat | sed -n 's/.*Capability mask: //p' | head -n 1)
[ $((mask & 2)) -ne 0 ] || wrong "the port is no SM's: $mask"

# All nodes and cables, hop by hop.
nodes=$("$ibsa" query table NR -j | jq length)
[ "$nodes" -eq "$(saquery NR | grep -c '^NodeRecord dump')" ] ||
	wrong "saquery knows other nodes than $nodes"
[ "$nodes" -eq "$(ibnetdiscover 2>/dev/null | grep -cE '^(Ca|Switch)')" ] ||
	wrong "ibnetdiscover finds other nodes than $nodes"
has 'LinkUp' iblinkinfo

# Compare the path from the local port to each LID, as saquery and as ibsa print
# it.
"$ibsa" query table NR -j | jq -r '.[].lid' >lids
while read -r lid; do
	want=$("$ibsa" path self "$lid" -j | jq -r '.[0] |
		[.slid, .dlid, .sl] | @tsv' | tr '\t' ' ')
	got=$(saquery -p --src-to-dst "$(cut -d' ' -f1 <<<"$want"):$lid" |
		sed -nE 's/^\s+(slid|dlid|sl)\.+0?x?([0-9A-Fa-f]+)$/\1 \2/p' |
		awk '{ v[$1] = $2 } END { print v["slid"], v["dlid"], v["sl"] }')
	[ "$want" = "$got" ] || wrong "to $lid: ibsa '$want', saquery '$got'"
done <lids
has '^To ' ibtracert 1 "$(tail -n 1 lids)"

if [ -n "$opensm" ]; then
	# When OpenSM ends, the capability mask of its port no longer has IsSM.
	kill "$opensm"
	wait "$opensm"
	mask=$(ibstat | sed -n 's/.*Capability mask: //p' | head -n 1)
	[ $((mask & 2)) -eq 0 ] || wrong "there is still an SM: $mask"
fi
[ "$status" -eq 0 ] && echo "$nodes nodes, as everybody says"
exit "$status"
