#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: reach.sh cut|whole IBSA UMTAP
#
# Compares the results of "ibsa reach" with the paths that saquery shows, on
# ibsim's fabric with OpenSM: with hosts in different partitions, while a link
# is cut and after it is restored, and without OpenSM. Mode cut: MADs are cut
# at 256 bytes, as ibsim does; mode whole: UMTAP, a preloaded library, keeps
# MADs whole.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
FABRIC_PARTITIONS=reach.partitions.conf
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery jq

mode=$1 ibsa=$(realpath "$2")
[ "$mode" = cut ] || FABRIC_UMTAP=$(realpath "$3")
host='host-r3 mlx5_0'
gids=()
for guid in 8:f104:398:11 8:f104:398:21 8:f104:398:31 8:f104:398:42; do
	gids+=("fec0::1234:$guid")
done

reach() {
	fabric_run "$host" "$ibsa" -j reach "$@" </dev/null \
		2>"$FABRIC_DIR/ours.err"
}

# theirs FROM TO - print yes if saquery shows a path between the two GIDs,
# otherwise no
theirs() {
	if fabric_run "$host" saquery --sgid-to-dgid "$1-$2" </dev/null \
		2>"$FABRIC_DIR/theirs.err" | grep -q 'dlid\.'; then
		echo yes
	else
		echo no
	fi
}

# same WHAT TARGET... - check that ibsa reach --matrix has the same result as
# saquery for each pair of targets
same() {
	local what=$1 from to ours rows
	shift
	rows=$(reach --matrix "$@") || true
	for from; do
		for to; do
			ours=$(jq -r --arg from "$from" --arg to "$to" '.[] |
				select(.from == $from and .to == $to) | .reach' \
				<<<"$rows")
			[ "$ours" = "$(theirs "$from" "$to")" ] ||
				wrong "$what: $from to $to: '$ours'"
		done
	done
	echo "same: $what: $(jq -c 'map(.reach)' <<<"$rows")"
}

# becomes YES-OR-NO - wait until OpenSM reports the host whose link changes as
# reachable or not
becomes() {
	local got='' end=$((SECONDS + FABRIC_WAIT_S))
	until [ "$got" = "$1" ]; do
		[ "$SECONDS" -lt "$end" ] || break
		got=$(reach "${gids[1]}" | jq -r '.[0].reach') || true
	done
	[ "$got" = "$1" ] || wrong "${gids[1]} does not become $1: '$got'"
}

fabric_start
if [ "$mode" = cut ]; then
	# Use GIDs: the table of NodeRecords, which names need, does not fit
	# into the 256 bytes to which this fabric cuts MADs.
	rows=$(reach "${gids[@]}") || true
	[ "$(jq -c 'map(.reach)' <<<"$rows")" = '["yes","yes","yes","no"]' ] ||
		wrong "from $host: $rows"
	status=0
	reach --all >/dev/null || status=$?
	[ "$status" -eq 3 ] || wrong "--all: exit status $status"
	grep -q 'the answer was truncated' "$FABRIC_DIR/ours.err" ||
		wrong "--all: $(cat "$FABRIC_DIR/ours.err")"
	exit "$failed"
fi
same 'in partitions' "${gids[@]}" fec0::1234:dead:beef
[ "$(theirs "${gids[2]}" "${gids[1]}")" = yes ] || wrong 'nothing is reachable'
[ "$(theirs "${gids[2]}" "${gids[3]}")" = no ] || wrong 'nothing is kept apart'
# OpenSM does not return NodeRecords of ports in other partitions.
rows=$(reach --all) || true
[ "$(jq -c 'map([.node, .reach])' <<<"$rows")" = '[["host-r1 mthca0","yes"],["host-r2 mlx4_0","yes"],["host-r3 mlx5_0","yes"]]' ] ||
	wrong "--all: $rows"
fabric_console 'Unlink "S-0008f10400411a02"[2]'
becomes no
same 'with a link cut' "${gids[@]}"
fabric_console 'Link "S-0008f10400411a02"[2] "H-0008f10403980020"[1]'
becomes yes
same 'with the link restored' "${gids[@]}"

# ibsa is interrupted while no SA answers: it reports that, although ibsim's
# preload library has a thread, in which the signal would end the process.
fabric_sm_stop
fabric_spawn "$host" "$ibsa" reach "${gids[@]}" </dev/null \
	>"$FABRIC_DIR/ours" 2>"$FABRIC_DIR/ours.err"
sleep 1
kill -TERM "$fabric_pid"
status=0
fabric_wait "$fabric_pid" || status=$?
[ "$status" -eq 3 ] || wrong "interrupted: exit status $status"
grep -q '^ibsa: interrupted$' "$FABRIC_DIR/ours.err" ||
	wrong "interrupted: $(cat "$FABRIC_DIR/ours.err")"
exit "$failed"
