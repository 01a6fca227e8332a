#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: env.sh IBSA DROP-IN TOPOLOGY
#
# Tests that "ibsa env" prints the SL that OpenSM assigns to the paths of a
# partition. OpenSM runs at a fabric server.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad, TOPOLOGY the file of the fabric. Exit status: 0 passed, 1 failed,
# 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"

if [ "${4-}" != inside ]; then
	served_need opensm
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	ENV_FOLDER=$folder "$1" fabric exec "$3" --sa none \
		--socket "$folder/s" -- "$0" "$1" "$2" "$3" inside
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
cd "$ENV_FOLDER" || exit 1
status=0

# prints LIBRARY "NAME=VALUE..." ARG... - check that ibsa env prints exactly
# these variables, here in alphabetical order
prints() {
	local library=$1 want=$2 got
	shift 2
	IBSA_NODE=node2 "$ibsa" env "$library" "$@" >out 2>err ||
		{ echo "WRONG: env $library $*: $(cat err)"; status=1; }
	got=$(env -i PATH="$PATH" sh -c '. ./out && env' |
		grep -E '^(UCX|NCCL)_' | sort | paste -sd ' ')
	[ "$got" = "$want" ] || {
		echo "WRONG: env $library $*: '$got' instead of '$want'"
		status=1
	}
}

cat >partitions.conf <<'END'
Default=0x7fff, ipoib, sl=2 : ALL=full ;
one=0x1, ipoib, sl=3 : ALL=full ;
END
sm_start 'qos TRUE' "partition_config_file $PWD/partitions.conf" ||
	{ echo "WRONG: OpenSM: $(tail -n 3 opensm.log)"; status=1; }
prints ucx 'UCX_IB_SL=2 UCX_NET_DEVICES=ibsa0:1'
prints nccl 'NCCL_IB_HCA==ibsa0:1 NCCL_IB_SL=2'
prints ucx 'UCX_IB_PKEY=0x1 UCX_IB_SL=3 UCX_NET_DEVICES=ibsa0:1' --pkey 0x8001
prints nccl 'NCCL_IB_HCA==ibsa0:1 NCCL_IB_PKEY=1 NCCL_IB_SL=3' --pkey 0x8001
sm_stop TERM
exit "$status"
