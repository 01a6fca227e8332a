#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_io.sh UMAD-IO DROP-IN
#
# Tests sending and receiving through libibumad on a port of ibsim's fabric:
# the program UMAD-IO, which is linked with Debian's libibumad, must print the
# same with that library and with DROP-IN in its place. Exit status: 0 passed,
# 1 failed, 77 a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
# shellcheck source=test/counterpart/dropin.sh
. "$here/dropin.sh"

io=$(realpath "$1")
dropin_find "$2"
fabric_start
cd "$FABRIC_DIR"
for library in theirs ours; do
	dropin_run "$library" 'host-r3 mlx5_0' "$io" ibsim0 smp
	[ "$(cat "$library.status")" -eq 0 ] || wrong "$library: $(cat $library.err)"
	# Lines of a dump begin with the process's number.
	sed -i 's/\[[0-9]*\]/[]/' "$library.err"
done
grep -q '^answer: 1$' theirs.out || wrong 'theirs: no answer'
diff theirs.out ours.out || wrong 'they print something else'
diff theirs.err ours.err || wrong 'they dump something else'
exit $failed
