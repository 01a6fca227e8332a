#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: roles.sh IBSA LIBDIR FABRIC
#
# Tests sets of ports and their roles: on a tree of /sys of a host with twelve
# adapters, as mlx5 and the PCI devices of a GPU baseboard have them, and on
# FABRIC, eight hosts with eight rails.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"
unset IBSA_NODE IBSA_ROLES XDG_RUNTIME_DIR
export TMPDIR=$tmp

# file NAME TEXT - a file of the tree
file() {
	mkdir -p "$(dirname "$1")"
	printf '%s\n' "$2" >"$1"
}

# adapter INDEX STATE PHYSICAL RATE LID DOWNED - make the files of an adapter
adapter() {
	local pci device port
	pci=$(printf 'sys/devices/pci0000:%02x/0000:%02x:00.0' $((16 + $1)) $((16 + $1)))
	device=$pci/infiniband/mlx5_$1
	port=$device/ports/1
	file "$pci/class" "${class:-0x020700}"
	file "$pci/vendor" 0x15b3
	file "$pci/device" 0x1021
	[ -z "${vpd-}" ] || printf '\x82\x05\0%s\x78' "$vpd" >"$pci/vpd"
	file "$device/node_type" '1: CA'
	file "$device/node_guid" "$(printf 'b83f:d203:0099:%02x00' "$1")"
	file "$device/sys_image_guid" "$(printf 'b83f:d203:0099:%02x00' "$1")"
	file "$device/node_desc" "gpu1 mlx5_$1"
	file "$device/hca_type" MT4129
	file "$device/fw_ver" 28.39.1002
	file "$device/board_id" MT_0000000838
	ln -s ../../../"$(basename "$pci")" "$device/device"
	file "$port/state" "$2"
	file "$port/phys_state" "$3"
	file "$port/rate" "$4"
	file "$port/lid" "$5"
	file "$port/lid_mask_count" 0
	file "$port/sm_lid" "$(($5 ? 1 : 0))"
	file "$port/sm_sl" 0
	file "$port/cap_mask" 0xa651e848
	file "$port/link_layer" InfiniBand
	file "$port/gids/0" "$(printf 'fe80:0000:0000:0000:b83f:d203:0099:%02x01' "$1")"
	file "$port/pkeys/0" 0xffff
	file "$port/counters/link_downed" "$6"
	file "$port/counters/port_rcv_data" "$6"
	file "$port/counters/port_xmit_data" 0
	mkdir -p sys/class/infiniband
	ln -s "../../${device#sys/}" "sys/class/infiniband/mlx5_$1"
}

tree_make() {
	local i class vpd
	for i in 0 1 2 4 5 6 7; do
		adapter $i '4: ACTIVE' '5: LinkUp' '400 Gb/sec (4X NDR)' $((10 + i)) 0
	done
	adapter 3 '1: DOWN' '2: Polling' '10 Gb/sec (4X SDR)' 0 7
	adapter 8 '1: DOWN' '3: Disabled' '10 Gb/sec (4X SDR)' 0 0
	adapter 9 '1: DOWN' '2: Polling' '10 Gb/sec (4X SDR)' 0 0
	vpd='SW_MNG' adapter 10 '4: ACTIVE' '5: LinkUp' '400 Gb/sec (4X NDR)' 30 0
	class=0x068000 adapter 11 '4: ACTIVE' '5: LinkUp' '400 Gb/sec (4X NDR)' 31 0
	export SYSFS_PATH=$tmp/sys
}

compute=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1

roles_of_a_machine() {
	run 0 devices -j
	json '[.[] | [.device, .role]] | sort == ([["mlx5_10", "management"],
		["mlx5_11", "management"], ["mlx5_8", "uncabled"],
		["mlx5_9", "uncabled"]] +
		[range(8) | ["mlx5_\(.)", "compute"]] | sort)'
	run 0 devices; aligned; out_has '^DEVICE .* ROLE '
	run 0 devices -C 'mlx5_[89],mlx5_10' -C mlx5_2/1; lines 5
	run 4 devices -C 'eth*'; err_has "no device 'eth\\*'"
	run 4 devices -C mlx5_2/2; err_has "has no port 2|no device 'mlx5_2/2'"
	run 0 gids -C 'mlx5_[0-7]'; lines 9
	try 4 env nccl; out_has "^export NCCL_IB_HCA='?=$compute'?$"
	err_has '^ibsa: mlx5_3/1 is left out: it is not active$'
	err_has '^ibsa: mlx5_8/1 is left out: its role is uncabled$'
	err_has '^ibsa: mlx5_11/1 is left out: its role is management$'
	[ "$(grep -c ' is left out' err)" -eq 5 ] || fail 'others are left out'
	try 4 doctor -v
	out_has '^port +mlx5_9 +1 +not checked +its role is uncabled$'
	out_has '^port +mlx5_11 +1 +not checked +its role is management$'
	out_has '^port +mlx5_3 +1 +warning '
	try 4 doctor -v mlx5_9; out_has '^port +mlx5_9 +1 +wrong '
	# There is no SA; the ports are judged nevertheless.
	try 4 check node; lines 2; aligned
	out_has '^port-down  warning +mlx5_3 .* Polling; it was up before$'
	err_has 'mlx5_9/1 is left out: it is down, and nothing shows'
	err_has 'mlx5_10/1 is left out: its role is management'
	try 4 check node -C 'mlx5_[0-7]'; lines 2
	out_has '^port-down  critical +mlx5_3 '
	! grep 'left out' err || fail 'something is left out'
}

roles_from_a_file() {
	export IBSA_ROLES=$tmp/roles.conf
	printf '# a comment\nstorage mlx5_[67] mlx5_8\nuncabled mlx5_3\n' >roles.conf
	run 0 devices -j
	json '[.[] | select(.role == "storage") | .device] | sort ==
		["mlx5_6", "mlx5_7", "mlx5_8"]'
	try 4 check node
	out_has '^port-down  critical +mlx5_8 '
	err_has 'mlx5_3/1 is left out: its role is uncabled'
	try 4 env nccl; out_has "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_4:1,mlx5_5:1'?$"
	echo 'fast mlx5_0' >>roles.conf
	try 2 check node; out_empty; err_has 'roles.conf, line 4: .*compute, storage'
	printf 'storage %0300d mlx5_6\n' 0 >roles.conf
	run 0 devices -j
	json '[.[] | select(.role == "storage") | .device] | contains(["mlx5_6"])'
	printf 'storage %01100d\n' 0 >roles.conf
	try 2 check node; out_empty; err_has 'roles.conf, line 1: it is too long'
	IBSA_ROLES=$tmp/none
	try 4 check node; out_empty; err_has "roles of ports: cannot read '.*none': No such"
	unset IBSA_ROLES
}

# Evidence from the hosts like this one makes a dead rail critical.
a_dead_rail() {
	unset SYSFS_PATH
	cat >inside <<-'END'
		export IBSA_NODE=dgx2
		"$1" fabric link down 'dgx2 mlx5_3/1'
		"$1" fabric link down 'dgx2 mlx5_9/1'
		"$1" check node >node 2>node.err
		"$1" check node --nagios >nagios
		"$1" env nccl >nccl 2>nccl.err
		"$1" check node -C 'mlx5_[0-24-8]' >fine 2>&1
		true
	END
	run 0 fabric exec "$fabric" -- bash inside "$ibsa"
	grep -q '^port-down  critical  mlx5_3 .* dgx2 has no mlx5_3, but 7 of 8' \
		node || fail "$(cat node)"
	grep -q '^port-down  warning   mlx5_9 .*; it was up before$' node ||
		fail "$(cat node)"
	grep -q '^IBSA CRITICAL: 2 findings, port-down: mlx5_3/1 ' nagios ||
		fail "$(cat nagios)"
	grep -q "=$compute'$" nccl || fail "$(cat nccl)"
	grep -q '^ibsa: rail-missing: dgx2 has no mlx5_3, but 7 of 8 hosts' nccl.err ||
		fail "$(cat nccl.err)"
	grep -q 'mlx5_8/1 is left out: its role is storage' nccl.err ||
		fail "$(cat nccl.err)"
	[ ! -s fine ] || fail "$(cat fine)"
}

# What the SA alone tells about rails: dead, slow and crossed.
rails_of_a_host() {
	cat >inside <<-'END'
		"$1" fabric link down 'dgx2 mlx5_5/1'
		"$1" fabric link speed 'dgx2 mlx5_6/1' 4xHDR
		"$1" -j path dgx1 dgx2 >path 2>path.err || echo "path: $?"
		"$1" -j reach dgx2 >reach 2>reach.err
		"$1" trace dgx1 dgx2/mlx5_6 >trace 2>trace.err || echo "trace: $?"
		IBSA_NODE=dgx2 "$1" env nccl >nccl 2>nccl.err
		IBSA_NODE=dgx1 "$1" -j env nccl >nccl1 2>nccl1.err
	END
	run 0 fabric exec "$fabric" -- bash inside "$ibsa"; out_empty
	local dead='dgx2 has no mlx5_5, but 7 of 8 hosts like it have'
	jq -e --arg dead "$dead" 'length == 8 and (map(select(.reason)) |
		length == 1 and .[0].detail == $dead and
		.[0].dst_device == "mlx5_5")' path >jq.out || fail "$(cat path)"
	grep -q "^ibsa: $dead$" path.err || fail "$(cat path.err)"
	grep -q '^ibsa: rail-slow: dgx2 mlx5_6 port 1 .* at 4xHDR, but at 7 of 8' \
		path.err || fail "$(cat path.err)"
	jq -e --arg dead "$dead" 'map(select(.reach == "no")) | length == 1 and
		.[0].node == "dgx2 mlx5_5" and .[0].detail == $dead' reach \
		>jq.out || fail "$(cat reach)"
	grep -q "rail-missing: $dead" trace.err || fail "$(cat trace.err)"
	grep -q "rail-missing: $dead" nccl.err || fail "$(cat nccl.err)"
	grep -q '=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_6:1,mlx5_7:1' \
		nccl || fail "$(cat nccl)"
	jq -e '.[] | select(.variable == "NCCL_CROSS_NIC") | .value == "0"' \
		nccl1 >jq.out || fail "$(cat nccl1)"

	# The cables of two adapters of dgx8 are exchanged.
	sed 's/"dgx8-3"\[1\]/"@"[1]/; s/"dgx8-4"\[1\]/"dgx8-3"[1]/; s/"@"/"dgx8-4"/' \
		"$fabric" >crossed.net
	local crossed='dgx8 mlx5_3 port 1 is connected to leaf5, but 7 of 8'
	run 0 --fabric crossed.net -j path dgx7 dgx8
	err_has "^ibsa: rail-crossed: $crossed hosts like it to leaf4$"
	json 'map(select(.detail)) | length == 2 and all(.[]; .reason == null and
		(.src_device | IN("mlx5_3", "mlx5_4")))'
	run 0 --fabric crossed.net trace dgx7 dgx8/mlx5_3
	out_has ' dgx8 mlx5_3 .* rail-crossed$'; err_has "rail-crossed: $crossed"
	run 0 --fabric crossed.net env nccl -C dgx8; err_has "rail-crossed: $crossed"
	if grep NCCL_CROSS_NIC out; then fail 'as if no rail were crossed'; fi
}

options_that_are_repeated() {
	run 2 path self self -t 3 -t 4 --fabric "$fabric"; out_empty
	err_has "--timeout is given twice, '3' and '4'; remove one"
	run 2 reach self --expect a --expect b --fabric "$fabric"
	err_has '--expect is given twice'
	run 2 path self self -C 'mlx5_*' --fabric "$fabric"; out_empty
	err_has 'several devices; ibsa path sends from one'
	run 0 -v path self self -v -C dgx1/mlx5_2 --fabric "$fabric"
}

tree_make
run_groups roles_of_a_machine roles_from_a_file a_dead_rail rails_of_a_host \
	options_that_are_repeated
