#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: cli_fabric.sh IBSA LIBDIR FABRIC LARGE
#
# ibsa fabric: what it says of topology files. LARGE is one of 10,000 hosts.
# shellcheck source=test/cli_support.sh
large=$(realpath "$4")
. "$(dirname "$0")/cli_support.sh"

# odd FINDING LINE LINES... - a file in which just that is odd
odd() {
	local finding=$1 line=$2
	shift 2
	printf '%s\n' "$@" >odd.net
	run 1 fabric info odd.net -j
	json ".[-1] | .what == \"finding\" and .kind == \"$finding\" and
		.line == $line and .file == \"odd.net\" and .count == 1"
	json '[.[] | select(.what == "finding")] | length == 1'
	err_has '^ibsa: odd.net: 1 finding;'
}

contents_are_counted() {
	run 0 fabric info "$fabric"; aligned; lines 6; err_empty
	out_has '^node +adapter +5$'; out_has '^switch +level 1 +2$'
	out_has '^link +4xEDR +6$'; out_has '^link +4xQDR +1$'
	run 0 fabric info "$fabric" -j
	json '.[0] == {what: "node", kind: "switch", count: 2,
		file: null, line: null, text: null}'
	run 0 fabric info "$fabric" -v; out_has '^count +6$'
	run 0 fabric info "$large" -j
	json '.[0].count == 10000 and .[0].kind == "adapter"'
	json '[.[] | select(.what == "switch").kind] ==
		["level 1", "level 2", "level 3"]'
}

what_is_odd_is_found() {
	local pair=('Switch 4 "s"' '[1] "a"[1] 4xEDR' 'Ca 1 "a"'
		'[1] "s"[1] 4xEDR')
	odd no-cable 5 "${pair[@]}" 'Ca 1 "b"'
	run 1 fabric info odd.net; aligned; out_has '^finding +no-cable'
	odd one-way 6 "${pair[@]}" 'Ca 1 "b"' '[1] "s"[2] 4xEDR'
	odd no-rate 6 'Switch 4 "s"' '[1] "a" 4xEDR' 'Ca 1 "a"' \
		'Ca 1 "b"' '# two cables' '[1] "s"[2]'
	odd narrow 3 'Switch 4 "s"' '[1] "a" 4xEDR' '[2] "b" 1xEDR' \
		'[3] "c" 4xEDR' 'Ca 1 "a"' 'Ca 1 "b"' 'Ca 1 "c"'
}

files_that_are_no_topology() {
	run 2 fabric info /dev/null; out_empty; err_has 'no channel adapter'
	run 4 fabric info missing.net; out_empty; err_has missing.net
	printf 'Ca 1 "a"\n[1] "a"[1]\n' >own.net
	run 2 fabric info own.net; out_empty; err_has 'own.net:2: '
	printf 'caguid=1\nCa 1 "a"\ncaguid=1\nCa 1 "b"\n' >twins.net
	run 2 fabric info twins.net; err_has 'twins.net:4: .*line 2'
}

names_cannot_steer_the_terminal() {
	printf 'Ca 1 "a\033]0;x\007" # "q"uote\033[2J"\n[1] "s"[1]\n' >esc.net
	printf 'Switch 4 "s" # "\\"\nCa 1 "\033[31m"\n' >>esc.net
	run 1 fabric info esc.net
	! grep -q $'[\033\a]' out err || fail 'a control character came through'
	out_has '"\\x1b\[31m" has no cable'
	run 1 fabric info -j esc.net; json '.[-1].text | test("\u001b")'
	run 0 devices --fabric esc.net
	! grep -q $'\033' out || fail 'a control character came through'
	{
		printf 'Switch 4 "s"\n[1] "a"\nCa 1 "a" # "'
		head -c 1000000 /dev/zero | tr '\0' x
		printf '"\nCa 1 "'
		head -c 1000000 /dev/zero | tr '\0' y
		printf '"\n'
	} >long.net
	run 1 fabric info long.net
	[ "$(wc -c <out)" -lt 2000 ] || fail 'a megabyte of a name'
}

run_groups contents_are_counted what_is_odd_is_found \
	files_that_are_no_topology names_cannot_steer_the_terminal
