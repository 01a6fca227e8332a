#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: same_reports.sh PROGRAM
#
# The same happens to ibsim's fabric, with OpenSM, and to the embedded one:
# compares what they report of it.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$0")/../counterpart/fabric.sh"

program=$(realpath "$1")
data=$(realpath "$(dirname "$0")/../data/fabrics/b.net")
# The embedded fabric has the default partition only.
FABRIC_PARTITIONS=b.default.conf
fabric_start
fabric_run 'host-r3 mlx5_0' "$program" "$data" "$FABRIC_DIR/console"
