#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: ibsim.sh PROGRAM
#
# Runs each test of PROGRAM, which prints their names, on a fabric of ibsim without UMTAP: MADs longer than 256 bytes are cut. Exit status: 0 passed, 1
# failed, 77 a required program is missing.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$0")/fabric.sh"

program=$(realpath "$1")
names=$("$program")
fabric_start
for name in $names; do
	fabric_run 'host-r3 mlx5_0' "$program" "$name" </dev/null ||
		wrong "$name: $?"
done
exit "$failed"
