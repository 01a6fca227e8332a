#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: report.sh IBSA DROP-IN NET NODE
#
# Makes a report of a fabric, by ibsa doctor --report at NODE, while OpenSM runs
# there with an M_Key and an SA key, and report.py checks it.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, NET the topology file. Exit status: 0 passed, 1 failed, 77 a
# required program is missing.
set -uo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=test/counterpart/server.sh
. "$here/server.sh"

if [ "${5-}" != inside ]; then
	served_need opensm tshark jq
	REPORT_FOLDER=$(mktemp -d)
	export REPORT_FOLDER
	trap 'rm -rf "$REPORT_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	IBSA_NODE=$4 "$1" fabric exec "$3" --sa none \
		--socket "$REPORT_FOLDER/s" -- "$0" "$@" inside
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$REPORT_FOLDER" || exit 1
sm_start 'm_key 0x5ec4e7015ec4e702' 'm_key_protection_level 1' \
	'sa_key 0x5ec4e7035ec4e704' 'sm_key 0x5ec4e7055ec4e706' || {
	echo "OpenSM does not start: $(tail opensm.log)"
	exit 1
}
"$here/report.py" "$ibsa" 5ec4e701 5ec4e702 5ec4e703 5ec4e704 5ec4e705 5ec4e706
status=$?
sm_stop
exit "$status"
