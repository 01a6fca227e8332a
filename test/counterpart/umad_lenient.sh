#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_lenient.sh UMAD-LENIENT DROP-IN
#
# A program on a port of ibsim's: it prints the same with Debian's libibumad and
# with ours in its place.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
# shellcheck source=test/counterpart/dropin.sh
. "$here/dropin.sh"

lenient=$(realpath "$1")
dropin_find "$2"
fabric_start
cd "$FABRIC_DIR"
for library in theirs ours; do
	dropin_run "$library" 'host-r3 mlx5_0' "$lenient" ibsim0
	[ "$(cat "$library.status")" -eq 0 ] || wrong "$library: $(cat $library.err)"
done
cat theirs.out
diff theirs.out ours.out || wrong 'they print something else'
exit $failed
