#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: topology.sh IBSA DROP-IN EXAMPLES B.NET
#
# Tests that "ibsa topology --format net" and ibnetdiscover write the same lines,
# except for the heading and the order of the nodes. It runs on four fabrics,
# each with the embedded SA and with OpenSM, which sets an LMC at all ports. A
# fabric server that loads this output must give the same output again.
# scripts/check-fabric does this with 10,000 hosts. B.NET is a topology file,
# EXAMPLES the directory of the example topologies.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

# islands - write a topology of two islands, of which the SM discovers one,
# with a host with two ports and cables of several rates
islands() {
	cat <<-'END'
		vendid=0x2c9
		devid=0xd2f2
		sysimgguid=0x100
		switchguid=0x100(100)
		Switch 8 "S-1" # "leaf1" base port 0 lid 9 lmc 0
		[1] "H-1"[1] # "a" 4xNDR
		[2] "H-2"[1] # "b" 2xHDR
		[3] "H-2"[2] # "b" 1xSDR
		[8] "S-2"[8] # "leaf2" 8xEDR
		Switch 8 "S-2" # "leaf2" enhanced port 0 lid 0 lmc 0
		[1] "H-3"[2] # "c" 12xFDR
		Switch 8 "S-3" # "island"
		[1] "H-4"[1] # "d" 4xEDR
		caguid=0x201
		Ca 1 "H-1" # "a mlx5_0"
		[1](202) "S-1"[1] # lid 4 lmc 2 "leaf1" 4xNDR
		Ca 2 "H-2" # "b mlx5_0"
		[1] "S-1"[2] # lid 16 lmc 3 "leaf1" 2xHDR
		Ca 2 "H-3" # "c "quoted" 'x' \x1b \ lid 7 # mlx5_0"
		Ca 2 "H-4" # "d mlx5_0"
	END
}

if [ "${4-}" != inside ]; then
	served_need ibnetdiscover opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	islands >"$folder/islands.net"
	status=0
	for net in "$folder/islands.net" "$3/dgx.net" "$3/fat-tree-16.net" "$4"; do
		for sa in embedded none; do
			TOPOLOGY_FOLDER=$folder TOPOLOGY_SA=$sa \
				"$1" fabric exec "$net" --sa "$sa" \
				--socket "$folder/s" -- \
				"$0" "$1" "$2" "$net" inside || status=1
		done
	done
	exit "$status"
fi

ibsa=$(realpath "$1")
# Search libraries only in the build directory of the drop-in.
drop_in=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH=$drop_in
cd "$TOPOLOGY_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $(basename "$3"), $TOPOLOGY_SA: $1"
	[ -z "$2" ] || head -n 20 "$2"
	status=1
}

# nodes FILE - print the nodes and their links in a fixed order, without the
# heading
nodes() {
	grep -v '^#' "$1" |
		awk 'BEGIN { RS = ""; ORS = "\n\n"; FS = "\n" }
		     { gsub("\n", "\001"); print }' | sort | tr '\001' '\n'
}

if [ "$TOPOLOGY_SA" = none ]; then
	sm_start 'lmc 1' || wrong "OpenSM: $(tail -n 3 opensm.log)" '' "$3"
fi
ibnetdiscover >want.net 2>want.err ||
	wrong 'ibnetdiscover fails' want.err "$3"
"$ibsa" topology --format net >got.net 2>got.err || wrong 'it fails' got.err "$3"
nodes want.net >want
nodes got.net >got
[ "$(grep -c '^\[' want)" -ge 6 ] || wrong 'too few links' want "$3"
case $3 in
*/islands.net)
	[ "$(grep -c ' enhanced port 0 ' want)" = 1 ] ||
		wrong 'no enhanced port 0' want "$3"
	;;
esac
cmp -s want got || {
	diff want got >differ
	wrong 'it differs from ibnetdiscover' differ "$3"
}

# A map of names in all forms that ibnetdiscover reads. ibnetdiscover does not
# use it for the descriptions in the adapters' own lines.
guids=$(awk -F '[ "]+' '/^(Switch|Ca)/ { print "0x" substr($2, 3) }' want.net | head -n 9)
forms=('"one"' 'two words' '"three # x" # comment' 'four#comment' '""' '' '"six\"6"'
	'"seven" "7"' "'8'")
i=0
for guid in $guids; do
	echo "  $guid	${forms[i]}"
	echo "$guid \"again\""
	i=$((i + 1))
done >map
ibnetdiscover --node-name-map map >want.mapped 2>want.err ||
	wrong 'ibnetdiscover fails with a map' want.err "$3"
"$ibsa" topology --format net --node-name-map map >got.mapped 2>got.err ||
	wrong 'it fails with a map' got.err "$3"
grep -q '"two words"' want.mapped || wrong 'no name of the map' want.mapped "$3"
diff <(grep -E '^(Switch|\[)' want.mapped | sort) \
	<(grep -E '^(Switch|\[)' got.mapped | sort) >differ ||
	wrong 'other names than those of ibnetdiscover' differ "$3"

# Load the output as an embedded fabric of this process, without a fabric
# server.
env -u IBSA_FABRIC "$ibsa" --fabric got.net topology --format net >again.net \
	2>again.err || wrong 'it cannot be loaded' again.err "$3"
nodes again.net >again
# The embedded SA gives each port LMC 0, and therefore other LIDs than OpenSM
# with another LMC: LIDs and LMCs are not compared.
strip='s/ lid [0-9]* lmc [0-9]*//; s/ lid [0-9]*//'
diff <(sed "$strip" got) <(sed "$strip" again) >differ ||
	wrong 'its fabric differs' differ "$3"
sm_stop
exit "$status"
