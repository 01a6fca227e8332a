#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: ibsim.sh IBSA DROP-IN
#
# The test suite of ibsim, scripts/travis-runtest in its sources: two programs, at
# each of its example fabrics with OpenSM. They run at a fabric server, through
# DROP-IN, and at ibsim itself; both runs must pass and print the same. At the
# server, query_many runs, too; at ibsim, it waits for ever for a reply.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
here=$(realpath "$0")
tests=(subnet_discover 'mcast_storm rereg joins leave')

# suite COMMAND... - run the test programs with COMMAND in front of each. Print what
# they print, in an order that does not depend on that of the replies.
suite() {
	local name
	for name in "${tests[@]}"; do
		# shellcheck disable=SC2086 # the program's arguments
		"$@" timeout -k 1 60 "$SUITE_FOLDER/tests/"$name >output 2>&1 || {
			echo "$name: exit status $?: $(tail -n 3 output)"
			return 1
		}
		# Paths of one length are equally good, and how many MADs are sent
		# depends on the order.
		sed -E '/^# The subnet/d; s/# [0-9]+(,[0-9]+)*, /# /' output |
			sort
	done
}

if [ "${3-}" = inside ]; then
	# shellcheck source=test/counterpart/server.sh
	. "$(dirname "$here")/../counterpart/server.sh"
	drop_in=$2
	cd "$SUITE_FOLDER" && sm_start || exit 1
	suite env LD_LIBRARY_PATH="$drop_in" && {
		tests=('query_many -n 1000 -a 0x11')
		suite env LD_LIBRARY_PATH="$drop_in" >/dev/null
	}
	status=$?
	sm_stop
	exit "$status"
fi

# shellcheck source=test/counterpart/fabric.sh
. "$(dirname "$here")/../counterpart/fabric.sh"
fabric_need make gcc ibsim opensm
source=$("$(dirname "$here")/sources")/ibsim
[ -d "$source" ] || fabric_skip "no $source; run scripts/setup --release"
ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
SUITE_FOLDER=$(mktemp -d)
export SUITE_FOLDER
trap 'rm -rf "$SUITE_FOLDER"' EXIT
cp -r "$source/." "$SUITE_FOLDER"
make -C "$SUITE_FOLDER/tests" >"$SUITE_FOLDER/make.log" 2>&1 ||
	fabric_fail "$(tail "$SUITE_FOLDER/make.log")"
cd "$SUITE_FOLDER" || exit 1
unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
FABRIC_SM=Hca1
count=0
for FABRIC_NET in "$PWD"/net-examples/net*; do
	name=$(basename "$FABRIC_NET")
	"$ibsa" fabric exec --sa none "$FABRIC_NET" -- "$here" "$ibsa" \
		"$drop_in" inside >ours || wrong "$name: $(tail -n 3 ours)"
	(fabric_start && suite fabric_run Hca1) >theirs ||
		wrong "$name, ibsim: $(tail -n 3 theirs)"
	diff theirs ours || wrong "$name: different output"
	count=$((count + ${#tests[@]}))
done
[ "$failed" -eq 1 ] || echo "ibsim: $count of $count pass, and print the same"
exit "$failed"
