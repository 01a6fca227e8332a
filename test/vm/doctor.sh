#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: doctor.sh IBSA
#
# Runs in a virtual machine. Tests the output of ibsa about real device files,
# for root and for another user, while kernel modules, device files and links
# are added and removed; and with 40 devices, one of which has a name of 30
# characters.
set -u
ibsa=$1
long=rxe_with_a_name_of_30_letters_
failed=0

as_other() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

wrong() {
	echo "FAILED: $what: $*: $(cat out err)"
	failed=1
}

# run STATUS COMMAND...
run() {
	want=$1
	shift
	what=$*
	got=0
	"$@" >out 2>err </dev/null || got=$?
	[ $got = "$want" ] || wrong "exit status $got, not $want"
}

out_has() { grep -Eq -- "$1" out || wrong "no output '$1'"; }
err_has() { grep -Eq -- "$1" err || wrong "no '$1' on standard error"; }
lines() { [ "$(wc -l <out)" -eq "$1" ] || wrong "not $1 lines"; }

# await FILE TEXT - wait until a file of sysfs contains TEXT
await() {
	tries=0
	until grep -q "$2" "$1"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || { wrong "$1 without $2"; return; }
		usleep 50000
	done
}

root_and_others() {
	run 0 "$ibsa" -v doctor rxe0
	out_has '^umad +- +- +ok +ib_umad is loaded, version 5 of'
	out_has '^node +rxe0 +1 +ok +/dev/infiniband/umad[01], [^ ]+ 0600, opens$'
	out_has '^issm +rxe0 +1 +ok +/dev/infiniband/issm[01], [^ ]+ 0600$'
	out_has '^port +rxe0 +1 +ok +Active, LinkUp, Ethernet'
	out_has '^sm +rxe0 +1 +not checked +RoCE has no subnet manager$'
	run 0 "$ibsa" devices
	! grep -q NOTE out || wrong 'a note to root'
	run 3 "$ibsa" doctor --sa gid=fd77::2,hop_limit=1 -t 300 rxe0
	out_has '^sa +rxe0 +1 +wrong +no answer in 300 ms'
	run 4 as_other "$ibsa" -C rxe0 path self 1
	err_has 'not permitted to open /dev/infiniband/umad[01]: run as root'
	run 0 as_other "$ibsa" devices
	out_has '^rxe0 .* not permitted to open /dev/infiniband/umad[01]$'
	run 4 as_other "$ibsa" doctor rxe0
	out_has '^node +rxe0 +1 +wrong .* 0600: not permitted for user 65534$'
	out_has '^    run as root, or give this user'
	chmod 0666 /dev/infiniband/umad*
	run 0 as_other "$ibsa" -v doctor rxe0
	out_has '^node +rxe0 +1 +ok .* 0666, opens$'
	chmod 0600 /dev/infiniband/umad*
}

names_ports_and_links() {
	run 4 "$ibsa" -C rxe7 path self 1; err_has 'no device "rxe7"; .*rxe0'
	run 4 "$ibsa" devices rxe7; err_has "no device 'rxe7'"
	run 4 "$ibsa" doctor rxe7; out_has "^device .* no device 'rxe7'"
	run 4 "$ibsa" -C rxe0 -P 2 path self 1; err_has 'no port 2; it has: 1'
	run 4 "$ibsa" devices rxe0/2; err_has "'rxe0' has no port 2"
	run 4 "$ibsa" doctor rxe0/2; out_has "^port .* 'rxe0' has no port 2"
	ip link set eth0 down
	await /sys/class/infiniband/rxe0/ports/1/state DOWN
	run 4 "$ibsa" -C rxe0 path self 1; err_has 'port 1 of rxe0 is down'
	run 0 "$ibsa" devices rxe0; out_has '^rxe0 +1 +Down'
	run 4 "$ibsa" doctor rxe0; out_has '^port +rxe0 +1 +wrong +Down, '
	out_has '^    bring its network interface up'
	ip link set eth0 up
	await /sys/class/infiniband/rxe0/ports/1/state ACTIVE
}

# Forty devices: rxe0 and rxe1, which the guest always has, and 38 that this
# test adds, one with a long name. ibsa doctor examines all.
forty_devices() {
	number=2
	while [ $number -lt 40 ]; do
		name=rxe$number
		[ $number -lt 39 ] || name=$long
		ip link add dummy$number type dummy
		ip link set dummy$number up
		rdma link add $name type rxe netdev dummy$number ||
			wrong "no $name"
		number=$((number + 1))
	done
	rm /dev/infiniband/umad5
	run 0 "$ibsa" devices; lines 41
	out_has "^$long +1 +Active "
	[ "$(grep -c 'umad5 does not exist$' out)" = 1 ] || wrong 'not one note'
	run 0 "$ibsa" gids "$long"; out_has "^$long +1 +0 +fe80:"
	run 4 "$ibsa" -j doctor
	[ "$(grep -c '"name":"node"' out)" = 40 ] || wrong 'not 40 files'
	[ "$(grep -c '"name":"node".*"verdict":"ok"' out)" = 39 ] ||
		wrong 'not 39 that are good'
	run 0 "$ibsa" -v doctor "$long/1"
	out_has "^node +$long +1 +ok +/dev/infiniband/umad[0-9]+, .* opens\$"
	run 3 "$ibsa" -C "$long" --sa gid=fd77::2 -t 200 query get CPI
	err_has 'did not answer'
	run 4 as_other "$ibsa" -C "$long" path self 1
	err_has 'not permitted to open /dev/infiniband/umad'
}

modules() {
	modprobe -r ib_umad
	run 4 "$ibsa" -C rxe0 path self 1; err_has 'try "modprobe ib_umad"'
	run 0 "$ibsa" devices rxe0; out_has ' no MAD device; load the kernel module ib_umad$'
	run 4 "$ibsa" -v doctor rxe0
	out_has '^umad +- +- +wrong +the kernel module ib_umad is not loaded$'
	out_has '^    modprobe ib_umad; '
	out_has '^node +rxe0 +1 +not checked +ib_umad is not loaded$'
	out_has '^port +rxe0 +1 +ok +Active'
	modprobe ib_umad
	run 0 "$ibsa" doctor rxe0
	modprobe -r rdma_ucm rdma_rxe ib_umad ib_uverbs
	modprobe -r ib_core
	run 4 "$ibsa" doctor
	out_has '^modules .* wrong +the kernel.s RDMA modules are not loaded$'
	run 4 "$ibsa" -C rxe0 path self 1; err_has 'RDMA modules are not loaded'
	run 4 "$ibsa" devices; err_has 'RDMA modules are not loaded'
}

root_and_others
names_ports_and_links
forty_devices
modules
exit $failed
