#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that a program links with libibsa.a alone, with the flags that pkg-config
# prints; that it runs at a fabric server; and that it opens no topology file.
#
# usage: static.sh BUILD-DIR INCLUDE-DIR PATH.c IBSA FABRIC
# (CC names the compiler; PATH.c is the example program that queries a path)
set -eu

build=$1
include=$2
source=$3
ibsa=$4
fabric=$5

command -v pkg-config >/dev/null || {
	echo "no pkg-config; run scripts/setup --tests"
	exit 77
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

flags=$(PKG_CONFIG_PATH=$build/meson-private pkg-config --static --cflags \
	--libs --define-variable=includedir="$include" \
	--define-variable=libdir="$build" ibsa)
# The linker warns of dlopen().
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror "$source" -static $flags \
	-o "$out/path"

unset IBSA_NODE
"$ibsa" fabric exec "$fabric" -- "$out/path" fe80::2:c903:0:21 >"$out/output"
grep -q '^LID [0-9]* -> LID [0-9]*, SL ' "$out/output"

status=0
IBSA_FABRIC="$fabric" "$out/path" fe80::2:c903:0:21 2>"$out/output" || status=$?
[ "$status" -eq 1 ]
diff - "$out/output" <<-END
	the static libibsa opens no topology file or capture; link the program with libibsa.so, or use a fabric server
END
