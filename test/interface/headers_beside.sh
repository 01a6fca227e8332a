#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that <ibsa/ib_sa.h> compiles together with the headers of rdma-core and
# OpenSM, in either order, with and without the kernel's short names, as C11 and as
# C++17; and that <ibsa/verbs.h> compiles together with rdma-core's, or in its
# place.
#
# usage: headers_beside.sh INCLUDE-DIR IB_SA-USER.c VERBS-USER.c
# (CC and CXX name the compilers)
set -u

include=$1
user=$2
verbs_user=$3
others=/usr/include/infiniband
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$include -I$others"
failed=0

for header in mad.h umad_sa.h verbs.h iba/ib_types.h; do
	if [ ! -e "$others/$header" ]; then
		echo "no infiniband/$header; run scripts/setup --tests"
		exit 77
	fi
done

# The program is included by another file, because clang warns of unused inline
# functions of a main file.
compile() {
	echo "#include \"$user\"" |
		"${CC:-cc}" -std=c11 $flags "$@" -x c - || failed=1
	echo "#include \"$user\"" |
		"${CXX:-c++}" -std=c++17 $flags "$@" -x c++ - || failed=1
}

compile
compile -DIB_SA_FIRST
compile -DIBSA_KERNEL_TYPES
compile -DIBSA_KERNEL_TYPES -DIB_SA_FIRST

user=$verbs_user
compile
compile -DVERBS_FIRST
compile -DIBSA_VERBS_NAMES
compile -DIBSA_VERBS_NAMES -DVERBS_FIRST
flags="-I$include/ibsa/compat $flags"
compile
compile -DVERBS_FIRST
compile -DVERBS_COMPAT
exit $failed
