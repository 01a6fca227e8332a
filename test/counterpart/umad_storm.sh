#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_storm.sh UMAD-STORM DROP-IN IBSA TOPOLOGY TREES [ROUNDS [SEED]]
#
# Makes random calls of libibumad that are cancelled, forked and interrupted at
# random moments, with Debian's libibumad and with DROP-IN: on a file that both
# libraries can open, with the devices of a tree in TREES, and at a fabric
# server. ROUNDS is 300 by default, and 10000 before a release; SEED is the
# seed of the random numbers.
# IBSA is the command ibsa as it was built, TOPOLOGY the file of the fabric.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail

storm=$(realpath "$1")
folder=$(dirname "$(realpath "$2")")
ibsa=$(realpath "$3")
net=$(realpath "$4")
sys=$(realpath "$5")/two_devices/sys
rounds=${6:-300}
seed=${7:-1}
# Meson sets this variable, so that tests find libraries in the build
# directory.
unset LD_LIBRARY_PATH

# A user other than root becomes root in a new user namespace.
space=(unshare -m)
[ "$(id -u)" -eq 0 ] || space=(unshare -rm)
"${space[@]}" mount --bind /tmp /sys 2>/dev/null || {
	echo 'skipped: a mount name space is not to be had' >&2
	exit 77
}
failed=0

# storm NAME CMD... - one run; it must leave no descriptor and little memory:
# what a thread's end leaves to the C library differs by a few KiB
storm() {
	local name=$1 said
	shift
	if ! said=$("$@" 2>&1); then
		echo "FAILED: $name: $said" >&2
		failed=1
		return
	fi
	echo "$name: $said"
	[[ $said =~ \ 0\ descriptors\ and\ (-?[0-9]+)\ bytes\ left$ ]] &&
		[ "${BASH_REMATCH[1]}" -lt 65536 ] || {
		echo "FAILED: $name leaks" >&2
		failed=1
	}
}

# on_tree FOLDER ARGUMENT...
on_tree() {
	# shellcheck disable=SC2016
	"${space[@]}" sh -c 'mount --bind "$1" /sys && shift &&
		LD_LIBRARY_PATH=$1 && export LD_LIBRARY_PATH && shift &&
		exec "$@"' sh "$sys" "$1" "$storm" "${@:2}"
}

storm theirs on_tree '' -s "$seed" "$rounds" socket
storm ours on_tree "$folder" "$seed" "$rounds" socket
# No port has that LID.
storm 'at a server' env IBSA_NODE='' "$ibsa" fabric exec "$net" -- env \
	"LD_LIBRARY_PATH=$folder" "$storm" "$seed" "$rounds" ibsa0 999
exit $failed
