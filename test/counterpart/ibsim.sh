#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: ibsim.sh PROGRAM
#
# Runs each test of PROGRAM on a fabric of ibsim's as it is.
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
