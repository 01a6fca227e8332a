#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_lenient.sh UMAD-LENIENT DROP-IN
#
# Tests arguments that libibumad accepts although they are wrong, on a port of
# ibsim's fabric: the program UMAD-LENIENT must print the same with Debian's
# libibumad and with DROP-IN in its place. Exit status: 0 passed, 1 failed, 77
# a required program is missing.
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
