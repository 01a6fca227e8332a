#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: sm_events.sh SM-EVENTS IBSA UMTAP
#
# Tests the program SM-EVENTS (sm_events.c) on ibsim's fabric with OpenSM: the events
# of the SM that it prints, with the names that their manual page gives, and
# the results of its reachability queries. Meanwhile ibsim cuts and restores
# links, a multicast group is created and deleted, and OpenSM is killed and
# starts again without its state.
# IBSA is the command ibsa as it was built, UMTAP a library that, preloaded,
# makes MADs of ibsim whole. Exit status: 0 passed, 1 failed, 77 a required
# program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery

program=$(realpath "$1")
ibsa=$(realpath "$2")
FABRIC_UMTAP=$(realpath "$3")
audit_ms=2000
host='host-r3 mlx5_0' first_sm='host-r1 mthca0'
# Node id of host-r4, whose link the test cuts, and GID of its port.
node=H-0008f10403980040
gid=fec0::1234:8:f104:398:42
group=ff12:401b:ffff::abcd
failed=0 checked=0

wrong() {
	echo "FAILED: $*: $(cat "$FABRIC_DIR/lines" "$FABRIC_DIR/err")" >&2
	failed=1
}

# count LINE - print how many lines of the program equal LINE
count() {
	grep -cxF "$1" "$FABRIC_DIR/lines" || true
}

# soon COUNT LINE - wait until the program has printed LINE COUNT times
soon() {
	fabric_soon "$1" "$2" count "$2"
}

# reach RESULT - let the program check host-r4, and wait for RESULT.
# said[RESULT] is the number of lines with RESULT that are expected so far.
declare -A said=()
reach() {
	said[$1]=$((${said[$1]:-0} + 1))
	echo "$gid" >&"$program_fd"
	soon "${said[$1]}" "reach $gid $1"
}

n=0
cut_and_restore() {
	n=$((n + 1))
	reach 0
	fabric_console "Unlink \"$node\"[2]"
	soon $n "GID unavailable $gid"
	reach ENXIO
	fabric_console "ReLink \"$node\"[2]"
	soon $n "GID available $gid"
	reach 0
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

create_and_delete() {
	# The Q_Key is that of the IPoIB broadcast group, on which OpenSM
	# insists.
	member set qkey=0xb1b pkey=0xffff tclass=0 sl=0 flow_label=0
	soon "$1" "MCG created $group"
	member delete
	soon "$1" "MCG deleted $group"
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
mkfifo "$FABRIC_DIR/gids"
exec {program_fd}<>"$FABRIC_DIR/gids"
fabric_spawn "$host" env UMTAP_ISSM=1 "$program" "$audit_ms" \
	<"$FABRIC_DIR/gids" >"$FABRIC_DIR/lines" 2>"$FABRIC_DIR/err"
pid=$fabric_pid
soon 1 registered
subscribed 1
cut_and_restore
create_and_delete 1
[ "$(grep -c gap "$FABRIC_DIR/lines" || true)" -eq 0 ] ||
	wrong 'a gap for nothing'
[ "$(count "GID unavailable $gid")" -eq 1 ] || wrong 'told twice'

fabric_sm_stop KILL
fabric_sm_start "$first_sm"
up=$(date +%s%N)
soon 1 'SM events may have been missed 1'
elapsed_ms=$((($(date +%s%N) - up) / 1000000))
echo "the gap came $elapsed_ms ms after OpenSM was up"
# A gap is reported within one audit interval and the time of the audit's
# queries.
[ "$elapsed_ms" -le $((2 * audit_ms)) ] || wrong "the gap took $elapsed_ms ms"
subscribed 1
cut_and_restore
create_and_delete 2

echo end >&"$program_fd"
status=0
fabric_wait "$pid" || status=$?
[ "$status" -eq 0 ] || wrong "it ended with $status"
soon 1 closed
subscribed 0
[ "$checked" -ge 20 ] || wrong "only $checked checks"
exit "$failed"
