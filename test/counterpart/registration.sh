#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: registration.sh MODE REGISTRATION IBSA UMTAP
#
# Tests that the program REGISTRATION renews its service at OpenSM on ibsim's
# fabric: while OpenSM restarts and moves to another host, and after another
# program has removed or replaced the service. After each step, saquery must
# show the expected services. MODE cut: MADs are cut at 256 bytes; whole:
# UMTAP, a preloaded library, keeps them whole.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery

mode=$1
program=$(realpath "$2")
ibsa=$(realpath "$3")
[ "$mode" = cut ] || FABRIC_UMTAP=$(realpath "$4")
host='host-r3 mlx5_0'
line=0

# event TEXT - check that the next event is TEXT or begins with TEXT, and
# arrives within FABRIC_WAIT_S. Failures, which occur while OpenSM starts, do
# not count.
event() {
	local want=$1 end=$((SECONDS + FABRIC_WAIT_S)) got
	line=$((line + 1))
	until got=$(sed '/^failed/d' "$FABRIC_DIR/events" | sed -n "${line}p")
		[ -n "$got" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			wrong "no '$want' in $FABRIC_WAIT_S s"
			exit 1
		fi
		sleep 0.05
	done
	[ "${got#"$want"}" != "$got" ] || wrong "event $line: '$got', not '$want'"
}

# seen WHEN SERVICES - check that saquery at another host shows exactly the
# names and leases in SERVICES
seen() {
	local got
	got=$(fabric_run 'host-r2 mlx4_0' saquery SR </dev/null \
		2>"$FABRIC_DIR/theirs.err" | awk -F '[.][.]+' '
			/ServiceLease/ { lease = $2 }
			/ServiceName/ { print $2, lease }')
	[ "$got" = "$2" ] || wrong "$1: saquery sees '$got', not '$2'"
	echo "checked: $1"
}

ibsa_service() {
	fabric_run "$host" "$ibsa" service "$@" </dev/null >/dev/null ||
		wrong "ibsa service $*"
}

fabric_start
fabric_spawn "$host" "$program" 7 disk 30 1000 </dev/null \
	>"$FABRIC_DIR/events" 2>"$FABRIC_DIR/registration.err"
pid=$fabric_pid
event 'registered 0 0x0000 disk 30'
seen 'registered' 'disk 0x1E'

ibsa_service unregister 7
event 'lost 0 0x0000 disk'
event 'registered 0 0x0000 disk 30'
seen 'taken away' 'disk 0x1E'

ibsa_service register 7 tape
event 'replaced 0 0x0000 tape'
event 'registered 0 0x0000 disk 30'
seen 'replaced' 'disk 0x1E'

fabric_sm_stop KILL
fabric_sm_start "$FABRIC_SM"
event 'lost 0 0x0000 disk'
event 'registered 0 0x0000 disk 30'
seen 'restarted' 'disk 0x1E'

# The port change cannot be tested on a "cut" fabric: ibsim's copy of sysfs
# contains the SM's LID as it was at the start.
if [ "$mode" = whole ]; then
	fabric_sm_stop KILL
	fabric_sm_start 'host-r2 mlx4_0'
	event 'lost 0 0x0000 disk'
	event 'registered 0 0x0000 disk 30'
	seen 'moved' 'disk 0x1E'
fi

kill -INT "$pid"
fabric_wait "$pid" || wrong "exit status $?"
event 'released 0 0x0000 disk'
seen 'released' ''
exit "$failed"
