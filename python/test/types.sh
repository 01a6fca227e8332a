#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: types.sh PYTHONPATH EXAMPLES
#
# mypy accepts the module, whose records have types by records.pyi, and the
# examples. It rejects a program with wrong types.
set -uo pipefail
command -v mypy >/dev/null || { echo 'skipped: no mypy' >&2; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
examples=("$(realpath "$2")"/*.py)
cd "$1" || exit 1
status=0

# accepts FILE... - whether mypy finds nothing
accepts() {
	MYPYPATH=. mypy --strict --allow-untyped-decorators \
		--python-version 3.9 --cache-dir ../mypy "$@" >"$tmp/out" 2>&1
}

accepts ibsa "${examples[@]}" || { cat "$tmp/out"; status=1; }

# Each line has a type that is wrong, or a name that does not exist.
cat >"$tmp/wrong.py" <<'END'
import ibsa
client = ibsa.open()
a: str = client.query(ibsa.NodeRecord)[0].lid
b: int = client.path("fe80::1").dgid
client.query(ibsa.NodeRecord)[0].nothing
client.query(ibsa.NothingRecord)
ibsa.PathRecord(nothing=1)
c: int = client.query(ibsa.MultiPathRecord)[0].gid
END
accepts "$tmp/wrong.py"
found=$(grep -oE 'wrong.py:[0-9]+: error' "$tmp/out" | sort -u | wc -l)
[ "$found" -eq 6 ] || { cat "$tmp/out"; status=1; }
exit "$status"
