#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: cli.sh IBSA LIBDIR FABRIC
#
# Tests the command ibsa on the embedded fabric FABRIC: each exit status, each
# output format, and each error in the command line. LIBDIR is the directory of
# libibsa.so.1.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# For the help of each action of ibsa fabric: check its usage line, one
# sentence, and that it lists only the options that the action takes.
help_of_actions() {
	local action options given
	while read -r action options; do
		run 0 fabric "$action" --help; err_empty
		out_has "^usage: ibsa fabric $action \[OPTION\.\.\.\]"
		[ "$(grep -c '^usage' out)" -eq 1 ] || fail 'more than one usage'
		sed -n 3p out | grep -q '^[A-Z].*\.$' || fail 'no sentence'
		! grep -q '.\{80\}' out || fail 'a line of more than 79 characters'
		given=$(sed '1,/^options/d' out | grep -o -- ' --[a-z-]*' |
			sed 's/.*--//' | sort | xargs)
		[ "$given" = "$options" ] || fail "options: $given"
	done <<-'END'
		run connections control-token fault first-lid format help json listen memory opa partitions record sa sa-at seed sm-profile socket token verbose
		exec connections control-token fault first-lid help listen memory opa partitions record sa sa-at seed sm-profile socket sysfs token verbose verbs
		replay connections control-token fault format help json listen memory record seed socket token verbose
		serve device fault first-lid format help json opa partitions port record sa sa-at seed sm-profile umad verbose
		link fabric help socket
		node fabric help socket
		sm fabric help socket
		fault fabric help socket
		stats fabric fields format help json socket
		script fabric help socket
	END
}

help_on_each_level() {
	local record
	run 0 --help; err_empty; out_has '^usage: ibsa'; out_has '^  devices '
	run 0 -h; out_has '^exit status'
	[ "$(sed '/^commands:/,/^$/d' out | wc -l)" -le 13 ] || fail 'not a screen'
	cp out help
	run 0 help; cmp -s out help || fail 'another help'
	run 0 fabric run --help; cp out help
	run 0 help fabric run; cmp -s out help || fail 'another help'
	"$ibsa" --help | grep '^ .*  ' | sed -n '/^  check /,/^  watch /p' >commands
	[ "$(wc -l <commands)" -ge 15 ] || fail 'commands are missing'
	while read -r command _; do
		run 0 "$command" --help
		out_has "^usage: ibsa $command"
		[ "$command" = demo ] || out_has '--timeout MS'
		err_empty
		run 0 -h "$command"; out_has "^usage: ibsa $command"
		! grep -q '.\{80\}' out || fail 'a line of more than 79 characters'
	done <commands
	run 0 path -h; out_has '^  self '; out_has 'rate>=100Gb'
	run 0 query --help; out_has '^NodeRecord +NR +0x0011'
	for record in NodeRecord NR nr; do
		run 0 query get "$record" --help
		out_has '^lid +16 +yes'; out_has '^node_description +512'
	done
	run 0 query table SR -h; out_has '^service_data8_1 to _16 '
	run 2 query get NoRecord --help; err_has NoRecord
	run 0 service --help; out_has '^  register ID NAME .*--lease SECONDS'
	run 0 watch --help; out_has '--device NAME'
	! grep -Eq -- '--(all|for|lease|matrix|svg) ' out ||
		fail 'help with options that the command refuses'
	run 0 service list --help; out_has '^  list '
	run 0 fabric exec -h; out_has '--record FILE'; out_has '--opa '
	! grep -Eq -- '--(all|dot|svg|umad) ' out ||
		fail 'help with options that the action refuses'
	help_of_actions
	run 2 service lists --help; err_has 'list, lookup'
	run 0 fabric serve --help
	out_has '^usage: ibsa fabric serve \[OPTION...\] FILE --umad'
	run 2 fabric infos --help; err_has infos
	run 0 -V; out_has '^ibsa [0-9]+\.[0-9]+\.[0-9]+$'; lines 1
	run 0 --version; lines 1
	if [ "$(awk 'length > 80' out | wc -l)" -ne 0 ]; then
		fail 'help wider than 80 columns'
	fi
}

wrong_command_lines() {
	local line
	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # words of a command line
		on 2 $line
		out_empty
		[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
	done <<-'LINES'
		pat self 1
		fabric
		fabric infos
		fabric run
		fabric run one two
		fabric run one --lease 3
		fabric run one --umad rxe0
		fabric serve one
		fabric serve one --umad
		fabric serve one --umad /1
		fabric serve one --umad rxe0/0
		fabric serve one two --umad rxe0
		path self 1 --umad rxe0
		Path self 1
		devices node1 node2
		devices -C node1 node2
		devices -a
		devices -P 1
		devices /1
		devices node1/0
		devices --for 10.0.0.1
		path self 1 --for 10.0.0.1
		gids node1 node2
		gids -C node1 node2
		gids -P 1
		gids -a
		gids /1
		gids node1/0
		gids --for
		gids --for 10.0.0
		gids --for 10.0.0.256
		gids --for fe80::1::2
		gids --for node1
		gids --for 10
		gids --for beef
		gids --for ::
		gids --for 0.0.0.0
		query -a table NR
		query get NoRecord --help
		query table NR lid=1 node_type=CA lid=2
		path self node2 sl=0 sl=1
		path
		path self
		path self gid:1
		path self fe80:::1
		path self guid:12g
		path self 0x
		path self 0x10000000000000000
		path self lid:0
		path self 65535
		path self 123456789
		path self name:
		path self 12345678901234567890123456789012345678901234567890123456789012345x
		path self 1 dlid=2
		path self 1 nofield=2
		path self 1 sl=16
		path self 1 sl
		query
		query get
		query Get NR
		query fetch NR
		query get NoRecord
		query get NR lid
		query get NR lidd=4
		query get NR lid=four
		query get NR lid=65536
		query get NR lid=-1
		query table PR dgid=fe80
		query table CPI base_version=1
		query table SR service_data8_17=1
		service
		service lists
		service List
		service list printer
		service list service_id=4 service_id=4
		service list service_lid=4
		service list --lease 4
		service list -a
		service lookup
		service lookup 0x
		service lookup 0xprinter
		service lookup id:printer
		service lookup id:
		service lookup name:
		service lookup printer service_name=printer
		service lookup 0x1ffffffffffffffff
		service lookup printer --lease 4
		service register
		service register 0x1234
		service register printer 0x1234
		service register -1 printer
		service register 0x1234 12345678901234567890123456789012345678901234567890123456789012345
		service register 0x1234 prin\ter
		service register 0x1234 printer second
		service register 0x1234 printer service_id=0x1235
		service register 0x1234 printer service_name=other
		service register 0x1234 printer service_pkey=0x10000
		service register 0x1234 printer --lease 60 service_lease=60
		service register 0x1234 printer --lease 0
		service register 0x1234 printer --lease 4294967295
		path self 4 --nagios
		service register 0x1234 printer service_lease=0
		service register 0x1234 printer --lease -1
		service register 0x1234 printer --lease 60s
		service register 0x1234 printer --lease Infinite
		service register 0x1234 printer --lease 4294967296
		service register 0x1234 printer --lease
		service list --renew
		service keep 0x1234 printer
		service register --renew
		service register --renew 0x1234
		service register --renew printer 0x1234
		service register --renew 0x1234 printer second
		service register --renew 0x1234 printer --lease 0
		service register --renew 0x1234 printer service_lease=0
		service register --renew 0x1234 printer service_id=1
		service unregister
		watch --all
		watch --lease 5
		reach --audit-nodes
		service unregister printer
		service unregister 0x1234 service_name=printer
		service unregister 0x1234 service_id=0x1234
		service unregister 0x1234 --lease 60
		path --lease 60 self node2
		--nope devices
		-x devices
		--json=yes devices
		-P 0 devices
		-P 255 devices
		-P one devices
		-t 0 devices
		-t 1s devices
		-t
		--device
		--sm-key key devices
		--sm-key 0x1ffffffffffffffff devices
		--sm-key @/nonexistent devices
		--sm-key @/dev/null devices
		--sm-key @/ devices
		--sa 0 devices
		--sa 0xc000 devices
		--sa nobody devices
		--sa lid=1,lid=2 devices
		--sa lid=1,colour=2 devices
		--sa lid=1, devices
		--sa lid=1,hop_limit=3 devices
		--sa lid=1,sl=32 devices
		--sa lid=1,lmc=8 devices
		--sa lid=1,qpn=0x1000000 devices
		--sa gid=fe80 devices
		--sa :: devices
	LINES
	run 2; err_has usage
	run 2 --; err_has usage
	on 2 path self '' ; err_has name
	on 2 -C '' path self 1; err_has empty
	run 2 devices -C --fabric "$fabric"; err_has "option '-C' needs a value"
	run 2 devices --fabric -j; err_has "option '--fabric' needs a value"
	on 2 devices --fields -- x; err_has "option '--fields' needs a value"
	on 2 devices --timeout -1; err_has "'-1' is not a number from 1"
	on 2 query get NodeRecrd; err_has "did you mean 'NodeRecord'\?$"
	on 2 query get PR mtu=2049; err_has "'2049' is not valid; mtu takes 256"
	run 0 help query get NR; out_has 'fields of NodeRecord'
	run 2 --fabric '' devices; err_has empty
	on 2 --sm-key @/ devices; err_has 'Is a directory'
	on 2 --sa nobody devices; err_has 'LID.* GID.* lid=1'
	on 2 --json=yes devices; err_has 'takes no value'
	on 2 --s 1 devices; err_has ambiguous
	on 2 --nope devices; err_has "unknown option '--nope'"
	on 2 --jsn devices; err_has "option '--jsn'; did you mean '--json'\?$"
	on 2 --tiemout=9 devices; err_has "did you mean '--timeout'"
	on 2 topologie; err_has "command 'topologie'; did you mean 'topology'\?$"
	on 2 checknode; err_has "command 'checknode'; see ibsa --help"
	on 2 help topologie; err_has "did you mean 'topology'"
	on 2 -V topologie; err_has "did you mean 'topology'"; out_empty
	on 0 path -V; out_has '^ibsa [0-9]'
	on 2 help path extra; err_has "^ibsa: help: 'extra' is too much; type: ibsa help path$"
	on 2 --json -xj devices; err_has "unknown option '-x'"
	on 2 path self 1 sl=0 sl=1; err_has 'sl is given twice'
	on 1 path self $'one\ntwo\033[m'; err_has 'one\\x0atwo\\x1b\[m'
	[ "$(wc -l <err)" -eq 1 ] || fail 'not one line'
	on 2 query get NR lidd=4; err_has "did you mean 'lid'"
}

# Each option in the table of NEWS.md is removed, and the error names the option
# that replaces it.
removed_options_name_the_new_ones() {
	local old new count=0
	while read -r old new; do
		count=$((count + 1))
		for old in "$old" "$old=x"; do
			on 2 topology "$old"; out_empty
			err_has "^ibsa: ${old%%=*} is now $new(;|\$)"
		done
	done < <(sed -n '/^### Removed or renamed options/,/^##* /s/^| `\(--[a-z-]*\)[^|]* | `\([^`>]*[^`> ]\).*/\1 \2/p' \
		"$support/../../NEWS.md")
	[ $count -ge 7 ] || fail "only $count options in NEWS.md"
	on 2 fabric exec "$fabric" "$ibsa" topology --net
	err_has 'write options of the command after --$'
}

formats_are_those_of_the_command() {
	local command
	while read -r command; do
		# shellcheck disable=SC2086 # words
		on 2 $command --format jsn; out_empty; sentences 1
		err_has "^ibsa: .* has no format 'jsn'; its formats are [a-z, -]*json"
	done <<-'LINES'
		check
		check node
		fabric run one
		fabric link
		fabric stats
		query get
		reach
		topology
		watch
	LINES
	on 2 reach self --format net
	err_has "^ibsa: reach has no format 'net'; its formats are table, json, ndjson, csv, svg\$"
	on 2 metrics --format csv; err_has 'no option --format'
	on 0 devices --format table; cp out want
	on 0 devices; cmp out want || fail 'not the table'
	on 0 devices --format json -j; json 'length == 6'
	on 2 devices --format
	err_has "option '--format' needs a value"
}

device_lists() {
	on 0 devices; err_empty; lines 7; aligned
	out_has '^DEVICE +PORT +STATE +LID +SM_LID +RATE +GUID +GID$'
	out_has '^node1 mlx5_0 +2 +Active .* 0x0002c90300000012 +fe80::2:c903:0:12$'
	on 0 -j devices; err_empty
	json 'length == 6 and all(.[]; .state == 4 and .lid > 0)'
	json '.[0] | .device == "node1 mlx5_0" and .guid == "0x0002c90300000011"'
	json '.[0] | .state_text == "Active" and .phys_state_text == "LinkUp"'
	json 'any(.[]; .device == "größe" and .rate == "40 Gb/sec (4X QDR)")'
	on 0 devices -v; out_has '^phys_state +LinkUp$'
	on 0 devices 'node1 mlx5_0'; lines 3; aligned
	on 0 devices 'node1 mlx5_0/2'; lines 2; out_has '^node1 mlx5_0 +2 '
	on 0 devices -C 'node1 mlx5_0' -P 1; lines 2; out_has '^node1 mlx5_0 +1 '
	on 4 devices node9/1; out_empty; err_has "no device 'node9'"
	on 4 -j devices node9; json '. == []'
	on 4 devices 'node1 mlx5_0/3'; out_empty
	err_has "'node1 mlx5_0' has no port 3"
	ln -sf "$fabric" short.net
	run 4 --fabric short.net devices node9
	err_has "list them with: ibsa devices --fabric 'short.net'\$"
	IBSA_FABRIC=short.net run 4 gids 'größe/3'
	err_has "with: ibsa devices 'größe' --fabric 'short.net'\$"
	what='IBSA_FABRIC'
	IBSA_FABRIC=$fabric "$ibsa" devices >out 2>err || fail 'not used'
	lines 7
	IBSA_FABRIC=/nonexistent "$ibsa" --fabric "$fabric" devices >out 2>err ||
		fail 'not overruled by --fabric'
}

# IBSA_NODE chooses the node of a topology file, too. With a capture, which has
# one port, it is ignored.
node_of_environment() {
	local option
	on 0 -C node2 path self node1; cp out node2
	on 0 path self node1; ! cmp -s out node2 || fail 'no other node'
	for option in --timeout=9000 --record=n.pcap; do
		IBSA_NODE=node2 on 0 "$option" path self node1
		cmp out node2 || fail 'IBSA_NODE is ignored'
		IBSA_NODE=node2/9 on 4 "$option" path self node1
		err_has 'no port 9'
		IBSA_NODE=nobody on 4 "$option" path self node1; err_has nobody
	done
	IBSA_NODE=nobody on 0 -C node2 path self node1
	cmp out node2 || fail 'IBSA_NODE overrules -C'
	IBSA_NODE=node2 on 0 --record=n.pcap path self node1
	IBSA_NODE=nobody run 0 --fabric n.pcap path self node1
}

# Make a sysfs tree of four devices: two with a usable port, one without ports,
# and one whose port has an invalid file "state".
make_sysfs() {
	local class=sys/class/infiniband port=ports/1 device
	for device in good10 good9 broken; do
		mkdir -p "$class/$device/$port/gids" "$class/$device/$port/pkeys"
		echo '1: CA' >"$class/$device/node_type"
		echo '0002:c903:0000:0a00' >"$class/$device/node_guid"
		echo '0002:c903:0000:0a00' >"$class/$device/sys_image_guid"
		(
			cd "$class/$device/$port" || exit
			echo 0x1f >lid
			echo 0x1 >sm_lid
			echo 0 >lid_mask_count
			echo 0 >sm_sl
			echo '4: ACTIVE' >state
			echo '5: LinkUp' >phys_state
			echo '100 Gb/sec (4X EDR)' >rate
			echo 0x2651e848 >cap_mask
			echo InfiniBand >link_layer
			echo fe80:0000:0000:0000:0002:c903:0000:0a01 >gids/0
			echo 0xffff >pkeys/0
		)
	done
	echo 'no state' >"$class/broken/$port/state"
	mkdir -p "$class/portless/ports"
	echo '1: CA' >"$class/portless/node_type"
	echo '0002:c903:0000:0b00' >"$class/portless/node_guid"
	echo '0002:c903:0000:0b00' >"$class/portless/sys_image_guid"
}

machine_lists() {
	make_sysfs
	export SYSFS_PATH=$tmp/sys
	run 0 devices; aligned; err_empty; lines 5
	out_has '^broken +1 +- '; out_has '^portless +- .* no ports$'
	out_has '^good9 +1 +Active +31 +1 +100 Gb/sec \(4X EDR\) +0x0002c90300000a01 '
	run 0 -j devices
	json '[.[] | select(.state == 4)] | length == 2'
	json 'map(.device) == ["broken", "good9", "good10", "portless"]'
	json '.[0] | .state == null and (.note | length > 0)'
	json '.[0] | has("state_text") and .state_text == null'
	run 0 devices good9; lines 2
	run 0 devices good9/1; lines 2
	run 0 devices portless; lines 2
	run 4 devices portless/1; err_has "'portless' has no port 1"
	run 4 devices good9/2; out_empty; err_has "'good9' has no port 2"
	run 4 devices good8/2; out_empty; err_has "no device 'good8'"
	run 4 path self 1 # nothing to open
	run 4 -C good9 path self 1
	run 4 -C nosuch path self 1; err_has nosuch
	run 4 fabric serve "$fabric" --umad nosuch; err_has nosuch; out_empty
	run 4 fabric serve "$fabric" --umad good9/2; err_has 'port 2'
	run 4 fabric serve "$fabric" --umad good9 -C nosuch; err_has nosuch
	run 2 fabric serve "$fabric" --umad good9 --sa-at nosuch; err_has nosuch
	run 4 fabric serve "$tmp/nothing.net" --umad good9; err_has nothing.net
	run 4 -P 9 path self 1; err_has 'port 9'
	[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
	for SYSFS_PATH in "$tmp/empty" "$tmp/nothing"; do
		mkdir -p empty/class/infiniband nothing/class
		run 4 devices; out_empty
		err_has 'no InfiniBand'; err_has 'simulate[sd] (the )?fabric.*fabrics'
		run 4 -j devices; json '. == []'
		run 4 path self 1; err_has 'fabrics'
	done
	unset SYSFS_PATH
}

# entry PORT INDEX GID TYPE - write one entry of the GID table of roce0 to the
# sysfs tree
entry() {
	local port=$tmp/gids/class/infiniband/roce0/ports/$1
	mkdir -p "$port"/gids "$port"/gid_attrs/{types,ndevs}
	echo "$3" >"$port/gids/$2"
	echo "$4" >"$port/gid_attrs/types/$2"
	echo lo >"$port/gid_attrs/ndevs/$2"
	echo Ethernet >"$port/link_layer"
}

# Make GID tables as the kernel shows them: most addresses of port 1 as RoCE v1
# and v2, and empty and missing entries. Port 2 is down.
make_gids() {
	local zero=0000:0000:0000:0000:0000:0000:0000:0000
	local v4=0000:0000:0000:0000:0000:ffff
	entry 1 0 fe80:0000:0000:0000:0202:c9ff:fe00:0001 'IB/RoCE v1'
	entry 1 1 fe80:0000:0000:0000:0202:c9ff:fe00:0001 'RoCE v2'
	entry 1 2 $zero 'nonsense'
	entry 1 4 $v4:0a01:0001 'IB/RoCE v1'
	entry 1 5 $v4:0a01:0001 'RoCE v2'
	entry 1 10 $v4:0a02:0001 'RoCE v2'
	entry 1 11 fd77:0000:0000:0000:0000:0000:0000:0001 'RoCE v2'
	entry 2 0 $v4:0a02:0009 'RoCE v2'
	echo '4: ACTIVE' >gids/class/infiniband/roce0/ports/1/state
	echo '1: DOWN' >gids/class/infiniband/roce0/ports/2/state
}

gid_tables() {
	make_gids
	export SYSFS_PATH=$tmp/gids
	run 0 gids; aligned; err_empty; lines 8
	out_has '^DEVICE +PORT +INDEX +GID +IPV4 +TYPE +NETDEV$'
	out_has '^roce0 +1 +0 +fe80::202:c9ff:fe00:1 +- +RoCE v1 +lo$'
	out_has '^roce0 +1 +10 +::ffff:10.2.0.1 +10.2.0.1 +RoCE v2 +lo$'
	run 0 gids roce0; lines 8
	run 0 gids roce0/2; lines 2; out_has '^roce0 +2 +0 '
	run 0 gids -C roce0 -P 2; lines 2
	run 0 -j gids; err_empty
	json 'map(.index) == [0, 1, 4, 5, 10, 11, 0]'
	json '.[4] | .gid == "::ffff:10.2.0.1" and .ipv4 == "10.2.0.1" and
		.type == "RoCE v2" and .netdev == "lo" and .port == 1 and
		.device == "roce0" and .note == null'
	json '.[0].ipv4 == null'
	run 4 gids roce0/3; out_empty; err_has "'roce0' has no port 3"
	run 4 gids roce1; out_empty; err_has "no device 'roce1'"
	run 4 gids roce1/3; out_empty; err_has "no device 'roce1'"
	run 4 -j gids roce1; json '. == []'
	# A GID of an unknown type does not hide other entries from ibsa gids.
	entry 1 12 fd77:0000:0000:0000:0000:0000:0000:0002 'RoCE v3'
	run 0 gids; aligned; lines 9
	out_has '^roce0 +1 +12 +- +- +- +- +its GID or type is not understood$'
	run 0 gids --for fd77::9 -a; out_has '12 .* cannot be read: its GID'
	rm gids/class/infiniband/roce0/ports/1/gids/*
	run 0 gids; lines 2
	rm gids/class/infiniband/roce0/ports/2/gids/*
	run 1 gids; out_empty; err_has 'tables are empty'
	for SYSFS_PATH in "$tmp/empty" "$tmp/nothing"; do
		mkdir -p empty/class/infiniband nothing/class
		run 4 gids; out_empty; err_has 'no InfiniBand'
		run 4 -j gids; json '. == []'
	done
	unset SYSFS_PATH
}

# index_for ADDRESS INDEX - check that ibsa gids --for ADDRESS chooses the entry
# INDEX, both when it prints this entry alone and with -a
index_for() {
	run 0 -j gids --for "$1"; err_empty
	json "length == 1 and .[0].index == $2 and .[0].fit == \"chosen\""
	run 0 -j gids -a --for "$1"
	json "length == 7 and (map(select(.fit == \"chosen\")) |
		length == 1 and .[0].index == $2)"
}

gid_for_an_address() {
	make_gids
	export SYSFS_PATH=$tmp/gids
	index_for 10.1.0.9 5
	index_for 10.2.0.9 10
	index_for ::ffff:10.2.0.9 10
	index_for fd77::9 11
	index_for fe80::9 1
	run 0 gids --for 10.1.0.9; aligned; lines 2
	out_has ' 10.1.0.1 .* chosen: RoCE v2, IPv4, 28 leading bits the same$'
	run 0 gids --for 10.1.0.9 --all; aligned; lines 8
	out_has '^roce0 +1 +0 .* not IPv4, as the address is$'
	out_has '^roce0 +1 +4 .* RoCE v1, the chosen one is not$'
	out_has '^roce0 +1 +10 .* only 14 leading bits the same$'
	out_has '^roce0 +2 +0 .* its port is not active$'
	run 0 gids --for fd77::9 -a
	out_has '^roce0 +1 +1 .* link-local, the address is not$'
	out_has '^roce0 +1 +5 .* IPv4, the address is not$'
	run 1 gids roce0/2 --for 10.2.0.8; out_empty
	err_has 'for 10.2.0.8: 1 of ports that are not active$'
	run 1 -j gids roce0/2 --for fd77::9; json '. == []'
	err_has '1 of ports that are not active'
	rm gids/class/infiniband/roce0/ports/1/gids/{4,5,10,11}
	run 1 gids roce0/1 --for fd77::9; err_has 'fd77::9: 2 link-local$'
	run 1 gids roce0/1 --for 10.1.0.1 -a; lines 3
	err_has '10.1.0.1: 2 of IPv6, but the address is of IPv4$'
	unset SYSFS_PATH
}

gids_of_a_fabric() {
	on 0 gids; aligned; err_empty; lines 7
	out_has '^node1 mlx5_0 +2 +0 +fe80::2:c903:0:12 +- +IB +-$'
	on 0 gids 'node1 mlx5_0'; lines 3
	on 0 gids 'node1 mlx5_0/2'; lines 2
	on 0 -j gids -C größe; json 'length == 1 and .[0].device == "größe"'
	on 4 gids node9; out_empty; err_has "no device 'node9'"
	on 4 gids 'node1 mlx5_0/3'; err_has "'node1 mlx5_0' has no port 3"
	on 4 gids 'node9/3'; err_has "no device 'node9'"
	on 0 gids --for fe80::2:c903:0:12; lines 2
	out_has ' fe80::2:c903:0:12 .* chosen: IB, 128 leading bits the same$'
	on 0 gids -a --for fe80::1; lines 7; out_has 'as good, but later$'
	on 1 gids --for 10.0.0.1; err_has '6 of IPv6, but the address is of IPv4$'
	run 4 --fabric "$tmp/nothing.net" gids; err_has 'nothing.net'
}

# The command finds the example fabrics relative to its executable, also when
# the installed tree has been moved.
examples_are_found() {
	! is_emulated || return 0
	mkdir -p moved/bin moved/share/ibsa/fabrics
	cp "$ibsa" moved/bin/ibsa
	cp "$fabric" moved/share/ibsa/fabrics/small.net
	what='moved/bin/ibsa devices'
	LD_LIBRARY_PATH=$libdir SYSFS_PATH=$tmp/nothing moved/bin/ibsa \
		devices >out 2>err
	err_has "fabric exec $(realpath moved)/share/ibsa/fabrics/small.net -- bash"
	cp "$fabric" moved/share/ibsa/fabrics/four-hosts.net
	cp "$fabric" moved/share/ibsa/fabrics/a.net
	what='moved/bin/ibsa'
	LD_LIBRARY_PATH=$libdir SYSFS_PATH=$tmp/nothing moved/bin/ibsa >out 2>err
	[ $? -eq 2 ] || fail 'not exit status 2'
	out_empty; err_has 'usage: ibsa'
	err_has 'this machine has no InfiniBand device|no sysfs at /sys'
	err_has 'fabrics/four-hosts.net -- bash'
	LD_LIBRARY_PATH=$libdir moved/bin/ibsa --fabric a.net path 1 2 >out 2>err
	err_has 'cannot read a.net: No such file'
	err_has 'to use the example with this name, give its path: .*/moved/share/ibsa/fabrics/a.net$'
	rm moved/share/ibsa/fabrics/*
	LD_LIBRARY_PATH=$libdir SYSFS_PATH=$tmp/nothing moved/bin/ibsa >out 2>err
	err_has 'the examples are not installed in '
	run 0 --fabric "$fabric"; err_empty; out_has '^host '
}

paths() {
	local one two lid
	on 0 -j devices
	lid=$(jq '.[] | select(.guid == "0x0002c90300000021") | .lid' out)
	one=fe80::2:c903:0:11
	two=fe80::2:c903:0:21
	on 0 path $one $two; lines 2; aligned; err_empty
	out_has '^SLID +DLID +MTU +RATE +SL +PKEY +LIFETIME +SGID +DGID$'
	out_has " $one +$two\$"
	cp out same
	for dst in "gid:$two" 0x2c90300000021 guid:0x2c90300000021 'node2 mlx5_0' \
		node2 NODE2 name:node2 'Node2 MLX5_0'; do
		on 0 path self "$dst"
		cmp -s out same || fail 'not the same path'
	done
	for dst in "$lid" "lid:$lid"; do
		on 0 path self "$dst"; out_has "^[0-9]+ +$lid "
	done
	on 0 -C 'node1 mlx5_0' -P 2 path self node2; out_has ' fe80::2:c903:0:12 '
	on 0 path node2 'größe'; lines 2
	on 0 path node2 'leaf two'; lines 2
	on 0 path -v node2 node1; err_has ' 1 try, '
	out_has '^dgid +fe80::2:c903:0:11$'; out_has '^dgid +fe80::2:c903:0:12$'
	on 0 -j path self node2
	json 'length == 1 and (.[0] | .dgid == "'$two'" and .dlid == '"$lid"')'
	json '.[0] | (.mtu | type) == "number" and (.rate | type) == "number"'
	json '.[0] | .mtu_text == "2048" and .rate_text == "100Gb/s"'
	json '.[0].service_id == "0x0000000000000000"'
	on 0 -j path --all self node2; json 'length >= 1'
	on 0 -j path self node2 -a sl=0; json 'all(.[]; .sl == 0)'
	on 0 path self node2 pkey=0xffff
	on 1 path self fe80::dead:beef; out_empty; err_has 'no path'
	on 1 -j path self fe80::dead:beef
	json 'length == 1 and .[0].reason_code == "unknown-port"'
	on 1 path self nobody; out_empty; err_has nobody
	on 1 -j path self nobody; json 'map(.reason_code) == ["no-name"]'
	on 1 path node1 leaf2
	on 2 path self leaf; err_has 'leaf one.*leaf two'; out_empty
	on 0 path self node3; lines 2; out_has '^mlx5_0 +mlx5_0 '
	on 0 path self 'node3 mlx5_1'; lines 2
	on 0 path self 0x5; cp out same
	for dst in 5 0X0005 lid:0x5; do
		on 0 path self $dst; cmp -s out same || fail 'not the same path'
	done
	on 1 path self 0xc000; on 0 path self guid:2c90300000021
	on 1 path self guid:0000000000000005
	on 2 path self node2 rate=40 rate_selector=2; err_has 'type 40Gb'
	on 2 path self node2 mtu=0 mtu_selector=2; err_has '256, 512'
	on 1 path self node2 mtu=4096 mtu_selector=2; out_empty
	err_has 'no path from self to node2 .*: mtu 4096; without this constraint there is a path'
	on 1 path self node2 mtu=4096; err_has ': mtu 4096; without this constraint'
	on 0 -j path self node2 mtu=2048; json '.[0].mtu_text == "2048"'
	json '.[0] | .mtu_bytes == 2048 and .rate_gbps == 100 and .pkey == "0xffff"'
	on 0 --format csv path self node2 --fields rate_gbps,pkey,mtu_bytes
	[ "$(tail -n 1 out)" = 100,0xffff,2048 ] || fail 'other values'
	on 0 path self node2 --fields mtu_bytes; out_has '^MTU_BYTES$'
	on 0 -j path self größe; json '.[0].rate_gbps == 40'
	on 1 -j path self nobody
	json '.[0] | .rate_gbps == null and .mtu_bytes == null and .pkey == null'
	on 0 -j devices; json 'all(.[]; .rate_gbps == null or .rate_gbps >= 2.5)'
	on 0 -j path self node2 mtu=2048 'rate>=100Gb' 'packet_life_time<=18'
	json '.[0] | .rate_text == "100Gb/s" and .packet_life_time <= 18'
	on 1 path self größe 'rate>=100Gb'
	err_has 'rate>=100Gb; without this constraint there is a path with rate 40'
	on 0 path self größe 'rate<=40Gb'
	on 1 -j path self node2 'rate>100Gb'
	json 'map(.reason_code) == ["constraint"]'
	on 1 path self node2 mtu=2048 mtu_selector=0
	err_has 'mtu greater than 2048; without this constraint'
	on 2 path self node2 mtu=2048 'mtu>=1024'; err_has 'mtu is given twice'
	on 2 path self node2 mtu_selector=2 'mtu>=1024'; err_has 'use = with mtu'
	on 2 path self node2 mtu_selector=2 mtu_selector=2 mtu=2048
	err_has 'mtu_selector is given twice'
	on 1 path self größe 'rate>=10'
	err_has 'rate>=10 \(120Gb/s\); without this constraint there is a path with rate 40'
	on 0 path self größe 'rate>=10Gb'
	printf 'Switch 2 "s"\n[1] "h"[2]\nCa 2 "h"\n' >second.net
	run 4 --fabric second.net -C h -P 1 path self 1
	err_has 'port 1 of h is not connected in second.net'
	on 1 path self 49152; err_has 'no port with multicast LID 49152'
	on 2 path self node2 'sl>=1'; err_has "cannot compare 'sl' of PathRec"
	on 1 path self node2 sl=0 mtu_selector=0 mtu=4096
	err_has ': mtu greater than 4096; without this constraint there is a path with mtu 2048'
	on 1 path self fe80::dead:beef sl=0
	err_has 'dead:beef: unknown, or in no partition of this port: '
	on 1 -j path self fe80::dead:beef
	json 'length == 1 and (.[0] | .dgid == "fe80::dead:beef" and .dlid == null)'
	json '.[0].reason == "unknown, or in no partition of this port"'
	json '.[0].detail | startswith("unknown, or")'
	on 1 path self fe80::dead:beef --format csv; lines 2
	out_has ',fe80::dead:beef,.*,"unknown, or in no part'
	on 0 -j path self node2; json '.[0] | has("reason") and .reason == null'
	on 1 -j path self nobody; json '.[0].reason == "no such name"'
	json '.[0] | (.sgid | startswith("fe80:")) and .dgid == null'
	json '.[0].detail | startswith("no such name: nobody: the SA shows no")'
	on 1 -v path self lid:99; err_has '^ibsa: reason: 1 query, 1 try$'
	on 0 -v topology; err_has '^ibsa: topology: 4 queries, 4 tries$'
	on 0 --sa fe80::2:c903:0:11 path self node2; err_empty
	on 4 --sa fe80::dead path self node2; err_has 'the LID for this GID is not known'
	on 2 path self node2 sgid=self; err_has 'SRC and DST already give the ends'
	on 2 path self node2 dlid=4; err_has 'SRC and DST already give the ends'
	on 2 path self ::; err_has "'::' is not a GID of a port"
	on 2 path self node2 mtu=10240; err_has 'cannot have the MTU 10240; .* and 4096'
	on 1 path self 2001::1; err_has '2001::1: another subnet: '
	on 0 --sa pkey_index=0 path self node2
	on 0 --sa pkey_index=0,sl=0 path self node2
	on 0 path -- self node2
}

records() {
	on 0 query table NodeRecord; aligned
	err_has 'the table leaves out fields that are not zero: base_version, .*; to show them, use -v$'
	sentences 1
	out_has '^LID +NODE_TYPE .* NODE_DESCRIPTION$'; lines 9
	what='a table that cannot be written'
	"$ibsa" --fabric "$fabric" query table NR >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	sentences 1; err_has '^ibsa: cannot write to standard output: No space'
	what='a table to a closed standard output'
	"$ibsa" --fabric "$fabric" query table NR >&- 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	sentences 1; err_has '^ibsa: cannot write to standard output: '
	on 0 query table nr 'node_description=node2 mlx5_0'; lines 2
	on 0 query table NR node-type=switch; lines 3
	on 0 query table NR port_guid=0x2c90300000021 -v
	out_has '^node_guid +0x0002c90300000020$'; err_has 'GetTable: 1 try'
	on 0 query get NR port_guid=0x2c90300000021
	out_has '^node_description  +node2 mlx5_0$'; err_empty
	awk '!/^[^ ]+  / || substr($0, 18, 3) !~ /^  [^ ]/ { bad = 1 }
		END { exit bad }' out ||
		fail 'values are not aligned'
	on 0 query table NR -j
	json 'length == 8 and all(.[]; (.lid | type) == "number")'
	json 'all(.[]; .node_guid | test("^0x[0-9a-f]{16}$"))'
	json 'any(.[]; .node_description == "größe")'
	json 'map(.node_type_text) | unique == ["CA", "switch"]'
	[ "$(wc -l <out)" -eq 10 ] || fail 'not one object a line'
	on 0 query table PIR port_state=Active; aligned
	on 0 -j query get CPI; json 'length == 1 and .[0].class_version == 2'
	on 1 query table NR lid=40000; out_empty; err_has 'no record'
	on 1 -j query table NR lid=40000; json '. == []'
	on 1 -v query table NR lid=40000; out_empty
	on 0 -j query set SR service_id=0x1234 service_gid=fe80::2:c903:0:11 \
		service_pkey=0xffff service_lease=60 service_name=printer
	json '.[0] | .service_id == "0x0000000000001234" and .service_name == "printer"'
	json '.[0] | .service_data8_16 == 0 and .service_data64_2 == "0x0000000000000000"'
	on 1 query delete SR service_id=0x1234 service_gid=fe80::2:c903:0:11 \
		service_pkey=0xffff
	on 5 query get NodeRecord; out_empty; err_has 'refused.*0x0[1-9]00'
	on 5 -j query get NodeRecord; out_empty
	on 0 query table LinkRecord; aligned; err_empty
	on 0 query multi MPR sgid=fe80::2:c903:0:11 dgid=fe80::2:c903:0:21 \
		sgid=fe80::2:c903:0:21 -v
	[ "$(grep -c '^dlid ' out)" -eq 2 ] || fail 'not two paths'
	err_has '^ibsa: MultiPathRecord GetMulti: 1 try.* 2 records'
	on 0 -j query multi MPR sgid=self dgid=fe80::2:c903:0:21
	json 'length == 1 and .[0].sgid == "fe80::2:c903:0:11"'
	on 0 -j query table PR sgid=self slid=1 'rate>=100Gb'
	json 'length > 0 and all(.[]; .sgid == "fe80::2:c903:0:11")'
	on 2 query table NR node_guid=self; err_has "'self' is not valid"
	on 2 query get PR sgid=self sgid=::1; err_has 'sgid is given twice'
	on 1 query table SR service_gid=self; err_has 'no record'
	on 1 query multi MPR sgid=fe80::2:c903:0:11 dgid=fe80::dead; out_empty
	on 1 -j query multi MPR sgid=fe80::2:c903:0:11 dgid=fe80::dead
	json '. == []'
	on 2 query multi MPR sgid=fe80; err_has "'fe80': sgid takes a GID"
	on 2 query multi MPR sgid=::1 sgid_count=1; err_has 'given twice'
	on 2 query multi MPR sgid=::{1,2,3,4,5,6} dgid=::{1,2,3,4,5,6}
	err_has 'no more than 11'
	on 5 query multi NodeRecord; out_empty; err_has 'not supported'
	on 1 query table PIR lid=1; out_empty; err_has 'endport_lid, not by lid'
	for i in 1 2 3 4 5 6; do echo "p$i=0x$i : ALL=full;"; done >parts
	run 0 fabric exec --partitions parts "$fabric" -- "$ibsa" \
		query table PKTR --sm-key 1
	out_has ' 0x8003$'; err_has 'not zero: pkey_5, pkey_6, pkey_7; to show them, use -v'
}

services() {
	local gid=fe80::2:c903:0:11
	on 2 service lists; err_has "unknown action 'lists': .* list, lookup"
	on 2 service list service_nam=x; err_has "did you mean 'service_name'"
	on 2 service register 0x1234 printer --lease 0; err_has 'infinite'
	on 2 service register --renew 1 printer service_lease=0; err_has 'from 1 to .*infinite'
	on 2 service register --renew 1 printer service_gid=::; err_has 'service_gid is zero'
	on 2 service register 0x1234 ''; err_has '1 to 64 bytes'
	on 1 service list; out_empty; err_has 'no service.*embedded'
	on 1 -j service list; json '. == []'
	on 1 service list service_name=printer; err_has 'with these fields'
	on 1 service lookup printer; out_empty; err_has "'printer'; .*embedded"
	on 1 -j service lookup 0x1234; json '. == []'
	on 1 service lookup 4660; err_has "no service '4660'.* write id: before"
	on 1 service lookup 0x1234; [ "$(grep -c id: err)" -eq 0 ] ||
		fail 'says how to write an id'
	on 1 service unregister 0x1234; out_empty
	err_has "0x1234 of $gid with P_Key 0xffff.* type: ibsa service list"
	[ "$(wc -l <err)" -eq 1 ] || fail 'not one sentence'
	on 0 service register 0x1234 printer; lines 2; aligned
	out_has '^ID +GID +PKEY +LEASE +NAME$'
	out_has "^0x0000000000001234 +$gid +0xffff +infinite +printer\$"
	err_has 'only this process sees'
	on 0 service register 4660 'größe\x01' --lease 60
	out_has '^0x0000000000001234 .* 60 +größe\\x01$'
	on 0 service register 1 printer --lease infinite; out_has ' infinite '
	on 0 service register 1 name service_lease=7; out_has ' 7 '
	on 0 service register 1 name service_lease=infinite
	out_has ' infinite '
	on 1 service list service_lease=infinite; err_has 'with these fields'
	on 0 -v service register 0xffffffffffffffff printer service_data8_1=9
	out_has '^service_data8_1 +0x09$'; out_has '^service_lease +infinite$'
	err_has ' 1 try, '
	on 0 -j service register 0x1234 printer service_gid=fe80::2:c903:0:21
	json 'length == 1 and (.[0] | .service_gid == "fe80::2:c903:0:21")'
	json '.[0] | .service_lease == 4294967295 and .service_pkey == "0xffff"'
	on 5 service register 0x1234 printer service_gid=fe80::dead:beef
	out_empty; err_has 'refused.*0x0200.*service_gid must be'
	on 5 service register 0x1234 printer service_pkey=0x8123; out_empty
	on 3 --sa 40000 -t 200 service list; err_has 'did not answer'
	on 3 --sa 40000 -t 200 service register 0x1234 printer; out_empty
	on 4 -C nobody service list; err_has nobody
	on 4 -C nobody service register 0x1234 printer
}

# await FILE TEXT - wait until FILE has a line that matches TEXT
await() {
	local _
	for _ in {1..200}; do
		grep -Eq -- "$2" "$1" && return
		sleep 0.05
	done
	fail "no '$2' in ten seconds"
}

# spawn ARG... - run ibsa in the background, with SIGINT and SIGHUP at their
# defaults: bash ignores SIGINT in background commands, and nohup ignores SIGHUP
spawn() {
	what="ibsa $*"
	checks=$((checks + 1))
	: >out
	: >err
	env --default-signal=INT,HUP "$ibsa" --fabric "$fabric" "$@" \
		>out 2>err </dev/null &
	holder=$!
}

hold() {
	spawn service register --renew "$@"
}

# ends STATUS [SIGNAL...] - send the signals to the command that spawn started,
# and check its exit status
ends() {
	local want=$1 got=0 signal
	shift
	for signal; do
		kill -"$signal" "$holder"
	done
	ended "$holder" || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want"
	if grep -Eq 'Sanitizer|runtime error' err; then
		fail 'a sanitizer speaks'
	fi
}

renewed_services() {
	local signal lease at='^[0-9]{4}-[0-9-]{5}T[0-9:]{8}Z +'
	lease=$(default LEASE_S)
	for signal in INT TERM HUP; do
		hold 0x1234 printer
		await out registered
		ends 0 "$signal"
		lines 2; err_has 'only this process sees'
		out_has "$at"'registered {8}0x0000000000001234 +fe80::.* '"$lease +printer\$"
		out_has "$at"'removed {11}0x0000000000001234 '
	done
	hold 0x1234 printer
	await out registered
	ends 0 INT INT TERM # as timeout(1) does
	lines 2
	hold -j 0x1234 printer --lease infinite service_data8_1=7
	await out '"registered"'
	ends 0 TERM
	what='ibsa -j service register --renew, as JSON'
	jq -se 'map(.event) == ["registered", "removed"] and all(.[];
		.service_lease == 4294967295 and .service_data8_1 == 7 and
		.reason == null and .status == 0 and (.time | length) == 20)' \
		out >jq.out || fail 'not these events'
	on 5 service register --renew 0x1234 printer service_gid=fe80::dead:beef
	err_has 'refused.*service_gid must be'; out_has 'refused'; lines 1
	on 4 -C nobody service register --renew 0x1234 printer; out_empty
	hold 0x1234 printer --sa 40000 -t 300
	await out 'failed .*does not answer$'
	ends 3 TERM; err_has 'may stay registered until its lease ends'
	hold 0x1234 printer --sa 40000 -t 2000
	await out 'failed ' # so it was sent, and is to be removed
	kill -TERM "$holder"
	sleep 0.7
	ends 130 INT; err_has 'may stay registered'
	# If the reader of the command's output closes the pipe, the command
	# ends without a message.
	what='ibsa service register --renew into a pipe'
	timeout -s KILL 20 "$ibsa" --fabric "$fabric" \
		service register --renew 1 printer \
		2>err | head -1 >out
	[ "${PIPESTATUS[0]}" -eq 0 ] || fail 'exit status is not 0'
	lines 1; out_has registered; [ "$(wc -l <err)" -eq 1 ] || fail 'not quiet'
	what='ibsa service register --renew >/dev/full'
	"$ibsa" --fabric "$fabric" service register --renew 1 printer \
		>/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'No space left'
	what='nohup ibsa service register --renew'
	: >out
	env --ignore-signal=HUP "$ibsa" --fabric "$fabric" \
		service register --renew 1 printer >out 2>err &
	holder=$!
	await out registered
	kill -HUP "$holder"
	sleep 0.2
	kill -0 "$holder" || fail 'ended by SIGHUP'
	ends 0 TERM
}

watched_events() {
	local signal at='^[0-9]{4}-[0-9-]{5}T[0-9:]{8}\.[0-9]{3}Z +'
	for signal in INT TERM HUP; do
		spawn watch
		await out subscribed
		ends 0 "$signal"
		lines 2; err_has 'only this process uses it'
		out_has "$at"'subscribed +- +- +port 1$'
		out_has "$at"'ended +- +- +port 1$'
	done
	spawn watch gid link-state self node2 0x2c9030000abcd fe80::1 ff12::1
	await out subscribed
	ends 0 INT INT TERM # as timeout(1) does
	lines 2
	spawn -j watch all
	await out '"subscribed"'
	ends 0 TERM
	what='ibsa -j watch, as JSON'
	jq -se 'map(.event) == ["subscribed", "ended"] and
		.[0].sequence < .[1].sequence and all(.[];
		(.time | length) == 24 and .port == 1 and .status == 0 and
		.audited == 0 and
		([.trap, .gid, .lid, .name, .reason] | all(. == null)))' \
		out >jq.out || fail 'not these events'
	spawn watch --audit-nodes gid
	await out subscribed
	ends 0 TERM
	lines 2
	run 2 --fabric "$fabric" watch --audit-nodes group; out_empty
	err_has 'add one of them'
	run 1 --fabric "$fabric" watch nobody; out_empty; err_has 'no node'
	err_has "neither a node's name nor a kind of event"
	run 1 --fabric "$fabric" watch name:nobody; out_empty
	! grep -q 'kind of event' err || fail 'a name is no event'
	run 2 --fabric "$fabric" watch gid 12; out_empty; err_has 'is a LID'
	run 2 --fabric "$fabric" watch gid:12; out_empty
	run 4 --fabric "$fabric" -C nobody watch; out_empty
	spawn watch --sa 40000 -t 300
	await out 'failed .*does not answer$'
	ends 3 TERM; err_has 'may continue to send reports'
	spawn watch --sa 40000 -t 300
	await out 'failed .*does not answer$'
	kill -TERM "$holder"
	sleep 0.6
	ends 130 INT; err_has 'may continue to send reports'
	what='ibsa watch into a pipe'
	timeout -s KILL 20 "$ibsa" --fabric "$fabric" watch \
		2>err | head -1 >out
	[ "${PIPESTATUS[0]}" -eq 0 ] || fail 'exit status is not 0'
	lines 1; out_has subscribed; [ "$(wc -l <err)" -eq 1 ] || fail 'not quiet'
	what='ibsa watch >/dev/full'
	"$ibsa" --fabric "$fabric" watch >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'No space left'
	run 0 watch --help
	out_has '^  gid-out +a port left'
}

addresses_and_keys() {
	on 0 -j devices
	local lid
	lid=$(jq '.[0].sm_lid' out)
	for sa in "$lid" "lid=$lid" "lid=$lid,sl=0,qpn=1,pkey_index=0,lmc=0"; do
		on 0 --sa "$sa" path self node2
	done
	on 3 --sa 40000 -t 200 query get CPI; out_empty
	err_has 'LID 40000 did not answer \(1 try\)'
	on 3 -j --sa 40000 -t 200 path self node2; out_empty
	printf '0x1234\nnot the key\n' >key
	on 3 --sm-key @key -t 200 --sa 40000 query get CPI
	chmod 0 key
}

unusable_fabrics() {
	run 4 --fabric /nonexistent devices; out_empty; err_has nonexistent
	run 4 --fabric /nonexistent path self 1; err_has nonexistent
	echo 'Switch what' >bad.net
	run 2 --fabric bad.net devices; out_empty; err_has bad.net
	run 2 --fabric bad.net path self 1
	on 4 -C nobody path self 1; err_has nobody
	on 4 -P 9 path self 1
	on 4 -C 'node2 mlx5_0' -P 2 path self 1
	cp "$fabric" secret.net
	chmod 0 secret.net
	chmod 755 .
	what='secret.net by nobody'
	local as=()
	[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid 65534 --clear-groups)
	if "${as[@]}" "$ibsa" -V >out 2>err; then
		"${as[@]}" "$ibsa" --fabric secret.net devices >out 2>err
		[ $? -eq 4 ] || fail 'exit status is not 4'
		err_has '[Pp]ermi'
	fi
}

# If standard output is closed, a file that the command opens must not get
# descriptor 1.
closed_files_stay_closed() {
	what='devices >&-'
	"$ibsa" --fabric /proc/self/fd/1 devices >&- 2>err
	err_has 'channel adapter'
}

output_that_fails() {
	what='ibsa -j service list >/dev/full'
	"$ibsa" --fabric "$fabric" -j service list >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'No space left'
	what='> /dev/full'
	"$ibsa" --fabric "$fabric" devices >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'No space left'
	what='>&-'
	"$ibsa" --fabric "$fabric" devices >&- 2>err
	[ $? -eq 4 ] || fail 'exit status is not 4'
	: >out
	exec 3> >(:)
	wait $!
	what='a reader that is gone'
	"$ibsa" --fabric "$fabric" query table NR >&3 2>err
	[ $? -eq 141 ] || fail 'not ended by SIGPIPE'
	err_empty
	(trap '' PIPE; exec "$ibsa" --fabric "$fabric" query table NR >&3 2>err) ||
		fail 'EPIPE is not quiet'
	err_empty
	exec 3>&-
}

interrupted() {
	what='SIGINT'
	timeout --foreground --preserve-status -s INT 1 "$ibsa" --fabric "$fabric" \
		--sa 40000 query get CPI >out 2>err
	[ $? -eq 130 ] || fail 'exit status is not 130'
	out_empty; err_empty
}

waiting_is_shown_on_a_terminal() {
	what='on a terminal'
	script -qec "'$ibsa' --fabric '$fabric' -t 1600 --sa 40000 query get CPI" \
		/dev/null >out 2>err </dev/null
	[ $? -eq 3 ] || fail 'exit status is not 3'
	out_has 'waiting for the SA \(try [2-9]\)\.\.\.'
	tr '\r' '\n' <out | grep -q $'\033\[Kibsa: ' || fail 'not erased'
	on 3 -t 1200 --sa 40000 query get CPI
	if grep -q waiting err; then
		fail 'shown without a terminal'
	fi
}

# Each message is one write(), so that messages of several processes are not
# mixed.
sentences_come_whole() {
	what='ibsa path one two, its standard error a socket of datagrams'
	python3 - "$ibsa" >out 2>err <<-'SOCKET' || fail 'not in one piece'
		import socket, subprocess, sys
		ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
		subprocess.run([sys.argv[1], "path", "one"], stderr=its.fileno())
		text = ours.recv(4096)
		sys.exit(not (text.startswith(b"ibsa: ") and text.endswith(b"\n")))
	SOCKET
}

run_groups help_on_each_level wrong_command_lines \
	removed_options_name_the_new_ones formats_are_those_of_the_command \
	device_lists \
	node_of_environment machine_lists gid_tables gid_for_an_address \
	gids_of_a_fabric examples_are_found paths records services \
	renewed_services watched_events addresses_and_keys unusable_fabrics \
	closed_files_stay_closed output_that_fails sentences_come_whole \
	interrupted \
	waiting_is_shown_on_a_terminal
