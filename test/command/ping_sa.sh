#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: ping_sa.sh IBSA LIBDIR FABRIC
#
# Tests "ibsa ping-sa": its rows, its summary, SAs that are silent, busy, absent
# or gone for a while, lost packets, and signals.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

ms='[0-9]+\.[0-9]{3}'
fault=()

# with STATUS ARG... - run ibsa ping-sa in a fabric with the options fault
with() {
	local want=$1
	shift
	run "$want" fabric exec "${fault[@]}" "$fabric" -- "$ibsa" ping-sa "$@"
}

answers_are_timed() {
	on 0 ping-sa 2; lines 3; aligned; sentences 1
	out_has '^NUMBER  TIME_MS  STATUS$'
	out_has "^1 +$ms +success\$"; out_has "^2 +$ms +success\$"
	err_has "^ibsa: 2 sent, 2 answered; min/avg/max $ms/$ms/$ms ms\$"
	on 0 ping-sa 1 -j
	json 'length == 1 and .[0].number == 1 and .[0].time_ms > 0'
	json '.[0].status == 0 and .[0].status_text == "success"'
	on 0 ping-sa 2 -v; lines 7
	err_has '^ibsa: ClassPortInfo Get: 1 try, '
}

count_is_checked() {
	local count
	for count in 0 -1 five 1000001 ''; do
		on 2 ping-sa -- "$count"; out_empty
		err_has "COUNT: '$count' is not a number from 1 to 1000000"
	done
	on 2 ping-sa 1 2; out_empty; err_has 'takes only COUNT'
}

# A query has only one try, so that its row has a packet that was lost.
lost_packets_show() {
	fault=(--fault 'lose=100,1')
	with 0 2; lines 3; aligned
	out_has '^1 +- +no answer$'; out_has "^2 +$ms +success\$"
	err_has '^ibsa: 2 sent, 1 answered; min/avg/max '
}

failures_have_messages() {
	fault=(--fault silence=100)
	with 3 -t 50 1; out_has '^1 +- +no answer$'; sentences 2
	err_has '^ibsa: 1 sent, 0 answered$'; err_has 'did not answer \(1 try\)'
	with 3 -t 50 -j 1; json '.[0] | .time_ms == null and .status == null'
	fault=(--sa none)
	with 3; out_empty; sentences 1; err_has 'no subnet manager'
	with 3 -j; out_empty
	fault=()
	with 3 --sa lid=2 1; out_has "^1 +$ms +method not supported"
	err_has '^ibsa: 1 sent, 0 answered$'; err_has 'no SA runs there'
}

# A busy SA has answered, at a time that is not known.
busy_has_no_time() {
	fault=(--fault busy=100)
	with 0 -t 50 1; out_has '^1 +- +busy$'
	err_has '^ibsa: 1 sent, 1 answered$'
}

# row PATTERN - wait until the command in the background has printed a row
row() {
	local end=$((SECONDS + 30))
	until grep -Eqs -- "$1" out; do
		[ "$SECONDS" -lt "$end" ] || { fail "no row '$1'"; return; }
		sleep 0.02
	done
}

signals_end_it() {
	local signal got
	for signal in INT TERM HUP; do
		what="SIG$signal"
		checks=$((checks + 1))
		rm -f out # the rows of the signal before
		env --default-signal=INT,HUP "$ibsa" --fabric "$fabric" \
			ping-sa 1000 >out 2>err &
		row '^1 '
		kill -"$signal" $!
		got=0; ended $! || got=$?
		[ "$got" -eq 0 ] || fail "exit status $got"
		sentences 1; err_has '^ibsa: ([0-9]+) sent, \1 answered; min'
	done
	what='a closed output'
	"$ibsa" --fabric "$fabric" ping-sa 1000 2>err | head -n 1 >out
	lines 1; err_has ' answered; min/avg/max '
}

sm_may_come_back() {
	what='an SM that stops'
	checks=$((checks + 1))
	# shellcheck disable=SC2016 # expanded by sh
	"$ibsa" fabric exec "$fabric" -- sh -c '
		"$0" ping-sa 1000 >out 2>err &
		until grep -q "^1 .*success" out; do sleep 0.02; done
		"$0" fabric sm stop
		until grep -q "no subnet manager" out; do sleep 0.02; done
		"$0" fabric sm start
		until tail -n 1 out | grep -q success; do sleep 0.02; done
		kill -TERM $!
		wait $!' "$ibsa" || fail "exit status $?"
	out_has "^[2-9] +- +no subnet manager\$"; aligned
	err_has ' answered; min/avg/max '
}

run_groups answers_are_timed count_is_checked lost_packets_show \
	failures_have_messages busy_has_no_time signals_end_it sm_may_come_back
