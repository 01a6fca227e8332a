#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_lenient.sh DROP-IN UMAD-LENIENT
#
# Runs in a virtual machine, on the real kernel: UMAD-LENIENT must print the
# same with Debian's libibumad and with DROP-IN in its place.
LD_LIBRARY_PATH='' "$2" rxe0 >theirs 2>&1 || {
	echo 'FAILED: theirs' >&2
	cat theirs >&2
	exit 1
}
LD_LIBRARY_PATH=$(dirname "$1") "$2" rxe0 >ours 2>&1
cat theirs
diff theirs ours >&2
