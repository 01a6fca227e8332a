#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: roles.sh IBSA LIBDIR FABRIC SYSFS
#
# Tests sets of ports and their roles: on SYSFS, the tree of /sys of a host with
# twelve adapters, and on FABRIC, eight hosts with eight rails.
# shellcheck source=test/command/support.sh
sysfs=$(realpath "$4")
. "$(dirname "$0")/support.sh"
unset IBSA_NODE IBSA_ROLES XDG_RUNTIME_DIR
export TMPDIR=$tmp SYSFS_PATH=$sysfs

compute=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1

roles_of_a_machine() {
	run 0 devices -j
	json '[.[] | [.device, .role]] | sort == ([["mlx5_10", "management"],
		["mlx5_11", "management"], ["mlx5_8", "uncabled"],
		["mlx5_9", "uncabled"]] +
		[range(8) | ["mlx5_\(.)", "compute"]] | sort)'
	json 'map({(.device): .role_reason}) | add |
		(.mlx5_0 | test("highest rate in total")) and
		(.mlx5_3 | test("it was up, as its LID")) and
		(.mlx5_8 | test("^it is down, and neither")) and
		(.mlx5_10 | test("SW_MNG"))'
	err_empty
	run 0 devices; aligned; out_has '^DEVICE .* ROLE '
	err_has 'that are uncabled here, type: ibsa devices -v$'; sentences 1
	run 0 devices mlx5_0; err_empty
	run 0 devices -C 'mlx5_[89],mlx5_10' -C mlx5_2/1; lines 5
	try 4 status; out_has '^SM         LID 6, no answer'
	out_has '^compute    7 of 8 active: 7 at 400 Gb/s; mlx5_3/1 Down'
	out_has '^management 2 of 2 active'
	out_has '^uncabled   mlx5_8/1 Down \(Polling\), mlx5_9/1 Down \(Disabled\)$'
	try 4 status -j; json '.[0] | .sm_lid == 6 and .inactive == "mlx5_3/1 Down (Polling)"'
	# A role is that among all ports of the host.
	try 4 status -C 'mlx5_[389],mlx5_10'
	out_has '^compute    0 of 1 active; mlx5_3/1 Down'
	out_has '^management 1 of 1 active'; out_has '^uncabled   mlx5_8/1'
	try 0 metrics node -C mlx5_9; out_has '"mlx5_9".*,port_role="uncabled"'
	run 4 devices -C 'eth*'; err_has "no device 'eth\\*'"
	run 4 devices -C mlx5_2/2; err_has "has no port 2|no device 'mlx5_2/2'"
	run 0 gids -C 'mlx5_[0-7]'; lines 9
	try 4 env nccl; out_has "^export NCCL_IB_HCA='?=$compute'?$"
	err_has '^ibsa: mlx5_3/1 is left out: it is not active$'
	err_has '^ibsa: mlx5_8/1 is left out: its role is uncabled: it is down, and neither'
	err_has '^ibsa: mlx5_11/1 is left out: its role is management: its VPD has'
	[ "$(grep -c ' is left out' err)" -eq 5 ] || fail 'others are left out'
	try 4 doctor -v
	out_has '^port +mlx5_9 +1 +not checked +its role is uncabled: it is down,'
	out_has '^port +mlx5_11 +1 +not checked +its role is management: its VPD'
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

# Only root can read the VPD. The ports are in another subnet, nevertheless. A
# bridge can be seen by each user.
roles_for_a_user() {
	cp -r "$sysfs" sys
	rm sys/devices/*/*/vpd
	echo 0x068000 >'sys/devices/pci0000:a3/0000:a3:00.1/class'
	SYSFS_PATH=$tmp/sys run 0 devices -j -C mlx5_0,mlx5_1?
	json 'map(.role) == ["compute", "storage", "management"]'
	SYSFS_PATH=$tmp/sys try 4 env nccl; out_has "='?=$compute'?$"
	err_has '^ibsa: mlx5_10/1 is left out: its role is storage: its subnet has fewer'
}

# A rail with a slow link is still one. A port of another link layer is for storage.
roles_by_rate_and_link_layer() {
	cp -r "$sysfs" slow
	echo '100 Gb/sec (1X NDR)' >slow/class/infiniband/mlx5_2/ports/1/rate
	echo Ethernet >slow/class/infiniband/mlx5_4/ports/1/link_layer
	SYSFS_PATH=$tmp/slow run 0 devices -j -C mlx5_2,mlx5_4
	json 'map(.role) == ["compute", "storage"] and
		(.[0].role_reason | test("slower than most ports, but of their subnet and board")) and
		(.[1].role_reason | test("another rate or link layer"))'
}

roles_from_a_file() {
	export IBSA_ROLES=$tmp/roles.conf
	printf '# a comment\nstorage mlx5_[67] mlx5_8\nuncabled mlx5_3\n' >roles.conf
	run 0 devices -j
	json '[.[] | select(.role == "storage") | .device] | sort ==
		["mlx5_6", "mlx5_7", "mlx5_8"]'
	try 4 check node
	out_has '^port-down  critical +mlx5_8 '
	err_has 'mlx5_3/1 is left out: its role is uncabled: the file of roles'
	try 4 env nccl; out_has "=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_4:1,mlx5_5:1'?$"
	echo 'fast mlx5_0' >>roles.conf
	try 2 check node; out_empty; err_has 'roles.conf, line 4: .*compute, storage'
	printf 'storage %0300d mlx5_6\n' 0 >roles.conf
	run 0 devices -j
	json '[.[] | select(.role == "storage") | .device] | contains(["mlx5_6"])'
	echo storage >roles.conf
	try 2 check node; out_empty; err_has 'line 1: .* no name of a device$'
	printf 'compute%1100s\n' x >roles.conf
	try 2 check node; out_empty; err_has 'line 1: it is too long$'
	IBSA_ROLES=$tmp/none
	try 2 check node; out_empty; err_has "roles of ports: .*none': No such"
	try 2 env nccl; out_empty; sentences 1
	IBSA_ROLES=$tmp
	try 2 check node; out_empty; err_has 'roles of ports: .*: Is a directory'
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
		"$1" path self self >path 2>path.err
		"$1" trace self self >trace 2>trace.err
		"$1" check node --nagios >nagios
		"$1" env nccl >nccl 2>nccl.err
		"$1" check node -C 'mlx5_[0-24-8]' >fine 2>&1
		printf '%s\n' 'management mlx5_9' 'uncabled mlx5_7' >roles.conf
		"$1" fabric link speed 'dgx3 mlx5_6/1' 4xHDR
		IBSA_ROLES=$PWD/roles.conf "$1" status >status
		true
	END
	run 0 fabric exec "$fabric" -- bash inside "$ibsa"
	grep -q '^port-down  critical  mlx5_3 .* dgx2 has no mlx5_3, but 7 of 8' \
		node || fail "$(cat node)"
	grep -q '^port-down  warning   mlx5_9 .*; it was up before$' node ||
		fail "$(cat node)"
	# The advice is about the port of which only its past tells.
	[ "$(cat node.err)" = "ibsa: if port mlx5_9/1 is unused, select the ports in use with \
--device, or give it the role uncabled in /etc/ibsa/roles.conf" ] || fail "$(cat node.err)"
	local told
	for told in path.err trace.err; do
		[ "$(grep -c 'dgx2 has no mlx5_3, but 7 of 8 hosts like' "$told")" -eq 1 ] ||
			fail "$told: $(cat "$told")"
	done
	grep -q '^IBSA CRITICAL: 2 findings, port-down: mlx5_3/1 ' nagios ||
		fail "$(cat nagios)"
	grep -q "=$compute'$" nccl || fail "$(cat nccl)"
	grep '^ibsa: rail-' nccl.err >rails
	[ "$(wc -l <rails)" -eq 1 ] || fail 'not one rail'
	grep -q '^ibsa: rail-missing: dgx2 has no mlx5_3, but 7 of 8 hosts' rails ||
		fail "$(cat nccl.err)"
	grep -q 'mlx5_8/1 is left out: its role is storage' nccl.err ||
		fail "$(cat nccl.err)"
	[ ! -s fine ] || fail "$(cat fine)"
	# With ports of all roles and findings of both severities, there are twelve lines.
	[ "$(cut -c 1-10 <status | xargs)" = "host compute storage management uncabled SM \
fabric links critical warnings such as next" ] || fail "$(cat status)"
}

# Only the hosts like it tell that a port which was never up is a rail.
a_rail_that_was_never_up() {
	unset SYSFS_PATH
	sed '/"dgx2-3"\[1\]/d' "$fabric" >never.net
	IBSA_NODE=dgx2 run 0 --fabric never.net env nccl
	err_has '^ibsa: rail-missing: dgx2 has no mlx5_3, but 7 of 8'
	err_has '^ibsa: mlx5_3/1 is left out: it is not active$'
	IBSA_NODE=dgx2 run 0 --fabric never.net status
	out_has '^compute    7 of 8 active: .* mlx5_3/1 Down'
	local want='map(select(.device == "mlx5_3")) | .[0] | .role == "compute" and
		.role_reason == "the hosts like this one have this rail"'
	IBSA_NODE=dgx2 run 0 fabric exec never.net -- "$ibsa" devices -j -v
	json "$want"
	IBSA_NODE=dgx2 run 0 fabric exec never.net -- "$ibsa" devices -j
	if jq -e "$want" out >jq.out; then fail 'a query was sent'; fi
	IBSA_NODE=dgx2 run 0 --fabric never.net metrics
	out_has '^ibsa_port_info.*"mlx5_3",.*,port_role="compute"'
	IBSA_NODE=dgx2 try 1 --fabric never.net check node; lines 2
	out_has '^port-down +critical +mlx5_3 '
	# The file of roles wins.
	echo uncabled mlx5_3 >roles.conf
	IBSA_ROLES=$tmp/roles.conf IBSA_NODE=dgx2 run 0 --fabric never.net check node
	err_has 'mlx5_3/1 is left out: its role is uncabled: the file of roles'
	# Without queries, there is no evidence for another role.
	run 0 --fabric never.net devices -j
	json 'map(select(.device == "dgx2 mlx5_3")) | .[0] | .role == "uncabled" and
		(.role_reason | test("neither its LID nor its counters"))'
}

# What the SA alone tells about rails: dead, slow and crossed.
rails_of_a_host() {
	cat >inside <<-'END'
		"$1" fabric link down 'dgx2 mlx5_5/1'
		"$1" fabric link speed 'dgx2 mlx5_6/1' 4xHDR
		"$1" -j path dgx1 dgx2 >path 2>path.err || echo "path: $?"
		"$1" -j reach dgx2 >reach 2>reach.err
		"$1" -j reach dgx2/mlx5_5 dgx2/mlx5_9 >named_reach 2>named.err
		"$1" -j path dgx1/mlx5_5 dgx2/mlx5_5 >named_path 2>>named.err
		"$1" trace dgx1/mlx5_5 dgx2/mlx5_5 2>trace_named.err
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
	# The rail may be named, too; a device that the hosts do not have is only a name.
	jq -e --arg dead "$dead" 'map(.reason_code) == ["rail-missing", "no-name"] and
		.[0].detail == $dead' named_reach >jq.out || fail "$(cat named_reach)"
	jq -e --arg dead "$dead" 'length == 1 and .[0].reason_code == "rail-missing" and
		.[0].dst_device == "mlx5_5"' named_path >jq.out || fail "$(cat named_path)"
	[ "$(grep -cx "ibsa: $dead" named.err)" -eq 2 ] || fail "$(cat named.err)"
	grep -qx "ibsa: rail-missing: $dead" trace_named.err || fail "$(cat trace_named.err)"
	grep -q "rail-missing: $dead" trace.err || fail "$(cat trace.err)"
	grep -q "rail-missing: $dead" nccl.err || fail "$(cat nccl.err)"
	grep -q '=mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_6:1,mlx5_7:1' \
		nccl || fail "$(cat nccl)"
	jq -e '.[] | select(.variable == "NCCL_CROSS_NIC") | .value == "0"' \
		nccl1 >jq.out || fail "$(cat nccl1)"

	grep -q "^ibsa: the hosts have unequal sets of rails: $dead$" nccl1.err ||
		fail "$(cat nccl1.err)"

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

# pod LEAF... - write a fabric: each LEAF has the name of a leaf switch and those of the ports
# there, HOST-NUMBER
pod() {
	local leaf name port number uplink=0
	for leaf; do
		read -r name leaf <<<"$leaf"
		printf 'Switch 64 "%s"\n' "$name"
		number=1
		for port in $leaf; do
			printf '[%u] "%s"[1] # 4xNDR\n' "$number" "$port"
			number=$((number + 1))
		done
		printf '[64] "spine"[%u] # 4xNDR\n' $((++uplink))
	done
	printf 'Switch 64 "spine"\n'
	for leaf; do
		for port in ${leaf#* }; do
			printf 'Ca 1 "%s" # "%s mlx5_%s"\n' "$port" "${port%-*}" \
				"${port#*-}"
		done
	done
}

# role_is FABRIC DEVICE ROLE [WORDS] - check the role of a port of gpu2, and what shows it
role_is() {
	IBSA_NODE=gpu2 run 0 fabric exec "$1" "${partitions[@]}" -- "$ibsa" devices -v -j
	json "map(select(.device == \"$2\")) | .[0] | .role == \"$3\" and
		(.role_reason | test(\"${4-highest rate}\"))"
}

# A port of the rate, the subnet and the board of the rails is for storage if servers with few
# ports are at its leaf switch.
leaf_switches_of_storage() {
	unset SYSFS_PATH
	local partitions=() rail rails=() few='at least half of the other ports at its leaf'
	for rail in 1 2 3 4 5 6 7; do
		rails+=("leaf$rail $(echo gpu{1..8}-"$rail")")
	done
	local gpu leaf0 storage
	gpu=$(echo gpu{1..8}-8)
	leaf0="leaf0 $(echo gpu{1..8}-0)"
	storage="storage $gpu $(echo nas{1..4}-{0,1})"
	# A server with two ports is at the leaf switch of rail 0.
	pod "$leaf0 login-0 login-1" "${rails[@]}" "$storage" >storage.net
	role_is storage.net mlx5_8 storage "$few"
	role_is storage.net mlx5_0 compute
	json 'map(select(.role == "compute")) | length == 8'
	IBSA_NODE=gpu2 run 0 --fabric storage.net env nccl
	out_has "='=mlx5_0:1,.*,mlx5_7:1'$"; out_has '^export NCCL_CROSS_NIC=0$'
	err_has "^ibsa: mlx5_8/1 is left out: its role is storage: $few"; sentences 1
	IBSA_NODE=gpu2 run 0 --fabric storage.net env ucx
	out_has '=mlx5_0:1,.*,mlx5_7:1$'
	IBSA_NODE=gpu2 run 0 --fabric storage.net status
	out_has '^compute    8 of 8 active'; out_has '^storage    1 of 1 active'
	IBSA_NODE=gpu2 run 0 --fabric storage.net metrics
	out_has '^ibsa_port_info.*"mlx5_8",.*,port_role="storage"'
	# The role is that among all ports of the host, and an option names the port.
	IBSA_NODE=gpu2 run 0 --fabric storage.net status -C 'mlx5_[678]'
	out_has '^compute    2 of 2'; out_has '^storage    1 of 1'
	IBSA_NODE=gpu2 run 0 --fabric storage.net env nccl -C 'mlx5_[78]'
	out_has '=mlx5_7:1,mlx5_8:1'
	# Without a query, nothing tells.
	IBSA_NODE=gpu2 run 0 fabric exec storage.net -- "$ibsa" devices -j
	json 'all(.[]; .role == "compute")'
	# The file of roles wins.
	echo compute mlx5_8 >roles.conf
	IBSA_ROLES=$tmp/roles.conf role_is storage.net mlx5_8 compute 'file of roles'
	# Only the ports for applications need the P_Key.
	run 0 --fabric storage.net devices -j
	local job
	job="; job=0x1 : $(jq -r '[.[] | select(.device | test("^gpu.*mlx5_[0-7]$")) |
		"\(.guid)=full"] | join(", ")' out) ;"
	echo "Default=0x7fff : ALL=full $job" >partitions.conf
	partitions=(--partitions partitions.conf)
	local on_pod=(fabric exec storage.net "${partitions[@]}" -- "$ibsa")
	IBSA_NODE=gpu2 run 0 "${on_pod[@]}" env nccl --pkey 0x8001
	out_has "='=mlx5_0:1,.*,mlx5_7:1'$"; out_has '^export NCCL_IB_PKEY=1$'
	IBSA_NODE=gpu2 run 1 "${on_pod[@]}" env nccl --pkey 0x8002; out_empty
	err_has 'mlx5_0/1 does not have P_Key 0x8002'; sentences 1
	IBSA_NODE=gpu2 run 1 "${on_pod[@]}" env nccl --pkey 0x8001 -C 'mlx5_*'
	out_empty; err_has 'mlx5_8/1 does not have P_Key 0x8001'
	# If the SA may hide nodes, nothing is decided.
	echo "Default=0x7fff : ALL=limited, SELF=full $job" >partitions.conf
	role_is storage.net mlx5_8 compute
	partitions=()

	# With too few servers, or ports of servers everywhere, nothing is decided.
	pod "$leaf0" "${rails[@]}" "storage $gpu nas1-0 nas1-1 nas2-0 nas2-1" >few.net
	role_is few.net mlx5_8 compute
	pod 'leaf0 gpu1-0 gpu2-0' 'leaf1 gpu1-1 gpu2-1' 'leaf2 gpu1-2 gpu2-2' \
		'leaf3 gpu1-3 gpu2-3 nas1-0 nas1-1' >small.net
	role_is small.net mlx5_3 compute
	pod 'leaf0 gpu1-0 gpu2-0 nas1-0 nas2-0 nas3-0' \
		'leaf1 gpu1-1 gpu2-1 nas1-1 nas2-1 nas3-1' \
		'leaf2 gpu1-2 gpu2-2 nas4-1 nas5-0 nas5-1' \
		'leaf3 gpu1-3 gpu2-3 nas6-0 nas6-1 nas7-0' 'leaf4 gpu1-4 gpu2-4' >all.net
	role_is all.net mlx5_3 compute
	json 'all(.[]; .role == "compute")'
	pod 'leaf0 gpu1-0 gpu2-0 gpu3-0 gpu4-0' 'leaf1 gpu1-1 gpu2-1 gpu3-1 gpu4-1' >two.net
	role_is two.net mlx5_1 compute
	json 'all(.[]; .role == "compute")'
	# The name of such a node is not that of a host.
	sed 's/# "nas.*/# "MT4129 ConnectX7 Mellanox Technologies"/' storage.net >noname.net
	role_is noname.net mlx5_8 compute
}

# The file has the subnets for storage and for management, too, which this SA cannot show.
other_subnets_are_not_expected() {
	local command
	for command in check status 'reach --all' 'reach dgx1' 'path dgx1 dgx2'; do
		# shellcheck disable=SC2086 # words of the command
		run 0 --fabric "$fabric" $command --expect "$fabric"; err_empty
		! grep -E 'missing|expected|unknown' out || fail 'a false alarm'
	done
	sed '/"dgx2-3"\[1\]/d' "$fabric" >dead.net
	run 1 --fabric dead.net reach --all --expect "$fabric"
	err_has '63 of 64 reachable, .* shows 63 of 64 expected ports$'; sentences 2
	try 1 --fabric dead.net check --expect "$fabric"; lines 2
	run 1 --fabric dead.net reach nas1 --expect "$fabric"
	err_has '^ibsa: nas1 mlx5_0: expected at storage port 9; storage is missing$'
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

run_groups roles_of_a_machine roles_for_a_user \
	roles_by_rate_and_link_layer roles_from_a_file a_dead_rail \
	a_rail_that_was_never_up rails_of_a_host leaf_switches_of_storage \
	other_subnets_are_not_expected options_that_are_repeated
