#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: same.sh PROGRAM UMTAP [COUNT [SEED]]
#
# Sends the same requests to OpenSM and to the embedded SA with PROGRAM, and
# compares the replies. It sends COUNT (5000) random requests, for which SEED
# (1) is the seed of the random numbers. UMTAP is a preloaded library that
# makes MADs of ibsim whole.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$0")/../counterpart/fabric.sh"

program=$(realpath "$1")
FABRIC_UMTAP=$(realpath "$2")
data=$(realpath "$(dirname "$0")/../data/fabrics/b.net")
# The embedded fabric has the default partition only.
FABRIC_PARTITIONS=b.default.conf
fabric_start
fabric_run 'host-r3 mlx5_0' "$program" "$data" "${3:-5000}" "${4:-1}"
