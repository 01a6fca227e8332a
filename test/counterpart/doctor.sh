#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: doctor.sh IBSA UMTAP
#
# Tests the output and the exit status of "ibsa doctor" on ibsim's fabric:
# while OpenSM runs, with SM_Keys that OpenSM accepts and SM_Keys that it
# rejects, and after OpenSM has ended.
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

# doctor STATUS ARG... - run ibsa doctor, write its JSON to doctor.json and its
# message to doctor.err, and check its exit status
doctor() {
	local want=$1 status=0
	shift
	fabric_run "$host" "$ibsa" -j doctor "$@" </dev/null \
		>"$FABRIC_DIR/doctor.json" 2>"$FABRIC_DIR/doctor.err" ||
		status=$?
	what="ibsa doctor $*"
	[ "$status" -eq "$want" ] || wrong "$what: exit status $status," \
		"not $want: $(cat "$FABRIC_DIR"/doctor.{err,json})"
}

# has NAME VERDICT TEXT - check that doctor.json has a check NAME with this
# verdict and a detail that matches TEXT
has() {
	jq -e --arg name "$1" --arg verdict "$2" --arg words "$3" \
		'any(.[]; .name == $name and .verdict == $verdict and
			(.detail | test($words)))' \
		"$FABRIC_DIR/doctor.json" >/dev/null ||
		wrong "$what: no $1 $2 '$3': $(cat "$FABRIC_DIR/doctor.json")"
}

# saquery_pkeys KEY - print the P_KeyTableRecord of the own port that saquery
# receives with the SM_Key KEY
saquery_pkeys() {
	fabric_run "$host" saquery --smkey "$1" PKTR "$own_lid" </dev/null 2>&1 ||
		true
}

running() {
	doctor 0
	has umad ok 'version 5'
	has node ok 'umad0 opens; it is simulated'
	has issm 'not checked' simulated
	has port ok '^Active, LinkUp, InfiniBand'
	has sm ok "^LID $own_lid; subnet manager at LID $sm_lid,"
	has sa ok '^the SA answers in [0-9.]+ ms'
	has sm_key ok 'untrusted requests may read'
	has default ok '^queries use port 1 of '
	# Without the SM_Key, OpenSM does not return this record to saquery
	# either.
	saquery_pkeys 0 | grep -q 'requested parameters\|ERR' ||
		wrong "saquery without a key: $(saquery_pkeys 0)"
	echo 'checked: while OpenSM runs'
}

keys() {
	doctor 0 --sm-key 1
	has sm_key ok 'trusts this key'
	saquery_pkeys 1 | grep -q 'PKey Table' ||
		wrong "saquery with the key: $(saquery_pkeys 1)"
	doctor 5 --sm-key 2 -t 300
	has sa ok 'answers in'
	has sm_key wrong 'does not answer requests with this key'
	grep -q 'sa_key' "$FABRIC_DIR/doctor.err" ||
		wrong "no advice: $(cat "$FABRIC_DIR/doctor.err")"
	if saquery_pkeys 2 | grep -q 'PKey Table'; then
		wrong 'saquery is served with a wrong key'
	fi
	echo 'checked: keys'
}

gone() {
	fabric_sm_stop
	doctor 3 -t 300
	has sm ok "subnet manager at LID $sm_lid,"
	has sa wrong 'no answer in 300 ms'
	has sm_key 'not checked' 'does not answer'
	has default ok '^queries use port 1 of '
	fabric_sm_start "$FABRIC_SM"
	doctor 0
	has sa ok 'answers in'
	echo 'checked: after OpenSM has gone, and is back'
}

# refused DEVICE PORT SENTENCE - check that a query from this port fails with
# SENTENCE and exit status 4
refused() {
	local status=0
	fabric_run "$host" "$ibsa" -C "$1" -P "$2" path self 1 \
		</dev/null >/dev/null 2>"$FABRIC_DIR/doctor.err" || status=$?
	[ $status -eq 4 ] || wrong "exit status $status, not 4"
	grep -q "$3" "$FABRIC_DIR/doctor.err" ||
		wrong "not \"$3\": $(cat "$FABRIC_DIR/doctor.err")"
}

# With a device as its argument, ibsa doctor queries only the SA of this
# device's port.
named() {
	local device
	device=$(jq -r '[.[] | select(.device)][0].device' \
		"$FABRIC_DIR/doctor.json")
	doctor 0 "$device/1"
	has sa ok 'answers in'
	doctor 4 "$device/9"
	has port wrong 'has no port 9'
	doctor 4 nosuch
	has device wrong "no device 'nosuch'"
	refused nosuch 1 'there is no device "nosuch"'
	refused "$device" 9 'has no port 9; it has: 1'
	echo 'checked: one port'
}

fabric_start
fabric_run "$host" "$ibsa" -j devices </dev/null >"$FABRIC_DIR/devices.json"
own_lid=$(jq '.[0].lid' "$FABRIC_DIR/devices.json")
sm_lid=$(jq '.[0].sm_lid' "$FABRIC_DIR/devices.json")
jq -e '.[0].note == null' "$FABRIC_DIR/devices.json" >/dev/null ||
	wrong "a note on a port that opens: $(cat "$FABRIC_DIR/devices.json")"
running
keys
named
gone
exit "$failed"
