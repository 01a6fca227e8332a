#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: env.sh IBSA LIBDIR FABRIC SYSFS
#
# Tests "ibsa env" on fabrics with two rails and with a P_Key: sh accepts its
# output, and the libraries UCX and NCCL, if installed, have variables of these
# names. SYSFS has sample trees of /sys. A fabric with an SL needs OpenSM: see
# test/counterpart/env.sh.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

sysfs=$4
unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp

cat >rails.net <<'END'
Switch	4 "leaf0"
[1]	"n1 mlx5_0"[1]	# 4xEDR
[2]	"n2 mlx5_0"[1]	# 4xEDR
[4]	"leaf1"[4]	# 4xEDR

Switch	6 "leaf1"
[1]	"n1 mlx5_1"[1]	# 4xEDR
[2]	"n2 mlx5_1"[1]	# 4xEDR
[3]	"n1 mlx5_2"[1]	# 4xEDR
[4]	"leaf0"[4]	# 4xEDR
[5]	"dual"[1]	# 4xEDR
[6]	"dual"[2]	# 4xEDR

Ca	1 "n1 mlx5_0"
Ca	1 "n2 mlx5_0"
Ca	1 "n1 mlx5_1"
Ca	1 "n2 mlx5_1"
Ca	1 "n1 mlx5_2"
Ca	1 "n1 mlx5_3"
Ca	2 "dual"
END

# sets LIBRARY "NAME=VALUE..." ARG... - check that the shell gets exactly these
# variables, here in alphabetical order, from the output of ibsa env
sets() {
	local library=$1 want=$2
	shift 2
	run 0 env "$library" "$@"
	! grep -v ' is left out: its role is ' err || fail 'another message'
	what="sh with the output of $what"
	env -i PATH="$PATH" sh -c '. ./out && env' |
		grep -E '^(UCX|NCCL)_' | sort >got || :
	printf '%s\n' "$want" | sort >expected
	cmp -s got expected || fail "sets: $(paste -sd ' ' got)"
	# No output but comments and commands, a comment before each command.
	awk '/^#/ { comment = 1; next }
		/^export (UCX|NCCL)_[A-Z_]+=/ && comment { comment = 0; next }
		{ exit 1 }' out || fail 'not comments and commands'
	sed -n 's/^export \([A-Z_]*\)=.*/\1/p' out >>names
	run 0 env "$library" -j "$@"
	json 'all(.[]; (.reason | length > 0) and (.variable | length > 0))'
	jq -r '.[] | select(.value) | "\(.variable)=\(.value)"' out |
		sort >got
	cmp -s got expected || fail 'JSON has other variables'
}

# serve PARTITIONS - start a server of rails.net with these partitions
serve() {
	printf '%s\n' "$1" >partitions.conf
	mkfifo ready
	"$ibsa" fabric run rails.net --socket "$tmp/s" \
		--partitions partitions.conf >ready 2>server.err &
	server=$!
	read -r _ <ready || fail "no server: $(cat server.err)"
	rm ready
	export IBSA_FABRIC=unix:$tmp/s
}

end_server() {
	kill "$server"
	ended "$server"
	unset IBSA_FABRIC
}

# n1 has four adapters; the fourth has no cable.
two_rails() {
	local here=(--fabric rails.net)
	sets ucx 'UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1,mlx5_2:1' "${here[@]}"
	sets nccl 'NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2:1' "${here[@]}"
	sets ucx 'UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1' "${here[@]}" -C n2
	sets nccl 'NCCL_IB_HCA==mlx5_1:1' "${here[@]}" -C 'n2 mlx5_1'
}

# The default partition has only limited members, which cannot reach each other.
pkey_at_index_1() {
	serve 'Default=0x7fff, ipoib : ALL=limited, SELF=full ;
		one=0x1, ipoib : ALL=full ;'
	sets ucx $'UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1\nUCX_IB_PKEY=0x1' -C n2
	# Each adapter shares a switch with that of its name in n1.
	sets nccl $'NCCL_CROSS_NIC=0\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1\nNCCL_IB_PKEY=1' -C n2
	out_has 'P_Key 0x8001 is the first one with full membership'
	end_server
	# If both partitions have full members, the user has to choose the
	# P_Key.
	serve 'Default=0x7fff, ipoib : ALL=full ;
		one=0x1, ipoib : ALL=full ;'
	sets nccl 'NCCL_IB_HCA==ibsa0:1'
	sets ucx $'UCX_NET_DEVICES=ibsa0:1\nUCX_IB_PKEY=0x1' --pkey 0x8001
	sets nccl $'NCCL_IB_HCA==ibsa0:1\nNCCL_IB_PKEY=1' --pkey 1
	run 1 env ucx --pkey 0x8002
	out_empty
	err_has 'ibsa0/1 does not have P_Key 0x8002'
	end_server
}

# A variable is for all ports of the machine, so it is not set if the ports
# have different values.
values_may_differ() {
	serve 'Default=0x7fff, ipoib : ALL=limited, SELF=full, 0x10000d=full ;
		one=0x1, ipoib : ALL=full ;'
	sets ucx 'UCX_NET_DEVICES=ibsa0:1,ibsa0:2' -C dual
	run 0 env ucx -C dual
	out_has '^# UCX_IB_PKEY is not set: the P_Key differs: 0x7fff and 0x0001'
	sets nccl 'NCCL_IB_HCA==ibsa0:1,ibsa0:2' -C dual
	run 0 env nccl -C dual
	out_has '^# NCCL_IB_PKEY is not set: the index of the P_Key differs: 0'
	sets nccl $'NCCL_IB_HCA==ibsa0:1,ibsa0:2\nNCCL_IB_PKEY=1' -C dual \
		--pkey 1
	end_server
	serve 'Default=0x7fff, ipoib : ALL=limited, SELF=full ;
		one=0x1 : 0x10000d=full ; two=0x2 : 0x10000e=full ;'
	sets nccl $'NCCL_IB_HCA==ibsa0:1,ibsa0:2\nNCCL_IB_PKEY=1' -C dual
	run 0 env nccl -C dual
	out_has '^# index 1 on all ports \(0x8001, 0x8002\)$'
	end_server
}

# --pkey is for a partition; the P_Key of a limited member is another one.
limited_members_are_told() {
	serve 'Default=0x7fff, ipoib : ALL=full ;
		one=0x1 : 0x10000d=limited, 0x10000e=full ;'
	run 0 env nccl -C dual --pkey 0x8001
	out_has '^# P_Keys 0x0001, 0x8001, with limited members of the partition of --pkey$'
	run 0 env nccl -C dual -P 1 --pkey 0x8001
	out_has '^# P_Key 0x0001, a limited member of the partition of --pkey$'
	out_has '^export NCCL_IB_PKEY=1$'
	run 0 env ucx -C dual -P 2 --pkey 1
	out_has '^# P_Key 0x8001, from --pkey$'
	end_server
}

# RoCE has no SA and needs the index of a GID.
roce() {
	export SYSFS_PATH=$sysfs/roce_rxe/sys
	sets ucx $'UCX_NET_DEVICES=rxe_eth0:1\nUCX_IB_GID_INDEX=1'
	sets nccl $'NCCL_IB_HCA==rxe_eth0:1\nNCCL_IB_GID_INDEX=1'
	unset SYSFS_PATH
}

# Ports of planarized adapters: programs use the GSI, not the SMI of each plane.
planes() {
	export SYSFS_PATH=$sysfs/planar_xdr/sys
	run 4 env ucx
	out_has '^export UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1$'
	err_has '^ibsa: mlx5_2/1 is left out: its role is storage: '
	unset SYSFS_PATH
}

# Variables that do not depend on the SA are printed without it.
without_an_sa() {
	serve 'Default=0x7fff, ipoib : ALL=full ;'
	"$ibsa" fabric fault silence=100 >/dev/null
	run 3 env ucx -t 300
	out_has '^export UCX_NET_DEVICES=ibsa0:1$'
	"$ibsa" fabric fault none >/dev/null
	"$ibsa" fabric sm stop >/dev/null
	run 3 env nccl
	out_has "^export NCCL_IB_HCA='=ibsa0:1'\$"
	err_has 'no subnet manager'
	"$ibsa" fabric link down 'n1 mlx5_0/1' >/dev/null
	run 4 env nccl
	out_empty
	err_has 'no port is active'
	end_server
	SYSFS_PATH=$tmp/none run 4 env ucx
	out_empty
}

# The shell does not run a command in a device name. A name with a comma or a
# colon, which separate the devices in a value, is left out.
hostile_names_are_quoted() {
	cat >bad.net <<-'END'
		Switch 4 "s"
		[1] "h $(touch run)';touch run;'`touch run`"[1]
		[2] "h a,b"[1]
		[3] "h c:d"[1]
		Ca 1 "h $(touch run)';touch run;'`touch run`"
		Ca 1 "h a,b"
		Ca 1 "h c:d"
	END
	# shellcheck disable=SC2016 # a name
	sets ucx 'UCX_NET_DEVICES=$(touch run)'\'';touch run;'\''`touch run`:1' \
		--fabric bad.net -C h
	out_has 'except 2 whose device'
	[ ! -e run ] || fail 'a command in a name was run'
	run 0 env ucx --fabric bad.net -C 'h a,b'
	[ "$(cat out)" = '# UCX_NET_DEVICES is not set: the name of each device has a comma, a colon or an unsafe character' ] ||
		fail 'another reason'
}

wrong_command_lines() {
	local words
	while read -ra words; do
		run 2 "${words[@]}"
		out_empty
		sentences 1
	done <<-'END'
		env
		env mpi
		env ucx nccl
		env ucx --rate 100
		env ucx --pkey 0
		env ucx --pkey 1 --pkey 2
	END
}

# Source of the second list: NCCL user guide, "Environment Variables"
# (docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html); of NCCL_IB_PKEY,
# NCCL's src/transport/net_ib.cc, NCCL_PARAM(IbPkey, "IB_PKEY", 0), which is the
# pkey_index of the queue pair.
names_are_those_of_the_libraries() {
	local name
	what='the names of all variables above'
	for name in NCCL_CROSS_NIC NCCL_IB_GID_INDEX NCCL_IB_HCA NCCL_IB_PKEY NCCL_IB_SL \
		NCCL_IB_TC; do
		echo "$name"
	done >known
	if command -v ucx_info >/dev/null; then
		ucx_info -c -f | sed -nE 's/^(UCX_[A-Z_]+)=.*/\1/p
			/^# inherits:/s/[ ,]+/\n/gp' | grep '^UCX' >>known
	else
		echo 'needs ucx_info' >&2
		exit 77
	fi
	# The fabrics of this test have neither an SL nor a traffic class, so
	# these variables are not set.
	printf '%s\n' UCX_IB_SL UCX_IB_TRAFFIC_CLASS NCCL_IB_SL NCCL_IB_TC \
		>>names
	while read -r name; do
		grep -qx "$name" known || fail "no library has $name"
	done < <(sort -u names)
	[ "$(sort -u names | wc -l)" -eq 11 ] || fail 'not eleven names'
}

run_groups two_rails pkey_at_index_1 values_may_differ limited_members_are_told roce \
	planes without_an_sa hostile_names_are_quoted wrong_command_lines \
	names_are_those_of_the_libraries
