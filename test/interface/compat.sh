#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that code for the kernel's SA API, with the kernel's #include line,
# compiles with the flags that pkg-config prints, and runs.
#
# usage: compat.sh BUILD-DIR INCLUDE-DIR USER.c FABRIC [FLAG...]
# (CC names the compiler; FLAGs are those with which the library was built)
set -eu

build=$1
include=$2
user=$3
fabric=$4
shift 4

command -v pkg-config >/dev/null || {
	echo "no pkg-config; run scripts/setup --tests"
	exit 77
}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# As installed: below include/ the source has the same layout.
flags=$(PKG_CONFIG_PATH=$build/meson-private pkg-config --cflags --libs \
	--define-variable=includedir="$include" \
	--define-variable=libdir="$build" ibsa-compat)
"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror "$@" "$user" $flags -pthread \
	-o "$out/user"

export IBSA_FABRIC="$fabric" LD_LIBRARY_PATH="$build"
"$out/user" node1 2 99 >"$out/output"
diff - "$out/output" <<-END
	LID 2
	unused LID: -22
END
if "$out/user" node9 2 99 2>"$out/output"; then
	echo "opened a device that does not exist"
	exit 1
fi
diff - "$out/output" <<-END
	node9: error -19
END
