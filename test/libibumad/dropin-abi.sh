#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: dropin-abi.sh DROP-IN LIST BUILD
#
# Tests the symbols of DROP-IN against those of the installed libibumad; LIST
# has the symbols of a newer libibumad, which DROP-IN must export as well. Also
# tests that BUILD installs no name by which a linker would find DROP-IN. Exit
# status: 0 passed, 1 failed.
set -euo pipefail

dropin=$1
list=$2
if ! command -v abidiff >/dev/null || ! command -v nm >/dev/null; then
	echo 'skipped: abidiff or nm is not installed' >&2
	exit 77
fi
theirs=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p |
	sed -n 's/.*libibumad\.so\.3 .*=> //p' | head -n 1)
if [ -z "$theirs" ]; then
	echo 'skipped: libibumad.so.3 is not installed' >&2
	exit 77
fi
status=0

installed=$(meson introspect --installed "$3" | jq -r 'keys[]' |
	sed -n 's|.*/||; /^libibumad\.so/p')
if [ "$installed" != libibumad.so.3 ]; then
	echo "installed: $installed"
	status=1
fi

# The drop-in has all symbols of libibumad at their versions, and its soname.
abidiff --no-added-syms "$theirs" "$dropin" || status=1

symbols() {
	nm -D --defined-only --with-symbol-versions "$1" |
		sed -nE 's/.* T ([^@]+)@@(.*)$/\2 \1/p' | LC_ALL=C sort
}

# The additional symbols are exactly those of the list.
diff <(LC_ALL=C comm -13 <(symbols "$theirs") <(symbols "$dropin")) \
	<(grep -v '^#' "$list" | LC_ALL=C sort |
		LC_ALL=C comm -13 <(symbols "$theirs") -) || {
	echo "$dropin has not what $list lists" >&2
	status=1
}
exit $status
