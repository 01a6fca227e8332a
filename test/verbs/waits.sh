#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: waits.sh PROGRAM IBSA FABRIC EXPECTED
#
# Tests that waits on contexts of ibsa_verbs_open() end as those of libibverbs
# do: PROGRAM must print the lines of the file EXPECTED, on the embedded fabric
# FABRIC and at a fabric server. The test vm-waits compares EXPECTED with
# libibverbs.
set -uo pipefail
export LC_ALL=C
program=$1 ibsa=$2 fabric=$3 expected=$4
failed=0

"$program" "$fabric" | diff "$expected" - || failed=1
# shellcheck disable=SC2016 # for the inner shell
"$ibsa" fabric exec "$fabric" -- sh -c '"$0" "$IBSA_FABRIC"' "$program" |
	diff "$expected" - || failed=1
exit $failed
