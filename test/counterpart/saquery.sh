#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: saquery.sh cut|whole IBSA UMTAP
#
# Compares ibsa with saquery: both send the same queries to one OpenSM on
# ibsim's fabric, and the records must be equal field by field. Mode cut: ibsim
# cuts MADs at 256 bytes; ibsa must report replies that do not fit as
# truncated, while saquery accepts them as complete. Mode whole: UMTAP, a
# preloaded library, keeps MADs whole.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
fabric_need saquery jq

mode=$1 ibsa=$(realpath "$2")
if [ "$mode" = whole ]; then
	FABRIC_UMTAP=$(realpath "$3")
fi
host='host-r3 mlx5_0'
prefix=fec0::1234

# Run only one client at a time in a host's directory: ibsim's preload library
# makes one copy of sysfs for each process.
ours() {
	fabric_run "$host" "$ibsa" "$@" </dev/null 2>"$FABRIC_DIR/ours.err"
}

theirs() {
	fabric_run "$host" saquery "$@" </dev/null 2>"$FABRIC_DIR/theirs.err"
}

# plain - convert numbers on standard input to a form without leading zeros, in
# lower case
plain() {
	tr '[:upper:]' '[:lower:]' | sed -E 's/ 0x0*([0-9a-f])/ 0x\1/'
}

# "name....value" and "Name:...value" to "name value", of the names in a file.
saquery_fields() {
	sed -nE 's/^\t+([A-Za-z_0-9]+):?\.+(.*)$/\1 \2/p' | plain |
		awk 'NR == FNR { known[$1]; next } $1 in known' "$1" -
}

# same RECORD OURS... -- THEIRS...
same() {
	local record=$1 mine=() what
	shift
	while [ "$1" != -- ]; do
		mine+=("$1")
		shift
	done
	shift
	what="ibsa ${mine[*]} and saquery $*"
	cd "$FABRIC_DIR"
	if ! ours -j "${mine[@]}" >ours.json; then
		wrong "$what: $(cat ours.err)"
		return
	fi
	jq -r --arg record "$record" -f "$here/saquery.jq" ours.json |
		plain >ours.txt
	theirs "$@" >theirs.out || wrong "saquery $*: $(cat theirs.err)"
	saquery_fields ours.txt <theirs.out >theirs.txt
	if ! [ -s theirs.txt ]; then
		wrong "$what: nothing to compare"
	elif ! diff theirs.txt ours.txt >&2; then
		wrong "$what differ"
	else
		echo "same: $what: $(wc -l <ours.txt) fields"
	fi
}

# says STATUS WORDS OURS...
says() {
	local want=$1 words=$2 status=0
	shift 2
	cd "$FABRIC_DIR"
	ours "$@" >ours.out || status=$?
	if [ "$status" -ne "$want" ]; then
		wrong "ibsa $*: exit status $status, not $want"
	elif ! grep -q "$words" ours.err; then
		wrong "ibsa $*: no \"$words\" in: $(cat ours.err)"
	else
		echo "as it should: ibsa $*: $(tail -n 1 ours.err)"
	fi
}

records_by_lid() {
	local lid port
	for lid in 1 2 3 4 5 6; do
		same NodeRecord query table NR lid="$lid" -- NR "$lid"
	done
	for lid in 1 4 5 6; do
		same PortInfoRecord query table PIR endport_lid="$lid" -- \
			PIR "$lid"
	done
	# Port 1 of the switch leads to a host, port 23 to the other switch, and
	# port 5 has no cable.
	for port in 1 23 5; do
		same PortInfoRecord \
			query table PIR endport_lid=2 port_num="$port" -- \
			PIR "2/$port"
	done
}

paths() {
	local guid lid
	for lid in 1 2 3 4 6; do
		same PathRecord path 5 "$lid" -- PR --slid 5 --dlid "$lid"
	done
	for guid in 398:11 398:21 398:42 41:1a02 52:2b02; do
		guid=8:f104:$guid
		same PathRecord path self "$prefix:$guid" -- --sgid-to-dgid \
			"fec0:0:0:1234:8:f104:398:31-fec0:0:0:1234:$guid"
	done
}

unknown_gid() {
	says 1 'no path' path self "$prefix:8:f104:398:99"
	theirs --sgid-to-dgid \
		"fec0:0:0:1234:8:f104:398:31-fec0:0:0:1234:8:f104:398:99" \
		>"$FABRIC_DIR/theirs.out" || true
	if grep -q PathRecord "$FABRIC_DIR/theirs.out"; then
		wrong 'saquery knows the unknown GID'
	fi
}

whole_tables() {
	same NodeRecord query table NR -- NR
	same PortInfoRecord query table PIR -- PIR
	same PathRecord query table PR -- -p
	same PortInfoRecord query table PIR endport_lid=2 -- PIR 2
}

cut_tables() {
	local record
	for record in NR PIR PR; do
		says 3 'truncated' query table "$record"
		says 3 'truncated' -j query table "$record"
	done
	# Three PathRecords fill less than one MAD, but ibsim drops the end of
	# the MAD.
	says 3 'truncated' query table PR slid=5 rate=3 rate_selector=2
}

fabric_start
records_by_lid
paths
unknown_gid
if [ "$mode" = whole ]; then
	whole_tables
else
	cut_tables
fi
exit "$failed"
