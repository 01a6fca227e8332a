# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# In the guest: rxe0 and rxe1 on the two ends of a cable. Addresses are taken
# without looking for duplicates, which would take a second.
for name in all default; do
	echo 0 >/proc/sys/net/ipv6/conf/$name/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/$name/accept_ra
done
ip -batch - <<'IP'
link add eth0 address 02:00:00:00:00:0a type veth peer name eth1 address 02:00:00:00:00:0b
link set eth0 up
link set eth1 up
addr add 10.77.0.1/24 dev eth0
addr add 10.77.0.2/24 dev eth1
addr add fd77::1/64 dev eth0 nodad
addr add fd77::2/64 dev eth1 nodad
IP
for number in 0 1; do
	rdma link add rxe$number type rxe netdev eth$number
	until grep -q ACTIVE /sys/class/infiniband/rxe$number/ports/1/state; do
		usleep 20000
	done
done
