#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: many.sh FABRIC-MANY IBSA DROP-IN [SECONDS [SEED]]
#
# Runs 50 processes at one fabric server for SECONDS (5); ten of them run
# Debian's saquery with DROP-IN in place of libibumad. SEED (the time) is the
# seed of the random numbers. test/many/driver.c, the program FABRIC-MANY, has
# the details. scripts/check-release has ten minutes of it.
#
# Exit status: that of FABRIC-MANY, or 77 if saquery is not installed.
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin
if ! saquery=$(command -v saquery); then
	echo 'skipped: saquery is not installed' >&2
	exit 77
fi
folder=$(dirname "$(realpath "$3")")
unset IBSA_FABRIC IBSA_NODE
LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$1" "$(realpath "$2")" "${4:-5}" "${5:-$(date +%s)}" "$saquery"
