#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: trace.sh IBSA LIBDIR FABRIC
#
# Tests "ibsa trace": the links of a path, the slowest link, hosts with several
# ports, and names of nodes with control characters.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# Two leaves and a spine; a slow link; a name with control characters.
printf '%s\n' 'Switch 4 "leaf1"' '[1] "h1"[1] 4xEDR' '[4] "spine"[1] 4xHDR' \
	'Switch 4 "leaf2"' '[1] "h2"[1] 4xEDR' '[4] "spine"[2] 1xHDR' \
	'Switch 4 "spine" # "bad'$'\033''[31m"' \
	'caguid=0x1001' 'Ca 1 "h1" # "host1 mlx5_0"' \
	'caguid=0x1010' 'Ca 1 "h2" # "host2 mlx5_0"' >way.net

# on_way STATUS ARG... - run ibsa trace on the fabric of this test
on_way() {
	local want=$1
	shift
	run "$want" --fabric way.net "$@"
}

links_are_in_order() {
	on_way 0 trace host1 host2; err_empty; lines 5; aligned
	out_has '^HOP  NODE +PORT  PEER +PEER_PORT  WIDTH  SPEED  MTU   NOTE$'
	out_has '^1 +host1 mlx5_0 +1 +leaf1 +1 +4x +EDR +2048  -$'
	out_has '^2 +leaf1 +4 +bad\\x1b\[31m +1 +4x +HDR +2048  -$'
	out_has '^3 +bad\\x1b\[31m +2 +leaf2 +4 +1x +HDR +2048  narrowest$'
	out_has '^4 +leaf2 +1 +host2 mlx5_0 +1 +4x +EDR +2048  -$'
	on_way 0 trace self leaf2; lines 4
	on_way 0 trace leaf1 leaf2; lines 3
	on_way 0 -j trace host1 host1; json '. == []'
}

json_has_all() {
	on_way 0 -j trace host1 host2
	json 'length == 4 and map(.hop) == [1, 2, 3, 4]'
	json 'map(.narrowest) == [0, 0, 1, 0] and .[2].rate_text == "50Gb/s"'
	json '.[3].peer_node_guid == "0x0000000000001010"'
	json '.[3].peer_port_guid == "0x0000000000001011"'
	json 'all(.slid > 0 and .dlid > 0 and .slid != .dlid)'
	printf '0x%x "alpha"\n' 0x1001 >map
	on_way 0 -j trace host1 host2 --node-name-map map
	json '.[0].node == "alpha"'
	printf '0x1010 "beta mlx5_7"\n0x1001 "host2"\n' >>map
	on_way 0 -j trace alpha BETA --node-name-map map
	json 'length == 4 and .[3].peer == "beta mlx5_7"'
	on_way 0 -j trace alpha beta/mlx5_7 --node-name-map map
	on_way 1 trace alpha gamma --node-name-map map
	err_has "no node has the name 'gamma'"
}

# A host with several ports has a trace for each pair of devices.
several_ports_have_traces() {
	on 0 -j trace node1 node3
	json 'map(select(.hop == 1)) | length >= 1'
}

what_cannot_be_traced() {
	on 1 trace self nobody; out_empty; err_has "no node has the name 'nobody'"
	on 1 trace self 99; err_has 'no path from self to 99: unknown, or in'
	on 2 trace self; err_has 'needs SRC and DST'
	on 2 trace self node2 node3; err_has 'needs SRC and DST'
	local group
	for group in ff12:401b:ffff::ffff:ffff 49152 lid:0xc000; do
		on 2 trace self $group; sentences 1
		err_has "'$group' is a multicast (GID|LID).*trace --group MGID"
		on 2 trace $group node2; err_has 'trace --group MGID'
	done
	on 2 trace --group ff12:401b:ffff::ffff:ffff 49152; err_has 'is a multicast LID'
	on 2 trace --why self node2
	err_has '--why is now what path and reach do without an option'
	run 3 fabric exec way.net --fault silence=100 -- "$ibsa" -t 100 trace 1 2
	run 0 trace --help; out_has '^usage: ibsa trace'
}

groups_have_trees() {
	local mgid=ff12:401b:ffff::ffff:ffff
	on_way 0 trace --group $mgid; out_empty # without members
	err_has "no switch forwards packets of group $mgid; .* without members"
	on_way 0 -j trace --group $mgid; json '. == []'
	on_way 1 trace --group ff12::77; err_has 'shows no group ff12::77'
	on_way 2 trace --group fe80::1; err_has 'not a multicast GID'
	on_way 2 trace --group $mgid host1 host2; err_has 'at most SRC'
	on_way 1 trace --group $mgid host1; lines 3
	out_has '^2 +leaf1 +0 +- +- +- +- +- +no entry for the LID$'
	sentences 1; err_has 'no packet from host1 reaches the group: the first switch has no entry for LID 0xc'
	on_way 1 trace --group $mgid leaf1; lines 2; err_has 'no packet from leaf1 reaches'
	on_way 1 -j trace --group $mgid host1
	json '.[1].note == "no entry for the LID" and .[1].peer_node_guid == null'
}

run_groups groups_have_trees links_are_in_order json_has_all several_ports_have_traces \
	what_cannot_be_traced
