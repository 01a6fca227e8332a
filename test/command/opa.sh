#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: opa.sh IBSA LIBDIR FABRIC
#
# Tests queries of paths on an Omni-Path fabric, whose LIDs have 32 bits: the
# SA may answer with PathRecords of InfiniBand or of Omni-Path.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

cat >opa.net <<-'END'
	Switch 4 "s"
	[1] "a"[1] # 4xEDR
	[2] "b"[1] # 4xEDR
	[3] "c"[1] # 4xEDR
	Ca 1 "a" # "node1"
	Ca 1 "b" # "node2"
	[1] "s"[2] # lid 74565
	Ca 1 "c" # "node3"
	[1] "s"[3] # lid 70000
END
options=()

# opa STATUS ARG... - run ibsa on the Omni-Path fabric opa.net, with the options
# in the array options
opa() {
	local want=$1
	shift
	run "$want" fabric exec --opa "${options[@]}" opa.net -- "$ibsa" "$@"
}

long_lids_are_shown() {
	options=()
	opa 0 path self node2; lines 2; aligned; err_empty
	out_has '^1 +74565 +2048 '
	out_has ' fe80::10:1 +fe80::10:3$'
	opa 0 -j path self node2
	json 'length == 1 and .[0].slid == 1 and .[0].dlid == 74565'
	json '.[0].dgid == "fe80::10:3" and .[0].l2_16b == 0'
	json '.[0] | has("qos_class") | not'
	opa 0 -j -C node3 path self node2
	json '.[0].slid == 70000 and .[0].dlid == 74565'
	opa 0 -v path self node2; err_has '^ibsa: OpaPathRecord Get: 1 try'
}

long_lids_are_asked_for() {
	options=()
	opa 0 -j path 70000 lid:74565
	json '.[0].slid == 70000 and .[0].dlid == 74565'
	json '.[0].sgid == "fe80::10:5" and .[0].dgid == "fe80::10:3"'
	opa 0 -j path -a 70000 guid:100001; json 'length == 1 and .[0].dlid == 1'
	opa 0 check node 74565 0x12345 guid:100001
	# Findings are written to standard output alone.
	"$ibsa" fabric exec --opa opa.net -- "$ibsa" -j check node 99999 \
		>out 2>err
	json 'length == 1 and .[0].finding == "peer-unreachable"'
	opa 1 path self 99999; out_empty; err_has 'no path from self to 99999'
	opa 1 -j path self 99999; json 'map(.dlid) == [99999]'
	opa 2 path self 4294967295; err_has 'is not a LID'
	options=(--first-lid 74600)
	opa 0 -j path self node2
	json '.[0].slid == 74600 and .[0].dlid == 74565'
}

# The SM may have the LID 0xffff, which is an ordinary LID on Omni-Path.
sm_lid_may_be_any() {
	sed 's/^Ca 1 "a".*/&\n[1] "s"[1] # lid 65535/' opa.net >any.net
	run 0 fabric exec --opa any.net -- "$ibsa" -j devices
	json '.[0].lid == 65535 and .[0].sm_lid == 65535'
	for node in a b; do
		run 0 fabric exec --opa any.net -- \
			"$ibsa" -C $node -j path node3 node1
		json '.[0].slid == 70000 and .[0].dlid == 65535'
	done
}

fields_are_of_the_layout() {
	options=()
	opa 0 -j path self node2 sl=20; json '.[0].sl == 20'
	opa 0 -j --sa lid=1,sl=31 path self node2
	opa 0 path self node2 qos_priority=0
	opa 2 path self node2 qos_class=1; err_has qos_class
	opa 2 path self node2 dlid=5; err_has 'remove slid'
	on 2 path self node2 qos_priority=0; err_has qos_priority
	on 2 path self node2 sl=20; err_has 'sl takes'
	on 2 path self 70000; err_has '1 to 65534'
	on 2 path 70000 self; err_has "'70000' is not a LID"
	options=(--sm-profile opa-fm)
	opa 0 path self node2 qos_class=0
	opa 2 path self node2 sl=20; err_has 'sl takes'
}

# A PathRecord in InfiniBand layout represents a LID of more than 16 bits by a
# GID.
ib_records_are_asked_where_there_are_no_others() {
	options=(--sm-profile opa-fm)
	opa 0 path self node2; lines 2; aligned; err_empty
	out_has '^1 +74565 +2048 '
	opa 0 -j path self node2
	json 'length == 1 and .[0].slid == 1 and .[0].dlid == 74565'
	json '.[0].dgid == "fe80::6:6a00:1:2345" and .[0].qos_class == 0'
	json '.[0] | has("l2_16b") | not'
	opa 0 -j path 70000 74565
	json '.[0].slid == 70000 and .[0].dlid == 74565'
	opa 0 -j path 1 70000; json '.[0].slid == 1 and .[0].dlid == 70000'
	opa 0 -j path 1 1; json '.[0].slid == 1 and .[0].dlid == 1'
	opa 1 path self 99999; err_has 'no path'
	opa 0 -v path self node2; err_has '^ibsa: PathRecord Get: 1 try'
}

long_lids_are_reached() {
	local sa
	for sa in openib opa-fm; do
		options=()
		[ "$sa" = openib ] || options=(--sm-profile "$sa")
		opa 0 -j reach 74565 lid:70000 1
		json 'map(.reach) == ["yes", "yes", "yes"]'
		json '.[0].gid == "fe80::6:6a00:1:2345"'
		json '.[2].gid == "fe80::10:1"'
		opa 1 -j reach 99999; json '.[0].reach == "no"'
		err_has '^ibsa: 99999 cannot be reached'
		opa 0 reach --matrix 1 74565; lines 4
		out_has '^2 +\. +\. +fe80::6:6a00:1:2345'
	done
	for sa in 3221225472 lid:4294967295; do
		opa 2 reach $sa; out_empty
		err_has "'${sa#lid:}' is not a LID \(1 to 65534; on Omni-Path 1 to "
	done
	on 2 reach self 70000; out_empty; err_has "'70000' is not a LID \(1 to 65534\)"
	on 2 reach 4294967295; err_has 'is not a LID \(1 to 65534; on Omni-Path'
	what='ibsa reach -, with a line of Omni-Path'
	printf 'self\n70000\n' | "$ibsa" --fabric "$fabric" reach - >out 2>err
	[ $? -eq 2 ] || fail 'exit status is not 2'
	lines 2; err_has "^ibsa: line 2: '70000' is not a LID \(1 to 65534\)"
}

# Their GIDs in the paths from all ports are not those of NodeRecords.
paths_to_long_lids_are_checked() {
	local to args
	for args in '' '--sm-profile opa-fm' '--first-lid 74600'; do
		read -ra options <<<"$args"
		for to in 74565 0x12345 node2 node1 fe80::10:5; do
			opa 0 -j reach --to "$to"; err_empty
			json 'map(.reach) == ["yes", "yes", "yes"]'
		done
		opa 1 -j reach --to 99999; json 'map(.reach) == ["no", "no", "no"]'
	done
	# Its lower 16 bits are the LID of node1.
	options=()
	opa 1 -j reach --to 65537; json 'map(.reach) == ["no", "no", "no"]'
	opa 2 reach --to 4294967295; out_empty; err_has '^ibsa: --to: .* is not a LID'
	on 2 reach --to 70000; out_empty; err_has "'70000' is not a LID \(1 to 65534\)"
}

long_lids_are_not_traced() {
	local profile
	for profile in openib opa-fm; do
		options=()
		[ $profile = openib ] || options=(--sm-profile $profile)
		opa 1 trace self node2; out_empty
		err_has 'cannot trace from self to node2: .* LIDs up to 49151 only'
	done
}

silence_is_told_once() {
	options=(--fault silence=100)
	opa 3 -t 200 path self 1; out_empty; err_has 'did not answer'
	[ "$(wc -l <err)" -eq 1 ] || fail 'more than one sentence'
}

run_groups long_lids_are_shown long_lids_are_asked_for \
	sm_lid_may_be_any fields_are_of_the_layout ib_records_are_asked_where_there_are_no_others \
	long_lids_are_reached paths_to_long_lids_are_checked \
	long_lids_are_not_traced silence_is_told_once
