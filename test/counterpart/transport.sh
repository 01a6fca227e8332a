#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: transport.sh cut|whole PROGRAM UMTAP
#
# Runs PROGRAM, the test of the umad transport, on ibsim's fabric. Mode cut:
# ibsim cuts MADs at 256 bytes; whole: UMTAP, a preloaded library, keeps them
# whole. Exit status: that of PROGRAM.
set -euo pipefail
# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$0")/fabric.sh"

mode=$1 program=$(realpath "$2")
if [ "$mode" = whole ]; then
	FABRIC_UMTAP=$(realpath "$3")
fi
fabric_start
fabric_run 'host-r3 mlx5_0' "$program" "$mode"
