#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: topology.sh IBSA LIBDIR FABRIC LARGE
#
# Tests "ibsa topology": its table, JSON, the format of ibnetdiscover, and
# drawings. LARGE is a topology file of 10,000 hosts.
large=$(realpath "$4")
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# Two leaves under a spine, a host with two ports, a host without a cable.
cat >tree.net <<'END'
Switch 4 "leaf1"
[1] "h1"[1] 4xEDR
[2] "h2"[1] 4xEDR
[3] "h2"[2] 1xHDR
[4] "spine"[1] 4xHDR
Switch 4 "leaf2"
[1] "h10"[1] 4xEDR
[4] "spine"[2] 4xHDR
Switch 4 "spine"
caguid=0x1001
Ca 1 "h1" # "host1 mlx5_0"
caguid=0x1010
Ca 2 "h2" # "host2 mlx5_0"
caguid=0x1020
Ca 1 "h10" # "host10 mlx5_1"
END

# on_tree STATUS ARG... - run ibsa topology on the fabric tree.net
on_tree() {
	local want=$1
	shift
	run "$want" --fabric tree.net topology "$@"
}

links_are_listed_from_above() {
	on_tree 0; aligned; lines 7; err_empty
	out_has '^LEVEL  NODE +PORT  PEER +PEER_PORT  WIDTH  SPEED$'
	[ "$(awk '{ print $2, $3, $4 }' out | tr '\n' ,)" = \
		"NODE PORT PEER,spine 1 leaf1,spine 2 leaf2,leaf1 1 host1,leaf1 2 host2,leaf1 3 host2,leaf2 1 host10," ] ||
		fail 'another order'
	out_has '^1 +leaf1 +3 +host2 mlx5_0 +2 +1x +HDR$'
	on_tree 0 -v; out_has '^peer_node_guid +0x0000000000001010$'
}

json_has_both_ends() {
	on_tree 0 -j; err_empty
	json 'length == 6'
	json '[.[] | select(.peer_node_guid == "0x0000000000001010")] |
		length == 2 and .[0].port_guid == .[1].port_guid and
		.[0].peer_port_guid == "0x0000000000001011" and
		.[1].peer_port_guid == "0x0000000000001012" and
		all(.level == 1 and .ends == 2 and .state_text == "Active")'
	json '.[0] | .node == "spine" and .width == "4x" and .speed == "HDR" and
		.rate_text == "200Gb/s" and .node_type_text == "switch" and
		.peer_num_ports == 4 and .lid > 0 and .peer_lid > 0'
}

# topology --format net writes a topology file, from which a fabric is loaded that has
# the same topology, apart from LIDs. (Another test compares the file with
# ibnetdiscover's.)
net_loads_back() {
	on_tree 0 --format net; err_empty
	cp out copy.net
	out_has '^Switch.4 "S-[0-9a-f]{16}".*# "leaf1" base port 0 lid [0-9]+ lmc 0$'
	out_has '^\[2\]\(1012\) ."S-.*"\[3\].*"leaf1" lid [0-9]+ 1xHDR$'
	on_tree 0 -j
	jq -S 'map(del(.lid, .peer_lid))' out >want
	run 0 --fabric copy.net topology -j
	jq -S 'map(del(.lid, .peer_lid))' out >got
	cmp want got || fail 'another fabric'
}

a_pattern_selects_adapters() {
	on_tree 0 --device 'mlx5_[1]'
	out_has 'host10 mlx5_1'
	grep -q mlx5_0 out && fail 'an adapter of the other rail'
	on_tree 0 --device '*' -j; json 'length == 6'
	on_tree 0 --device 'mlx5_1*' --format net
	grep -q mlx5_0 out && fail 'an adapter of the other rail'
	cp out rail.net
	run 0 topology rail.net -j; json '[.[] | select(.peer_node_type == 1)] | length == 1'
	on_tree 1 --device 'mlx6_*'; err_has "matches 'mlx6_\*'"
	echo '0x1020 "host10 mlx6_0"' >map
	on_tree 0 --device 'mlx6_*' --node-name-map map
	out_has ' host10 mlx6_0 '
	on_tree 0 --device host1
	on_tree 4 --device nobody
}

# Leaf switches of other rails, and what is connected only with them, are left out
# of a rail.
switches_of_other_rails_are_left_out() {
	on_tree 0 --device 'mlx5_[1]'
	grep -q leaf1 out && fail 'a switch of the other rail'
	out_has '^1 +leaf2 +1 +host10'; out_has '^2 +spine +2 +leaf2'
	{ cat tree.net; printf 'Switch 2 "far"\n[1] "far2"[1]\nSwitch 2 "far2"\n'; } >far.net
	run 0 topology far.net; out_has far2
	local args
	for args in '' -j --format=net --format=dot; do
		# shellcheck disable=SC2086 # words
		run 0 topology far.net --device 'mlx5_[1]' $args
		out_has leaf2
		grep -Eq 'far|leaf1' out && fail 'a switch of no rail'
	done
}

names_come_from_a_map() {
	cat >map <<-'END'
		# a comment
		0x1001 "first \"host""

		  0x0000000000001020	tenth node # more
		0x1020 "second"
		0x1010 ""
		0x1010
	END
	on_tree 0 --node-name-map map; out_has ' first \\ '
	out_has ' tenth node '; out_has ' host2 mlx5_0 '
	on_tree 0 --node-name-map map --format net
	out_has '# "first ." lid'
	on_tree 0 --node-name-map <(cat map); out_has ' tenth node '
	on_tree 2 --node-name-map none; err_has "cannot read 'none'"
	echo '0x1001"name"' >map
	on_tree 2 --node-name-map map; err_has 'map:1: a line is'
	printf '0x1001 "a"\n\0\n' >map
	on_tree 2 --node-name-map map; err_has 'map:2: a line is'
	echo '0x10012345678901234 "name"' >map
	on_tree 2 --node-name-map map; err_has 'map:1: a line is'
	on_tree 2 --node-name-map .; err_has 'cannot read'
}

# The requester is a limited member of the default partition: it gets no records
# of other limited members, and so no links.
a_node_without_a_link_has_a_line() {
	echo 'Default=0x7fff: ALL=limited, SELF=full;' >limited.conf
	run 0 fabric exec --partitions limited.conf tree.net -- env \
		IBSA_NODE='host10 mlx5_1' "$ibsa" topology
	out_has '^1 +0 +host10 mlx5_1 +- +- +- +- +-$'; out_has '^ISLAND  LEVEL'
	run 0 fabric exec --partitions limited.conf tree.net -- env \
		IBSA_NODE='host10 mlx5_1' "$ibsa" topology -j
	json '.[] | select(.node == "host10 mlx5_1") | .peer == null and
		.ends == null and .lid > 0'
}

# Names may contain anything.
names_are_made_valid() {
	printf 'Switch 4 "s" # "\033[31mred\r"\n[1] "a"[1] 4xEDR\n[2] "b"[1] 4xEDR\nCa 1 "a" # "say "hi" \\ \377\376 \342\200\256x"\nCa 1 "b" # "x\" lid 7 1xSDR #"\n' >odd.net
	local args
	for args in '' -v -j --format=csv --format=dot --format=svg --format=net; do
		# shellcheck disable=SC2086
		run 0 --fabric odd.net topology $args
		iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 ||
			fail 'output that is not UTF-8'
		# Lines of CSV end in CR and LF.
		sed 's/\r$//' out | LC_ALL=C grep -q "$(printf '[\033\r]')" &&
			fail 'a control character'
	done
	run 0 --fabric odd.net topology -j; json 'length == 2'
	run 0 --fabric odd.net topology --format csv
	python3 -c 'import csv; assert len(list(csv.reader(open("out", newline=""),
		strict=True))) == 3' || fail 'no CSV'
	run 0 --fabric odd.net topology --format svg
	python3 -c 'import xml.dom.minidom as m; m.parse("out")' || fail 'no XML'
	run 0 --fabric odd.net topology --format net
	cp out again.net
	run 0 --fabric again.net topology -j
	json '.[0] | .node == "\\x1b[31mred\\x0d"'
	json 'map(.peer) | sort == ["say \"hi\" \\ \\xff\\xfe \\xe2\\x80\\xaex",
		"x\" lid 7 1xSDR #"]'
}

drawings_are_made() {
	on_tree 0 --format dot; out_has '^graph fabric \{'
	out_has 'label="spine"'; out_has 'label="host10 mlx5_1"'
	grep -q PEER out && fail 'a drawing and a table'
	on_tree 0 --format svg --device 'mlx5_[1]'; out_has '^<svg'
	grep -q host1 out || fail 'no host'
	grep -q 'host2' out && fail 'a host of the other rail'
	on_tree 2 --format dot --format net; err_has 'two formats'
	on_tree 2 --format svg -j; err_has 'two formats'
	on_tree 2 --format svg --fields node; err_has 'format svg has no fields'
	on_tree 2 --all; err_has '--format dot or --format svg'
}

# A file may omit the rate of a link: ibsa then shows no rate, not that of
# another link.
unknown_rates_are_empty() {
	sed '0,/ 4xEDR/s///' tree.net >norate.net
	run 0 topology norate.net; aligned
	out_has '^1 +leaf1 +1 +host1 mlx5_0 +1 +- +-$'
	run 0 topology norate.net --format dot
	out_has '\[label="unknown rate", '; out_has 'label="cables are 4x'
}

# If the reader closes the pipe, a drawing ends as a table does, without a message.
nobody_reads_a_drawing() {
	local format
	for format in table svg; do
		what="ibsa topology --format $format into a closed pipe"
		{
			sleep 0.1
			"$ibsa" topology tree.net --format $format 2>err
			echo $? >$format.status
		} | true
		err_empty
	done
	cmp -s table.status svg.status || fail "exit status $(cat svg.status)"
}

# With more than 128 boxes, the pods of a fat tree and the switches above them
# are drawn as one box each.
a_large_fabric_is_drawn_by_groups() {
	local begin=$SECONDS
	run 0 --fabric "$large" topology --format dot; cp out large.dot
	run 0 --fabric "$large" topology --format svg; cp out large.svg
	# The command takes 0.3 s on an idle machine; the limit of 15 s leaves
	# time for other programs.
	[ $((SECONDS - begin)) -le 15 ] || fail 'more than 15 s'
	[ "$(grep -c 'label=".*switches' large.dot)" -eq 32 ] ||
		fail 'not 31 pods and the cores'
	grep -q 'label="324 switches' large.dot || fail 'no cores'
	grep -q 'label="36 switches.n324 adapters' large.dot &&
		fail 'adapters in a box of switches'
	[ "$(grep -c 'label="[0-9]* adapters' large.dot)" -eq 31 ] ||
		fail 'not a box of adapters for each pod'
	python3 -c 'import xml.dom.minidom as m; m.parse("large.svg")' ||
		fail 'no XML'
}

# The switches of a ring form no pods: all are drawn as one box.
a_ring_is_drawn_as_one_box() {
	local i
	for i in {1..150}; do
		echo "Switch 4 \"s$i\""
		echo "[1] \"h$i\"[1] 4xEDR"
		echo "[2] \"s$((i % 150 + 1))\"[3] 4xEDR"
	done >ring.net
	for i in {1..150}; do echo "Ca 1 \"h$i\""; done >>ring.net
	run 0 topology ring.net --format dot
	[ "$(grep -c ' \[label=' out)" -eq 2 ] || fail 'not two boxes'
	out_has 'label="150 switches'; out_has 'label="150 adapters'
	run 0 topology ring.net --format dot --all
	[ "$(grep -c ' \[label=' out)" -eq 300 ] || fail 'not all nodes'
}

usage_is_checked() {
	on_tree 2 one two; err_has 'one file'
	run 4 topology leaf1; err_has 'leaf1'
	on_tree 2 --format net -j; err_has 'two formats'
	on_tree 2 --rate 1; err_has 'no option --rate'
	local args
	for args in '--fabric tree.net' '--port 1' '--record x.pcap' '--sa 1' \
		'--sm-key 1' '--device mlx5_0'; do
		# shellcheck disable=SC2086 # words
		run 2 topology tree.net $args; out_empty; sentences 1
		err_has "^ibsa: topology: ${args%% *} is for queries to the SA, but .*'tree.net'"
	done
	run 0 topology tree.net --device 'mlx5_*' -t 100; lines 7
	for args in '' --format=net --format=slurm -j; do
		# shellcheck disable=SC2086 # words
		run 2 topology /dev/null $args; out_empty
		err_has '^ibsa: /dev/null: there is no node; '
	done
	run 0 topology <(cat tree.net); lines 7
	run 0 topology --help; out_has '^usage: ibsa topology'
	out_has '--node-name-map FILE'; out_has '--format NAME .*net'
}

# LIDs of 32 bits are 0 in the records of InfiniBand.
long_lids_are_explained() {
	local format
	run 0 fabric exec --opa tree.net -- "$ibsa" topology; lines 7
	grep -q "records of the SA" err && fail "a LID is missing"
	run 0 fabric exec --opa --first-lid 70000 tree.net -- "$ibsa" topology
	err_has "lack links: [0-9]+ of the SA's records have a LID that no node has; LIDs"
	for format in --format=slurm --format=slurm-yaml; do
		run 1 fabric exec --opa --first-lid 70000 tree.net -- \
			"$ibsa" topology $format
		out_empty; err_has 'the tree would lack links that the SA does'
	done
}

failures_are_explained() {
	run 3 --fabric tree.net -t 100 --sa 40000 topology
	run 0 fabric exec tree.net -- "$ibsa" topology -j; json 'length == 6'
	run 3 fabric exec tree.net --fault silence=100 -- "$ibsa" -t 100 topology
	err_has 'did not answer'
}

run_groups links_are_listed_from_above json_has_both_ends net_loads_back \
	a_pattern_selects_adapters names_come_from_a_map a_node_without_a_link_has_a_line \
	names_are_made_valid unknown_rates_are_empty nobody_reads_a_drawing \
	switches_of_other_rails_are_left_out drawings_are_made a_large_fabric_is_drawn_by_groups \
	a_ring_is_drawn_as_one_box usage_is_checked long_lids_are_explained \
	failures_are_explained
