#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_storm.sh DROP-IN UMAD-STORM [ROUNDS [SEED]]
#
# Runs in a virtual machine: random calls at a port of the real kernel are
# cancelled, forked and interrupted at random moments, with Debian's libibumad
# and with DROP-IN in its place.
rounds=${3:-300}
seed=${4:-1}
# A port that receives requests and does not answer: rxe1, which pair.sh has
# made.
to=fe80::ff:fe00:b
failed=0

# storm FOLDER [-s]
storm() {
	folder=$1
	shift
	LD_LIBRARY_PATH=$folder "$storm" "$@" "$seed" "$rounds" rxe0 "$to" \
		>said 2>&1 || failed=1
	cat said
	grep -q ' 0 children lost, 0 descriptors ' said || failed=1
}

storm=$2
storm '' -s
storm "$(dirname "$1")"
exit $failed
