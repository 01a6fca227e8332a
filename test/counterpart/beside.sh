#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: beside.sh BESIDE
#
# Runs the program BESIDE, which uses libibsa and libibmad in one process, on a
# port of ibsim's fabric with OpenSM. Prints what fails. Exit status: 0 passed,
# 1 failed, 77 a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"

beside=$(realpath "$1")
fabric_start
fabric_run 'host-r3 mlx5_0' "$beside" ibsim ibsim0 </dev/null || wrong "$beside"
exit $failed
