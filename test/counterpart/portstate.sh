#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: portstate.sh IBSA DROP-IN
#
# Tests that the records of the embedded SA have the values that another program
# sets in PortInfo: Debian's ibportstate, through DROP-IN, sets width, speed, LID,
# MTU and state of ports, and saquery reads the records.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"
failed=0

wrong() {
	echo "FAILED: $*" >&2
	failed=1
}

# set_port LID PORT OPERATION...
set_port() {
	ibportstate "$@" >out 2>&1 || wrong "ibportstate $*: $(tail -n 2 out)"
}

# port LID PORT FIELD VALUE - check a field of a PortInfoRecord
port() {
	saquery PIR "$1/$2" >out 2>&1
	grep -qE "^[[:space:]]*$3:\.+$4\$" out ||
		wrong "PortInfoRecord $1/$2: not $4: $(grep "$3" out)"
}

# path LID RATE - check the rate of the path from LID 1: its code, with the
# selector in the high bits
path() {
	saquery PR --src-to-dst "1:$1" >out 2>&1
	grep -qE "^[[:space:]]*rate\.+$2\$" out ||
		wrong "PathRecord to $1: not $2: $(cat out)"
}

# Each link runs at the width that both its ends enable, from the next time on
# at which it is trained; if they have none in common, it stays down.
widths() {
	path "$host" 0x90
	set_port "$switch" 2 width 1
	port "$switch" 2 LinkWidthEnabled 1X
	port "$switch" 2 LinkWidthActive 4X
	set_port "$switch" 2 reset
	port "$switch" 2 LinkWidthActive 1X
	port "$host" 1 LinkWidthActive 1X
	port "$host" 1 LinkWidthEnabled '1X or 4X'
	path "$host" 0x8F
	set_port "$host" 1 width 2
	set_port "$switch" 2 reset
	port "$switch" 2 LinkState Down
	set_port "$switch" 2 width 3
	set_port "$switch" 2 reset
	port "$switch" 2 LinkWidthActive 4X
	path "$host" 0x90
	set_port "$host" 1 width 1
	"$ibsa" fabric link up b/1 || wrong 'link up'
	path "$host" 0x90
	"$ibsa" fabric link down b/1 || wrong 'link down'
	"$ibsa" fabric link up b/1 || wrong 'link up'
	path "$host" 0x8F
	set_port "$host" 1 width 3
	set_port "$switch" 2 reset
}

speeds() {
	set_port "$switch" 2 espeed 30
	set_port "$switch" 2 speed 2
	set_port "$switch" 2 reset
	port "$host" 1 LinkSpeedExtActive 'No Extended Speed'
	port "$host" 1 LinkSpeedActive '5.0 Gbps'
	path "$host" 0x86
	set_port "$switch" 2 espeed 31
	set_port "$switch" 2 speed 15
	set_port "$switch" 2 reset
	port "$host" 1 LinkSpeedExtActive '25.78125 Gbps'
	path "$host" 0x90
}

# The rate of a bad cable is not exceeded, whatever the ports enable.
cable() {
	"$ibsa" fabric link speed b/1 1xEDR || wrong 'link speed'
	path "$host" 0x8F
	set_port "$switch" 2 reset
	path "$host" 0x8F
	"$ibsa" fabric link speed b/1 4xEDR || wrong 'link speed'
	path "$host" 0x90
}

# Paths have the MTU that ports support, not that which is set at them; so it is
# with OpenSM.
mtu() {
	set_port "$host" 1 mtu 3
	port "$host" 1 NeighborMTU 1024
	path "$host" 0x90
	grep -qE 'mtu\.+0x84$' out || wrong "MTU: $(grep mtu out)"
}

lid() {
	set_port "$host" 1 lid 9
	port 9 1 Lid 9
	path 9 0x90
	saquery PIR "$host/1" >out 2>&1
	! grep -q Lid out || wrong "LID $host: $(cat out)"
	smpquery nodedesc 9 >out 2>&1
	grep -q 'b$' out || wrong "LID 9: $(cat out)"
	set_port "$switch" 2 disable
	port "$switch" 2 PhysLinkState Disabled
	saquery LR >out 2>&1
	! grep -qE 'ToLID\.+9$' out || wrong "a link to LID 9: $(cat out)"
}

if [ "${3-}" = inside ]; then
	ibsa=$1 switch=3 host=2
	LD_LIBRARY_PATH=$(dirname "$2")
	export LD_LIBRARY_PATH
	widths
	speeds
	cable
	mtu
	lid
	exit "$failed"
fi

served_need ibportstate saquery smpquery
unset IBSA_FABRIC LD_LIBRARY_PATH
here=$(realpath "$0") ibsa=$(realpath "$1") dropin=$(realpath "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
cat >two.net <<-'END'
	Switch 2 "S" # "S"
	[1] "a"[1] # 4xEDR
	[2] "b"[1] # 4xEDR
	Ca 1 "a" # "a"
	Ca 1 "b" # "b"
END
IBSA_NODE=a "$ibsa" fabric exec two.net -- "$here" "$ibsa" "$dropin" inside
