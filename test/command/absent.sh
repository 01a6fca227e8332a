#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: absent.sh IBSA LIBDIR FABRIC
#
# Tests how "ibsa path" and "ibsa reach" tell of hosts and rails that the SA does
# not show. FABRIC is a topology file of eight hosts with eight rails each.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# broken CHANGE... -- ARG... - run ibsa ARG... on the fabric after the
# changes, which are commands of ibsa fabric, one in an argument
broken() {
	local want=$1 change=''
	shift
	while [ "$1" != -- ]; do
		change+="\"\$0\" fabric $1;"
		shift
	done
	"${how:-run}" "$want" fabric exec "$fabric" "${served[@]}" -- bash -c \
		"$change \"\$0\" \"\$@\"" "$ibsa" "${@:2}"
}
served=()
down='link down "dgx8 mlx5_3/1"'

a_name_that_no_node_has() {
	broken 1 -- -j path self nobody
	json 'length == 1 and (.[0] | .reason == "no such name" and
		.reason_code == "no-name" and .dgid == null and
		(.detail | startswith("no such name: nobody: ")))'
	broken 1 -- --format csv path self nobody
	[ "$(wc -l <out)" -eq 2 ] || fail 'not two lines'
	# Of HOST/DEVICE, the host is there.
	broken 1 "$down" -- path dgx7 dgx8/mlx5_3
	err_has "^ibsa: the SA shows 7 ports of the host 'dgx8', but no 'mlx5_3'; "
	err_has 'type: ibsa reach dgx8$'
	broken 1 -- reach dgx9/mlx5_3; err_has "no node has the name 'dgx9/mlx5_3'"
	broken 1 -- -j path fe80::1 dgx2/mlx5_1
	json 'length == 1 and .[0].reason_code == "unknown-port"'
	broken 1 -- -j reach nobody fe80::1 dgx2/mlx5_1
	json 'map(.reason_code) == ["no-name", "unknown-port", null]'
}

# Without --expect, a rail is missing if the hosts like its host have it.
a_dead_rail() {
	broken 0 "$down" -- path dgx7 dgx8; aligned; lines 9
	err_has '^ibsa: dgx8 has no mlx5_3, but 7 of 8 hosts like it have$'
	out_has '^mlx5_3 +mlx5_3 +- .* fe80::[^ ]* +- +the rail is missing$'
	broken 1 "$down" -- reach dgx8; out_has '^no .* dgx8 mlx5_3 +the rail is missing$'
	broken 0 "$down" -- -j path dgx8 dgx7
	json 'length == 8 and (map(select(.reason)) | length == 1 and
		(.[0] | .src_device == "mlx5_3" and .sgid == null and
		.detail == "dgx8 has no mlx5_3, but 7 of 8 hosts like it have" and
		.reason_code == "rail-missing"))'
	broken 0 -- path dgx7 dgx8; err_empty; lines 9
	# Other hosts than this one's have no rails.
	run 0 --fabric "$fabric" -C dgx1/mlx5_8 path self nas1; err_empty
}

expected_hosts() {
	local i # and changes
	local at='dgx8 mlx5_3: expected at leaf4 port 8; that port is Down,'
	run 0 --fabric "$fabric" topology --format net; cp out f.net
	broken 0 -- reach --all --expect f.net; err_empty
	broken 1 "$down" -- reach dgx8 --expect f.net; lines 9
	err_has "^ibsa: $at physical state Polling$"
	out_has '^no +dgx8 +- +dgx8 mlx5_3 +the far port is down$'
	broken 1 "$down" -- reach --all --expect f.net; lines 65
	err_has '63 of 64 reachable, .*; the SA shows 63 of 64 expected ports$'
	broken 0 -- -v reach --all
	err_has '^ibsa: 64 of 64 reachable, .*; the SA shows 64 ports$'
	# The uplinks of leaf3: its hosts are on an island.
	local island=()
	for i in 9 10 11 12 13 14 15 16; do
		island+=("link down leaf3/$i")
	done
	broken 1 "${island[@]}" -- reach dgx8 --expect f.net; lines 9
	err_has '^ibsa: dgx8 mlx5_2: expected at leaf3 port 8; leaf3 is missing$'
	broken 0 "$down" -- path dgx7 dgx8 --expect f.net; lines 9
	err_has "^ibsa: $at"; out_has ' the far port is down$'
	broken 1 'node remove leaf3' -- -j reach dgx8 --expect f.net
	json 'map(select(.reach == "no")) | length == 1 and (.[0] |
		.detail == "dgx8 mlx5_2: expected at leaf3 port 8; leaf3 is missing"
		and .reason_code == "unknown-port" and .node == "dgx8 mlx5_2")'
	for i in 0 1 2 3 4 5 6 7; do
		echo "link down \"dgx8 mlx5_$i/1\""
	done >changes
	mapfile -t changes <changes
	broken 1 "${changes[@]}" -- -j path dgx1 dgx8 --expect f.net
	json 'length == 8 and all(.[]; .reason == "the far port is down" and
		.src_device == .dst_device and .slid == null)'
	broken 1 "${changes[@]}" -- -j path dgx8 nobody --expect f.net
	json 'length == 1 and (.[0].detail | startswith("no such name: nobody: "))'
	broken 1 "${changes[@]}" -- -j path nobody dgx8 --expect f.net
	json 'length == 1 and (.[0].detail | startswith("no such name: nobody: "))'
	broken 1 "${changes[@]}" -- -j reach dgx8 dgx7 --expect f.net
	json 'map(.reach) | . == [range(8) | "no"] + [range(8) | "yes"]'
	broken 1 -- reach nobody --expect f.net
	err_has "no node has the name 'nobody'"; out_has ' no such name$'
	broken 1 -- path self nobody --expect f.net
	err_has "no node has the name 'nobody'"; out_empty
	run 2 --fabric "$fabric" reach --all --expect none.net
	err_has -- '--expect: .*none.net'
}

# The other commands with names of hosts tell it, too.
expected_by_others() {
	local at='dgx8 mlx5_3: expected at leaf4 port 8; that port is Down,'
	local here='expected at leaf3 port 8; leaf3 is missing'
	broken 1 "${changes[@]}" -- trace dgx1 dgx8 --expect f.net; out_empty
	[ "$(grep -c '^ibsa: dgx8 mlx5_[0-7]: expected at leaf' err)" -eq 8 ] ||
		fail 'not eight ports'
	err_has "^ibsa: $at"
	broken 1 -- trace dgx1 nobody --expect f.net
	err_has "no node has the name 'nobody'"
	broken 1 "${changes[@]}" -- reach --to dgx8 --expect f.net; err_has "$at"
	# The findings tell it, not a message.
	local how=try
	broken 1 "${changes[@]}" -- -j check node -C dgx1/mlx5_0 dgx8 --expect f.net
	json 'length == 8 and all(.[]; .finding == "peer-unreachable" and
		.peer == "dgx8" and (.what | startswith("dgx8 mlx5_")))'
	broken 1 "${changes[@]}" 'node remove leaf3' -- check node -C dgx1/mlx5_0 \
		dgx8 nobody --expect f.net
	out_has " dgx8 mlx5_2: $here$"
	out_has "no SA shows a node with the name 'nobody'$"
}

# A rail in another partition is not shown to a limited member of the default one.
a_rail_in_another_partition() {
	local hidden='dgx8 has no mlx5_3, or the SA does not show it, but 7 of 8'
	run 0 --fabric "$fabric" -j query table NodeRecord
	jq -r '"Default=0x7fff, ipoib : ALL=limited, SELF=full;", "job=0x1 :" +
		(map(select(.node_type == 1 and .node_description != "dgx8 mlx5_3") |
		"\n" + .port_guid + "=full") | join(",")) + ";"' out >p.conf
	served=(--partitions p.conf)
	broken 0 -- -C dgx2/mlx5_0 path dgx2 dgx8
	out_has '^mlx5_3 .* possibly the rail is missing$'
	err_has "^ibsa: $hidden hosts like it have$"
	broken 1 -- -C dgx2/mlx5_0 -j reach dgx8
	json 'map(select(.reach == "no")) | length == 1 and .[0].detail ==
		"dgx8 has no mlx5_3, or the SA does not show it, but 7 of 8 hosts like it have"'
	served=()
}

# A host in another partition has a cable that works.
expected_in_another_partition() {
	cat >p.conf <<-'END'
		Default=0x7fff, ipoib : ALL=limited, SELF=full;
		one=0x8001 : 0xb83fd20300010001=full, 0xb83fd20300020001=full;
		two=0x8002 : 0xb83fd20300030001=full;
	END
	sed 's/ALL=limited, //' p.conf >q.conf
	served=(--partitions q.conf)
	broken 1 -- -C dgx2/mlx5_0 -j reach dgx3/mlx5_0 --expect f.net
	served=()
	json 'length == 1 and (.[0] | .reason_code == "unknown-port" and
		(.detail | startswith("dgx3 mlx5_0: expected at leaf1 port 3; ")))'
}

paths_to_one_port() {
	broken 0 -- reach --to dgx2/mlx5_1; err_empty; lines 65
	# One table has the paths from all ports.
	# shellcheck disable=SC2016 # for the inner shell
	run 0 fabric exec "$fabric" -- bash -c '"$0" reach --to dgx2/mlx5_1 >to &&
		"$0" fabric stats' "$ibsa"
	out_has '^requests +[1-4]$'
	broken 1 "$down" -- -j reach --to dgx8/mlx5_0 --expect f.net
	json 'length == 64 and (map(select(.reach == "no")) | length == 1 and
		.[0].node == "dgx8 mlx5_3")'
	# Of a host, the port of the same device.
	broken 0 -- -j reach --to dgx2; json 'all(.[]; .reach == "yes")'
	broken 1 -- reach --to fe80::1; err_has '0 of 64 reachable, 64 not'
	broken 1 -- reach --to nobody; err_has "no node has the name 'nobody'"
	broken 2 -- reach --to dgx2 dgx3; err_has '--to already means all targets'
	broken 2 -- reach --to dgx2 --matrix; err_has 'exclude each other'
	broken 2 -- reach --to fe80:::1; err_has '^ibsa: --to: '
	broken 3 'sm stop' -- reach --to fe80::1
}

# Blocks of forwarding tables are lines with a LID and its port.
forwarding_tables() {
	local lid
	run 0 --fabric "$fabric" -j devices dgx2/mlx5_1
	lid=$(jq '.[0].lid' out)
	run 0 --fabric "$fabric" -j query table LFTR
	jq --argjson lid "$lid" '[.[] | select(.block_num == 0) | "\(.lid) \($lid) \(
		.["port_\($lid + 1)"])"] | sort | .[]' -r out >want
	run 0 --fabric "$fabric" query table LFTR; aligned
	out_has '^LID +TO_LID +PORT$'
	awk -v lid="$lid" '$2 == lid { print $1, $2, $3 }' out | sort |
		cmp - want || fail 'not the ports of JSON'
	run 0 --fabric "$fabric" query table LFTR --fields port_1
	out_has '^PORT_1$'
	cat >join <<-'END'
		for host in dgx1 dgx2 dgx7; do
			IBSA_NODE=$host/mlx5_0 "$1" query set MCMemberRecord \
				mgid=ff12:a01c::1 port_gid=self join_state=1 qkey=1 \
				pkey=0xffff tclass=0 sl=0 flow_label=0 >joined || exit
		done
		"$1" query table MFTR
	END
	run 0 fabric exec "$fabric" -- bash join "$ibsa"
	out_has '^LID +TO_LID +PORTS$'; out_has ' 0xc001 +1,2,7$'
}

run_groups a_rail_in_another_partition forwarding_tables a_name_that_no_node_has a_dead_rail expected_hosts \
	expected_by_others \
	expected_in_another_partition paths_to_one_port
