#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: check_node.sh IBSA LIBDIR FABRIC PAGE SYSFS
#
# Tests "ibsa check node" in each situation: its table, JSON, the output as a
# monitoring plugin, and the line for NHC (the Node Health Check of clusters)
# in the manual page PAGE. SYSFS has sample trees of /sys.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

page=$4
sysfs=$5
unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp

# Two rails (a switch each) with a link between them. Nodes n1 and n2 have a
# device at each rail; "dual" has both its ports at the first rail.
cat >rails.net <<'END'
Switch	6 "leaf0"
[1]	"n1 mlx5_0"[1]	# 4xEDR
[2]	"n2 mlx5_0"[1]	# 4xEDR
[3]	"dual"[1]	# 4xEDR
[4]	"dual"[2]	# 4xEDR
[5]	"slow"[1]	# 1xSDR
[6]	"leaf1"[6]	# 4xHDR

Switch	6 "leaf1"
[1]	"n1 mlx5_1"[1]	# 4xHDR
[2]	"n2 mlx5_1"[1]	# 4xHDR
[6]	"leaf0"[6]	# 4xHDR

Ca	1 "n1 mlx5_0"
Ca	1 "n2 mlx5_0"
Ca	1 "n1 mlx5_1"
Ca	1 "n2 mlx5_1"
Ca	2 "dual"
Ca	1 "slow"
END

# All ports are full members of the default partition. Of P_Key 1, mlx5_0 of n2
# is a full member, and mlx5_0 of n1 a limited one.
cat >partitions.conf <<'END'
Default=0x7fff, ipoib : ALL=full ;
one=0x1 : 0x100001=limited, 0x100003=full ;
END

# try STATUS ARG... - run ibsa check node, which writes findings to standard
# output, so that standard error may be empty
try() {
	local want=$1 got=0
	shift
	what="ibsa check node $*"
	checks=$((checks + 1))
	"$ibsa" check node "$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want"
	! grep -Eq 'Sanitizer|runtime error' err || fail 'a sanitizer speaks'
	save check node "$@"
}

# plugin STATUS ARG... - run ibsa check node --nagios, and check that it prints
# one line, whose performance data have the form of the Nagios plugin guidelines
plugin() {
	local words=(OK WARNING CRITICAL UNKNOWN)
	local number='[0-9]+(\.[0-9]+)?'
	local datum=" '[^'=|]+'=$number(ms)?(;$number:($number)?)?"
	try "$@" --nagios
	lines 1; err_empty
	grep -Eq "^IBSA ${words[$1]}: [^|]+( \|($datum)+)?\$" out ||
		fail 'not the line of a plugin'
	[ "$(wc -c <out)" -lt 4096 ] || fail 'longer than what Nagios reads'
}

# found EXIT PLUGIN KIND TEXT ARG... - check a situation with one finding: the
# exit status, that of --nagios, and the finding's kind and text
found() {
	local exit=$1 plugin=$2 kind=$3 text=$4
	shift 4
	try "$exit" "$@"
	lines 2
	aligned
	out_has "^$kind  .*$text"
	try "$exit" -j "$@"
	# shellcheck disable=SC2016 # jq's
	jq -e --arg kind "$kind" --arg text "$text" 'length == 1 and
		.[0].finding == $kind and (.[0].what | test($text)) and
		(.[0].severity | IN("warning", "critical"))' \
		out >jq.out 2>&1 || fail "no $kind in JSON"
	plugin "$plugin" "$@"
	out_has ": 1 finding, $kind: .*$text.* \\| 'findings'=1 "
	healthy no "$@"
}

# fine ARG... - check that there are no findings, in each form of output
fine() {
	try 0 "$@"
	out_empty
	err_empty
	try 0 -j "$@"
	json '. == []'
	plugin 0 "$@"
	out_has " \\| 'findings'=0 "
	healthy yes "$@"
}

# cannot EXIT PLUGIN TEXT ARG... - check a situation in which ibsa check node
# cannot check something: both exit statuses and the message
cannot() {
	local exit=$1 plugin=$2 text=$3 shape
	shift 3
	try "$exit" "$@"
	out_empty
	err_has "$text"
	plugin "$plugin" "$@"
	healthy no "$@"
	# Nothing that means "no findings".
	for shape in -j --format=ndjson --format=csv; do
		try "$exit" "$shape" "$@"
		out_empty
	done
}

# The options and the expression of check_cmd_output in the manual page's
# example for NHC.
nhc=$(sed 's/\\-/-/g' "$page" | sed -n \
	's/^\* || check_cmd_output \(.*\) ibsa check node --nagios$/\1/p')

# healthy yes|no ARG... - check the result of NHC's check_cmd_output for the
# command: the exit status equals that of -r, and at least one line matches -m,
# /REGEX/
healthy() {
	local want=$1 is=no OPTIND=1 option status=0 match='' got=0 line
	shift
	eval "set -- $nhc -- ${*@Q}"
	while getopts 't:r:m:' option; do
		case "$option" in
		r) status=$OPTARG ;;
		m) match=${OPTARG#/} ;;
		t) ;;
		*) fail 'an option of the page that NHC does not have' ;;
		esac
	done
	shift $((OPTIND - 1))
	[[ $match == */ ]] || fail "no expression in the page: '$nhc'"
	what="NHC: ibsa check node --nagios $*"
	checks=$((checks + 1))
	"$ibsa" check node --nagios "$@" >out 2>err </dev/null || got=$?
	while read -r line; do
		[[ $line =~ ${match%/} ]] && [ "$got" -eq "$status" ] && is=yes
	done <out
	[ "$is" = "$want" ] || fail "healthy: $is, not $want"
}

on_a_file() {
	local here=(--fabric rails.net)
	fine "${here[@]}"
	plugin 0 "${here[@]}" n2
	out_has "OK: 2 ports, 1 peer \\| 'findings'=0 'ports'=2 'peers'=1"
	out_has "'rate mlx5_0/1'=100 'sa mlx5_0/1'=[0-9.]+ms 'rate mlx5_1/1'=200"
	fine "${here[@]}" --rate 100 --pkey 0xffff --pkey 0x7fff n2 dual self
	plugin 0 "${here[@]}" --rate '>=100gb'
	out_has "'rate mlx5_0/1'=100;100: "
	found 1 1 rate-low 'mlx5_0/1 runs at 100 Gb/s, expected is >=200 Gb/s' \
		"${here[@]}" --rate '>=200Gb/s'
	found 1 1 rate-low 'slow/1 runs at 2.5 Gb/s, expected is >2.5 Gb/s' "${here[@]}" \
		-C slow --rate '>2.5'
	found 1 1 rate-low 'mlx5_1/1 runs at 200 Gb/s, expected is =100 Gb/s' "${here[@]}" \
		--rate =100
	out_has "'rate mlx5_1/1'=200;100:100 "
	fine "${here[@]}" -C 'n1 mlx5_1' --rate '>=200'
	run 2 check node "${here[@]}" --rate '>=100GB'; out_empty
	err_has "'>=100GB' is not a rate in Gb/s"
	found 1 2 no-pkey 'slow/1 does not have P_Key 0x8001' "${here[@]}" \
		-C slow --pkey 0x8001
	found 1 2 peer-unreachable "no SA shows a node with the name 'n3'" "${here[@]}" \
		n2 n3
	found 1 2 peer-unreachable 'no SA shows a port with the LID 99' "${here[@]}" 99
	found 1 2 peer-unreachable 'no path to 0x1234567890' "${here[@]}" \
		0x1234567890
	found 1 2 peer-unreachable 'no path to fe80::99' "${here[@]}" fe80::99
	cannot 4 2 'there is no port 9; list the ports' "${here[@]}" -P 9
	cannot 4 3 'cannot read none.net' --fabric none.net
}

# Options and IBSA_NODE may name a node by its node id, which is "a" in Ca 1 "a"
# # "n1 mlx5_0".
ids_name_nodes() {
	cat >ids.net <<-'END'
		Switch 4 "s" # "leaf"
		[1] "a"[1]
		[2] "b"[1]
		[3] "t"[1]
		Switch 4 "t" # "leaf two"
		Ca 1 "a" # "n1 mlx5_0"
		Ca 1 "b" # "n1 mlx5_0"
	END
	plugin 0 --fabric ids.net -C b
	out_has 'OK: 1 port, '
	IBSA_NODE=b plugin 0 --fabric ids.net
	out_has 'OK: 1 port, '
	IBSA_NODE=a/1 plugin 0 --fabric ids.net
	out_has 'OK: 1 port, '
	run 0 devices --fabric ids.net -j b
	json 'length == 1 and .[0].lid == 2'
	run 0 gids --fabric ids.net -j b
	json 'length == 1'
	run 0 env ucx --fabric ids.net -C b
	run 0 doctor --fabric ids.net -j b
	json 'all(.[]; .device == "n1 mlx5_0" or .device == null)'
}

# With several findings, the line of --nagios names a critical one rather than a
# warning.
two_findings_are_two_lines() {
	try 1 --fabric rails.net --rate 200 --pkey 0x8001
	lines 4
	plugin 2 --fabric rails.net --rate 200 --pkey 0x8001
	out_has 'CRITICAL: 3 findings, no-pkey: '
}

# serve ARG... - start a fabric server of rails.net, and set IBSA_FABRIC to it
serve() {
	mkfifo ready
	"$ibsa" fabric run rails.net --socket "$tmp/s" "$@" >ready 2>server.err &
	server=$!
	read -r _ <ready || fail "no server: $(cat server.err)"
	rm ready
	export IBSA_FABRIC=unix:$tmp/s
}

end_server() {
	kill "$server"
	ended "$server"
	unset IBSA_FABRIC
}

# change ARG... - change the fabric
change() {
	"$ibsa" fabric "$@" >out 2>err || fail "fabric $* fails"
}

on_a_server() {
	serve
	fine
	fine -C dual 'name:n2 mlx5_0' lid:1
	change link down dual/2
	# It was up, but no option and no peer says that it should be.
	found 1 1 port-down 'ibsa0/2 is not active: .*; it was up before' \
		-C dual
	err_empty # of a plugin
	try 1 -C dual
	err_has 'if port ibsa0/2 is unused, select the ports in use with --device, or give it'
	fine -C dual -P 1
	found 1 2 port-down 'ibsa0/2 is not active' -C dual -P 2
	try 1 -C dual -P 2
	err_empty
	cannot 4 2 'the fabric has no node n9' -C n9
	cannot 4 2 'no port 7' -C dual -P 7
	change link up dual/2
	change link down 'n2 mlx5_1/1'
	found 1 2 peer-unreachable "no SA shows a node with the name 'n2 mlx5_1'" \
		'n2 mlx5_1'
	change link up 'n2 mlx5_1/1'
	fine 'n2 mlx5_1'
	change fault silence=100
	found 1 2 no-sa 'ibsa0/1: the SA did not answer' -t 300
	change fault none
	change fault busy=100
	found 1 2 no-sa 'ibsa0/1: the SA was busy' -t 300
	change fault none
	change sm stop
	found 1 2 no-sm 'no subnet manager has configured ibsa0/1'
	change sm start
	fine
	end_server
}

# A port that is only a limited member of a P_Key does not satisfy --pkey with
# full membership.
members_are_told_apart() {
	serve --partitions partitions.conf
	fine -C 'n2 mlx5_0' --pkey 0x8001 --pkey 0x1
	fine -C 'n1 mlx5_0' --pkey 0x0001
	found 1 2 no-pkey 'mlx5_0/1 is only a limited member of P_Key 0x8001, and --pkey requires full membership' \
		-C 'n1 mlx5_0' --pkey 0x8001
	found 1 2 no-pkey 'ibsa0/1 does not have P_Key 0x8001' -C slow \
		--pkey 0x8001
	end_server
}

# A file of peers may have comments, empty lines and blanks. A malformed line is
# refused with its number.
peers_come_from_a_file() {
	printf '# peers\n\n  n2\t\nlid:1\r\ndual\n' >peers
	fine --fabric rails.net --peers peers
	plugin 0 --fabric rails.net --peers peers slow
	out_has "'peers'=4"
	printf 'n2\nguid:x\n' >peers
	try 2 --fabric rails.net --peers peers
	err_has "peers, line 2: 'x' is not a GUID"
	try 2 --fabric rails.net --peers nothing
	err_has "cannot read 'nothing'"
	plugin 3 --fabric rails.net --peers nothing
	printf '\xef\xbb\xbfn2\n' >peers; fine --fabric rails.net --peers peers
	printf '\xef\xbb\xbf# peers\nn2\n' >peers
	fine --fabric rails.net --peers peers
	printf 'n2\0 n3\n' >peers
	try 2 --fabric rails.net --peers peers
	err_has 'peers, line 1: there is a NUL byte in it'
	# Nothing is checked with a file without a peer, or with a pattern.
	printf '# nobody\n\n' >peers
	try 2 --fabric rails.net --peers peers n2
	err_has "no peer in 'peers'; write one on each line, or remove --peers$"
	plugin 3 --fabric rails.net --peers peers
	printf 'n2\nn[0-9]*\n' >peers
	try 1 --fabric rails.net --peers peers; lines 2
	out_has "name 'n\[0-9\]\*', and a peer is not a pattern: name each host$"
	head -c 1100 /dev/zero | tr '\0' x >peers
	try 2 --fabric rails.net --peers peers
	err_has 'peers, line 1: it is too long'
}

# A file of peers that never ends, or from which nothing can be read, is refused.
files_without_an_end_are_refused() {
	local file
	mkfifo silent
	try 2 -t 300 --fabric rails.net --peers silent
	err_has "cannot read 'silent': no program writes to this FIFO"
	for file in /dev/zero .; do
		try 2 --fabric rails.net --peers "$file"
		err_has "^ibsa: --peers: cannot read '$file': "
		out_empty
		run 2 topology --fabric rails.net --node-name-map "$file"
		err_has "^ibsa: --node-name-map: cannot read '$file': "
	done
	try 0 --fabric rails.net --peers <(sleep 0.2; echo n2); out_empty; err_empty
}

# A peer that cannot be a port, or that names several nodes, is an error in the
# command line.
peers_that_cannot_be() {
	local peer
	while read -r peer text; do
		try 2 --fabric ids.net a "$peer"
		out_empty
		err_has "^ibsa: $text"
		sentences 1
		plugin 3 --fabric ids.net a "$peer"
	done <<-'END'
		:: '::' is not a GID of a port
		70000 '70000' is not a LID .1 to 65534.
		leaf 'leaf' is the name of several nodes: .* use a GUID
	END
}

# With --nagios, an option for the form of data (such as -j) is refused; this
# error and a failed write end with exit status 3.
plugins_end_as_plugins() {
	local shape
	for shape in -j --format=ndjson --format=csv --fields=what; do
		what="check node --nagios $shape"
		"$ibsa" check node --nagios "$shape" >out 2>err
		[ $? -eq 3 ] || fail 'not UNKNOWN'
		lines 1
		out_has '^IBSA UNKNOWN: check --nagios has no option --[a-z]+$'
		err_empty
	done
	what='check node --nagios >/dev/full'
	for shape in '--fabric rails.net' '--fabric none.net' --wrong; do
		# shellcheck disable=SC2086 # two words
		"$ibsa" check node --nagios $shape >/dev/full 2>err
		[ $? -eq 3 ] || fail 'not UNKNOWN'
		err_has 'cannot write to standard output'; sentences 1
	done
}

# Performance data of ports for which the line has no room are left out.
lines_are_short() {
	local i
	{
		for i in {1..120}; do
			printf 'Ca 1 "h mlx5_%d"\n[1] "s"[%d]\n' "$i" "$i"
		done
		echo 'Switch 120 "s"'
	} >many.net
	plugin 0 --fabric many.net -C h
	out_has '^IBSA OK: 120 ports, '
}

on_trees_of_sys() {
	export SYSFS_PATH
	SYSFS_PATH=$sysfs/two_devices/sys
	cannot 4 3 'cannot be checked: .*/dev/infiniband/umad1'
	try 4
	err_has 'mlx5_0/1 is left out: it is down, and nothing shows that'
	found 1 2 port-down 'mlx5_0/1 is not active: state Down, .* Polling' \
		-C mlx5_0
	SYSFS_PATH=$sysfs/ib_one_port/sys
	cannot 4 3 'cannot be checked: .*/dev/infiniband/umad0'
	cannot 4 3 'cannot be checked: .*/dev/infiniband/umad0' n2
	cannot 4 2 "no device 'mlx5_7'" -C mlx5_7
	cannot 4 2 "has no port 3" -C mlx5_0 -P 3
	SYSFS_PATH=$sysfs/roce_rxe/sys
	fine
	found 1 1 rate-low 'runs at 2.5 Gb/s' --rate 10
	found 1 2 peer-unreachable 'no port can query an SA' n2
	SYSFS_PATH=$sysfs/switch/sys
	cannot 4 2 'no InfiniBand port'
	mkdir -p empty/class/infiniband
	SYSFS_PATH=$tmp/empty
	cannot 4 2 'no InfiniBand device'
	SYSFS_PATH=$tmp/none
	cannot 4 2 'no sysfs at /sys, or at SYSFS_PATH if that is set'
	unset SYSFS_PATH
}

wrong_command_lines() {
	local words
	while read -ra words; do
		run 2 "${words[@]}"
		out_empty
		sentences 1
		what="ibsa ${words[*]} --nagios"
		"$ibsa" "${words[@]}" --nagios >out 2>err
		[ $? -eq 3 ] || fail 'not UNKNOWN'
		lines 1; err_empty
		out_has '^IBSA UNKNOWN: '
	done <<-'END'
		check what
		check node --rate 0
		check node --rate >=
		check node --rate 100Mb
		check node --rate 1.25
		check node --rate 100000
		check node --pkey 0x8000
		check node --pkey 0x18001
		check node guid:x
		check node --fabric rails.net --lease 5
	END
}

hostile_names_are_clean() {
	printf 'Switch 2 "s"\n[1] "h\e[31m|x=\x27\xff"[1]\n[2] "b"[1]\n' >bad.net
	printf 'Ca 1 "h\e[31m|x=\x27\xff"\nCa 1 "b"\n' >>bad.net
	plugin 0 --fabric bad.net
	try 1 --fabric bad.net $'\e[1m\n|n'
	lines 2
	aligned
	plugin 2 --fabric bad.net $'\e[1m\n|n'
	! LC_ALL=C grep -q "$(printf '[\001-\011\013-\037\177-\377]')" out ||
		fail 'control characters'
}

run_groups on_a_file two_findings_are_two_lines on_a_server \
	ids_name_nodes members_are_told_apart peers_come_from_a_file \
	files_without_an_end_are_refused peers_that_cannot_be \
	plugins_end_as_plugins lines_are_short on_trees_of_sys \
	wrong_command_lines hostile_names_are_clean
