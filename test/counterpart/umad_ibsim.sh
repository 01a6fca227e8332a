#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_ibsim.sh UMAD-SAY DROP-IN
#
# Tests that the libibumad functions of DROP-IN and Debian's
# libibumad print the same about the devices of ibsim, with the program
# UMAD-SAY: on an adapter, and on a switch, whose only port is port 0.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -euo pipefail
# Meson sets this to the folder of the drop-in, which has the name of Debian's
# libibumad.
unset LD_LIBRARY_PATH
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"

say=$(realpath "$1")
ours=$(realpath "$2")
theirs=libibumad.so.3
"$say" "$theirs" >/dev/null 2>&1 || fabric_skip "$theirs is not installed"
failed=0

fabric_start
for node in 'host-r3 mlx5_0' 'S-0008f10400411a02'; do
	fabric_run "$node" "$say" "$theirs" >"$FABRIC_DIR/theirs" </dev/null
	fabric_run "$node" "$say" "$ours" >"$FABRIC_DIR/ours" </dev/null
	grep -q '^ca ibsim0: 0$' "$FABRIC_DIR/theirs" || {
		echo "FAILED: $node: libibumad sees no device" >&2
		failed=1
	}
	diff "$FABRIC_DIR/theirs" "$FABRIC_DIR/ours" || {
		echo "FAILED: $node" >&2
		failed=1
	}
done
exit $failed
