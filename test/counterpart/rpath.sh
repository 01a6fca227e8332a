#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: rpath.sh IBSA TOPOLOGY PLAIN RUNPATH RPATH STATIC
#
# Tests that "ibsa fabric exec" gives the fabric to programs that find Debian's
# libibumad in different ways, and that it names a program to which it cannot
# give the fabric.
# PLAIN, RUNPATH and RPATH are umad_names.c, linked with neither, with DT_RUNPATH
# and with DT_RPATH to the directory of Debian's libibumad; STATIC is a program
# without shared libraries. Exit status: 0 passed, 1 failed.
set -uo pipefail

ibsa=$(realpath "$1")
net=$(realpath "$2")
plain=$(realpath "$3")
runpath=$(realpath "$4")
rpath=$(realpath "$5")
static=$(realpath "$6")
# Meson sets LD_LIBRARY_PATH, so that tests find libraries in the build
# directory.
unset LD_LIBRARY_PATH LD_PRELOAD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

wrong() {
	echo "WRONG: $*: $(cat out err)"
	failed=1
}

# run STATUS COMMAND... - run a command with a server; check its exit status
run() {
	local want=$1 got
	shift
	"$ibsa" fabric exec "$net" -- "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || wrong "$*: exit status $got"
}

# sees COMMAND... - the program sees the fabric's device, and no warning
sees() {
	run 0 "$@"
	[ "$(cat out)" = ibsa0 ] || wrong "$*"
	[ ! -s err ] || wrong "$*"
}

sees "$plain"
sees "$runpath"
sees "$rpath"
PATH=$(dirname "$rpath"):$PATH sees "$(basename "$rpath")"
LD_PRELOAD=libc.so.6 sees "$rpath"

# Only a program with DT_RPATH has the library preloaded.
run 0 env
grep -q LD_PRELOAD out && wrong env

run 0 "$static"
grep -qF "'$static' is linked statically" err || wrong "$static"
[ "$(wc -l <err)" = 1 ] || wrong "$static"
exit $failed
