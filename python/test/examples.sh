#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: examples.sh IBSA FOUR-HOSTS.NET PYTHON EXAMPLES
#
# The examples run and print what their descriptions promise.
set -uo pipefail
ibsa=$(realpath "$1")
net=$(realpath "$2")
python=$3
examples=$(realpath "$4")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
unset IBSA_NODE
export IBSA_FABRIC=$net PYTHONDONTWRITEBYTECODE=1
status=0

# has TEXT COMMAND... - the output of the command contains the text
has() {
	local text=$1
	shift
	grep -qF -- "$text" out && return
	echo "WRONG: $*: no '$text' in:"
	cat out
	status=1
}

# prints TEXT COMMAND... - run the command, whose output contains the text
prints() {
	"${@:2}" >out 2>&1
	has "$@"
}

lease=$(sed -n 's/^#define IBSA_DEFAULT_LEASE_S \([0-9]*\).*/\1/p' \
	"$examples/../../include/ibsa/types.h")
[ "$(wc -l <"$examples/first.py")" -le 6 ] || { echo "first.py"; status=1; }
prints '4 node2' "$python" "$examples/first.py"
prints '25Gb/s' "$python" "$examples/reach.py" fe80::2c90:300b:402
prints 'fe80::dead NO' "$python" "$examples/reach.py" fe80::dead
prints 'is not a GID' "$python" "$examples/reach.py" dead
prints '0x0000000000001234 fe80::2c90:300b:101 '"$lease" \
	"$python" "$examples/service.py" 0x1234 printer 0.1
prints 'usage: service.py ID NAME SECONDS' "$python" "$examples/service.py" 5
prints 'usage: reach.py GID...' "$python" "$examples/reach.py"

# The link changes as soon as the program has subscribed.
unset IBSA_FABRIC
cat >watch.sh <<'END'
"$1" "$2/watch.py" 2 | while read -r line; do
	echo "$line"
	case "$line" in
	subscribed*) "$3" fabric link down node2/1 ;;
	gid-out*) "$3" fabric link up node2/1 ;;
	esac
done
END
prints 'gid-in fe80::2c90:300b:201 node2' "$ibsa" fabric exec "$net" -- \
	bash watch.sh "$python" "$examples" "$ibsa"
has 'gid-out fe80::2c90:300b:201 node2' watch.py

if command -v pytest-3 >/dev/null; then
	prints '3 passed' pytest-3 -q -p no:cacheprovider \
		"$examples/test_fabric.py"
	# Of a package: the fabrics are not beside the examples.
	mkdir package
	sed "s,/usr/share/ibsa/fabrics,$(dirname "$net")," \
		"$examples/test_fabric.py" >package/test_fabric.py
	prints '3 passed' pytest-3 -q -p no:cacheprovider package/test_fabric.py
else
	echo 'pytest-3 is not installed: test_fabric.py did not run'
fi
exit "$status"
