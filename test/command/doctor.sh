#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: doctor.sh IBSA LIBDIR FABRIC
#
# Tests the messages of ibsa doctor, ibsa devices and a query when a port
# cannot be used. The devices are files in a directory that replaces
# /dev/infiniband, and some commands run as another user.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

plain=$ibsa
sys=$tmp/sys
nodes=$tmp/nodes
chmod 755 "$tmp"

# Run as root, the test runs ibsa as user 65534. Run as any other user, it can
# only remove the capabilities of ibsa.
space=(unshare -m)
other=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" -ne 0 ]; then
	space=(unshare -rm)
	other=(setpriv --bounding-set=-all --inh-caps=-all)
fi

# wrapper FILE COMMAND... - write a script FILE that runs ibsa by COMMAND. Its
# /dev/infiniband is a copy of the directory $nodes, on a file system that is
# mounted with the options $DEV_OPTIONS.
wrapper() {
	local file=$1
	shift
	cat >"$file" <<-END
		#!/bin/sh
		exec ${space[*]} sh -c '
			mount -t tmpfs -o "\${DEV_OPTIONS:-rw}" none /dev &&
			mkdir /dev/infiniband &&
			cp -a "$nodes/." /dev/infiniband && exec "\$@"
		' sh $* "$plain" "\$@"
	END
	chmod 755 "$file"
}

# port NAME NUMBER [STATE] - add a port to a device in the sysfs tree
port() {
	local at=$sys/class/infiniband/$1/ports/$2
	mkdir -p "$at/gids" "$at/pkeys"
	echo 0x7 >"$at/lid"
	echo 0 >"$at/lid_mask_count"
	echo 0x1 >"$at/sm_lid"
	echo 0 >"$at/sm_sl"
	echo "${3:-4: ACTIVE}" >"$at/state"
	echo '5: LinkUp' >"$at/phys_state"
	echo 0x2651e848 >"$at/cap_mask"
	echo '100 Gb/sec (4X EDR)' >"$at/rate"
	echo InfiniBand >"$at/link_layer"
	echo fe80:0000:0000:0000:0002:c903:0000:0a01 >"$at/gids/0"
	echo 0xffff >"$at/pkeys/0"
}

# device NAME UMAD-NUMBER - add a device with port 1 to the sysfs tree
device() {
	local at=$sys/class/infiniband/$1 mad=$sys/class/infiniband_mad
	mkdir -p "$at" "$mad/umad$2"
	echo '1: CA' >"$at/node_type"
	echo 0002:c903:0000:0a00 >"$at/node_guid"
	echo 0002:c903:0000:0a00 >"$at/sys_image_guid"
	echo 20.31.1014 >"$at/fw_ver"
	port "$1" 1
	echo 5 >"$mad/abi_version"
	echo "$1" >"$mad/umad$2/ibdev"
	echo 1 >"$mad/umad$2/port"
	: >"$nodes/umad$2"
	: >"$nodes/issm$2"
	chmod 0600 "$nodes/umad$2" "$nodes/issm$2"
	[ "$(id -u)" -eq 0 ] || chmod 0 "$nodes/umad$2"
}

# world - make a sysfs tree with the device mlx5_0, and its device files as udev
# creates them
world() {
	rm -rf "$sys" "$nodes"
	mkdir -p "$sys/class/infiniband" "$nodes"
	device mlx5_0 0
	port mlx5_0 2 '1: DOWN'
}

# has NAME VERDICT DETAIL [ADVICE] - check that the JSON of ibsa doctor has a
# check NAME with this verdict, detail and advice
has() {
	# shellcheck disable=SC2016 # jq's
	jq -e --arg name "$1" --arg verdict "$2" --arg detail "$3" \
		--arg advice "${4-}" 'any(.[]; .name == $name and
			.verdict == $verdict and (.detail | test($detail)) and
			((.advice // "") | test($advice)))' \
		out >jq.out 2>&1 || fail "no $1 $2 '$3', advice '${4-}'"
}

# what_is CASE SENTENCE NOTE CHECK DETAIL ADVICE [ARG...] - check what a user
# without rights reads about one problem: the message of a query, the note of
# ibsa devices, and the check of ibsa doctor. The message is appended to the
# file sentences.
what_is() {
	local args=(-C "${7-mlx5_0}" -P "${8-1}")
	ibsa=$tmp/by_other run 4 "${args[@]}" path self 1; out_empty
	err_has "$2"
	cat err >>sentences
	case $3 in
	'!'*) ibsa=$tmp/by_other run 4 "${args[@]}" devices; err_has "${3#!}" ;;
	'') ;;
	*) ibsa=$tmp/by_other run 0 "${args[@]}" devices; out_has "$3" ;;
	esac
	ibsa=$tmp/by_other run 4 -j doctor "${args[@]}"
	has "$4" wrong "$5" "$6"
	ibsa=$tmp/by_other run 4 doctor "${args[@]}"
	out_has "^$4 .* wrong  "
}

# The kernel refuses the ioctls of ib_umad on other files with ENOTTY. An emulator
# may not have these ioctls, and return ENOSYS for any file.
lacks_ioctl() { is_emulated && grep -q 'Function not implemented' "$1"; }

# has_wrong_file ADVICE - check that the JSON of ibsa doctor says that umad0 is a
# file of another kind
has_wrong_file() {
	if lacks_ioctl out; then
		has node wrong '^cannot use /dev/infiniband/umad0: Function not'
	else
		has node wrong '/umad0 is not a device of ib_umad$' "$1"
	fi
}

every_error_is_another() {
	export SYSFS_PATH=$sys
	: >sentences
	world
	what_is 'not permitted' 'not permitted to open /dev/infiniband/umad0' \
		' not permitted to open /dev/infiniband/umad0$' \
		node '/umad0, .* 0[06]00: not permitted for user' .
	ibsa=$tmp/by_other run 4 -j doctor
	has default wrong 'not permitted to open'
	has sa 'not checked' 'device file cannot be opened'
	has port ok '^Active, LinkUp, InfiniBand, 100 Gb'
	what_is 'wrong name' 'no device "mlx5_1"; there are: mlx5_0$' \
		"!no device 'mlx5_1'" device "no device 'mlx5_1'" '' mlx5_1
	what_is 'wrong port' 'mlx5_0 has no port 3; it has: 1, 2' \
		"!'mlx5_0' has no port 3" port "'mlx5_0' has no port 3" '' \
		mlx5_0 3
	what_is 'not active' 'port 2 of mlx5_0 is down: check the cable' \
		'^mlx5_0 +2 +Down' port '^Down, LinkUp' cable mlx5_0 2
	rm "$nodes/umad0"
	what_is 'no device file' '/dev/infiniband/umad0 does not exist: if' \
		' /dev/infiniband/umad0 does not exist$' \
		node '/dev/infiniband/umad0 does not exist' 'container.*udev'
	rm -r "$sys/class/infiniband_mad"
	what_is 'no ib_umad' 'umad module is not loaded.*modprobe ib_umad' \
		' no MAD device; load the kernel module ib_umad$' \
		umad 'ib_umad is not loaded' 'modprobe ib_umad'
	rm -r "$sys/class/infiniband"
	what_is 'no modules' 'RDMA modules are not loaded.*modprobe' \
		'!RDMA modules are not loaded' modules 'RDMA modules are not loaded' \
		'modprobe ib_umad'
	rm -r "$sys/class"
	what_is 'no sysfs' \
		'no sysfs at /sys, or at SYSFS_PATH if that is set: mount' \
		'!no sysfs at /sys, or at SYSFS_PATH if that is set' modules \
		'^no sysfs at /sys, or at SYSFS_PATH if that is set$' \
		'^mount sysfs at'
	what=sentences
	# If the machine has a device, the message of a failed query names ibsa
	# doctor. It does not suggest an example fabric.
	grep -q "to check this machine's devices, type: ibsa doctor" sentences ||
		fail 'nothing leads to doctor'
	[ "$(grep -v 'type: ibsa doctor' sentences | sort -u | wc -l)" -eq 8 ] ||
		fail "not eight sentences: $(cat sentences)"
	unset SYSFS_PATH
}

# If the mode of a device file permits opening it, ibsa doctor gives another
# reason for the failure.
refusals_that_the_mode_does_not_explain() {
	export SYSFS_PATH=$sys
	world
	ibsa=$tmp/by_me run 4 -j doctor mlx5_0/1
	if [ "$(id -u)" -eq 0 ]; then
		# The file at the path of the umad file is not a umad file, but
		# can be opened.
		has_wrong_file '^remove it'
		has issm ok '/issm0, root:root 0600'
	fi
	chmod 0666 "$nodes/umad0"
	rm "$nodes/issm0"
	ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
	has_wrong_file 'udevadm.*container'
	has issm warning '/issm0: No such file' 'subnet manager'
	chmod 0700 "$nodes"
	if [ "$(id -u)" -eq 0 ]; then
		ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
		has node wrong '/umad0: not permitted for user 65534' directory
	fi
	chmod 0755 "$nodes"
	unset SYSFS_PATH
}

# A file of another kind at the path of a device file is reported.
what_is_no_umad_file() {
	export SYSFS_PATH=$sys
	world
	rm "$nodes/umad0"
	mkfifo -m 0666 "$nodes/umad0"
	ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
	has_wrong_file '^remove it.*udevadm'
	ibsa=$tmp/by_other run 0 devices
	lacks_ioctl out ||
		out_has ' /dev/infiniband/umad0 is not a device of ib_umad$'
	ibsa=$tmp/by_other run 4 -C mlx5_0 path self 1; out_empty
	lacks_ioctl err ||
		err_has '/dev/infiniband/umad0 is not a device of ib_umad: remove it'
	if [ "$(id -u)" -eq 0 ]; then
		rm "$nodes/umad0"
		mknod -m 0666 "$nodes/umad0" c 1 3
		ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
		has_wrong_file '^remove it'
	fi
	unset SYSFS_PATH
}

a_list_that_is_not_permitted() {
	export SYSFS_PATH=$sys
	world
	chmod 0 "$sys/class/infiniband"
	ibsa=$tmp/by_other run 4 -j doctor
	has modules wrong 'cannot list .*: Permission' '^give this user read'
	chmod 0755 "$sys/class/infiniband"
	unset SYSFS_PATH
}

# For the owner of a device file, only the owner's mode bits count; for members
# of its group, only the group's.
refusals_that_the_mode_explains() {
	local node=$nodes/umad0
	[ "$(id -u)" -eq 0 ] || return 0
	export SYSFS_PATH=$sys
	world
	chown 65534 "$node"
	chmod 0066 "$node"
	ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
	has node wrong ' 0066: not permitted for user 65534' 'or give this user'
	chown 0:65534 "$node"
	chmod 0606 "$node"
	ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
	has node wrong ' 0606: not permitted for user 65534' 'or give this user'
	rm "$node"
	mknod "$node" c 1 3
	chown 0:65534 "$node"
	chmod 0060 "$node"
	DEV_OPTIONS=nodev ibsa=$tmp/by_other run 4 -j doctor mlx5_0/1
	has node wrong ' 0060: not permitted for user 65534' 'its mode allows'
	unset SYSFS_PATH
}

# Forty devices: more than libibumad can list. One has a name that is too long
# for libibumad; the files of others are invalid or missing.
forty_devices() {
	local number long=an_adapter_with_a_long_name__0
	export SYSFS_PATH=$sys
	rm -rf "$sys" "$nodes"
	mkdir -p "$sys/class/infiniband" "$nodes"
	for number in {0..37}; do
		device "mlx5_$number" "$number"
	done
	device $long 38
	device last 39
	echo nonsense >"$sys/class/infiniband/mlx5_5/node_type"
	echo nonsense >"$sys/class/infiniband/mlx5_7/ports/1/state"
	rm -r "$sys/class/infiniband/mlx5_9/ports"
	rm "$nodes/umad11"
	ibsa=$tmp/by_other run 0 devices; lines 41; aligned; err_empty
	out_has "^$long +1 +Active .* not permitted to open .*/umad38\$"
	out_has '^mlx5_5 +1 +Active .* Protocol error$'
	out_has '^mlx5_7 +1 +- .* Protocol error$'
	out_has '^mlx5_9 +- .* No such file or directory$'
	out_has '^mlx5_11 +1 +Active .* /dev/infiniband/umad11 does not exist$'
	ibsa=$tmp/by_other run 0 -j devices
	json 'length == 40 and (map(.device) | unique | length == 40)'
	json 'map(select(.note | test("not permitted"))) | length == 36'
	ibsa=$tmp/by_other run 0 -j devices $long/1; json 'length == 1'
	ibsa=$tmp/by_other run 0 -j gids; json 'length == 39'
	ibsa=$tmp/by_other run 0 gids $long/1; lines 2
	ibsa=$tmp/by_other run 4 -C $long path self 1
	err_has 'not permitted to open /dev/infiniband/umad38'
	ibsa=$tmp/by_other run 4 -C x path self 1
	err_has "there are: $long, last, mlx5_0, .*, \.\.\.\$"
	ibsa=$tmp/by_other run 4 -j doctor
	json '[.[] | select(.name == "device")] | length == 40'
	json '[.[] | select(.name == "node")] | length == 39'
	json '[.[] | select(.name == "port" and .verdict == "ok")] |
		length == 38'
	json '[.[] | select(.name == "sm" and .verdict == "ok")] | length == 38'
	json '.[] | select(.device == "mlx5_5" and .name == "device") |
		.verdict == "wrong"'
	json '.[] | select(.device == "mlx5_7" and .name == "port") |
		.verdict == "wrong"'
	json '.[] | select(.device == "mlx5_11" and .name == "node") |
		.verdict == "wrong" and (.detail | test("does not exist"))'
	ibsa=$tmp/by_other run 4 -v doctor $long/1; lines 11
	out_has "^node +$long +1 +wrong +/dev/infiniband/umad38, "
	unset SYSFS_PATH
}

# Two nodes have the same name, and only the second has a port 2.
nodes_of_one_name() {
	printf '%s\n' 'Switch 4 "s"' '[1] "a"[1] 4xEDR' '[2] "b"[2] 4xEDR' \
		'Ca 1 "a" # "twin"' 'Ca 2 "b" # "twin"' >twins.net
	run 0 doctor --fabric twins.net -v; err_empty
	out_has '^sa +twin +2 +ok +the SA answers'
}

embedded_fabrics() {
	on 0 -v doctor; err_empty
	out_has '^NAME +DEVICE +PORT +VERDICT +DETAIL$'
	out_has '^kernel +- +- +not checked +an embedded fabric needs no kernel modules '
	grep -qE '^(modules|umad|node|issm) ' out &&
		fail 'says of each that it is not checked'
	out_has '^port +node1 mlx5_0 +2 +ok +Active, LinkUp, InfiniBand, 100 Gb'
	out_has '^sa +größe +1 +ok +the SA answers in [0-9.]+ ms$'
	out_has '^default +- +- +ok +queries use port 1 of node1 mlx5_0 '
	lines 27
	on 0 -j doctor; json 'length == 39'
	json 'map(.name) | index("kernel") == null'
	has modules 'not checked' 'embedded fabric'
	has node 'not checked' 'embedded fabric'
	json 'all(.[]; (keys == ["advice", "detail", "device", "name", "port",
		"verdict"]) and .advice == null)'
	json 'map(.verdict) | unique == ["not checked", "ok"]'
	json '.[0] | .device == null and .port == null'
	has sm_key ok 'untrusted requests may read'
	on 0 -v doctor 'node2 mlx5_0'; out_has '^sa +node2 mlx5_0 +1 +ok '
	# Checks that pass are only counted.
	on 0 doctor; err_empty; lines 1
	out_has '^[0-9]+ ok, [0-9]+ not checked; -v shows them$'
	on 3 doctor --sa 40000 -t 100 'größe'
	out_has '^sa +größe +1 +wrong'; out_has '^[0-9]+ ok, '
	on 0 -v doctor 'node1 mlx5_0'; lines 10
	on 0 -v doctor 'node1 mlx5_0/2'; lines 6
	on 0 -v doctor -C 'node1 mlx5_0' -P 2; lines 6
	on 0 -j doctor --sm-key 1 node3\ mlx5_1; has sm_key ok 'trusts this key'
	on 5 -j doctor --sm-key 2 -t 100 node3\ mlx5_1
	has sa ok 'answers'; has sm_key wrong 'does not answer requests with this key' sa_key
	[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
	on 3 -v doctor --sa 40000 -t 100 'größe'; err_has "'sa' of größe/1: no answer"
	out_has '^sa +größe +1 +wrong +no answer in 100 ms \(1 try\)$'
	out_has '^    check that the subnet manager runs'
	out_has '^sm +größe +1 +not checked +--sa gives the address of the SA$'
	on 4 -j doctor nobody; has device wrong "no device 'nobody'"
	on 4 -j doctor größe/2; has port wrong "'größe' has no port 2"
	on 4 -j doctor nobody/2; has device wrong "no device 'nobody'"
	on 4 -C nobody -P 2 path self 1; err_has 'no adapter nobody in '
	on 4 -C größe -P 2 path self 1; err_has 'größe has no port 2 in '
	on 4 -P 9 path self 1; err_has 'the first adapter has no port 9 in '
	on 4 devices nobody/2; err_has "no device 'nobody'"
	on 4 devices größe/2; err_has "'größe' has no port 2"
	on 4 gids nobody/2; err_has "no device 'nobody'"
	on 4 gids größe/2; err_has "'größe' has no port 2"
	on 2 doctor node1 node2; out_empty
	on 2 doctor -P 1; out_empty
	on 2 doctor --all; out_empty
	on 2 doctor /1; out_empty
	run 4 --fabric /nonexistent doctor; out_empty; err_has nonexistent
	echo 'Switch what' >bad.net
	run 2 --fabric bad.net doctor; out_empty; err_has bad.net
	run 0 doctor --help; out_has '^usage: ibsa doctor \[DEVICE'
	out_has '^  sm_key '; out_has '--timeout MS'
	[ "$(awk 'length > 80' out | wc -l)" -eq 0 ] ||
		fail 'help wider than 80 columns'
	"$ibsa" --fabric "$fabric" doctor >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'No space left'
}

# A signal ends ibsa doctor. It first prints the checks made so far, also those
# of the port that it is examining.
signals_end_it() {
	local signal got
	for signal in INT TERM HUP; do
		what="SIG$signal"
		checks=$((checks + 1))
		got=0
		timeout --foreground --preserve-status -s "$signal" 2 env \
			--default-signal=INT,HUP "$ibsa" --fabric "$fabric" -j \
			--sa 40000 -t 60000 doctor >out 2>err || got=$?
		[ "$got" -eq 3 ] || fail "exit status $got, not 3"
		has port ok '^Active, LinkUp'
		has sa 'not checked' '^interrupted$'
		has sm_key 'not checked' .
		json 'map(select(.name == "port")) | length == 1'
		json 'all(.[]; .name != "default" and .verdict != "wrong")'
		[ "$(cat err)" = 'ibsa: interrupted' ] ||
			fail 'not one word on standard error'
	done
}

# ibsa doctor checks a device of a fabric server, too.
shared_fabrics() {
	run 0 fabric exec "$fabric" -- "$ibsa" -j doctor
	has umad ok 'version 5'
	has node ok '/umad0 opens; it is simulated$'
	has sa ok '^the SA answers in '
	has sm_key ok 'untrusted requests may read'
	has default ok 'port 1 of ibsa0 '
	run 4 fabric exec "$fabric" -- "$ibsa" -j doctor ibsa0/9
	has port wrong "'ibsa0' has no port 9"
	IBSA_NODE=nobody run 4 fabric exec "$fabric" -- "$ibsa" -j doctor
	has modules wrong 'fabric has no node nobody'
	export IBSA_NODE='node3 mlx5_1/9'
	run 4 fabric exec "$fabric" -- "$ibsa" -j doctor
	has modules wrong 'node3 mlx5_1 has no port 9'
	run 4 fabric exec "$fabric" -- "$ibsa" devices
	err_has 'node3 mlx5_1 has no port 9'
	run 4 fabric exec "$fabric" -- "$ibsa" gids
	err_has 'node3 mlx5_1 has no port 9'
	unset IBSA_NODE
	run 4 fabric exec "$fabric" -- "$ibsa" -C nobody -P 9 path self 1
	err_has 'fabric has no node nobody'
	run 4 fabric exec "$fabric" -- "$ibsa" -C 'node3 mlx5_1' -P 9 path self 1
	err_has 'node3 mlx5_1 has no port 9'
	IBSA_FABRIC=unix:/nowhere run 4 doctor -j
	has modules wrong 'no fabric server is at /nowhere: start one with'
}

no_devices() {
	mkdir -p empty/class/infiniband
	export SYSFS_PATH=$tmp/empty
	run 4 -j doctor; has modules wrong 'the kernel has no RDMA device' '--fabric'
	has umad wrong 'ib_umad is not loaded'
	has default wrong .
	unset SYSFS_PATH
}

wrapper by_me
wrapper by_other "${other[@]}"
mkdir -p "$nodes"
groups=(embedded_fabrics nodes_of_one_name signals_end_it shared_fabrics no_devices)
if "$tmp/by_other" -V >out 2>err; then
	groups+=(every_error_is_another refusals_that_the_mode_does_not_explain
		refusals_that_the_mode_explains what_is_no_umad_file a_list_that_is_not_permitted
		forty_devices)
else
	echo "cannot run as another user in a mount name space: $(cat err)"
fi
# On a planarized adapter, the SMI and the GSI of a port are on two devices:
# ibsa sends queries from the device of the GSI.
planarized() {
	world
	rm -r "$sys/class/infiniband/mlx5_0/ports/2"
	device smi_first 1
	mv "$sys/class/infiniband/smi_first" "$sys/class/infiniband/a_smi"
	echo a_smi >"$sys/class/infiniband_mad/umad1/ibdev"
	echo 0x2651ec4a >"$sys/class/infiniband/mlx5_0/ports/1/cap_mask"
	SYSFS_PATH=$sys run 0 devices; aligned
	out_has '^a_smi +1 .* SMI of mlx5_0/1; that port receives'
	SYSFS_PATH=$sys run 0 -j devices
	json '.[0].note | startswith("SMI of mlx5_0/1")'
	SYSFS_PATH=$sys run 4 -j doctor
	json 'map(select(.device == "a_smi" and .name != "device")) |
		length == 1 and .[0].verdict == "not checked"'
	json 'any(.[]; .device == "mlx5_0" and .name == "sm")'
}

# A report without an SA has the files of the devices, of which SYSFS_PATH makes
# devices again; without names if that is asked for.
device_files() {
	world
	echo 'gpu07 mlx5_0' >"$sys/class/infiniband/mlx5_0/node_desc"
	SYSFS_PATH=$sys run 0 -j devices; mv out want
	SYSFS_PATH=$sys run 4 doctor --report r.tar
	err_has 'the report has .*[(]0 queries .*[(][1-9][0-9]* device files'
	mkdir full other
	tar -C full -xf r.tar && grep -q "^report of ibsa doctor" full/report.txt ||
		fail 'no report.txt'
	SYSFS_PATH=$tmp/full/sys run 0 -j devices
	cmp -s out want || fail "other devices: $(diff out want)"
	SYSFS_PATH=$sys run 4 doctor --report r.tar --anonymous
	tar -C other -xf r.tar
	SYSFS_PATH=$tmp/other/sys run 0 -j devices
	json 'all(.[]; (.guid | startswith("0x02000000000000")) and
		(.gid | startswith("fe80::200:0:0:")))'
	grep -rqi 'gpu07\|c903' other && fail "$(grep -rli 'gpu07\|c903' other)"
	grep -qx 'host1 mlx5_0' other/sys/class/infiniband/mlx5_0/node_desc ||
		fail 'no name of the node'
	run 2 --fabric r.tar path self 1; err_has 'no requests to an SA'
}

# A report is a fabric, also after another program has made the archive again.
reports() {
	run 0 --fabric "$fabric" doctor --report r.tar
	err_has 'keys and the data of services in it are zero; GUIDs.* are those'
	run 0 --fabric "$fabric" topology; mv out want
	run 0 --fabric r.tar topology
	cmp -s out want || fail 'another topology'
	run 5 --fabric r.tar path node1 node2
	err_has 'the capture or report does not hold the answer.*PathRecord'
	run 0 --fabric "$fabric" -j devices; jq '.[0].rate_gbps' out >rate
	run 0 --fabric r.tar -j devices; json ".[0].rate_gbps == $(cat rate)"
	mkdir again && tar -C again -xf r.tar && tar -C again -cf s.tar .
	run 0 --fabric s.tar topology
	cmp -s out want || fail 'another topology'
	tar -C again -cf t.tar report.txt
	run 2 --fabric t.tar topology; err_has 'lacks the file mads.pcap'
	head -c 9000 r.tar >u.tar
	run 2 --fabric u.tar topology; err_has 'lacks the file mads.pcap'
	run 2 --fabric "$fabric" doctor --anonymous; err_has '--report FILE'
	run 2 --fabric "$fabric" doctor --report r.tar --record s.pcap
	err_has 'remove --record'
	run 2 --fabric "$fabric" doctor --report r.tar -C 'node[12]'
	err_has 'may stand for several; name one device'
	run 2 --fabric "$fabric" doctor --report -; err_has 'name a file'
	# Before the first query.
	run 4 --fabric "$fabric" doctor --report "$tmp"; out_empty
	err_has 'is a directory; name a file in it'
	run 4 --fabric "$fabric" doctor --report /nowhere/r.tar; out_empty
	run 4 --fabric "$fabric" doctor --report r.tar nosuch
	err_has 'nothing is written: no port can be opened'
	run 0 --fabric r.tar check
	run 2 topology r.tar; err_has 'report of ibsa doctor; give it with --fabric'
	run 4 --fabric "$fabric" doctor --report /nowhere/r.tar
	# Without an SA, two queries are enough.
	run 3 fabric exec "$fabric" --fault silence=100 -- \
		"$ibsa" doctor --report v.tar -t 200
	err_has 'the report has .*[(]2 queries'
	tar -xOf v.tar report.txt | grep -q 'Connection timed out' ||
		fail 'no timeout in report.txt'
	what='doctor --report on a terminal'
	rm r.tar
	echo n | script -qec "'$ibsa' --fabric '$fabric' doctor --report r.tar" \
		/dev/null >out 2>err
	out_has 'Write it to r.tar'; out_has 'nothing is written'
	[ ! -e r.tar ] || fail 'written'
	echo y | script -qec "'$ibsa' --fabric '$fabric' doctor --report r.tar" \
		/dev/null >out 2>err
	[ -s r.tar ] || fail 'not written'
}

run_groups "${groups[@]}" planarized device_files reports
