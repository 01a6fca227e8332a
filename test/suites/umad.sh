#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad.sh IBSA DROP-IN IBSAD TOPOLOGY
#
# The tests of libibumad from the sources of rdma-core, on a fabric that OpenSM
# manages: all of them through DROP-IN at the fabric server, and the one that sends
# requests to the SA as an ordinary user, through ibsad, too. By default, ibsad lets
# no user join or leave a group: the SA must then have the same members, and its
# answers to queries must be those that root gets.
# Exit status: 0 passed, 1 failed, 77 a required program or right is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/../counterpart/server.sh"
here=$(realpath "$0")

if [ "${5-}" != inside ]; then
	served_need gcc opensm saquery ibnetdiscover setpriv
	UMAD_SOURCE=$("$(dirname "$here")/sources")/rdma-core
	[ -d "$UMAD_SOURCE" ] || {
		echo "skipped: no $UMAD_SOURCE; run scripts/setup --release" >&2
		exit 77
	}
	if [ "$(id -u)" -ne 0 ]; then
		echo "skipped: only root can run other users" >&2
		exit 77
	fi
	UMAD_FOLDER=$(mktemp -d)
	export UMAD_FOLDER UMAD_SOURCE
	chmod 755 "$UMAD_FOLDER"
	trap 'rm -rf "$UMAD_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	"$1" fabric exec "$4" --sa none --socket "$UMAD_FOLDER/fabric" -- \
		"$here" "$1" "$2" "$3" "$4" inside
	exit
fi

ibsad=$(realpath "$3")
# An ordinary user cannot read a build directory that is root's.
drop_in=$UMAD_FOLDER/lib
mkdir "$drop_in" && cp "$2" "$drop_in/libibumad.so.3" &&
	chmod -R a+rX "$drop_in"
export LD_LIBRARY_PATH=$drop_in
cd "$UMAD_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# build NAME - compile a test. The file config.h of the sources comes from their
# build; this one answers "yes" where the test umad_register2 asks the kernel, by an
# ioctl of its own, whether it can register agents with flags: the descriptor at a
# fabric server is not that of a device file.
build() {
	gcc -D_GNU_SOURCE -I. -I"$UMAD_SOURCE" -o "$1" \
		"$UMAD_SOURCE/libibumad/tests/$1.c" -libumad >gcc.log 2>&1 ||
		wrong "$1: $(tail -n 3 gcc.log)"
}
printf '#include <sys/ioctl.h>\n#define ioctl(...) 0\n' >config.h
for name in umad_compile_test umad_reg2_compat umad_register2 \
	umad_sa_mcm_rereg_test; do
	build "$name"
done

# passes NAME LAST - run a test that prints its result as well
passes() {
	"./$1" >output 2>&1 || wrong "$1: $? $(tail -n 5 output)"
	grep -q "$2" output || wrong "$1 has not printed '$2': $(cat output)"
}

# rereg [OPTION] - send requests about the IPoIB broadcast group for all ports
rereg() {
	"${user[@]}" ./umad_sa_mcm_rereg_test "$@" >output 2>&1 ||
		wrong "umad_sa_mcm_rereg_test $*: $?"
}

# members - print the groups and their members, which needs the SM_Key
members() {
	saquery --smkey 0x1 -m
}

sm_start || wrong "OpenSM: $(tail -n 3 opensm.log)"
passes umad_reg2_compat 'had 0 failures'
passes umad_register2 'had 0 failures'
./umad_compile_test || wrong "umad_compile_test: $?"

ibnetdiscover -p | awk '/^CA/ { print $4 }' | sort -u >port_guids.list
ports=$(wc -l <port_guids.list)
[ "$ports" -ge 4 ] || wrong "only $ports ports"
user=()
for option in -c '' -j -l -c; do
	rereg ${option:+"$option"}
	grep -E 'status|ERR' output && wrong "the SA refuses $option for root"
	grep -qx "INFO: query_all: $ports of $ports queried" output ||
		wrong "$option: $(cat output)"
done
members >members.before
[ "$(grep -c PortGid members.before)" -ge "$ports" ] ||
	wrong "members: $(cat members.before)"

env -u IBSA_NODE "$ibsad" --standalone --socket ibsad ibsa0 2>ibsad.log &
daemon=$!
within 30 "$ibsad" --status --socket ibsad ibsa0 || wrong "ibsad: $(cat ibsad.log)"
user=(env IBSA_FABRIC="unix:$UMAD_FOLDER/ibsad"
	setpriv --reuid=65534 --regid=65534 --clear-groups --)
for option in -c -j -l; do
	rereg "$option"
	[ "$(grep -c 'status 0x700' output)" -eq "$ports" ] ||
		wrong "$option as a user: $(cat output)"
done
# All ports leave and join again, which is refused, and are then queried.
rereg
[ "$(grep -c 'status 0x700, method 0x95' output)" -eq "$ports" ] ||
	wrong "leaving as a user: $(cat output)"
[ "$(grep -c 'status 0x700, method 0x81' output)" -eq "$ports" ] ||
	wrong "joining as a user: $(cat output)"
[ "$(tail -n 1 output)" = "INFO: query_all: $ports of $ports queried" ] ||
	wrong "queries as a user: $(cat output)"
members | cmp members.before - || wrong 'the members are others'

kill "$daemon" && wait "$daemon" || wrong "ibsad: $(cat ibsad.log)"
sm_stop
[ "$status" -eq 0 ] && echo "libibumad: 4 of 4 pass, one of them as a user, too"
exit "$status"
