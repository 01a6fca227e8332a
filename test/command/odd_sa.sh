#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: odd_sa.sh IBSA LIBDIR FABRIC ODD-SA
#
# Tests commands with an SA that answers as no SA should: each table with
# success and no record. FABRIC is a topology file, ODD-SA such an SA.
odd_sa=$(realpath "$4")
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"
unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp

# Active ports of two adapters without the fabric's own SM: one queries, at the
# other is the odd SA.
ports=$("$ibsa" devices -j --fabric "$fabric" | jq -c 'map(select(
	.state == 4 and .lid != .sm_lid)) | unique_by(.device)')
own=$(jq -r '.[0].device' <<<"$ports")
lid=$(jq '.[0].lid' <<<"$ports")
other=$(jq -r '.[-1].device' <<<"$ports")

# start MODE - start a fabric server whose SA is odd-sa in this mode
start() {
	mkfifo ready
	"$ibsa" fabric run "$fabric" --socket "$tmp/s" >ready 2>server.err &
	server=$!
	read -t 100 -r _ <ready || exit 1
	export IBSA_FABRIC=unix:$tmp/s
	IBSA_NODE=$other "$odd_sa" "$1" "$lid" >ready 2>odd.err &
	sa=$!
	read -t 100 -r _ <ready || exit 1
	export IBSA_NODE=$own
}

# Nothing may be concluded from tables without this port.
lack="without a NodeRecord of this port"

a_fabric_without_nodes_is_unknown() {
	run 3 check
	out_empty
	err_has "$lack"
	run 3 check -j
	err_has "$lack"
	try 3 check --nagios
	out_has "^IBSA UNKNOWN: .*$lack"
	for format in '' -j --format=net --format=slurm --format=dot; do
		# shellcheck disable=SC2086 # no argument if it is empty
		run 3 topology $format
		out_empty
		err_has "$lack"
	done
	echo before >x.html
	run 3 page -o x.html
	[ "$(cat x.html)" = before ] || fail 'the file was replaced'
}

a_port_is_not_called_unreachable() {
	run 3 reach --all
	err_has "$lack"
	run 3 reach --matrix
	err_has "$lack"
	run 3 path self node2
	err_has "$lack"
	run 3 trace self node2
	err_has "$lack"
	try 2 check node --nagios node2
	out_has "^IBSA CRITICAL: 1 finding, no-sa: the peers cannot .*$lack"
}

metrics_are_not_those_of_a_fabric() {
	run 0 metrics
	err_has "$lack"
	! grep -q '^ibsa_fabric_nodes' out || fail 'a number of nodes'
	out_has '^ibsa_collect_complete 0'
}

# Each event is printed or counted in the reason of a gap. How fast the events
# arrive depends on the machine: the command runs until it has left out some.
a_flood_is_limited() {
	local start=$SECONDS watch
	what='ibsa watch --format ndjson in a flood'
	checks=$((checks + 1))
	env --default-signal=INT "$ibsa" watch --format ndjson >out 2>err &
	watch=$!
	until grep -q 'events left out' out || [ $((SECONDS - start)) -ge 100 ]
	do
		sleep 0.2
	done
	kill -INT $watch
	ended $watch
	[ "$(wc -l <out)" -lt $((70000 + 1000 * (SECONDS - start))) ] ||
		fail "$(wc -l <out) lines"
	jq -es 'map(select(.event == "gid-in" or .reason != null)) as $all |
		($all | map(.reason // "" |
			capture("^(?<n>[0-9]+) events left out").n? // "0" |
			tonumber) | add) as $left |
		$left > 0 and ($all | map(select(.event == "gid-in")) |
			length + $left) == ($all[-1].sequence - $all[0].sequence + 1)' \
		out >jq.out 2>&1
	got=$?
	sed -i '3,$d' out
	[ "$got" -eq 0 ] || fail "events are lost: $(cat jq.out)"
}

# --expect refuses a file with two nodes of one GUID.
a_file_that_cannot_be_loaded_is_told() {
	run 1 topology --format net
	out_has '"twin one"'
	err_has 'node id "S-0000000000000abc" is used twice.*"twin two"'
	cp out twins.net
	run 2 check --expect twins.net
}

restart_as() {
	kill "$server" "$sa"
	wait "$server" "$sa" 2>/dev/null
	rm ready
	unset IBSA_NODE
	start "$1"
}

flood() {
	restart_as flood
	a_flood_is_limited
}

twins() {
	restart_as twins
	a_file_that_cannot_be_loaded_is_told
}

start empty
run_groups a_fabric_without_nodes_is_unknown a_port_is_not_called_unreachable \
	metrics_are_not_those_of_a_fabric flood twins
