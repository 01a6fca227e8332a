#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: hosts.sh IBSA LIBDIR FABRIC
#
# Tests how commands interpret the name of a host with several adapters, and of
# a host without a cable.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

paths_are_those_of_equal_devices() {
	local i
	on 0 path dgx1 dgx2; aligned; lines 5; err_empty
	out_has '^SRC_DEVICE +DST_DEVICE +SLID '
	for i in 0 1 2 3; do
		out_has "^mlx5_$i +mlx5_$i "
	done
	on 0 -j path dgx1 dgx2
	json 'length == 4 and all(.[]; .src_device == .dst_device)'
	json 'map(.src_device) == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]'
	on 0 -j path dgx1 dgx2 --all
	json 'length == 16 and (map([.src_device, .dst_device]) | unique |
		length == 16)'
	on 0 -j path dgx1/mlx5_1 DGX2; json 'length == 1 and
		.[0].src_device == "mlx5_1" and .[0].dst_device == "mlx5_1"'
	# Without equal names, all pairs.
	on 0 -j path fe80::b83f:d203:1:1 dgx2
	json 'length == 4 and all(.[]; .src_device == null)'
	on 0 -j path 'dgx1 mlx5_1' 'dgx2 mlx5_2'; json 'length == 1'
	on 0 path 'dgx1 mlx5_1' 'dgx2 mlx5_2'; out_has '^SLID '
	on 2 path dgx1 dgx2 --pairs all; err_has '--pairs is now --all'
	on 2 reach dgx1 --pairs all
	on 1 path dgx1 dgx4; out_empty; err_has "no node has the name 'dgx4'"
	on 1 path dgx1 dgx03; err_has "the name 'dgx03'; did you mean 'dgx3'\?$"
	on 1 path dgx1 DXG3/mlx5_0; err_has "did you mean 'dgx3'\?$"
	on 1 path dgx1 dgx4; err_has 'to list the nodes, type: ibsa query'
	on 1 -j path dgx1 dgx4; json 'map(.reason_code) == ["no-name"]'
}

# If one port of a host has no link, ibsa path prints the paths of the other
# ports and names that port.
a_pair_without_a_path_is_said() {
	cat >inside <<-END
		"\$1" fabric link down 'dgx2 mlx5_1/1'
		"\$1" -C dgx1 -j path dgx1 dgx2 >three
		printf 'Default=0x7fff: ALL=full;' >full
	END
	run 0 fabric exec "$fabric" -- sh inside "$ibsa"
	cp three out
	json 'map(.src_device) == ["mlx5_0", "mlx5_2", "mlx5_3"]'
	{
		echo 'Default=0x7fff: ALL=limited, SELF=full,'
		printf '0xb83fd203000%s=full,\n' 10001 10101 10201 10301 20001 \
			20101 20301
		echo ';'
	} | sed '$!b; s/,$//' >parts
	sed -i 'N;$!P;$!D;s/,\n;/;/' parts
	cat >inside <<-END
		"\$1" -j path dgx1 dgx2 >three 2>said
		echo \$? >status
	END
	run 0 fabric exec --partitions parts "$fabric" -- sh inside "$ibsa"
	[ "$(cat status)" -eq 0 ] || fail "status $(cat status)"
	"$ibsa" fabric exec --partitions parts "$fabric" -- "$ibsa" -j path \
		dgx2 dgx3 >out 2>err
	[ $? -eq 0 ] || fail 'there are paths'
	json 'map(select(.reason == null) | .src_device) ==
		["mlx5_0", "mlx5_1", "mlx5_3"]'
	json '.[2] | .src_device == "mlx5_2" and .reason_code == "both-limited"'
	err_has 'no path from dgx2 mlx5_2 to dgx3 mlx5_2'
}

self_is_all_adapters_of_the_host() {
	on 0 -j path self dgx3; json 'length == 4'
	on 0 -j -C dgx2 path self dgx3
	json 'length == 4 and .[3].sgid == "fe80::b83f:d203:2:301"'
	on 0 -j -C 'dgx2 mlx5_3' path self dgx3
	json 'map(.sgid) == ["fe80::b83f:d203:2:301"]'
	on 0 -j -C dgx2/mlx5_3 path self dgx3
	json 'map(.sgid) == ["fe80::b83f:d203:2:301"]'
	on 0 -j -C dgx2 -P 1 path self dgx3
	json 'map(.sgid) == ["fe80::b83f:d203:2:1"]'
	on 0 -j reach self; json 'length == 4'
	on 4 -C dgx9 path self dgx3
}

reach_has_a_line_a_port() {
	on 0 reach dgx2; lines 5; aligned; out_has '^yes +dgx2 .* dgx2 mlx5_3 '
	on 1 -j reach dgx2 dgx4 dgx1/mlx5_3
	json 'map(.reach) == ["yes", "yes", "yes", "yes", "no", "yes"]'
	on 0 reach --matrix; lines 17; out_has '^ 1( ( \.){4}){3}  fe80'
	awk '/fe80/ { at = match($0, /dgx[0-9]+ mlx/)
		if (!at || (was && at != was)) exit 1
		was = at }' out || fail 'the nodes are not aligned'
	on 0 -j reach --matrix dgx1 dgx2; json 'length == 64'
	json '.[7] | .from_host == "dgx1" and .to_host == "dgx2" and
		(.to_node | startswith("dgx2 mlx5_"))'
}

devices_of_a_host() {
	on 0 devices; lines 14
	on 0 devices dgx1; lines 5; aligned; out_has '^dgx1 mlx5_3 +1 +Active '
	on 0 devices dgx1/mlx5_2; lines 2; out_has '^dgx1 mlx5_2 '
	on 0 devices dgx1/mlx5_2/1; lines 2
	on 0 devices -C dgx4; lines 2; out_has ' Down '
	on 4 devices dgx9; out_empty
	on 0 gids dgx1/mlx5_2; lines 2
	on 0 -j doctor dgx2
	json 'map(select(.name == "port").device) == ["dgx2 mlx5_0",
		"dgx2 mlx5_1", "dgx2 mlx5_2", "dgx2 mlx5_3"]'
}

# A host of a topology file that has the name of this machine is its own host, for commands
# that send from one port as for those about all ports.
this_machine_is_a_host() {
	local command host
	host=$(uname -n)
	sed "s/\"dgx3 /\"$host /; /\"dgx3-2\"\[1\]/d" "$fabric" >own.net
	for command in 'ping-sa 1' status 'check node' 'env nccl' devices gids doctor \
		'metrics node'; do
		# shellcheck disable=SC2086 # words of the command
		run 0 --fabric own.net $command -C mlx5_1
	done
	run 0 --fabric own.net status -j
	json ".[0].host == \"$host\" and .[0].active == 3"
	run 0 --fabric own.net -j devices mlx5_1; json "map(.device) == [\"$host mlx5_1\"]"
	run 0 --fabric own.net env nccl; out_has '=mlx5_0:1,mlx5_1:1,mlx5_3:1'
	run 0 --fabric own.net check node; err_has '^ibsa: mlx5_2/1 is left out'
	# Without such a host, mlx5_1 may be that of any host.
	for command in ping-sa status 'check node'; do
		# shellcheck disable=SC2086
		on 4 $command -C mlx5_1; err_has "there is no (device|adapter) '?mlx5_1"
	done
}

run_groups this_machine_is_a_host paths_are_those_of_equal_devices a_pair_without_a_path_is_said \
	self_is_all_adapters_of_the_host reach_has_a_line_a_port \
	devices_of_a_host
