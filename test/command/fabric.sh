#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: fabric.sh IBSA LIBDIR FABRIC LARGE
#
# Tests what commands show of topology files. LARGE is a topology file of 10,000
# hosts.
# shellcheck source=test/command/support.sh
large=$(realpath "$4")
source=$(realpath "$(dirname "$0")/../..")
. "$(dirname "$0")/support.sh"

# odd FINDING LINE LINES... - check that ibsa check reports FINDING at LINE, and
# no other finding, for a topology of LINES
odd() {
	local finding=$1 line=$2
	shift 2
	printf '%s\n' "$@" >odd.net
	try 1 check odd.net -j; err_empty
	json ".[0].finding == \"$finding\" and
		(.[0].what | startswith(\"odd.net:$line: \"))"
	json 'length == 1'
	grep -q "^\.It Li $finding\$" "$source"/man/ibsa*.8 ||
		fail "no page describes '$finding'"
}

contents_are_listed() {
	run 0 topology "$fabric" -j; err_empty
	json '[.[].speed] | [map(select(. == "EDR")), map(select(. == "QDR"))] |
		map(length) == [6, 1]'
	run 0 topology "$large" -j
	json '[.[] | select(.peer_node_type == 1)] | length == 10000'
	json '[.[].level] | unique == [1, 2, 3]'
	run 0 check "$large"; out_empty; err_empty
	what='ibsa check FILE on a terminal'
	script -qec "'$ibsa' check '$fabric'" /dev/null >out 2>err
	out_has '^no findings: 5 adapters, 2 switches, 7 links'
}

what_is_odd_is_found() {
	local pair=('Switch 4 "s"' '[1] "a"[1] 4xEDR' 'Ca 1 "a"'
		'[1] "s"[1] 4xEDR')
	odd no-cable 5 "${pair[@]}" 'Ca 1 "b"'
	json '.[0].severity == "warning" and .[0].port == null'
	try 1 check odd.net; aligned; out_has '^no-cable .* odd.net:5: "b" has no cable$'
	printf 'Ca 1 "%s"\n' c d e >>odd.net
	try 1 check odd.net -j; json 'length == 4 and all(.finding == "no-cable")'
	try 1 check odd.net --expect odd.net -j; json 'length == 4'
	try 1 check odd.net --nagios; err_empty
	out_has '^IBSA WARNING: 4 findings, no-cable: odd.net:5: '
	odd one-way 6 "${pair[@]}" 'Ca 1 "b"' '[1] "s"[2] 4xEDR'
	json '.[0].port == 1'
	odd no-rate 6 'Switch 4 "s"' '[1] "a" 4xEDR' 'Ca 1 "a"' \
		'Ca 1 "b"' '# two cables' '[1] "s"[2]'
	odd no-rate 2 'Switch 4 "s"' '[1] "a"[1] 5xEDR' 'Ca 1 "a"'
	odd no-rate 2 'Switch 4 "s"' '[1] "a"[1] 4xGDR' 'Ca 1 "a"' \
		'[1] "s"[1] 4xEDR'
	run 2 reach --all --fabric odd.net; out_empty
	err_has 'odd.net:2: 4xGDR is not a rate.*XDR'
	odd no-guid 2 'Switch 4 "s"' 'caguid=0' 'Ca 1 "a"' '[1] "s"[1]'
	odd narrow 3 'Switch 4 "s"' '[1] "a" 4xEDR' '[2] "b" 1xEDR' \
		'[3] "c" 4xEDR' 'Ca 1 "a"' 'Ca 1 "b"' 'Ca 1 "c"'
}

files_that_are_no_topology() {
	run 2 check /dev/null; out_empty; err_has 'there is no node'
	run 4 check missing.net; out_empty; err_has missing.net
	run 2 check nodes; out_empty; err_has 'neither the word node nor a'
	run 2 check "$fabric" "$large"; err_has "remove '$large'"
	run 2 check "$fabric" -P 1; err_has '--port is for queries'
	run 2 page "$fabric" -o - --sa 1; err_has '--sa is for queries'
	run 2 fabric info "$fabric"
	err_has 'fabric info is now ibsa topology FILE.*ibsa check FILE'
	printf 'Ca 1 "a"\n[1] "a"[1]\n' >own.net
	run 2 check own.net; out_empty; err_has 'own.net:2: '
	printf 'caguid=1\nCa 1 "a"\ncaguid=1\nCa 1 "b"\n' >twins.net
	run 2 check twins.net; err_has 'twins.net:4: .*(line 2)'
	printf 'include "first.net"\ncaguid=1\nCa 1 "b"\n' >twins.net
	printf 'caguid=1\nCa 1 "a"\n' >first.net
	run 2 check twins.net; err_has 'twins.net:3: .*(first.net:2)'
}

names_cannot_steer_the_terminal() {
	printf 'Ca 1 "a\033]0;x\007" # "q"uote\033[2J"\n[1] "s"[1]\n' >esc.net
	printf 'Switch 4 "s" # "\\"\nCa 1 "\033[31m"\n' >>esc.net
	try 1 check esc.net
	! grep -q $'[\033\a]' out err || fail 'a control character came through'
	out_has '"\\x1b\[31m" has no cable'
	try 1 check -j esc.net; json '.[-1].what | test("\\\\x1b")'
	run 0 devices --fabric esc.net
	! grep -q $'\033' out || fail 'a control character came through'
	{
		printf 'Switch 4 "s"\n[1] "a"\nCa 1 "a" # "'
		head -c 1000000 /dev/zero | tr '\0' x
		printf '"\nCa 1 "'
		head -c 1000000 /dev/zero | tr '\0' y
		printf '"\n'
	} >long.net
	try 1 check long.net
	[ "$(wc -c <out)" -lt 2000 ] || fail 'a megabyte of a name'
}

# is_safe FILE - check that FILE is UTF-8 and has no control characters except
# newlines and tabs, and no characters that are invisible or change the
# direction of text
is_safe() {
	python3 - "$1" <<-'CHECK'
		import sys, unicodedata
		text = open(sys.argv[1], "rb").read().decode("utf-8", "strict")
		bad = [c for c in text if c not in "\n\t" and
		       unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
		sys.exit(ascii(bad) if bad else 0)
	CHECK
}

# shown STATUS ARG... - run ibsa, check its exit status, and check with is_safe
# what it writes
shown() {
	run "$@"
	all_is_safe
}

all_is_safe() {
	is_safe out 2>why || fail "unsafe output: $(tail -n 1 why)"
	is_safe err 2>why || fail "unsafe errors: $(tail -n 1 why)"
}

# Names and ids of nodes and files are safe to print in each form of output.
what_is_shown_is_safe() {
	local bad=$'\x9b \xc2\x9b \xff \xd8\x9c \xe2\x80\xa8 \xe2\x80\xae' args
	printf 'Switch 4 "s%s" # "sw%s"\n[1] "a%s"[1]\n' "$bad" "$bad" "$bad" \
		>"bad$bad.net"
	printf 'Ca 1 "a%s" # "n%s"\n[1] "s%s"[1]\nCa 1 "b%s"\n' "$bad" "$bad" \
		"$bad" "$bad" >>"bad$bad.net"
	for args in '' -j -v; do
		# shellcheck disable=SC2086 # none or one word
		try 1 check "bad$bad.net" $args; all_is_safe
	done
	for args in '' -j --format=dot --format=svg -v; do
		# shellcheck disable=SC2086 # none or one word
		shown 0 topology "bad$bad.net" $args
	done
	for args in devices 'devices -j' gids 'gids -j' 'path self 1' \
		'path self 1 -j' 'query table NR' 'query table NR -j' \
		'query get NR lid=1 -v' 'reach --all' 'reach --all -j' \
		'reach --matrix --format svg' doctor 'doctor -j'; do
		# shellcheck disable=SC2086 # several words
		shown 0 $args --fabric "bad$bad.net"
	done
	shown 4 topology "no$bad"
	shown 4 check "./no$bad"
	shown 1 path self "$bad" --fabric "bad$bad.net"
	shown 4 --fabric "no$bad" path self 1
	shown 2 query table "$bad"
}

drawings() {
	run 0 topology "$fabric" --format dot; out_has '^graph fabric \{'
	out_has 'n0 -- n2 \[label="2×"\]'; out_has 'label="4xQDR", color='
	dot -Tplain out >plain 2>err || fail 'dot does not read it'
	err_empty
	[ "$(grep -c ^node plain)" -eq 7 ] || fail 'not every node is drawn'
	# The drawing has two rows: the two leaf switches, and below them the
	# adapters.
	awk '$1 == "node" { if (!($4 in y)) rows++; y[$4] } END { exit rows != 2 }' \
		plain || fail 'not two rows'
	run 0 topology "$fabric" --format svg; out_has '^<svg'; out_has '>größe<'
	python3 -c 'import xml.dom.minidom as m; m.parse("out")' || fail 'no XML'
	"$source/scripts/gen-fabric" 648 -o tree.net
	run 0 topology tree.net --format dot
	[ "$(grep -c '18 adapters' out)" -eq 36 ] || fail 'not a box for a leaf'
	[ "$(grep -c ' -- ' out)" -lt 1000 ] || fail 'a line for each adapter'
	run 0 topology tree.net --format dot --all
	[ "$(grep -c 'n[0-9]* \[label=' out)" -eq 702 ] || fail 'not all nodes'
}

names_are_not_the_drawings_language() {
	printf '%s\n' 'Switch 4 "s" # "a"];n9 -- n8;#\"' '[1] "a"' '[2] "b"' \
		'[3] "c"' 'Ca 1 "a" # "<b>&amp;\N\"' >odd.net
	printf 'Ca 1 "b" # "\xff\xc3\x28\xed\xa0\x80\033"\n' >>odd.net
	printf 'Ca 1 "c" # "ﬃ é 😀 \xef\xbf\xbe"\n' >>odd.net
	run 0 topology odd.net --format svg
	out_has '>a&quot;\];n9 &#45;&#45; n8;#\\<'
	out_has '>&lt;b&gt;&amp;amp;\\N\\<'
	out_has '>\\xff\\xc3\(\\xed\\xa0\\x80\\x1b<'
	out_has '>ﬃ é 😀 \\xef\\xbf\\xbe<'
	run 0 topology long.net --format dot
	[ "$(wc -c <out)" -lt 2000 ] || fail 'a megabyte of a name'
}

drawings_that_fail() {
	local format file
	printf 'Switch 2 "s"\n[1] "a"\nCa 1 "a"\n' >small.net
	for format in dot svg; do
		for file in "$fabric" small.net; do
			what="a drawing of $file in $format on a full disk"
			"$ibsa" topology "$file" --format $format >/dev/full 2>err
			[ $? -eq 4 ] || fail 'exit status'
			sentences 1; err_has 'cannot write to standard output'
		done
	done
	run 2 topology "$fabric" --format svg -j; err_has 'two formats'
	run 2 topology "$fabric" --format svg --format dot; err_has 'two formats'
	run 2 check "$fabric" --format net
	err_has "^ibsa: check has no format 'net'; its formats are table, json, ndjson, csv\$"
	run 2 topology "$fabric" --all; err_has '--format dot or'
	mkdir tools
	ln -s "$(command -v grep)" "$(command -v sed)" tools
	PATH=$PWD/tools run 4 topology "$fabric" --format svg
	err_has 'cannot run dot: .*Graphviz'
}

# refused_for_file ARG... - check that ibsa refuses to write over a file that it
# reads or writes for another option, and that drawn.net does not change
refused_for_file() {
	run 2 "$@"; out_empty; err_has 'name another file'
	cmp -s drawn.net "$fabric" || fail 'it has written over the topology'
}

captures_do_not_write_over_what_is_read() {
	cp "$fabric" drawn.net
	ln drawn.net hard.net
	ln -s drawn.net soft.net
	refused_for_file topology --fabric drawn.net --record drawn.net
	refused_for_file topology --fabric drawn.net --record ./hard.net
	refused_for_file topology --fabric hard.net --record soft.net
	err_has "^ibsa: --record: 'soft.net' is the file that is read; name another file\$"
	run 2 page --fabric drawn.net -o one --record ./one; out_empty
	err_has "^ibsa: --output: 'one' is the file that --record writes"
	[ ! -e one ] || fail 'it has written all the same'
	run 2 page --fabric drawn.net -o one --record ../"${PWD##*/}"/one
}

# No option writes over a file that another option reads.
files_of_options_are_not_written_over() {
	local use
	echo 0x1 >small
	ln -s small link
	for use in '--node-name-map small topology --record link' \
		'--node-name-map small page --output ./small' \
		'--expect small check --record link' \
		'--sm-key @small check --record small' \
		'--peers link check node --record small' \
		'--node-name-map small trace node1 node2 --record small' \
		'--expect small metrics --output small'; do
		# shellcheck disable=SC2086 # words
		run 2 --fabric "$fabric" $use; out_empty
		err_has "is the file that --[a-z-]+ reads; name another file"
		[ "$(cat small)" = 0x1 ] || fail 'it has written over the file'
	done
	run 2 fabric exec "$fabric" --partitions small --record link -- true
	err_has 'the file that --partitions reads'
	what='a page on /dev/stdout'
	"$ibsa" --fabric "$fabric" page -o /dev/stdout 2>err | cat >out
	out_has '^<!DOCTYPE html'
}

# While a drawing takes long, the command shows a line on the terminal, and
# erases it at the end.
long_work_is_said() {
	mkdir slow
	printf '#!/bin/sh\ncat >/dev/null\nsleep 1.6\necho "<svg/>"\n' >slow/dot
	chmod +x slow/dot
	what='ibsa topology --format svg on a terminal'
	PATH=$PWD/slow:$PATH script -qec \
		"'$ibsa' topology '$fabric' --format svg >drawn" /dev/null >out 2>err
	out_has 'dot is drawing.*\(1 s\)'; out_has $'\r\033\\[K'
	what='a fabric of a large file on a terminal'
	script -qec "'$ibsa' fabric exec '$large' -- echo done" /dev/null >out 2>err
	out_has 'reading .*, [0-9]+ MB\.\.\.'; out_has $'\r\033\\[Kdone'
	run 0 fabric exec "$large" -- true; err_empty
}

records() {
	run 0 path node1 node2 --fabric "$fabric" --record a.pcap
	[ "$(od -An -tu4 -j20 -N4 a.pcap)" -eq 197 ] || fail 'not ERF'
	run 0 reach node2 --fabric "$fabric" --record b.pcap; [ -s b.pcap ]
	# At any port, what the client sends and receives is recorded.
	run 0 fabric exec "$fabric" -- "$ibsa" -C node2 --record e.pcap check
	run 0 fabric exec "$fabric" -- "$ibsa" -C node2 --record d.pcap topology -j
	cp out live
	run 0 --fabric d.pcap topology -j; err_empty
	# A capture has one adapter, also at a server.
	IBSA_NODE=absent run 0 fabric exec d.pcap -- "$ibsa" topology -j
	cmp -s out live || fail 'the capture tells another topology'
	run 0 --fabric e.pcap check; out_empty
	run 5 --fabric d.pcap query table SMIR; out_empty
	run 4 path self self --fabric "$fabric" --record no/c.pcap
	err_has no/c.pcap
	run 4 path self self --fabric "$fabric" --record /dev/full
	err_has 'cannot write all packets'
	cp "$fabric" own.net
	ln own.net same.net
	run 2 path self self --fabric own.net --record same.net
	err_has "'same.net' is the file that is read"
	run 2 fabric exec own.net --record own.net -- true; out_empty
	cmp -s own.net "$fabric" || fail 'it has written over the topology'
	run 2 path self self --fabric own.net --record -
	err_has 'name a file'
	run 2 devices --fabric "$fabric" --record c.pcap; err_has record
	run 2 topology "$fabric" --record c.pcap; err_has record
}

# replays ARG... - check that ibsa ARG... prints the same on the fabric and on a
# capture of this run
replays() {
	local status=0
	"$ibsa" "$@" --fabric "$fabric" --record r.pcap >first 2>/dev/null ||
		status=$?
	run "$status" "$@" --fabric r.pcap
	cmp -s first out || fail 'another answer'
}

records_answer() {
	replays path node1 self -j
	replays query table NodeRecord -j
	replays query table PathRecord -j
	replays reach --matrix
	replays service list
	run 5 --fabric r.pcap query get CPI
	err_has 'does not hold the answer to this query for the ClassPortInfo'
	IBSA_FABRIC=r.pcap run 1 service list
	run 4 --fabric r.pcap -C node1 service list; err_has 'no adapter node1'
	run 1 --fabric r.pcap -C recorded -P 1 service list
	run 0 --fabric r.pcap devices -j
	json '.[0] | .device == "recorded" and .lid == 1 and .state == 4'
	run 0 --fabric r.pcap gids; lines 2
	run 5 --fabric r.pcap doctor; out_has '^sa .*refuses ClassPortInfo'
	run 2 topology r.pcap; err_has 'not a text file'
	head -c 30 r.pcap >cut.pcap
	run 2 --fabric cut.pcap service list; err_has 'no requests to an SA'
	run 1 --fabric r.pcap --record s.pcap service list
	run 1 --fabric s.pcap service list
}

# bytes_put FILE OFFSET BYTES - write BYTES, which are escapes of printf, into
# FILE at OFFSET
bytes_put() {
	printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# redirected FILE - change the reply to the last Get in the capture FILE to a
# redirection
redirected() {
	at=$(LC_ALL=C grep -obUaP '\x01\x03\x02\x81' "$1" | tail -n 1 |
		cut -d : -f 1)
	bytes_put "$1" $((at + 4)) '\0\2'
	bytes_put "$1" $((at + 56 + 28)) '\022\064'
}

redirections_name_the_other_sa() {
	run 0 query get PR slid=1 dlid=2 --fabric "$fabric" --record r.pcap
	redirected r.pcap
	run 5 query get PR slid=1 dlid=2 --fabric r.pcap; out_empty
	err_has 'redirected the request to LID 4660,.*--sa'
	bytes_put r.pcap $((at + 56 + 28)) '\377\377'
	bytes_put r.pcap $((at + 56 + 8)) \
		'\376\200\0\0\0\0\0\0\0\0\0\0\0\0\0\7'
	run 5 query get PR slid=1 dlid=2 --fabric r.pcap; out_empty
	err_has 'redirected the request to GID fe80::7,.*--sa'
	run 0 query get CPI --fabric "$fabric" --record c.pcap
	redirected c.pcap
	run 5 doctor --fabric c.pcap
	out_has '^sa .*redirected the request to LID 4660'
	run 0 reach self node2 --fabric "$fabric" --record a.pcap
	redirected a.pcap
	run 5 reach self node2 --fabric a.pcap; out_has 'unknown .*redirected'
	err_has 'redirected the request to LID 4660'
}

# lacks PACKAGE STATUS ARG... - the message names the package of a library that
# cannot be loaded
lacks() {
	LD_LIBRARY_PATH=$tmp/broken:$libdir run "${@:2}"; out_empty
	err_has "$1"
}

missing_libraries_are_named_with_their_packages() {
	mkdir broken
	echo 'no library' >broken/libmicrohttpd.so.12
	lacks 'libmicrohttpd.*install the package libmicrohttpd12 ' \
		4 metrics --listen 0 --fabric "$fabric"
	is_emulated && return
	# Beside a copy of ibsa in another directory there is no drop-in: ibsa
	# uses an installed one, or else names the package that has it.
	cp "$ibsa" broken/ibsa
	ibsa=$tmp/broken/ibsa LD_LIBRARY_PATH=$libdir run 0 \
		fabric exec "$fabric" -- env
	grep -q "^LD_LIBRARY_PATH=.*ibsa-umad" out ||
		err_has 'libibumad.so.3 does not.* the package ibsa-umad$'
	# Nor is the library in front of libibverbs, without which --verbs fails.
	if LD_LIBRARY_PATH=$libdir broken/ibsa fabric exec --verbs "$fabric" \
		-- env >out 2>err
	then
		out_has '^LD_PRELOAD=.*/libibsa-verbs-preload.so'
	else
		out_empty
		err_has '--verbs: .* does not.* the package libibsa-compat1$'
	fi
}

run_groups contents_are_listed what_is_odd_is_found \
	files_that_are_no_topology names_cannot_steer_the_terminal \
	what_is_shown_is_safe drawings \
	names_are_not_the_drawings_language drawings_that_fail \
	captures_do_not_write_over_what_is_read \
	files_of_options_are_not_written_over \
	long_work_is_said records records_answer \
	redirections_name_the_other_sa \
	missing_libraries_are_named_with_their_packages
