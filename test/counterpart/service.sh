#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: service.sh IBSA UMTAP
#
# Tests the actions of "ibsa service" with OpenSM on ibsim's fabric: after each
# step, saquery must show the expected services.
# IBSA is the command ibsa as it was built, UMTAP a library that, preloaded,
# makes MADs of ibsim whole. Exit status: 0 passed, 1 failed, 77 a required
# program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery jq

ibsa=$(realpath "$1")
FABRIC_UMTAP=$(realpath "$2")
host='host-r3 mlx5_0'
own_gid=fec0::1234:8:f104:398:31
other_gid=fec0::1234:8:f104:398:21

# ours STATUS ARG... - run ibsa, write its output to ours.out and its messages
# to ours.err, and check its exit status
ours() {
	local want=$1 status=0
	shift
	fabric_run "$host" "$ibsa" "$@" </dev/null \
		>"$FABRIC_DIR/ours.out" 2>"$FABRIC_DIR/ours.err" || status=$?
	[ "$status" -eq "$want" ] || wrong "ibsa $*: exit status $status," \
		"not $want: $(cat "$FABRIC_DIR/ours.err")"
}

# Print one line for each service that saquery shows: "ID GID PKEY LEASE NAME",
# with numbers in lower-case hexadecimal.
in_saquery() {
	fabric_run "$host" saquery SR </dev/null 2>"$FABRIC_DIR/theirs.err" |
		awk -F '[.][.]+' '
			/ServiceID/ { line = $2 }
			/ServiceGID|ServiceP_Key|ServiceLease/ {
				line = line " " $2
			}
			/ServiceName/ { print tolower(line) " " $2 }' | sort
}

in_ibsa() {
	fabric_run "$host" "$ibsa" -j service list </dev/null \
		2>"$FABRIC_DIR/ours.err" >"$FABRIC_DIR/list.json" || true
	jq -r 'def hex: if . < 16 then "0123456789abcdef"[.:. + 1]
		else (. / 16 | floor | hex) + (. % 16 | hex) end;
		.[] | [.service_id, .service_gid,
			(.service_pkey | sub("0x0*(?=.)"; "0x")),
			"0x" + (.service_lease | hex), .service_name] |
		join(" ")' "$FABRIC_DIR/list.json" | sort
}

# is WHEN PROGRAM GOT WANT - check that PROGRAM shows WANT; GOT is what it shows
is() {
	[ "$3" = "$4" ] || wrong "$1: $2 has '$3', not '$4'"
}

# seen WHEN LINE... - check that saquery and ibsa both show these services and
# no others
seen() {
	local when=$1 want=''
	shift
	[ $# -eq 0 ] || want=$(printf '%s\n' "$@" | sort)
	is "$when" saquery "$(in_saquery)" "$want"
	is "$when" ibsa "$(in_ibsa)" "$want"
	echo "checked: $when"
}

register_and_unregister() {
	local one="0x0000000000001234 $own_gid 0xffff 0xe10 printer"
	local two="0x0000000000001234 $other_gid 0xffff 0xffffffff printer"
	local three="0x8000000000000001 $own_gid 0xffff 0xffffffff a b"
	seen 'before all'
	ours 1 service list
	ours 1 service lookup printer
	ours 1 service unregister 0x1234
	ours 0 service register 0x1234 printer --lease 3600
	seen 'one registered' "$one"
	ours 0 service register 0x1234 printer service_gid="$other_gid"
	ours 0 service register 0x8000000000000001 'a b'
	seen 'three registered' "$one" "$two" "$three"
	ours 0 -j service lookup printer
	jq -e 'map(.service_gid) | sort == $ARGS.positional' --args \
		"$other_gid" "$own_gid" <"$FABRIC_DIR/ours.out" >/dev/null ||
		wrong "lookup printer: $(cat "$FABRIC_DIR/ours.out")"
	ours 0 -j service lookup 0x8000000000000001 service_gid="$own_gid"
	jq -e 'map(.service_name) == ["a b"]' \
		<"$FABRIC_DIR/ours.out" >/dev/null ||
		wrong "lookup 0x8...1: $(cat "$FABRIC_DIR/ours.out")"
	ours 1 service lookup print
	ours 0 service unregister 0x1234
	seen 'one removed' "$two" "$three"
	ours 1 service unregister 0x1234
	ours 1 service unregister 0x1234 service_gid="$other_gid" \
		service_pkey=0x7fff
	ours 0 service unregister 0x1234 service_gid="$other_gid"
	ours 0 service unregister 0x8000000000000001
	seen 'all removed'
}

# A second registration with the same identity replaces the first. A
# registration without a P_Key has another identity, so both exist.
register_again() {
	ours 0 service register 7 before --lease 3600
	ours 0 service register 7 after
	seen 'registered again' \
		"0x0000000000000007 $own_gid 0xffff 0xffffffff after"
	ours 0 query set SR service_id=7 service_gid="$own_gid" \
		service_name=bare
	seen 'without a P_Key' \
		"0x0000000000000007 $own_gid 0xffff 0xffffffff after" \
		"0x0000000000000007 $own_gid 0x0 0xffffffff bare"
	ours 0 service unregister 7
	seen 'the other is left' \
		"0x0000000000000007 $own_gid 0x0 0xffffffff bare"
	ours 0 service unregister 7 service_pkey=0
	seen 'none is left'
}

refused() {
	ours 5 service register 7 stranger service_gid=fec0::1234:dead:beef
	grep -q '0x0200.*service_gid must be' "$FABRIC_DIR/ours.err" ||
		wrong "no advice: $(cat "$FABRIC_DIR/ours.err")"
	ours 5 service register 7 stranger service_pkey=0x8123
	seen 'after refusals'
}

# OpenSM looks for ended leases every second or less often.
lease_ends() {
	local end=$((SECONDS + FABRIC_WAIT_S))
	ours 0 service register 7 mayfly --lease 2
	ours 0 service register 8 stone
	seen 'while the lease lasts' \
		"0x0000000000000007 $own_gid 0xffff 0x2 mayfly" \
		"0x0000000000000008 $own_gid 0xffff 0xffffffff stone"
	while in_saquery | grep -q mayfly && [ "$SECONDS" -lt "$end" ]; do
		sleep 0.2
	done
	seen 'after the lease' \
		"0x0000000000000008 $own_gid 0xffff 0xffffffff stone"
	ours 1 service lookup mayfly
	ours 0 service unregister 8
}

fabric_start
register_and_unregister
register_again
refused
lease_ends
exit "$failed"
