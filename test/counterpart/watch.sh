#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: watch.sh IBSA UMTAP
#
# Tests "ibsa watch" on ibsim's fabric, while ibsim cuts and restores links,
# and while OpenSM is killed and starts again without its state. saquery shows
# the subscriptions that OpenSM holds for ibsa.
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
host='host-r3 mlx5_0' first_sm='host-r1 mthca0'
# Node id and GID of host-r4, whose link the test cuts.
node=H-0008f10403980040
gid=fec0::1234:8:f104:398:42
group=ff12:401b:ffff::abcd
failed=0 checked=0

wrong() {
	echo "FAILED: $*: $(cat "$FABRIC_DIR/events" "$FABRIC_DIR/err")" >&2
	failed=1
}

# events FILTER - print how many events the jq FILTER selects
events() {
	jq -c "select($1)" "$FABRIC_DIR/events" | wc -l
}

# soon COUNT FILTER WHAT - wait until FILTER selects COUNT events
soon() {
	fabric_soon "$1" "$3" events "$2"
}

# Cut the link of host-r4 and restore it: each change is reported once, with the
# GID and the name of the host. $n counts these rounds.
n=0
cut_and_restore() {
	n=$((n + 1))
	fabric_console "Unlink \"$node\"[2]"
	soon $n ".event == \"gid-out\" and .gid == \"$gid\" and
		(.name | startswith(\"host-r4\"))" "host-r4 is gone ($1)"
	fabric_console "ReLink \"$node\"[2]"
	soon $n ".event == \"gid-in\" and .gid == \"$gid\"" \
		"host-r4 is back ($1)"
}

# member METHOD FIELD... - let host-r2 join or leave a group of which it is the
# only member
member() {
	local method=$1
	shift
	fabric_run 'host-r2 mlx4_0' "$ibsa" query "$method" MCMemberRecord \
		"mgid=$group" port_gid=fec0::1234:8:f104:398:21 join_state=1 \
		"$@" </dev/null >"$FABRIC_DIR/member" 2>&1 ||
		wrong "$method: $(cat "$FABRIC_DIR/member")"
}

# subscribed COUNT - check that saquery shows COUNT subscriptions of the host
subscribed() {
	local got
	got=$(fabric_run "$host" saquery IIR </dev/null 2>/dev/null |
		grep -c '398:31$' || true)
	[ "$got" -eq "$1" ] || wrong "saquery shows $got subscriptions, not $1"
	checked=$((checked + 1))
}

fabric_start
fabric_spawn "$host" env UMTAP_ISSM=1 "$ibsa" -j watch all </dev/null \
	>"$FABRIC_DIR/events" 2>"$FABRIC_DIR/err"
pid=$fabric_pid
soon 1 '.event == "subscribed"' 'subscribed'
subscribed 4
cut_and_restore 'at first'
[ "$(events '.event == "gap"')" -eq 0 ] || wrong 'a gap for nothing'
[ "$(events '.event == "gid-out"')" -eq 1 ] || wrong 'told twice'
soon 1 '.event == "link-state"' 'the switch says so too'

# The Q_Key is that of the IPoIB broadcast group, on which OpenSM insists.
member set qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow_label=0
soon 1 ".event == \"group-created\" and .gid == \"$group\"" 'a group begins'
member delete
soon 1 ".event == \"group-deleted\" and .gid == \"$group\"" 'and ends'

fabric_sm_stop KILL
fabric_sm_start "$first_sm"
soon 1 '.event == "gap"' 'a gap after OpenSM has started anew'
subscribed 4
cut_and_restore 'after the restart'

kill -INT "$pid"
status=0
fabric_wait "$pid" || status=$?
[ "$status" -eq 0 ] || wrong "it ended with $status"
soon 1 '.event == "ended" and .status == 0' 'ended'
subscribed 0
[ "$checked" -ge 13 ] || wrong "only $checked checks"
exit "$failed"
