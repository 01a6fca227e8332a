#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: reason.sh IBSA DROP-IN
#
# Tests the reasons that "ibsa path" and "ibsa reach" print when
# there is no path. Each reason is caused at a fabric server, with OpenSM and
# with the embedded SA in two SM profiles, and queried with and without the
# SM_Key. OpenSM forgets ports that are down, so the reason "the far port is
# down" is only possible, never certain, here; the test reach-puppet tests the
# certain one.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${3-}" != inside ]; then
	served_need opensm jq
	REASON_FOLDER=$(mktemp -d)
	export REASON_FOLDER
	trap 'rm -rf "$REASON_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in opensm silent none; do
		options=(--sa none)
		[ $sa = none ] || options=(--sa embedded --sa-at d
			--sm-profile "$sa" --partitions "$here/reason.conf")
		REASON_SA=$sa "$1" fabric exec "$here/reason.net" \
			"${options[@]}" --socket "$REASON_FOLDER/s" -- \
			"$0" "$@" inside || status=1
	done
	exit "$status"
fi

net=$here/reason.net
ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$REASON_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: SA $REASON_SA: $*"
	status=1
}

# expect NODE REASON WORDS ARG... - check the reason and the words that ibsa
# path prints at NODE
expect() {
	local node=$1 reason=$2 words=$3 got
	shift 3
	got=$(IBSA_NODE=$node "$ibsa" -j path "$@" 2>err |
		jq -r '.[] | .reason + "|" + .detail')
	[ "${got%%|*}" = "$reason" ] && [[ $got == *"$words"* ]] ||
		wrong "$node: path $*: not '$reason ... $words': $got $(<err)"
	IBSA_NODE=$node "$ibsa" path "$@" >out 2>err
	[ $? -eq 1 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] ||
		wrong "$node: path $*: $(cat out err)"
}

# both NODE REASON WORDS ARG... - check the output of ibsa path as expect does,
# with the SM_Key and without it
both() {
	expect "$@"
	expect "$@" --sm-key 1
}

# sure NODE REASON WORDS ARG... - check that the reason is possible without the
# SM_Key and certain with it
sure() {
	local node=$1 reason=$2 words=$3
	shift 3
	expect "$node" "possibly $reason" "$words" "$@"
	expect "$node" "$reason" "$words" "$@" --sm-key 1
}

unknown='unknown, or in no partition of this port'
constraint='a constraint excludes every path'
far='the far port is down'

[ "$REASON_SA" != none ] ||
	IBSA_NODE=d sm_start "partition_config_file $here/reason.conf" || {
	wrong "OpenSM does not start: $(tail opensm.log)"
	exit 1
}
# hidden NODE PORTS TEXT - check that ibsa reports what the SA hides from NODE's
# port, also with the SM_Key: the other ends of PORTS active ports, and TEXT
# about records without a node
hidden() {
	local gap="the other ends of $2 active ports$3; an SA" key
	for key in '' --sm-key=1; do
		# shellcheck disable=SC2086 # no argument, or one
		IBSA_NODE=$1 "$ibsa" topology --format net $key >out 2>err &&
			grep -q "$gap.*; P_Keys of this port: 0x" err ||
			wrong "$1: topology $key: not '$gap': $(<err)"
		# shellcheck disable=SC2086
		IBSA_NODE=$1 "$ibsa" check --expect "$net" $key --format csv >out 2>err
		[ $? -eq 1 ] && [ "$(grep -c '^hidden,warning,' out)" -eq 1 ] &&
			! grep -q 'one-end\|is missing"*$' out ||
			wrong "$1: check $key: $(cat out err)"
	done
}
records="of the SA's records have a LID that no node has"
hidden a 5 ", and 15 $records"
hidden b 4 ", and 12 $records"
hidden d 4 ''
IBSA_NODE=b "$ibsa" trace self a >out 2>err
[ $? -eq 1 ] && grep -q 'does not show the other end$' out &&
	grep -q '^ibsa: cannot trace the path from LID .* show the other' err ||
	wrong "trace of a hidden link: $(cat out err)"
both b 'possibly no such name' 'nobody: the SA shows' self nobody
both d 'no such name' 'nobody: the SA shows' self nobody
both e 'both are limited members' 0x0001 self self
both b "$unknown" 'no port with GID fe80::dead:beef;' self fe80::dead:beef
both b "$unknown" 'no port with LID 99;' self 99
both b "$unknown" 'no port with GID fe80::3001;' self guid:3001
both d "$unknown" 'GID fe80::beef (the source)' guid:beef guid:3001
sure a 'no P_Key in common' 0x8001 b c
sure a 'no P_Key in common' 0x8001 guid:2001 guid:3001
sure d 'both are limited members' 0x7fff guid:2001 guid:5002
sure d 'both are limited members' 0x7fff guid:5001 guid:5002
group=ff12:401b:ffff::ffff:ffff
expect b 'not a member of the group' 'GID fe80::2001 (the source)' self $group
expect d 'possibly not a member of the group' 'GID fe80::2001' guid:2001 $group
expect b "$unknown" 'no multicast group with GID ff12' self ff12::77
# With the SM_Key, OpenSM shows a group as its members, and this group has none.
expect b "possibly $unknown" 'no member of' self $group --sm-key 1
both b 'another subnet' '2001::1 does not have the prefix' self 2001::1
both b 'another subnet' 'fe80:0:0:1::beef does not' self fe80:0:0:1::beef
both b "$constraint" 'pkey 0x8002; without this constraint' self a pkey=0x8002
both b "$constraint" 'a path with mtu 2048' self a mtu_selector=0 mtu=2048
both b "$constraint" 'a path with rate 100Gb/s' self a rate_selector=0 rate=200Gb/s
both b "$constraint" ': rate>=200Gb; without this constraint' self a 'rate>=200Gb'
expect d 'possibly both are limited members' 'to be certain, query without constraints' \
	guid:5001 guid:5002 mtu=2048 --sm-key 1
both b "$constraint" 'mtu 2048, rate' self a pkey=0x8002 mtu_selector=2 mtu=4096
"$ibsa" fabric link down e/2
"$ibsa" fabric link down b/1
# The SA has no record of the port.
forgotten() {
	IBSA_NODE=d "$ibsa" query get NR "port_guid=$1" >out 2>err
	[ $? -eq 1 ]
}
within 20 forgotten 0x5002 && within 20 forgotten 0x2001 ||
	wrong "ports that are down stay: $(cat out err)"
both d "possibly $far" 'port 2 of e HCA-1' self guid:5002
# A host whose only port is down has left the SA's records.
both d "$unknown" 'it does not show ports that are down' self guid:2001
both d 'no such name' 'whose ports are all down' self b
IBSA_NODE=b "$ibsa" path self a >out 2>err
[ $? -eq 3 ] && grep -q '^ibsa: this port is down; ' err ||
	wrong "a port that is down: $(cat out err)"
IBSA_NODE=b "$ibsa" -j path self guid:1001 >out 2>err
[ $? -eq 3 ] && jq -e '.[0].reason == "this port is down"' out >/dev/null ||
	wrong "a row for a port that is down: $(cat out err)"
IBSA_NODE=b "$ibsa" -j reach guid:1001 >out 2>err
jq -e '.[0].reason == "this port is down"' out >/dev/null ||
	wrong "reach from a port that is down: $(cat out err)"
[ $status -ne 0 ] || echo "checked: eight reasons, SA $REASON_SA"
sm_stop
exit $status
