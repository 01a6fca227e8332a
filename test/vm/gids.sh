#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: gids.sh VM-GIDS
#
# Runs in a virtual machine. Adds and removes addresses, also those of a VLAN,
# and then the VLAN itself. After each change, the program VM-GIDS compares the
# GID table of the library with the kernel's.
set -e
program=$1

# count DEVICE NUMBER - wait until the device has this many GIDs
count() {
	tries=0
	while [ "$(cat /sys/class/infiniband/"$1"/ports/1/gids/* |
		grep -vc '^0000:0000:0000:0000:0000:0000:0000:0000$')" != "$2" ]
	do
		tries=$((tries + 1))
		if [ $tries = 600 ]; then
			echo "FAILED: $1 has not come to $2 GIDs" >&2
			exit 1
		fi
		usleep 100000
	done
}

ip link add link eth0 name eth0.5 type vlan id 5
ip link add link eth1 name eth1.5 type vlan id 5
ip link set eth0.5 up
ip link set eth1.5 up
ip addr add 10.78.0.1/24 dev eth0.5
ip -6 addr add fd78::1/64 dev eth0.5
ip addr add 10.79.0.2/32 peer 10.79.0.3 dev eth1
count rxe0 6
count rxe1 5

# Gaps in the table: single addresses, and a VLAN between others.
ip addr del 10.77.0.1/24 dev eth0
ip -6 addr del fd77::2/64 dev eth1
ip link del eth1.5
count rxe0 5
count rxe1 3
ip link add link eth1 name eth1.6 type vlan id 6
ip -6 addr add fd79::2/64 dev eth1.6
ip link set eth1.6 up
ip addr add 10.80.0.2/24 dev eth1.6
count rxe1 6
ip addr del 10.80.0.2/24 dev eth1.6
count rxe1 5
"$program"

unshare -n sh -e -c '
	for name in eth0 eth1; do
		ip link add $name type dummy
		ip link set $name up
	done
	exec "$0" namesake' "$program"
