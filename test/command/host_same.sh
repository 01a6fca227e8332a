#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: host_same.sh IBSA LIBDIR FABRIC
#
# Tests that commands print the same at a host of a topology file and at that
# host of a fabric server. These differences are removed: times; the message
# that a device does not exist, and the host in the name of a device without
# such a port; and of a command that lists devices, the other nodes of the file,
# the host in names of devices, standard error and the exit status, which are
# about all nodes, and what is read from device files, which a file does not have.
here=$(realpath "$0")
address=${IBSA_FABRIC-}
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

# Each line is a command and its arguments; "-" in front if it lists devices.
cat >commands <<'END'
- devices -j
- devices -j mlx5_2
- devices -j mlx5_2/1
- devices -j mlx5_2/2
- gids -j
- gids -j mlx5_2
- doctor -j
- doctor -j -C mlx5_3
check node
check node dgx2
check node -j dgx2 nas1 nobody
check node --nagios dgx2
check node --rate >=400 -C mlx5_2 dgx3
check node --rate >=800 -C mlx5_2 dgx3
check node -C mlx5_2 -P 2
check node -C mlx5_99
check node -C dgx3
check node --pkey 0x8001
env nccl
env nccl -C mlx5_4
env ucx
env ucx -j
metrics
metrics --peers peers
metrics -C mlx5_5 --rate >=400
path self dgx2
path -C mlx5_3 self dgx3
END
echo dgx5 >peers

# common FILE - print a file without what differs
common() {
	case $1 in
	*.list) jq -S --arg node "${node%/*}" --arg host "${node%% *} " '[.[] |
		.device |= (. // "") |
		select(.device | startswith($node) or (contains(" ") | not)) |
		.device |= ltrimstr($host) |
		select(.name | IN("modules", "umad", "device", "node", "issm") |
			not) |
		if .detail then .detail |= (sub("[0-9.]+ ms"; "MS") |
			sub("of \($host)"; "of ")) else . end |
		del(.link_layer, .umad, .node_guid, .system_image_guid,
			.firmware, .board)]' "$1" ;;
	*.out) sed -E 's/(_seconds(\{.*\})?) .*/\1 S/; s/[0-9.]+ms/MS/g' "$1" ;;
	*) sed -E "/there is no device|has no node|no adapter/d
		s/device 'dgx[0-9] /device '/; s/; list .*//" "$1" ;;
	esac
}

# each FOLDER - run all commands, and write their output to files in FOLDER
each() {
	local line args number=0 kind
	mkdir "$1"
	while read -r line; do
		number=$((number + 1))
		kind=out
		[[ $line != -* ]] || kind=list
		read -ra args <<<"${line#- }"
		"$ibsa" "${args[@]}" >"$1/$number.$kind" 2>err
		echo "exit status $?" >>err
		[ "$kind" = list ] || cp err "$1/$number.err"
	done <commands
}

hosts_are_the_same() {
	local path
	for node in dgx7 'dgx1 mlx5_2/1' nas2; do
		export IBSA_NODE=$node
		rm -rf file server
		IBSA_FABRIC=$fabric each file
		"$ibsa" fabric exec "$fabric" -- "$here" "$ibsa" "$libdir" \
			"$fabric" inside "$PWD"
		for path in file/*; do
			path=${path#file/}
			checks=$((checks + 1))
			common "file/$path" >out || fail 'not as expected'
			common "server/$path" >err || fail 'not as expected'
			what="$node: ibsa $(sed -n "${path%.*}p" commands): $path"
			cmp -s out err || fail 'differs at the server (err)'
		done
	done
}

if [ "${4-}" = inside ]; then
	cd "$5" && IBSA_FABRIC=$address each server
	exit
fi
run_groups hosts_are_the_same
