#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_interrupt.sh DROP-IN UMAD-INTERRUPT [COUNT]
#
# Runs in a virtual machine: UMAD-INTERRUPT, whose calls at a port of the real
# kernel are interrupted by signals, must print the same with Debian's
# libibumad and with DROP-IN in its place.
folder=$(dirname "$1")
interrupt=$2
count=${3:-400}
# A port that receives requests and does not answer: rxe1, which pair.sh has
# made.
to=fe80::ff:fe00:b

LD_LIBRARY_PATH='' "$interrupt" "$count" rxe0 "$to" >theirs 2>&1 || {
	echo 'FAILED: theirs' >&2
	cat theirs >&2
	exit 1
}
LD_LIBRARY_PATH=$folder "$interrupt" "$count" rxe0 "$to" >ours 2>&1
cat theirs
diff theirs ours >&2
