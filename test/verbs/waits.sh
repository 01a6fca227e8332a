#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: waits.sh PROGRAM IBSA FABRIC EXPECTED
#
# Waits on contexts of ibsa_verbs_open() end as libibverbs' do: on an embedded
# fabric and at a fabric server, PROGRAM prints what EXPECTED has, which
# vm-waits compares with libibverbs.
set -uo pipefail
export LC_ALL=C
program=$1 ibsa=$2 fabric=$3 expected=$4
failed=0

"$program" "$fabric" | diff "$expected" - || failed=1
# shellcheck disable=SC2016 # for the inner shell
"$ibsa" fabric exec "$fabric" -- sh -c '"$0" "$IBSA_FABRIC"' "$program" |
	diff "$expected" - || failed=1
exit $failed
