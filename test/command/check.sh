#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: check.sh IBSA LIBDIR FABRIC LARGE
#
# Tests "ibsa check" of a fabric: its table, JSON, the output as a monitoring
# plugin, and the comparison with files (--expect). FABRIC is a topology file,
# LARGE one of 10,000 hosts, LIBDIR the directory of libibsa.so.1.
# shellcheck source=test/command/support.sh
large=$(realpath "$4")
. "$(dirname "$0")/support.sh"
unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp

cat >whole.net <<'END'
switchguid=0x100
Switch 8 "leaf1"
[1] "h1"[1] 4xEDR
[2] "h2"[1] 4xEDR
[7] "spine"[1] 4xHDR
[8] "spine"[2] 4xHDR
switchguid=0x200
Switch 8 "leaf2"
[1] "h3"[1] 4xEDR
[7] "spine"[7] 4xHDR
switchguid=0x300
Switch 8 "spine"
caguid=0x1000
Ca 1 "h1" # "host1 mlx5_0"
caguid=0x2000
Ca 1 "h2" # "host2 mlx5_0"
caguid=0x3000
Ca 1 "h3" # "host3 mlx5_0"
END

# found [LINE...] - check that the findings on standard output, without the
# heading, are these lines in any order; the columns severity, node_guid and
# port are left out
found() {
	awk 'NR > 1 { $2 = $3 = $4 = ""; print }' out | tr -s ' ' | sort >got
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; fi | sort >want
	cmp -s want got || fail "not these findings: $*"
}

# served COMMAND... - run a command with a fabric server of whole.net; its
# output is in exec.out
served() { "$ibsa" fabric exec whole.net -- "$@" >exec.out 2>&1; }

nothing_is_found_on_a_whole_fabric() {
	local record
	try 0 --fabric whole.net check; out_empty; err_empty
	try 0 --fabric whole.net check -j; [ "$(cat out)" = '[]' ] || fail 'rows'
	try 0 --fabric whole.net check --nagios; lines 1
	out_has "^IBSA OK: 6 nodes, 6 links \\| 'findings'=0 'critical'=0 'nodes'=6 "
	try 0 --fabric whole.net check -v
	for record in PathRecord SMInfoRecord; do
		err_has "^ibsa: $record GetTable: 1 try, reply .* ms after the last try, [16] records?,"
	done
	try 0 --fabric whole.net check --format csv
	out_has '^finding,severity,node_guid,port,what'
	what='ibsa check on a terminal'
	script -qec "'$ibsa' --fabric whole.net check" /dev/null >out </dev/null
	out_has '^no findings: 3 adapters, 3 switches, 6 links.?$'
}

files_are_compared() {
	local file
	"$ibsa" --fabric whole.net topology --format net >whole.out
	for file in whole.net whole.out; do
		try 0 --fabric whole.net check --expect $file; out_empty
		err_empty
	done
	# In the records of the SA, a link with FDR10 has QDR. The check accepts
	# this.
	sed 's/HDR/FDR10/' whole.net >fdr10.net
	try 0 --fabric fdr10.net check --expect fdr10.net; out_empty
	sed 's/^.3. "h3".*//; s/"h2"..\?1. 4xEDR/"h3"[1] 4xEDR/' whole.net |
		sed '/^Switch 8 "leaf2"/,/^\[7/s/^\[1\] "h3"/[1] "h2"/;
			s/^\[8\] "spine"\[2\] 4xHDR/[6] "spine"[2] 1xHDR/' >other.net
	try 1 --fabric other.net check --expect whole.out; aligned
	found 'moved leaf1 port 2 is connected to host3 mlx5_0 port 1, expected is host2 mlx5_0 port 1' \
		'moved leaf2 port 1 is connected to host2 mlx5_0 port 1, expected is host3 mlx5_0 port 1' \
		'moved spine port 2 is connected to leaf1 port 6, expected is leaf1 port 8'
	try 1 --fabric other.net check --expect whole.out -j
	json 'length == 3 and all(.finding == "moved" and .severity ==
		"critical" and .port > 0)'
	try 2 --fabric other.net check --expect whole.out --nagios
	out_has '^IBSA CRITICAL: 3 findings, moved: leaf1 port 2 is '
}

missing_and_new_nodes_are_found() {
	grep -v h3 whole.net | grep -v 0x3000 >less.net
	try 1 --fabric less.net check --expect whole.net
	found 'missing host3 mlx5_0 is missing (port 1 to leaf2 port 1)'
	try 1 --fabric whole.net check --expect less.net
	found 'new host3 mlx5_0 is new (port 1 to leaf2 port 1)'
	try 1 --fabric whole.net check --expect less.net --nagios
	out_has "^IBSA WARNING: 1 finding, new: .* \\| 'findings'=1 'critical'=0"
}

changes_of_a_running_fabric_are_found() {
	# shellcheck disable=SC2016 # for the inner shell
	served bash -c '
		"$0" fabric link down leaf1/8
		"$0" check --expect whole.net >cut; echo $? >>cut
		"$0" fabric link up leaf1/8
		"$0" fabric link speed leaf1/7 1xSDR
		"$0" check >slow; echo $? >>slow
		"$0" check --expect whole.net >slower; echo $? >>slower
		"$0" fabric link speed leaf1/7 4xHDR
		"$0" check --expect whole.net >repaired; echo $? >>repaired' "$ibsa"
	cp exec.out err
	tail -n 1 cut | grep -qx 1 || fail 'the cut is no finding'
	cp cut out; grep -v '^1$' cut >out
	found 'missing leaf1 port 8 to spine port 2 is missing'
	grep -v '^1$' slow >out
	found 'link-degraded leaf1 port 7 to spine port 1 runs at 1xSDR, but both ends support 4xHDR'
	grep -v '^1$' slower >out
	found 'slower leaf1 port 7 to spine port 1 runs at 1xSDR, expected is 4xHDR'
	[ "$(cat repaired)" = 0 ] || fail 'a finding after the repair'
}

# Record a capture, and change a copy so that the SA returns a second SM in
# state master: "ibsa check" must report it.
a_second_master_is_found() {
	try 0 --fabric whole.net --record one.pcap check
	try 0 --fabric one.pcap check; out_empty
	python3 - one.pcap two.pcap <<-'END'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		at = 0
		# Base version, class, class version, GetTableResp; SMInfoRecord.
		while data[at + 16:at + 18] != b"\x00\x18":
		    at = data.index(b"\x01\x03\x02\x92", at + 1)
		data[at + 88:at + 120] = data[at + 56:at + 88]
		data[at + 88 + 11] ^= 1
		# The length of the segment: 20 bytes of header, two records.
		data[at + 32:at + 36] = (20 + 64).to_bytes(4, "big")
		open(sys.argv[2], "wb").write(data)
	END
	try 1 --fabric two.pcap check; lines 2
	out_has '^two-masters +critical +- +- +the SMs at the ports 0x0*1001 and 0x0*1000 are both master$'
}

# Record a capture, and change a copy so that the SA returns a port of h1 that is
# not active. A file of such a fabric has the state of the port.
a_file_has_the_states_of_ports() {
	try 0 --fabric whole.net --record one.pcap check
	python3 - one.pcap init.pcap <<-'END'
		import sys
		data = bytearray(open(sys.argv[1], "rb").read())
		# Base version, class, class version, GetTableResp; PortInfoRecord.
		start = b"\x01\x03\x02\x92"
		starts = [at for at in range(len(data)) if data[at:at + 4] == start
		          and data[at + 16:at + 18] == b"\x00\x12"]
		# Each segment has 200 bytes of the table, each record has 72. The
		# state is in the lower half of byte 32 of PortInfo, which follows
		# 4 bytes with the LID and the port. h1 has LID 1.
		at = [start + 56 + i for start in starts for i in range(200)]
		record = next(i for i in range(0, len(at), 72)
		              if data[at[i]:at[i] + 3] == b"\x00\x01\x01")
		state = at[record + 4 + 32]
		data[state] = data[state] & 0xf0 | 2
		open(sys.argv[2], "wb").write(data)
	END
	try 1 --fabric init.pcap check
	found 'link-down leaf1 port 1 to host1 mlx5_0 port 1 is not active: Active and Init'
	try 0 --fabric init.pcap topology --format net; cp out init.net
	grep '"host1 \|"leaf1"' init.net | grep -q '^\[1\](1001).* 4xEDR state=Init$' ||
		fail 'no state of the port'
	[ "$(grep -c state= init.net)" = 1 ] || fail 'states of other ports'
	try 0 --fabric whole.net check --expect init.net; out_empty
}

wrong_files_are_refused() {
	try 2 --fabric whole.net check --expect none; err_has "cannot read 'none'"
	: >empty
	try 2 --fabric whole.net check --expect empty; err_has 'empty: there is no node'
	echo 'Switch' >bad
	try 2 --fabric whole.net check --expect bad; err_has 'bad:1: '
	local text
	for text in '[{"node": "a"}]' '{"node": "a"}' ' [' '['; do
		printf '%s' "$text" >bad
		try 2 --fabric whole.net check --expect bad
		err_has '--expect: bad: this is JSON, .*write it with ibsa topology --format net'
	done
	printf '# a comment\r' >bad
	try 2 --fabric whole.net check --expect bad; err_has 'there is no node'
}

# A file of --expect may be a pipe, which can be read only once.
pipes_are_read_once() {
	try 0 --fabric whole.net check --expect <(cat whole.net); out_empty
	err_empty
	mkfifo fifo
	(sleep 0.2; cat whole.net >fifo) &
	try 0 --fabric whole.net check --expect fifo; out_empty
	wait
	rm fifo
	try 2 --fabric whole.net check --expect <(echo 'Switch'); err_has ':1: '
	mkfifo fifo
	try 2 --fabric whole.net -t 100 check --expect fifo
	err_has 'no program writes to this FIFO'
	rm fifo
	try 2 --fabric whole.net check --expect <(:); err_has 'there is no node'
	try 2 --fabric whole.net check --expect /dev/null
	err_has '/dev/null: there is no node'
	try 2 --fabric whole.net check --expect /dev/zero
	err_has "cannot read '/dev/zero': it has more than 256 MB"
	truncate -s 268435457 large
	try 2 --fabric whole.net check --expect large
	err_has "cannot read 'large': it has more than 256 MB"
	rm large
	try 2 --fabric whole.net check --expect .
	err_has "cannot read '.': Is a directory"
}

# If links are left out because their LIDs have more than 16 bits, ibsa check
# reports this as a finding.
links_that_are_left_out_are_a_finding() {
	local opa='fabric exec --opa --first-lid 70000 whole.net --'
	# shellcheck disable=SC2086 # several words
	try 1 $opa "$ibsa" check --expect whole.net
	lines 2; out_has '^hidden +warning +- .* records of the SA have a LID that'
	# shellcheck disable=SC2086 # several words
	try 1 $opa "$ibsa" check --nagios
	out_has '^IBSA WARNING: 1 finding, hidden: [0-9]+ records of the SA have'
}

# LIDs, states and rates that a file does not have are null in JSON.
a_file_without_lids_is_compared() {
	try 0 topology whole.net -j
	json 'all(.lid == null and .peer_lid == null)'
	sed 's/ 4x[EH]DR//' whole.net >norate.net
	try 0 --fabric whole.net check --expect norate.net; out_empty
	try 0 topology norate.net -j
	json 'all(.width == null and .speed == null and .rate == null)'
}

usage_is_checked() {
	try 2 check nodes; err_has "'nodes' is neither the word node nor a topology file"
	try 2 check --rate '>=1'; err_has 'check of the fabric has no option --rate'
	try 4 fabric exec whole.net -- "$ibsa" check node -C leaf1
	err_has "'leaf1' is a switch; choose a host of the fabric with -C"
	try 0 check --help; out_has '--expect FILE'
	try 3 fabric exec whole.net --fault silence=100 -- "$ibsa" -t 100 check
	try 3 fabric exec whole.net --fault silence=100 -- "$ibsa" -t 100 check \
		--nagios
	out_has '^IBSA UNKNOWN: '; ! grep -q 'did not answer' err ||
		fail 'the sentence is printed twice'
}

# plugin STATUS WORDS ARG... - check that check --nagios prints one line that
# begins with WORDS
plugin() {
	local want=$1 words=$2
	shift 2
	try "$want" "$@" --nagios
	lines 1; err_empty
	out_has "^IBSA $words"
}

a_plugin_prints_one_line() {
	sed 's/"host3 mlx5_0"/" "/' whole.net >noname.net
	grep -v h3 whole.net | grep -v 0x3000 >less.net
	sed 's/1. "spine".1. 4xHDR/1] "spine"[1] 1xSDR/
		s/^.7. "spine".1. 4xHDR/[7] "spine"[1] 1xSDR/' whole.net >slow.net
	grep -v '"spine".2.' whole.net >cut.net
	local silent='fabric exec --fault silence=100 whole.net --'
	plugin 0 "OK: 6 nodes, 6 links \\| 'findings'=0 'critical'=0 'nodes'=6 'switches'=3 'links'=6$" \
		--fabric whole.net check
	plugin 0 'OK: 6 nodes' --fabric whole.net check --expect whole.net
	try 3 --fabric none.net check --nagio; err_empty
	out_has '^IBSA UNKNOWN: cannot read none.net'
	plugin 1 'WARNING: 1 finding, no-name: node 0x0*3000 has no description \\| ' \
		--fabric noname.net check
	plugin 1 'WARNING: 1 finding, new: host3 mlx5_0 is new' \
		--fabric whole.net check --expect less.net
	plugin 1 'WARNING: 1 finding, slower: leaf1 port 7' \
		--fabric slow.net check --expect whole.net
	plugin 2 'CRITICAL: 1 finding, missing: host3 mlx5_0 is missing' \
		--fabric less.net check --expect whole.net
	plugin 2 'CRITICAL: 1 finding, missing: leaf1 port 8 to spine port 2' \
		--fabric cut.net check --expect whole.net
	plugin 2 'CRITICAL: 1 finding, two-masters: ' --fabric two.pcap check
	sed "s/host3 mlx5_0/a|'findings'=9\\x27 \xff\xc3\xa9/" whole.net >odd.net
	plugin 2 "CRITICAL: 1 finding, missing: a_'findings'=9' .xffé is missing [^|]*\\| 'findings'=1 [^|]*\$" \
		--fabric less.net check --expect odd.net
	# shellcheck disable=SC2086 # words
	plugin 3 'UNKNOWN: the SA at LID 1 did not answer' \
		$silent "$ibsa" -t 100 check
	plugin 3 'UNKNOWN: no subnet manager has configured the port' \
		fabric exec --sa none whole.net -- "$ibsa" -t 100 check
	plugin 3 'UNKNOWN: this port is down' fabric exec whole.net -- bash -c \
		'"$0" fabric link down h1/1; "$0" check "$@"' "$ibsa"
	plugin 3 "UNKNOWN: --expect: cannot read 'none'" \
		--fabric whole.net check --expect none
	plugin 3 'UNKNOWN: cannot read none.net' --fabric none.net check
	plugin 3 'UNKNOWN: no fabric server is at' --fabric unix:none check
	plugin 3 "UNKNOWN: unknown option '--bogus'" check --bogus
	plugin 3 'UNKNOWN: after check, .extra. is neither the word node nor' check extra
}

# A large fabric with three faults: one cable is cut, the cables of two hosts
# are swapped, and one link is slower.
a_large_fabric_is_checked() {
	python3 - "$large" changed.net <<-'SWAP'
		import re, sys
		lines = open(sys.argv[1], encoding="ascii").read().split("\n")
		# Swap the leaf's ports of its first two hosts, in the lines of
		# both ends of their cables.
		node = ""
		ends = []
		for i, line in enumerate(lines):
		    match = re.match(r'Switch\s+\d+ "(.*?)"\s+# "(.*?)"', line)
		    if match:
		        node = match[2]
		    match = re.match(r'\[(\d+)\]\s+"(H-.*?)"\[1\]', line)
		    if match and node == "Pod1Leaf1" and len(ends) < 2:
		        ends.append((i, match[1], match[2]))
		(i, a, x), (j, b, y) = ends
		lines[i], lines[j] = (lines[j].replace(f"[{b}]", f"[{a}]", 1),
		                      lines[i].replace(f"[{a}]", f"[{b}]", 1))
		for k, line in enumerate(lines):
		    for guid, old, new in ((x, a, b), (y, b, a)):
		        if line.startswith("Ca\t") and f'"{guid}"' in line:
		            lines[k + 1] = lines[k + 1].replace(f"[{old}] ", f"[{new}] ", 1).replace(f"[{old}]\t", f"[{new}]\t", 1)
		print(a, b)
		open(sys.argv[2], "w", encoding="ascii").write("\n".join(lines))
	SWAP
	what='check of 10,000 hosts'
	"$ibsa" --fabric "$large" topology --format net >expected.net 2>err ||
		fail 'topology fails'
	# shellcheck disable=SC2016
	"$ibsa" fabric exec changed.net -- bash -c '
		"$0" fabric link down Pod2Leaf1/20
		"$0" fabric link speed Pod3Leaf1/21 1xSDR
		"$0" check --expect expected.net >out; echo $? >status' "$ibsa" >err 2>&1
	[ "$(cat status)" = 1 ] || fail 'exit status'
	awk 'NR > 1 { print $1 }' out | sort | tr '\n' ' ' >got
	[ "$(cat got)" = 'missing moved moved slower ' ] || fail 'other findings'
	grep -q '^missing .*Pod2Leaf1 port 20' out || fail 'the cut'
	grep -q '^slower .*Pod3Leaf1 port 21 .*1xSDR, expected is 4xQDR' out ||
		fail 'the slow one'
	[ "$(grep -c '^moved .*Pod1Leaf1 port' out)" = 2 ] || fail 'the swap'
	try 0 --fabric "$large" check --expect expected.net; out_empty; err_empty
}

run_groups nothing_is_found_on_a_whole_fabric files_are_compared \
	missing_and_new_nodes_are_found changes_of_a_running_fabric_are_found \
	a_second_master_is_found a_file_has_the_states_of_ports \
	a_plugin_prints_one_line wrong_files_are_refused pipes_are_read_once \
	links_that_are_left_out_are_a_finding \
	a_file_without_lids_is_compared usage_is_checked \
	a_large_fabric_is_checked
