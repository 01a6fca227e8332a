# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and variables for the other scripts, which source this file from any
# working directory.
# shellcheck shell=bash
set -uo pipefail

# The project's root, where every script works.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root" || exit 1
me=scripts/$(basename "$0")

# die SENTENCE [STATUS] - end with a sentence on what is wrong and what to do
die() {
	echo "$me: $1" >&2
	exit "${2:-1}"
}

# usage - print the comment at the top of the script that sources this file,
# from its third line on
usage() {
	sed -n '/^# shellcheck/d; 3,/^[^#]/s/^# \{0,1\}//p' "$0"
}

# version_in - print the version in a meson.build, the input
version_in() {
	sed -n "s/^ *version: '\(.*\)',\$/\1/p"
}

# njobs - print how many compilers or tests to run at the same time
njobs() {
	nproc 2>/dev/null || echo 2
}

# quietly LOG COMMAND... - run a command with its output in the file LOG, and
# print LOG if it fails
quietly() {
	local log=$1 status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		cat "$log" >&2
	fi
	return "$status"
}
