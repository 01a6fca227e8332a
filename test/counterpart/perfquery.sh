#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: perfquery.sh IBSA DROP-IN
#
# Tests that Debian's perfquery, through DROP-IN, gets each optional attribute
# for which it has an option, from an adapter and from a switch, and that the
# counters of one attribute agree with those of another.
# IBSA is the command ibsa as it was built. Exit status: 0 passed, 1 failed, 77
# perfquery is not installed.
set -uo pipefail
PATH=$PATH:/usr/sbin:/sbin
here=$(realpath "$0")
failed=0

wrong() {
	echo "FAILED: $*" >&2
	failed=1
}

query() {
	LD_LIBRARY_PATH=$dropin perfquery "$@" >out 2>errors
}

# value NAME - print a value of the last query
value() {
	sed -n "s/^$1:\.*//p" out
}

# has LID FIELD OPTION... - check that a query prints FIELD
has() {
	local lid=$1 field=$2
	shift 2
	query "$@" "$lid" 1 || wrong "perfquery $* $lid: $(cat errors)"
	[ -n "$(value "$field")" ] || wrong "perfquery $*: no $field: $(cat out)"
}

options() {
	local lid=$1 option field
	while read -r option field; do
		has "$lid" "$field" "$option"
	done <<-END
		-x PortXmitDiscards
		-X XmtDataSL15
		-S RcvDataSL15
		-D PortSwHOQLifetimeLimitDiscards
		-E PortLoopingErrors
		-T FECUncorrectableBlockCtrLane11
		-c SampleInterval
		--oprcvcounters PortOpRcvData
		--flowctlcounters PortRcvFlowPkts
		--vloppackets PortVLOpPackets15
		--vlopdata PortVLOpData15
		--vlxmitflowctlerrors PortVLXmitFlowCtlUpdateErrors15
		--vlxmitcounters PortVLXmitWait15
		--rcvcc PortPktRcvBECN
		--slrcvfecn PortSLRcvFECN15
		--slrcvbecn PortSLRcvBECN15
		--xmitcc PortXmitTimeCong
		--vlxmittimecc PortVLXmitTimeCong14
	END
}

# Check that OptionMask of a port is MASK: the optional counters that it has.
mask() {
	query -c "$1" 1 || wrong "perfquery -c: $(cat errors)"
	[ "$(value OptionMask)" = "$2" ] ||
		wrong "OptionMask of LID $1: $(value OptionMask)"
}

# The only traffic is that of these queries, with SL 0.
agree() {
	local before
	query -R "$1" 1 || wrong "perfquery -R: $(cat errors)"
	query -X -R "$1" 1 || wrong "perfquery -X -R: $(cat errors)"
	query -X "$1" 1
	before=$(value XmtDataSL0)
	[ "$before" -gt 0 ] || wrong "-X: $(cat out)"
	[ "$(value XmtDataSL1)" = 0 ] || wrong "-X: $(cat out)"
	query "$1" 1
	[ "$(value PortXmitData)" -gt "$before" ] || wrong "-X: not $before"
	query -S "$1" 1
	[ "$(value RcvDataSL0)" -gt 0 ] || wrong "-S: $(cat out)"
}

# A packet to a LID without a port is a DLIDMappingError of the switch, and a
# cable that fails is a LinkDowned in both attributes that have one.
errors() {
	query 1000 1 && wrong 'LID 1000 has answered'
	query -E "$switch" 1
	[ "$(value PortDLIDMappingErrors)" -gt 0 ] || wrong "-E: $(cat out)"
	query -E -R "$switch" 1
	query -E "$switch" 1
	[ "$(value PortDLIDMappingErrors)" = 0 ] || wrong "-E -R: $(cat out)"
	query "$switch" 1
	[ "$(value PortRcvSwitchRelayErrors)" -gt 0 ] || wrong "$(cat out)"
	"$ibsa" fabric link down "$far/1" || wrong 'link down'
	"$ibsa" fabric link up "$far/1" || wrong 'link up'
	query -x -a "$switch"
	[ "$(value LinkDownedCounter)" = 1 ] || wrong "-x: $(cat out)"
	query -x -R "$switch" 255 0x40000
	query -x -a "$switch"
	[ "$(value LinkDownedCounter)" = 0 ] || wrong "-x -R: $(cat out)"
	query -a "$switch"
	[ "$(value LinkDownedCounter)" = 1 ] || wrong "LinkDowned: $(cat out)"
}

inside() {
	ibsa=$1 dropin=$(dirname "$2") adapter=1 switch=3 far=b
	options "$adapter"
	options "$switch"
	has "$switch" SWPortVLCongestion15 --swportvlcong
	query --swportvlcong "$adapter" 1 && wrong 'an adapter has SwPortVLCongestion'
	mask "$switch" 0x01ff000000ffffc0
	mask "$adapter" 0x01fe000000ffffc0
	agree "$switch"
	errors
	exit "$failed"
}

if [ "${1-}" = inside ]; then
	inside "$2" "$3"
fi
command -v perfquery >/dev/null || {
	echo 'skipped: perfquery is not installed' >&2
	exit 77
}
unset IBSA_FABRIC LD_LIBRARY_PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ibsa=$(realpath "$1") dropin=$(realpath "$2")
cd "$folder" || exit 1
cat >two.net <<-'END'
	Switch 2 "S" # "S"
	[1] "a"[1]
	[2] "b"[1]
	Ca 1 "a" # "a"
	Ca 1 "b" # "b"
END
IBSA_NODE=a "$ibsa" fabric exec two.net -- "$here" inside "$ibsa" "$dropin"
