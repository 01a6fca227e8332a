#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: same_reports.sh PROGRAM
#
# Makes the same changes on ibsim's fabric with OpenSM and on the embedded
# fabric, with PROGRAM, and compares the Reports that both SMs send.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$0")/../counterpart/fabric.sh"

program=$(realpath "$1")
data=$(realpath "$(dirname "$0")/../data/fabrics/b.net")
# The embedded fabric has the default partition only.
FABRIC_PARTITIONS=b.default.conf
fabric_start
fabric_run 'host-r3 mlx5_0' "$program" "$data" "$FABRIC_DIR/console"
