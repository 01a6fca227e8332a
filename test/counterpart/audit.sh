#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: audit.sh AUDIT IBSA DROP-IN TOPOLOGY
#
# Tests that a watch with an audit of nodes finds a change even if its Reports
# are lost or the SA sends none. The program AUDIT watches
# at a fabric server, first with the server's embedded SA, then with OpenSM;
# saquery lists the ports that exist. TOPOLOGY has the hosts node1 to node4,
# and the SM runs on node1.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${5-}" != inside ]; then
	served_need saquery opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		echo "SA: $sa"
		AUDIT_SA=$sa AUDIT_FOLDER=$folder \
			"$2" fabric exec "$4" --sa "$sa" \
			--socket "$folder/s" -- "$0" "$@" inside || status=1
	done
	exit "$status"
fi

audit=$(realpath "$1")
ibsa=$(realpath "$2")
drop_in=$(dirname "$(realpath "$3")")
cd "$AUDIT_FOLDER" || exit 1
rm -f ./*.log events told
interval_ms=2000
watch=''
status=0

fail() {
	echo "FAILED: $*: $(tail -n 5 events)"
	exit 1
}

quit() {
	kill -CONT "$watch"
	exec {alive}>&-
	wait "$watch"
	sm_stop TERM
}

# Print the GUIDs of the ports that the SA has, as Debian's saquery lists them.
ports() {
	LD_LIBRARY_PATH=$drop_in saquery -t 3000 NR 2>saquery.err |
		sed -n 's/^.*port_guid\.*//p' | sort
}

# Print the GUIDs of the ports that exist according to the watch: those in the
# file first, with those added and removed that the events report.
told() {
	awk 'NR == FNR { there[$1] = 1; next }
		$1 == "gid-in" { there[$2] = 1 }
		$1 == "gid-out" { delete there[$2] }
		END { for (guid in there) print guid }' first events | sort
}

agree() {
	ports >ports.now
	[ -s ports.now ] && told | cmp -s - ports.now
}

# agrees WHAT - wait until the watch and saquery list the same ports
agrees() {
	within 60 agree ||
		fail "$1: told $(told | tr '\n' ' ')there $(
			ports | tr '\n' ' ')"
}

# link down|up - take the link of node3 down or up
link() {
	"$ibsa" fabric link "$1" node3/1 || fail "link $1"
}

# gone, back - whether the SA has fewer ports than in the file first, or as many
gone() {
	local count
	count=$(ports | wc -l)
	[ "$count" -gt 0 ] && [ "$count" -lt "$(wc -l <first)" ]
}
back() { [ "$(ports | wc -l)" -eq "$(wc -l <first)" ]; }

audited() {
	grep -c '^gid-.* audit$' events
}

if [ "$AUDIT_SA" = none ]; then
	sm_start || fail 'OpenSM'
fi
mkfifo alive
IBSA_NODE=node2 "$audit" "$interval_ms" <alive >events 2>audit.err &
watch=$!
exec {alive}>alive
rm alive
trap quit EXIT
within 30 grep -q subscribed events || fail "no subscription: $(cat audit.err)"
ports >first
[ "$(wc -l <first)" -ge 5 ] || fail "only these ports: $(cat first)"

# stat NAME - print the counter of the fabric
stat() {
	"$ibsa" -j fabric stats | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

# counted NAME NUMBER - whether the counter has reached the number
counted() { [ "$(stat "$1")" -ge "$2" ]; }

is_subscribed() { IBSA_NODE=node2 "$ibsa" query table IIR; }

unsubscribe() {
	IBSA_NODE=node2 "$ibsa" query set InformInfo lid_range_begin=0xffff \
		is_generic=1 subscribe=0 type=0xffff trap_number=0xffff \
		qpn=1 resp_time_value=19 producer_type=4 >out 2>&1
}

# seen down|up - wait until the SM has detected that the link is down or up, for
# which OpenSM needs some time
seen() {
	local what=gone
	[ "$1" = down ] || what=back
	within 60 "$what" || fail "the SM does not see the link $1"
}

# The SA sends no Reports if the subscription of the watch is deleted. The watch
# is stopped meanwhile, so that it does not subscribe again before the SM detects
# the change. It can report a change before it has subscribed again: wait for
# that, because a stopped watch never would.
before=$(audited)
for way in down up; do
	within 60 is_subscribed || fail "$way: not subscribed again"
	kill -STOP "$watch"
	within 60 unsubscribe || fail "unsubscribe: $(cat out)"
	link "$way"
	seen "$way"
	kill -CONT "$watch"
	agrees "unsubscribed, $way"
done
[ "$(audited)" -gt "$before" ] || fail 'no audit has told of the link'

# report_lost down|up - change the link while all MADs are lost, until the
# embedded SA has given up its Report
report_lost() {
	local want
	within 30 is_subscribed || fail "$1: not subscribed again"
	want=$(($(stat reports_unanswered) + 1))
	"$ibsa" fabric fault lose=100
	link "$1"
	within 60 counted reports_unanswered "$want" || fail "$1: no Report"
	"$ibsa" fabric fault lose=0
}

# three_lost down|up - change the link; the next three MADs are lost, which is
# OpenSM's own traffic for the most part
three_lost() {
	local want=$(($(stat faults_lose) + 3))
	"$ibsa" fabric fault lose=100,3
	link "$1"
	within 30 counted faults_lose "$want" ||
		fail "$(stat faults_lose) lost, not $want"
}

lose=report_lost
[ "$AUDIT_SA" = embedded ] || lose=three_lost
before=$(audited)
for way in down up down up; do
	"$lose" "$way"
	seen "$way"
	agrees "lost, $way"
done
[ "$AUDIT_SA" != embedded ] || [ "$(audited)" -eq $((before + 4)) ] ||
	fail 'an audit has not told of each lost Report'

# The fault loses any MADs, also requests and tables, while links change.
for round in 1 2 3 4 5 6; do
	"$ibsa" fabric fault lose=$((10 * round))
	link down
	sleep "0.$((round * 3 % 10))"
	link up
	sleep "0.$((round * 7 % 10))"
	[ $((round % 2)) -eq 0 ] || link down
	sleep 0.5
	"$ibsa" fabric fault lose=0
	if [ $((round % 2)) -eq 0 ]; then
		within 60 back || fail "round $round: the SM does not see it"
	else
		within 60 gone || fail "round $round: the SM still sees it"
	fi
	agrees "round $round"
done
echo "$(wc -l <events) events, $(audited) of them by audits"
exit "$status"
