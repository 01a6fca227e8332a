#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: multi_path.sh IBSA DROP-IN TOPOLOGY
#
# Tests queries of MultiPathRecords at a fabric server, first with its embedded
# SA, then with OpenSM. For each pair of GIDs there is one path, which is the
# one that saquery shows for these two GIDs. Both SAs return the same records
# except for LIDs. TOPOLOGY is four-hosts.net of the examples.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${4-}" != inside ]; then
	served_need saquery opensm jq
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	status=0
	for sa in embedded none; do
		MULTI_SA=$sa MULTI_FOLDER=$folder \
			"$1" fabric exec "$3" --sa "$sa" \
			--socket "$folder/s" -- "$0" "$@" inside || status=1
	done
	diff "$folder/embedded" "$folder/none" ||
		{ echo 'WRONG: the two SAs differ'; status=1; }
	exit "$status"
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$MULTI_FOLDER" || exit 1
status=0
: >"$MULTI_SA"

wrong() {
	echo "WRONG: SA $MULTI_SA: $*"
	status=1
}

# Convert the text to lower case, and remove leading zeros of numbers.
plain() {
	tr '[:upper:]' '[:lower:]' | sed -E 's/ 0x0*([0-9a-f])/ 0x\1/'
}

# theirs SGID DGID - print the path that saquery shows between two GIDs, one
# "name value" in each line
theirs() {
	LD_LIBRARY_PATH=$drop_in saquery --sgid-to-dgid "$1-$2" 2>theirs.err |
		sed -nE 's/^\t+([a-z_0-9]+)\.+(.*)$/\1 \2/p' | plain |
		grep -v '^resv2 '
}

# gids NAME ARGUMENT... - print the value of each ARGUMENT of the form
# NAME=VALUE, where NAME is sgid or dgid
gids() {
	local which=$1 argument
	shift
	for argument; do
		[ "${argument%%=*}" != "$which" ] || echo "${argument#*=}"
	done
}

# same COUNT ARGUMENT... - check that ibsa query multi MPR returns COUNT paths,
# each equal to the path of saquery for its two GIDs
same() {
	local count=$1 sgid dgid
	shift
	"$ibsa" -j query multi MPR "$@" >ours.json 2>ours.err ||
		wrong "$*: $(cat ours.err)"
	jq -r --arg record PathRecord -f "$here/saquery.jq" ours.json |
		plain >ours.txt
	[ "$(jq length ours.json)" -eq "$count" ] ||
		wrong "$*: $(jq length ours.json) paths, not $count"
	jq -r '.[] | "\(.sgid) \(.dgid)"' ours.json |
		while read -r sgid dgid; do
			theirs "$sgid" "$dgid"
		done >theirs.txt
	[ -s theirs.txt ] || wrong "saquery shows nothing: $(cat theirs.err)"
	diff theirs.txt ours.txt >difference ||
		wrong "$*: $(cat difference)"
	# Of text, the lines of a table.
	"$ibsa" query multi MPR "$@" >ours.table 2>/dev/null
	[ "$(wc -l <ours.table)" -eq $((count + 1)) ] ||
		wrong "$*: the table has $(wc -l <ours.table) lines"
	# OpenSM gives the ports other LIDs.
	jq -S 'map(del(.slid, .dlid))' ours.json >>"$MULTI_SA"
}

# each ARGUMENT... - check that the reply has one path for each pair of a
# source and a destination in the arguments
each() {
	local pairs
	pairs=$(for sgid in $(gids sgid "$@"); do
		for dgid in $(gids dgid "$@"); do
			echo "$sgid $dgid"
		done
	done)
	same "$(wc -l <<<"$pairs")" "$@"
	diff <(sort <<<"$pairs") \
		<(jq -r '.[] | "\(.sgid) \(.dgid)"' ours.json | sort) ||
		wrong "$*: paths of other pairs"
}

[ "$MULTI_SA" = embedded ] || sm_start
a=fe80::2c90:300b:101 b=fe80::2c90:300b:201
c=fe80::2c90:300b:301 d=fe80::2c90:300b:402

each sgid="$a" dgid="$b"
each sgid="$a" dgid="$b" dgid="$c" dgid="$d"
each sgid="$b" sgid="$a" sgid="$c" dgid="$d"
each dgid="$c" sgid="$a" dgid="$d" sgid="$b" reversible=1
each sgid="$a" sgid="$b" sgid="$c" sgid="$d" \
	dgid="$a" dgid="$b" dgid="$c" dgid="$d" pkey=0xffff
# With numb_path=2, the SA returns two paths that share no end port; with
# numb_path=1, one path.
same 2 sgid="$a" sgid="$b" dgid="$c" dgid="$d" numb_path=2
[ "$(jq '[.[].sgid, .[].dgid] | unique | length' ours.json)" -eq 4 ] ||
	wrong 'two paths share an end'
same 1 sgid="$a" dgid="$b" dgid="$c" numb_path=1

# A query for an unknown GID finds no path. The SA refuses a Get, and a GetMulti
# without the number of destinations.
"$ibsa" query multi MPR sgid="$a" dgid=fe80::dead >ours.table 2>ours.err
[ $? -eq 1 ] || wrong "an unknown GID: $(cat ours.err)"
"$ibsa" query get MPR sgid="$a" dgid="$b" >ours.table 2>ours.err
[ $? -eq 5 ] || wrong "Get: $(cat ours.err)"
"$ibsa" query multi MPR sgid_count=1 gid_1="$a" gid_2="$b" >ours.table 2>ours.err
[ $? -eq 5 ] || wrong "without a count: $(cat ours.err)"
[ "$MULTI_SA" = embedded ] || sm_stop TERM
[ "$status" -eq 0 ] && echo "SA $MULTI_SA: $(grep -c '"dgid"' "$MULTI_SA") paths"
exit "$status"
