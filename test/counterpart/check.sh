#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: check.sh IBSA DROP-IN
#
# Tests "ibsa check" with OpenSM as the SA. OpenSM uses up/down routing: a
# packet that has gone down from a root never goes up again. Both end switches
# of a line are roots, so no path leads from one end to the other, and ibsa check
# must report that.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${3-}" != inside ]; then
	served_need opensm saquery
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	cat >"$folder/line.net" <<-'END'
		switchguid=0x100
		Switch 8 "root1"
		[1] "a"[1] 4xEDR
		[2] "middle"[1] 4xEDR
		switchguid=0x200
		Switch 8 "root2"
		[1] "b"[1] 4xEDR
		[2] "middle"[2] 4xEDR
		switchguid=0x300
		Switch 8 "middle"
		[3] "c"[1] 4xEDR
		caguid=0xa00
		Ca 1 "a"
		caguid=0xb00
		Ca 1 "b"
		caguid=0xc00
		Ca 1 "c"
	END
	CHECK_FOLDER=$folder "$1" fabric exec "$folder/line.net" --sa none \
		--socket "$folder/s" -- "$0" "$1" "$2" inside
	exit
fi

ibsa=$(realpath "$1")
# Search libraries only in the build directory of the drop-in.
drop_in=$(dirname "$(realpath "$2")")
export LD_LIBRARY_PATH=$drop_in
cd "$CHECK_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	cat out err
	status=1
}

# check NODE STATUS [GUID...] - check the exit status of ibsa check at NODE, and
# that it reports exactly these nodes, if any are given, as having no path
check() {
	local node=$1 want=$2 got=0
	shift 2
	IBSA_NODE=$node "$ibsa" check -j >out 2>err || got=$?
	[ "$got" = "$want" ] || wrong "$node: exit status $got"
	[ "$(jq -r '.[] | .finding + " " + .node_guid' out | sort |
		tr '\n' ' ')" = "$(printf 'no-path %s ' "$@")" ] ||
		[ $# -eq 0 ] || wrong "$node: other findings"
}

printf '0x100\n0x200\n' >roots
sm_start 'routing_engine updn' 'root_guid_file roots' ||
	wrong "OpenSM: $(tail -n 3 opensm.log)"
check c 0
check a 1 0x0000000000000200 0x0000000000000b00
# saquery agrees.
saquery --src-to-dst a:c >out 2>err
grep -q '^PathRecord dump' out || wrong 'saquery has no path from a to c'
saquery --src-to-dst a:b >out 2>err
grep -q '^PathRecord dump' out && wrong 'saquery has a path from a to b'
sm_stop
exit "$status"
