#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: python.sh IBSA DROP-IN TOPOLOGY PYTHON TEST
#
# Runs TEST, a test script of the Python module, with the interpreter PYTHON at
# a fabric server with OpenSM.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, TOPOLOGY the file of the fabric. Exit status: that of TEST, 1 if
# OpenSM does not start, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${6-}" != inside ]; then
	served_need opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	PYTHON_FOLDER=$folder "$1" fabric exec "$3" --sa none \
		--socket "$folder/s" -- "$0" "$@" inside
	exit
fi

drop_in=$(dirname "$(realpath "$2")")
cd "$PYTHON_FOLDER" || exit 1
sm_start ||
	{ echo "WRONG: OpenSM: $(tail -n 3 opensm.log)"; exit 1; }
"$4" -W error "$5"
status=$?
sm_stop TERM
exit "$status"
