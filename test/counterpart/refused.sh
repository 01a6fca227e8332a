#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: refused.sh IBSA DROP-IN FABRIC
#
# Tests what ibsa prints if an SA refuses to let a port join or create a
# multicast group, with the embedded SA and with OpenSM; and if OpenSM has ended
# at a port that is still active.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${4-}" != inside ]; then
	served_need opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		REFUSED_FOLDER=$folder "$1" fabric exec "$3" --sa $sa \
			--socket "$folder/s" -- "$0" "$1" "$2" $sa inside ||
			status=1
	done
	exit $status
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH=$drop_in
cd "$REFUSED_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	cat out err
	status=1
}

# refused FIELDS LINE... - a Set of an MCMemberRecord with these fields, and
# PortGID and JoinState, is refused; after the status, these lines are printed
refused() {
	local fields=$1 got=0
	shift
	# shellcheck disable=SC2086 # several words
	"$ibsa" query set MCMemberRecord $fields >out 2>err || got=$?
	[ "$got" = 5 ] || wrong "$fields: exit status $got"
	[ "$(tail -n +2 err)" = "$(printf 'ibsa: %s\n' "$@")" ] ||
		wrong "$fields: other causes"
}

if [ "$3" = none ]; then
	sm_start || wrong "OpenSM: $(tail -n 3 opensm.log)"
fi
group=mgid=ff12:a01c::1
whole='port_gid=self qkey=1 tclass=0 pkey=0xffff flow_label=0 sl=0'
broadcast=ff12:401b:ffff::ffff:ffff
refused "$group join_state=1" \
	'to join a group, the request must also have port_gid'
refused "$group port_gid=self join_state=1 sl=0" \
	"the SA shows no group with this MGID: to create it, the request must \
also have qkey, tclass, pkey, flow_label"
refused "$group $whole join_state=2" \
	'join_state: the request has 0x2; only a full member (bit 0 or 3) can create the group'
refused "$group $whole join_state=1 mtu=4096" \
	'mtu: the group has 4096, the port only 2048'
refused "$group ${whole/0xffff/0x8001} join_state=1 rate=800Gb" \
	'rate: the group has 800Gb/s, the port only 100Gb/s' \
	'pkey: the group has 0x8001, this port has 0xffff'
"$ibsa" query set MCMemberRecord $group $whole join_state=1 >out 2>err ||
	wrong 'the group is not created'
refused "$group port_gid=self join_state=1 qkey=2 pkey=0x8001 scope=5" \
	'scope: the request has 5, the MGID 2' \
	'qkey: the request has qkey=2, the group has 0x00000001' \
	'pkey: the request has pkey=0x8001, the group has 0xffff'
refused "$group port_gid=self join_state=1 mtu>4096 rate>=800Gb" \
	'mtu: the request has mtu>4096, the group has 2048' \
	'rate: the request has rate>=800Gb, the group has 100Gb/s'
refused "mgid=ff12:401b:ffff::77 $whole join_state=1" \
	"qkey: the request has qkey=1, the broadcast group $broadcast has 0x00000b1b"
refused "mgid=ff15:401b:ffff::77 $whole join_state=1" \
	"mgid: the SA shows no broadcast group ${broadcast/2/5} of the scope \
0x5 and the partition of this MGID"
refused "mgid=fe12::1 $whole join_state=1" 'mgid: it is not a multicast GID'

if [ "$3" = none ]; then
	"$ibsa" check node >out 2>err || wrong 'check node'
	sm_stop
	"$ibsa" check node >out 2>err
	grep -q 'no-sa.* no SA runs at LID 1, to which ibsa0/1 sends' out ||
		wrong 'check node without OpenSM'
	"$ibsa" doctor >out 2>err
	grep -q '^sa .* no SA runs at LID 1: the node there refuses' out ||
		wrong 'doctor without OpenSM'
fi
exit "$status"
