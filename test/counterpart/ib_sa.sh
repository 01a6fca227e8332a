#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: ib_sa.sh IB_SA UMTAP
#
# Tests the interface of <rdma/ib_sa.h> with OpenSM on ibsim's fabric. The
# program IB_SA sends queries all the time, is a member of a multicast group,
# and registers a service with an infinite lease. OpenSM is killed and started
# again without its state, on the same host and on another host. Each query
# must end in time, and saquery must show the group and the service in each new
# OpenSM until the program releases them.
# UMTAP a library that, preloaded, makes MADs of ibsim whole. Exit status: 0
# passed, 1 failed, 77 a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery

ib_sa=$(realpath "$1")
FABRIC_UMTAP=$(realpath "$2")
host='host-r3 mlx5_0'
first_sm='host-r1 mthca0' other_sm='host-r2 mlx4_0'

events() {
	grep -c "^$1" "$FABRIC_DIR/events" || true
}

# await EVENT COUNT - wait until more than COUNT events of this name are in the
# file events
await() {
	local event=$1 count=$2 end=$((SECONDS + FABRIC_WAIT_S))
	until [ "$(events "$event")" -gt "$count" ]; do
		[ "$SECONDS" -lt "$end" ] || fabric_fail \
			"no \"$event\" in $FABRIC_WAIT_S s: $(
				tail -n 5 "$FABRIC_DIR/events"
			)"
		sleep 0.05
	done
}

# tell - let the program write the results of the queries since the last call;
# tally FIELD then prints one of these numbers
tell() {
	local count
	count=$(events queries)
	kill -USR1 "$pid"
	await queries "$count"
}

tally() {
	grep '^queries' "$FABRIC_DIR/events" | tail -n 1 |
		awk -v name="$1" '{ for (i = 2; i < NF; i += 2)
			if ($i == name) print $(i + 1) }'
}

# known - print the service and the group that saquery shows. The first query
# after a restart may get no answer, since ibsim still delivers it to the old
# OpenSM.
known() {
	local end=$((SECONDS + FABRIC_WAIT_S)) what
	for what in SR -g; do
		until fabric_run "$host" saquery "$what" </dev/null \
			>"$FABRIC_DIR/theirs$what" 2>"$FABRIC_DIR/theirs.err"; do
			[ "$SECONDS" -lt "$end" ] || fabric_fail "saquery: $(
				cat "$FABRIC_DIR/theirs.err"
			)"
		done
	done
	awk -F '[.][.]+' '/ServiceLease/ { lease = $2 }
		/ServiceName/ { print $2, lease }
		/MGID/ && /::b5a$/ { print "group" }' \
		"$FABRIC_DIR/theirsSR" "$FABRIC_DIR/theirs-g"
}

are_known() {
	local got want=$2
	got=$(known)
	[ "$got" = "$want" ] || wrong "$1: saquery sees '$got', not '$want'"
}

# tell_until WHAT CONDITION - tell again and again, until the function CONDITION
# is true of the results since the last time
tell_until() {
	local what=$1 condition=$2 end=$((SECONDS + FABRIC_WAIT_S))
	tell
	until "$condition"; do
		if [ "$SECONDS" -ge "$end" ]; then
			wrong "$what: $(tail -n 1 "$FABRIC_DIR/events")"
			return
		fi
		sleep 1
		tell
	done
	echo "checked: $what, $(tally answered) answers, $(tally timed-out) timeouts"
}

# While an SM runs, all queries are answered, as soon as those have ended that
# were sent before the SM started.
all_answered() {
	[ "$(tally answered)" -gt 0 ] &&
		[ "$(tally timed-out) $(tally again)" = '0 0' ]
}

# Without an SM, no query is answered, and all end with an error.
all_timed_out() {
	[ "$(tally answered)" -eq 0 ] &&
		[ $(($(tally timed-out) + $(tally again))) -gt 0 ]
}

restart_on() {
	local registered joined
	fabric_sm_stop KILL
	tell_until 'killed' all_timed_out
	registered=$(events 'service registered')
	joined=$(events 'group joined')
	fabric_sm_start "$1"
	await 'service registered' "$registered"
	await 'group joined' "$joined"
	are_known "started on $1" "$both"
	tell_until "started on $1" all_answered
}

both=$'disk 0xFFFFFFFF\ngroup'
fabric_start
fabric_spawn "$host" "$ib_sa" 7 disk </dev/null \
	>"$FABRIC_DIR/events" 2>"$FABRIC_DIR/ib_sa.err"
pid=$fabric_pid
await 'service registered' 0
await 'group joined' 0
are_known 'in the beginning' "$both"
tell_until 'in the beginning' all_answered
restart_on "$first_sm"
restart_on "$other_sm"

kill -INT "$pid"
fabric_wait "$pid" || wrong "exit status $?"
are_known 'in the end' ''
[ "$(events 'service released')" = 1 ] || wrong 'the service is not released'

# Sum up all queries: none was lost, ended too late, or ended with another
# error.
awk '/^queries/ { started += $3; refused += $9; other += $13; late += $15
		ended += $7 + $9 + $11 + $13 }
	END { print "checked:", started, "queries,", ended, "ends,",
			refused, "refused,", other, "other,", late, "late"
		exit !(started && started == ended && !other && !late) }' \
	"$FABRIC_DIR/events" || wrong 'not each query has ended well'
exit "$failed"
