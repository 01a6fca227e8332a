#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: register.sh IBSA UMTAP
#
# Tests "ibsa service register --renew" on ibsim's fabric. OpenSM is killed and
# started again without its state, on the same host and on another host. After
# each restart, saquery must list the services that ibsa renews.
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
first_sm='host-r1 mthca0' other_sm='host-r2 mlx4_0'
names=()
declare -A pid_of

# keep NAME ID ARG... - register and renew a service in the background, with its
# events in NAME.json
keep() {
	local name=$1 id=$2
	shift 2
	fabric_spawn "$host" "$ibsa" -j service register --renew "$id" "$name" "$@" \
		</dev/null >"$FABRIC_DIR/$name.json" 2>"$FABRIC_DIR/$name.err"
	pid_of[$name]=$fabric_pid
	names+=("$name")
	fabric_await "$FABRIC_DIR/$name.json" '"registered"' "$fabric_pid"
}

# Print the names of all services in one line. The first query after a restart
# of OpenSM may get no answer, since ibsim still delivers it to the old OpenSM.
known() {
	local end=$((SECONDS + FABRIC_WAIT_S))
	until fabric_run "$host" saquery SR </dev/null \
		>"$FABRIC_DIR/theirs.out" 2>"$FABRIC_DIR/theirs.err"; do
		[ "$SECONDS" -lt "$end" ] || fabric_fail "saquery: $(
			cat "$FABRIC_DIR/theirs.err"
		)"
	done
	sed -n 's/.*ServiceName\.*//p' "$FABRIC_DIR/theirs.out" | sort |
		tr '\n' ' '
}

# stays_known WHEN - wait until saquery shows exactly the services in the array
# names
stays_known() {
	local want got end=$((SECONDS + FABRIC_WAIT_S)) start=$SECONDS
	want=$(printf '%s\n' "${names[@]}" | sort | tr '\n' ' ')
	got=$(known)
	while [ "$got" != "$want" ] && [ "$SECONDS" -lt "$end" ]; do
		sleep 0.2
		got=$(known)
	done
	if [ "$got" = "$want" ]; then
		echo "checked: $1: $got, after $((SECONDS - start)) s"
	else
		wrong "$1: saquery has '$got', not '$want':" \
			"$(cat "$FABRIC_DIR"/*.json)"
	fi
}

sm_moves() {
	fabric_sm_stop KILL
	sleep "$2"
	fabric_sm_start "$1"
	stays_known "OpenSM is back on $1 after $2 s"
}

# again NAME - check that the events report the service as lost and then as
# registered again
again() {
	jq -se 'map(.event) | index("lost") < index("registered again")' \
		"$FABRIC_DIR/$1.json" >/dev/null ||
		wrong "$1 said: $(cat "$FABRIC_DIR/$1.json")"
}

# end NAME SIGNAL - end the renewal with SIGNAL, and check that the command
# releases its service and exits with status 0
end() {
	local status=0
	kill -"$2" "${pid_of[$1]}"
	fabric_wait "${pid_of[$1]}" || status=$?
	[ "$status" -eq 0 ] || wrong "$1 ended with $status: $(
		cat "$FABRIC_DIR/$1.err"
	)"
	if known | grep -qw "$1"; then
		wrong "$1 is still known after SIG$2"
	else
		echo "checked: $1 is gone after SIG$2"
	fi
}

fabric_start
keep finite 1 --lease 6
keep infinite 2 --lease infinite
keep default 3
stays_known 'at first'
# After twice its lease, each service is still registered, and no event reported
# a loss: the command has renewed it.
sleep 12
stays_known 'after two leases'
for name in "${names[@]}"; do
	jq -se 'map(.event) == ["registered"]' "$FABRIC_DIR/$name.json" \
		>/dev/null || wrong "$name: $(cat "$FABRIC_DIR/$name.json")"
done
sm_moves "$first_sm" 0
sm_moves "$other_sm" 0
sm_moves "$other_sm" 2
sm_moves "$first_sm" 2
for name in "${names[@]}"; do
	again "$name"
done
# If another program has deleted the service, the release succeeds.
keep taken 4
fabric_run "$host" "$ibsa" service unregister 4 </dev/null >/dev/null ||
	wrong 'ibsa service unregister 4'
end taken TERM
jq -se 'last.event == "removed"' "$FABRIC_DIR/taken.json" >/dev/null ||
	wrong "taken said: $(cat "$FABRIC_DIR/taken.json")"
end finite INT
end infinite TERM
end default HUP
exit "$failed"
