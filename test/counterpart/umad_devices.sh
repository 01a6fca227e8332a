#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_devices.sh UMAD-SAY DROP-IN TREES
#
# Compares how the libibumad functions of DROP-IN and Debian's
# libibumad describe the same devices. The program UMAD-SAY prints the results
# of all these functions with a given library. Each case of this file makes a
# tree of files, which it binds over /sys in a mount namespace; TREES has
# sample trees. "same CASE" requires equal output. "differs" states why the
# outputs differ, which functions may differ, and some of the differing lines:
# those of libibumad begin with "<", those of DROP-IN with ">".
# Exit status: 0 passed, 1 failed, 77 no mount namespace, or libibumad is
# missing.
set -euo pipefail
# Meson sets this to the folder of the drop-in, which has the name of Debian's
# libibumad.
unset LD_LIBRARY_PATH

say=$(realpath "$1")
ours=$(realpath "$2")
trees=$(realpath "$3")
theirs=libibumad.so.3

# A user other than root becomes root in a new user namespace.
space=(unshare -m)
[ "$(id -u)" -eq 0 ] || space=(unshare -rm)
skip() {
	echo "skipped: $*" >&2
	exit 77
}
"${space[@]}" mount --bind /tmp /sys 2>/dev/null ||
	skip 'a mount name space is not to be had'
"$say" "$theirs" >/dev/null 2>&1 || skip "$theirs is not installed"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
case=
sys=

# on LIBRARY - run the program on the tree in place of /sys, with this library
on() {
	# shellcheck disable=SC2016
	"${space[@]}" sh -c 'mount --bind "$1" /sys && exec "$2" "$3"' \
		sh "$sys" "$say" "$1" 2>"$dir/err" || echo "exit status $?"
}

# Run the program with both libraries, and compare the outputs.
compare() {
	on "$theirs" >"$dir/theirs"
	on "$ours" >"$dir/ours"
	# If the program fails with both libraries, a comparison proves nothing.
	grep -q '^done 0$' "$dir/theirs" || {
		echo "FAILED: $case: $(cat "$dir/err")" >&2
		failed=1
	}
	diff "$dir/theirs" "$dir/ours" | grep '^[<>]' >"$dir/differences" || true
}

same() {
	compare
	[ ! -s "$dir/differences" ] || {
		echo "FAILED: $case:" >&2
		cat "$dir/differences" >&2
		failed=1
	}
}

# differs CALLS - check that only lines that match CALLS differ between both
# libraries, and that the lines of the standard input are among the differences
differs() {
	local line
	compare
	if grep -vE "^[<>] ($1)" "$dir/differences"; then
		echo "FAILED: $case: so much was not to differ" >&2
		failed=1
	fi
	while read -r line; do
		grep -qxF -- "$line" "$dir/differences" || {
			echo "FAILED: $case: no '$line'" >&2
			failed=1
		}
	done
}

# tree CASE - make a new tree without devices for the case CASE
tree() {
	case=$1
	sys=$dir/$case
	mkdir -p "$sys/class/infiniband" "$sys/class/infiniband_mad"
	echo 5 >"$sys/class/infiniband_mad/abi_version"
}

# write FILE [TEXT] - write a file of a device, such as mlx5_0/ports/1/lid
write() {
	local file=$sys/class/infiniband/$1
	[ -d "${file%/*}" ] || mkdir -p "${file%/*}"
	printf '%s\n' "${2-}" >"$file"
}

unlink() {
	rm -r "$sys/class/infiniband/$1"
}

# port NAME NUMBER - add an active port to a device
port() {
	local at=$1/ports/$2 last
	printf -v last '%04x' "$2"
	write "$at/lid" 0x7
	write "$at/lid_mask_count" 0
	write "$at/sm_lid" 0x1
	write "$at/sm_sl" 0
	write "$at/state" '4: ACTIVE'
	write "$at/phys_state" '5: LinkUp'
	write "$at/cap_mask" 0x2651e84a
	write "$at/rate" '100 Gb/sec (4X EDR)'
	write "$at/link_layer" InfiniBand
	write "$at/gids/0" "fe80:0000:0000:0000:0002:c903:0000:$last"
	write "$at/pkeys/0" 0xffff
}

# down NAME NUMBER PHYS-STATE - set a port to state Down with this physical state
down() {
	write "$1/ports/$2/state" '1: DOWN'
	write "$1/ports/$2/phys_state" "$3"
}

# umad NUMBER NAME PORT
umad() {
	mkdir -p "$sys/class/infiniband_mad/umad$1"
	echo "$2" >"$sys/class/infiniband_mad/umad$1/ibdev"
	echo "$3" >"$sys/class/infiniband_mad/umad$1/port"
}

# device NAME PORT...
device() {
	local name=$1 number
	write "$name/node_type" '1: CA'
	write "$name/node_guid" 0002:c903:0000:0000
	write "$name/sys_image_guid" 0002:c903:0000:0003
	write "$name/fw_ver" 20.31.1014
	write "$name/hw_rev" 0
	write "$name/hca_type" MT4123
	mkdir -p "$sys/class/infiniband/$name/ports"
	for number in "${@:2}"; do
		port "$name" "$number"
	done
}

# Trees as kernels show them.
for case in gid_holes ib_one_port missing_rate planar_xdr roce_rxe switch \
	two_devices; do
	sys=$trees/$case/sys
	same
done

tree no-devices
same

tree holes
device mlx5_0 1 3 9
umad 0 mlx5_0 3
umad 63 mlx5_0 9
same

tree switch-with-ports
device sw_0 0 1 2
write sw_0/node_type '2: switch'
down sw_0 0 '3: Disabled'
umad 0 sw_0 0
same

tree order
device mlx5_9 1
device mlx5_10 1
device Zed 1
device abc 1
down Zed 1 '2: Polling'
down abc 1 '2: Polling'
down mlx5_10 1 '5: LinkUp'
same

# Only the node type of the first device is that of a device with MADs.
tree node-types
device a 1
device b 1
device c 1
device d 1
device e 1
write a/node_type ' 0x3: router'
write b/node_type '4: RNIC'
write c/node_type '0: unknown'
unlink d/node_type
device f 1
write f/node_type CA
write file text
ln -s nowhere "$sys/class/infiniband/link"
same

# The device and port that the calls select if the arguments name none.
tree second-port-active
device a 1 2
device b 1 2
down a 1 '5: LinkUp'
down a 2 '3: Disabled'
down b 1 '2: Polling'
umad 0 b 2
same

tree link-up-before-active
device a 1 2 3
down a 1 '2: Polling'
down a 2 '5: LinkUp'
same

tree none-active
device a 1 2
device b 1 2
down a 1 '3: Disabled'
down a 2 '3: Disabled'
down b 1 '2: Polling'
down b 2 '5: LinkUp'
same

tree none-up
device a 1 2
device b 1 2
down a 1 '3: Disabled'
down a 2 '2: Polling'
down b 1 '4: PortConfigurationTraining'
down b 2 '3: Disabled'
same

tree all-disabled
device a 1
down a 1 '3: Disabled'
umad 0 a 1
same

tree historic-name
device mthca0 1
down mthca0 1 '3: Disabled'
umad 0 mthca0 1
same

tree ethernet-first
device a 1 2
device b 1
write a/ports/1/link_layer Ethernet
write a/ports/2/link_layer Ethernet
down b 1 '4: PortConfigurationTraining'
same

tree ethernet-beside
device a 1 2
write a/ports/1/link_layer Ethernet
down a 2 '5: LinkUp'
same

tree broken-first
device a 1
device b 1
unlink a/ports/1/gids
umad 0 a 1
umad 1 b 1
same

# Remove each file in turn: some files may be missing, others make a device or
# port unreadable.
for file in fw_ver hw_rev hca_type ports/1/link_layer node_type node_guid \
	sys_image_guid ports ports/1 ports/1/lid ports/1/lid_mask_count \
	ports/1/sm_lid ports/1/sm_sl ports/1/state ports/1/phys_state \
	ports/1/rate ports/1/cap_mask ports/1/gids/0 ports/1/pkeys/0 \
	ports/1/pkeys; do
	tree "without-${file//\//-}"
	device mlx5_0 1 2
	umad 0 mlx5_0 1
	umad 1 mlx5_0 2
	unlink "mlx5_0/$file"
	same
done

tree port-of-another-name
device mlx5_0 1
write mlx5_0/ports/x/lid 1
same

tree short-guids
device a 1
device b 1
device c 1
write a/node_guid 0002:c903:0000
write b/sys_image_guid ''
write c/ports/1/gids/0 fe80:0000:0000:0000:0002:c903:0000
same

tree numbers
device mlx5_0 1 2
write mlx5_0/ports/1/lid 49151
write mlx5_0/ports/1/lid_mask_count 07
write mlx5_0/ports/1/sm_lid ' 0xBFFF'
write mlx5_0/ports/1/sm_sl '15 of 15'
write mlx5_0/ports/1/rate '2.5 Gb/sec (1X SDR)'
write mlx5_0/ports/1/cap_mask 0xffffffff
write mlx5_0/ports/1/state '6: ?'
write mlx5_0/ports/2/lid 0xffff
write mlx5_0/ports/2/pkeys/1 0x0000
write mlx5_0/ports/2/pkeys/2 32769
same

tree long-texts
device mlx5_0 1
long=0123456789012345678901234567890123456789012345678901234567890
write mlx5_0/fw_ver "$long"
write mlx5_0/hw_rev "$long"
write mlx5_0/hca_type "$long"
write mlx5_0/ports/1/link_layer "$long"
same

# As many devices as there are.
tree many-devices
for number in {100..139}; do
	device "mlx5_$number" 1
	down "mlx5_$number" 1 '3: Disabled'
done
down mlx5_139 1 '2: Polling'
umad 0 mlx5_139 1
same

# Only in the following cases does the drop-in return something else than libibumad,
# which has a limit there, or accepts an invalid value.

# On a machine without the RDMA modules, libibumad returns the invented name
# mthca0, and writes it even if the array has no room.
tree no-modules
rmdir "$sys/class/infiniband"
differs 'names' <<'END'
< names max 0: 1 mthca0
> names max 0: 0
< names max 300: 1 mthca0
> names max 300: 0
END

# libibumad reads a text as 0 and -1 as 0xffffffff; the drop-in reports such a port
# as unreadable.
tree no-numbers
device mlx5_0 1
write mlx5_0/ports/1/sm_lid none
write mlx5_0/ports/1/lid -1
differs ' |(ca|port|portguids) (NULL|mlx5_0)|issm mlx5_0 0' <<'END'
< ca mlx5_0: 0
> ca mlx5_0: -5
< port mlx5_0 1: 0
> port mlx5_0 1: -5
< portguids NULL max 2: 2 0x0000000000000000 0x0002c90300000001 0xeeeeeeeeeeeeeeee
> portguids NULL max 2: -1 0xeeeeeeeeeeeeeeee
END

# No kernel has a P_Key table with a gap. libibumad shows an empty entry and
# loses the entries after the gap; for the drop-in the table ends at the gap.
tree gap-in-pkeys
device mlx5_0 1
write mlx5_0/ports/1/pkeys/2 0x8001
differs '  port 1 of mlx5_0: .* pkeys (1: ffff|2: ffff 0000)$' </dev/null

# umad_ca_t has no room for port 10; umad_get_port() and an array of GUIDs have.
tree port-ten
device mlx5_0 1 10
umad 0 mlx5_0 10
differs '  (released|port)|(portguids|port|issm) (NULL|mlx5_0)|ca NULL' <<'END'
< ca NULL: -2
> ca NULL: -5
< portguids mlx5_0 max 10: -1 0xeeeeeeeeeeeeeeee
> portguids mlx5_0 max 10: -12 0xeeeeeeeeeeeeeeee
< portguids mlx5_0 NULL array: -1
> portguids mlx5_0 NULL array: 0
< port NULL 10: -5
> port NULL 10: 0
< port mlx5_0 0: -19
> port mlx5_0 0: 0
> issm NULL 10: 0 "/dev/infiniband/issm0"
END

# A device name of 30 characters does not fit into libibumad's arrays of 20
# characters a name, but the kernel accepts it.
tree long-name
device an_adapter_with_a_long_name__0 1
umad 0 an_adapter_with_a_long_name__0 1
differs ' |(ca|portguids|port|issm) (NULL|an_adapter)' <<'END'
< ca an_adapter_with_a_long_name__0: -2
> ca an_adapter_with_a_long_name__0: 0
< portguids NULL max 2: -1 0xeeeeeeeeeeeeeeee
> portguids NULL max 2: 2 0x0000000000000000 0x0002c90300000001 0xeeeeeeeeeeeeeeee
< issm an_adapter_with_a_long_name__0 1: -22 ""
> issm an_adapter_with_a_long_name__0 1: 0 "/dev/infiniband/issm0"
END

# libibumad finds the MAD device of a port only up to umad63.
tree mad-device-64
device mlx5_0 1
umad 64 mlx5_0 1
differs 'issm (NULL|mlx5_0) (-1|0|1):' <<'END'
< issm mlx5_0 1: -22 ""
> issm mlx5_0 1: 0 "/dev/infiniband/issm64"
END

exit $failed
