#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: xdr.sh IBSA DROP-IN
#        xdr.sh --check | --fetch
#
# Tests that the diagnostics of the next Debian release show XDR links of a
# fabric server as XDR. Those of Debian 12 do not have this rate. The release's
# programs of libibverbs find the devices of the server, too.
# --fetch downloads the packages if they are not in the cache (next.sh), and ends.
# --check exits with 0 if they are in the cache, otherwise with 1. Exit status
# of the test: 0 passed, 1 failed, 77 the packages cannot be downloaded.
set -uo pipefail
export LC_ALL=C
here=$(realpath "$0")
status=0
# shellcheck source=test/counterpart/next.sh
. "$(dirname "$here")/next.sh"

wrong() {
	echo "WRONG: $*"
	status=1
}

topology() {
	cat <<-'END'
		Switch 5 "s" # "switch"
		[1] "h1"[1] # 1xXDR
		[2] "h2"[1] # 2xXDR
		[3] "h3"[1] # 4xXDR
		[4] "h4"[1] # 8xXDR
		[5] "h5"[1] # 4xNDR
		Ca 1 "h1"
		Ca 1 "h2"
		Ca 1 "h3"
		Ca 1 "h4"
		Ca 1 "h5"
	END
}

# has WORDS FILE
has() {
	grep -qE -- "$1" "$2" || wrong "no '$1' in $2: $(head -c 2000 "$2")"
}

# value NAME FILE - print the value of NAME in the output of smpquery or saquery
value() {
	sed -nE "s/^[[:space:]]*$1[.:]+//p" "$2"
}

# Check the width in each port's PortInfo, and XDR in the fields that libibmad
# supports.
ports() {
	local lid width
	while read -r lid width; do
		smpquery portinfo "$lid" 1 >port 2>errors ||
			wrong "smpquery: $(cat errors)"
		[ ! -s errors ] || wrong "smpquery: $(cat errors)"
		[ "$(value LinkWidthActive port)" = "$width" ] ||
			wrong "LID $lid is $(value LinkWidthActive port)"
		has 'LinkSpeedExtActive2:\.+212.5 Gbps' port
		has 'LinkSpeedExtSupported2:\.+212.5 Gbps' port
		has 'LinkSpeedExtEnabled2:\.+212.5 Gbps' port
		has 'LinkSpeedExtActive:\.+No Extended Speed' port
		"$ibsa" query get PIR endport_lid="$lid" port_num=1 -j >ours
		jq -e '.[0] | .link_speed_ext_active2 == 1 and
			.link_speed_ext_supported2 == 1 and
			.link_speed_ext_enabled2 == 1' ours >/dev/null ||
			wrong "ibsa query: $(cat ours)"
	done <<-END
		1 1X
		2 2X
		3 4X
		4 8X
	END
	smpquery portinfo 5 1 >port 2>errors
	has 'LinkSpeedExtActive:\.+106.25 Gbps' port
	has 'LinkSpeedExtActive2:\.+No Extended Speed 2' port
}

# Check the rate codes of paths, and the rates that sysfs and ibsa show, for
# XDR links.
rates() {
	local node code gbps width lid
	while read -r node lid code gbps width; do
		saquery -p --src-to-dst "$lid:$lid" >path 2>errors
		[ "$(($(value rate path) & 63))" = "$code" ] ||
			wrong "saquery: rate $(value rate path) of $node"
		"$ibsa" path "$lid" "$lid" -j >ours
		jq -e --argjson code "$code" '.[0].rate == $code' ours \
			>/dev/null || wrong "ibsa path: $(cat ours)"
		"$ibsa" path "$lid" "$lid" >ours
		has " ${gbps}Gb/s " ours
		IBSA_NODE=$node "$ibsa" devices "ibsa0" -j >ours
		jq -e --arg text "$gbps Gb/sec ($width XDR)" '.[0].rate == $text' \
			ours >/dev/null || wrong "ibsa devices: $(cat ours)"
	done <<-END
		h1 1 17 200 1X
		h2 2 21 400 2X
		h3 3 23 800 4X
		h4 4 25 1600 8X
	END
}

links() {
	local width
	iblinkinfo >links 2>errors || wrong "iblinkinfo: $(cat errors)"
	[ ! -s errors ] || wrong "iblinkinfo: $(head -n 2 errors)"
	for width in 1X 2X 4X 8X; do
		[ "$(grep -cE "=\( *$width +212.5 Gbps Active/" links)" -eq 2 ] ||
			wrong "iblinkinfo has not two ends of $width XDR"
	done
	! grep 'Could be' links || wrong 'a link could be more'
	ibnetdiscover >net 2>errors || wrong "ibnetdiscover: $(cat errors)"
	"$ibsa" topology --format net >ours 2>errors ||
		wrong "topology: $(cat errors)"
	diff <(grep -v '^#' net | sort) <(grep -v '^#' ours | sort) >differ ||
		wrong "topology --format net differs: $(cat differ)"
	# ibsa can load the output of ibnetdiscover as a topology; its only
	# findings are narrow links.
	"$ibsa" check net -j >ours 2>errors
	[ $? -le 1 ] || wrong "check: $(cat errors)"
	jq -e 'all(.finding == "narrow")' ours >/dev/null ||
		wrong "check: $(cat ours)"
	"$ibsa" topology net -j >ours 2>errors || wrong "topology: $(cat errors)"
	jq -e 'map(.width + .speed) | unique ==
		["1xXDR", "2xXDR", "4xNDR", "4xXDR", "8xXDR"]' ours >/dev/null ||
		wrong "ibnetdiscover: $(cat net)"
	saquery PIR >records 2>errors || wrong "saquery: $(cat errors)"
	[ ! -s errors ] || wrong "saquery PIR: $(head -n 2 errors)"
	[ "$(grep -cE 'LinkSpeedExtActive2:\.+212.5' records)" -eq 8 ] ||
		wrong 'saquery PIR has not eight ports at XDR'
	"$ibsa" fabric link speed h3/1 1xSDR || wrong 'link speed'
	[ "$(iblinkinfo | grep -c 'Could be 4X.*Could be 212.5 Gbps')" -eq 2 ] ||
		wrong "a slow link is not shown: $(iblinkinfo)"
	[ "$(iblinkinfo | grep -c 'Could be')" -eq 2 ] ||
		wrong 'more than one link could be more'
}

# Check what libibverbs tells of each host's port, whose width it shows as a code.
devices() {
	local node code
	while read -r node code; do
		IBSA_NODE=$node ibv_devices >verbs 2>errors ||
			wrong "ibv_devices: $(cat errors)"
		[ "$(grep -c ibsa0 verbs)" -eq 1 ] || wrong "devices: $(cat verbs)"
		IBSA_NODE=$node ibv_devinfo -v >verbs 2>errors ||
			wrong "ibv_devinfo: $(cat errors)"
		has 'state:[[:space:]]+PORT_ACTIVE \(4\)' verbs
		has "active_width:.*\($code\)" verbs
		has 'active_speed:.*\(128\)' verbs
	done <<-END
		h1 1
		h2 16
		h3 2
		h4 4
		h5 2
	END
}

inside() {
	ibsa=$1
	cd "$XDR_FOLDER" || exit 1
	mkdir next && next_programs next "$(dirname "$2")"
	PATH=$PWD/next:$PATH
	ports
	rates
	devices
	links
	exit "$status"
}

if [ "${1-}" = inside ]; then
	inside "$2" "$3"
fi
command -v jq >/dev/null || skip 'jq is not installed'
if [ "${1-}" = --check ]; then
	next_is_complete
	exit
fi
next_get
[ "${1-}" != --fetch ] || exit 0
unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder" "${work:-/nonexistent}"' EXIT
topology >"$folder/xdr.net"
XDR_FOLDER=$folder "$(realpath "$1")" fabric exec --verbs "$folder/xdr.net" -- \
	"$here" inside "$(realpath "$1")" "$(realpath "$2")"
