#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_interrupt.sh UMAD-INTERRUPT DROP-IN IBSA TOPOLOGY [COUNT]
#
# Tests calls of libibumad that signals interrupt: UMAD-INTERRUPT must print
# the same with Debian's libibumad and with DROP-IN, on a file that both
# libraries can open, and at a fabric server. COUNT (400) is how often
# the program interrupts calls.
# IBSA is the command ibsa as it was built, TOPOLOGY the file of the fabric.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail

interrupt=$(realpath "$1")
folder=$(dirname "$(realpath "$2")")
ibsa=$(realpath "$3")
net=$(realpath "$4")
count=${5:-400}
# Meson sets LD_LIBRARY_PATH, so that tests find libraries in the build
# directory.
unset LD_LIBRARY_PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

LD_LIBRARY_PATH='' "$interrupt" "$count" socket >theirs 2>&1 || {
	echo 'FAILED: theirs' >&2
	cat theirs >&2
	exit 1
}
LD_LIBRARY_PATH=$folder "$interrupt" "$count" socket >ours 2>&1
diff theirs ours >&2 || failed=1
# No port has that LID.
IBSA_NODE='' "$ibsa" fabric exec "$net" -- env "LD_LIBRARY_PATH=$folder" \
	"$interrupt" "$count" ibsa0 999 >server 2>&1
diff theirs server >&2 || failed=1
cat theirs
exit $failed
