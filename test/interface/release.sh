#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that the examples of an earlier release, compiled with its headers, run with
# the libraries of this build, and print what they printed then.
#
# usage: release.sh RELEASE BUILD-DIR FABRIC [FLAG...]
#        release.sh --update RELEASE BUILD-DIR FABRIC
# RELEASE has the folders include/ and examples/, and output/ with a file for each
# example; --update writes output/. CC names the compiler, FLAGs are those with which
# the libraries were built.
set -u

update=no
if [ "$1" = --update ]; then
	update=yes
	shift
fi
release=$1
build=$2
fabric=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset IBSA_NODE
IBSA_FABRIC=$fabric
export IBSA_FABRIC

# compile NAME [FLAG...] - compile an example to $work/NAME
compile() {
	name=$1
	shift
	"${CC:-cc}" -std=gnu11 -Wall -Wextra -Werror -pthread "$@" \
		-I"$release/include" "$release/examples/$name.c" \
		-L"$build" -Wl,-rpath,"$build" \
		-libsa -libsa-fabric -libsa-compat -o "$work/$name"
}

# run NAME [ARGUMENT...] - run an example, and compare or keep what it prints
run() {
	name=$1
	shift
	"$work/$name" "$@" >"$work/$name.out" 2>&1
	echo "status $?" >>"$work/$name.out"
	if [ "$update" = yes ]; then
		cp "$work/$name.out" "$release/output/$name"
	elif ! diff "$release/output/$name" "$work/$name.out"; then
		echo "$name of $(basename "$release"): prints something else, see above"
		failed=yes
	fi
}

failed=no
for name in path reach kernel_path kernel_service sm_events fabric_server; do
	compile "$name" "$@" || exit 1
done
run path fe80::2:c903:0:21
run reach fe80::2:c903:0:21 fe80::2:c903:0:31
run kernel_path fe80::dead fe80::2:c903:0:21 fe80::2:c903:0:31
run kernel_service fe80::2:c903:0:11 example
run sm_events 'node2 mlx5_0' 0
run fabric_server "$fabric" 'node2 mlx5_0/1' "$work/path" fe80::2:c903:0:21
[ "$failed" = no ]
