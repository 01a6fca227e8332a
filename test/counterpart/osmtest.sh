#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: osmtest.sh IBSA DROP-IN TOPOLOGY
#
# Runs osmtest, OpenSM's own test of an SA, through DROP-IN at a fabric server:
# first with the embedded SA, then with OpenSM for comparison. osmtest must log
# the same kinds of errors for both SAs; it provokes most of these errors
# itself. The number of errors of a kind may differ, because leases end during
# the test.
# IBSA is the command ibsa as it was built, TOPOLOGY the file of the fabric.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
PATH=$PATH:/usr/sbin:/sbin
here=$(realpath "$0")

# sa MODE IBSA DROP-IN TOPOLOGY - run osmtest on a fabric of its own with --sa
# MODE, in the directory MODE
sa() {
	local folder=$PWD/$1
	mkdir "$folder" || exit 1
	OSMTEST_SA=$1 OSMTEST_FOLDER=$folder "$2" fabric exec "$4" --sa "$1" \
		--socket "$folder/s" -- "$here" "$2" "$3" "$4" inside \
		>"$folder/said" 2>&1
}

# Remove the numbers that differ in each run.
plain() {
	sed -E 's/^[A-Z][a-z]{2} [0-9 ]+ [0-9:]{8} [0-9]+ \[[0-9A-F]+\]//
		s/osmt\.srvc\.[0-9.]+/NAME/g; s/TID 0x[0-9a-f]+/TID/' "$1"
}

outside() {
	local tool mode flow status=0 folder
	for tool in osmtest opensm; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	# osmtest reads uninitialised memory, whose content Meson changes by
	# MALLOC_PERTURB_.
	unset IBSA_FABRIC LD_LIBRARY_PATH MALLOC_PERTURB_
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	set -- "$(realpath "$1")" "$(realpath "$2")" "$(realpath "$3")"
	cd "$folder" || exit 1
	# The runs with both SAs are parallel, because osmtest waits most of the
	# time for replies that an SA does not send.
	sa none "$@" &
	sa embedded "$@" || status=1
	wait $! || status=1
	for mode in none embedded; do
		sed "s/^/$mode: /" "$mode/said"
	done
	for flow in c v s m q a; do
		for mode in none embedded; do
			plain "$mode/log.$flow" | grep 'ERR [0-9A-F]*:' |
				sort -u >"$mode/errors"
		done
		cat none/errors >>provoked
		diff none/errors embedded/errors && continue
		echo "WRONG: flow $flow fails elsewhere than with OpenSM"
		status=1
	done
	[ "$(wc -l <provoked)" -gt 20 ] || {
		echo 'WRONG: osmtest has provoked no errors'
		status=1
	}
	exit "$status"
}

wrong() {
	echo "WRONG: $*"
	status=1
}

# flow LETTER NAME OPTION... - run one flow of osmtest, and check that osmtest
# prints that the flow passed: its exit status is 0 even if the flow failed
flow() {
	local letter=$1 name=$2
	shift 2
	timeout 100 osmtest -f "$letter" -i inventory -l "log.$letter" "$@" \
		>"out.$letter" 2>&1 &&
		grep -qF "TEST \"$name\" PASS" "out.$letter" && return
	wrong "osmtest -f $letter: $(tail -n 2 "out.$letter")" \
		"$(grep ERR "log.$letter" | tail -n 3)"
}

# While the file flapping exists, take the link of another host down and up.
cut_links() {
	local place="H-0008f10403980030/1"
	while [ -e flapping ]; do
		"$ibsa" fabric link down "$place" || echo down >>not_cut
		sleep 0.2
		"$ibsa" fabric link up "$place" || echo up >>not_cut
		sleep 0.2
		echo cut >>cuts
	done
}

# Debian's osmtest has no flow t: it reports this, and passes. So flow f, the
# other one that reads no inventory, runs while links are cut, too.
with_links_cut() {
	local flapping
	touch flapping cuts
	cut_links &
	flapping=$!
	flow t 'Trap 64/65' -w 20
	until [ "$(wc -l <cuts)" -ge 5 ]; do
		flow f 'Stress SA' -s 2
		[ "$status" -eq 0 ] || break
	done
	rm flapping
	wait "$flapping"
	[ ! -e not_cut ] || wrong 'a link could not be cut'
	[ "$("$ibsa" query table NR -j | jq length)" -eq 6 ] ||
		wrong 'not all nodes are back'
}

manager=
start_manager() {
	local end=$((SECONDS + 60))
	echo 'force_log_flush TRUE' >opensm.conf
	OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm -F opensm.conf -f opensm.log \
		>opensm.out 2>&1 &
	manager=$!
	until grep -qs 'SUBNET UP' opensm.log; do
		[ "$SECONDS" -lt "$end" ] || {
			wrong "OpenSM: $(tail -n 3 opensm.log)"
			exit "$status"
		}
		sleep 0.1
	done
}

inside() {
	ibsa=$1
	LD_LIBRARY_PATH=$(dirname "$2")
	export LD_LIBRARY_PATH IBSA_NODE='host-r2 mlx4_0'
	cd "$OSMTEST_FOLDER" || exit 1
	status=0
	[ "$OSMTEST_SA" = embedded ] || IBSA_NODE='' start_manager
	flow c 'Create Inventory'
	flow v 'Validate Inventory'
	flow s 'Services Registration'
	flow m 'Multicast'
	flow q 'QoS: VLArb and SLtoVL'
	flow f 'Stress SA' -s 2
	flow a 'All Validations'
	with_links_cut
	if [ -n "$manager" ]; then
		kill "$manager"
		wait "$manager"
	fi
	exit "$status"
}

if [ "${4-}" = inside ]; then
	inside "$@"
fi
outside "$@"
