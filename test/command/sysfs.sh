#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: sysfs.sh IBSA LIBDIR FABRIC TREE
#
# Tests ibsa fabric sysfs and ibsa fabric exec --sysfs. FABRIC has the host dgx1
# with four adapters. TREE has the /sys of an adapter, as a kernel writes it.
kernel=$(realpath "$4")/sys
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"
export IBSA_NODE=dgx1
class=/sys/class

# wait_for SECONDS CMD... - run CMD until it succeeds
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		if [ "$SECONDS" -gt "$end" ]; then
			fail "not within $((end)) s: $*"
			return
		fi
		sleep 0.05
	done
}

# serve [FILE] - start a fabric server
serve() {
	rm -f s served
	"$ibsa" fabric run --socket "$tmp/s" "${1-$fabric}" >served 2>&1 &
	server=$!
	wait_for 30 grep -qs serves served
	export IBSA_FABRIC=unix:$tmp/s
}

# sysfs HOST DIR - start ibsa fabric sysfs
sysfs() {
	what="fabric sysfs $*"
	checks=$((checks + 1))
	rm -f said
	"$ibsa" fabric sysfs "$@" >said 2>err &
	tree=$!
	wait_for 30 grep -qs 'has the device files' said
}

# stop PID STATUS - end a process with SIGTERM, and check its exit status
stop() {
	kill "$1"
	ended "$1"
	local got=$?
	[ "$got" -eq "$2" ] || fail "exit status $got, not $2"
}

has() { [ "$(cat "$1" 2>/dev/null)" = "$2" ]; }

# shape FILE - its content with all numbers replaced, and the speeds
shape() {
	sed -E 's/[HN]DR/S/; s/[0-9a-fA-F]+/N/g' "$1"
}

# Each file of the kernel's tree is there and has its format.
files_are_as_those_of_the_kernel() {
	local file name
	serve
	sysfs dgx1 d
	while read -r file; do
		name=${file#"$kernel"/}
		name=${name#devices/*/infiniband/mlx5_0/}
		case $name in
		devices/*/modalias) name=device/modalias ;;
		# These differ; and the table of P_Keys has one entry.
		board_id | hca_type | node_desc | */pkeys/[1-9]*) continue ;;
		esac
		[[ $name == class/* ]] || name=class/infiniband/mlx5_0/$name
		checks=$((checks + 1))
		[ "$(shape "$file")" = "$(shape "d/$name")" ] ||
			fail "$name is not as that of the kernel"
	done < <(find "$kernel" -type f)
	[ -z "$(find d -xtype l)" ] || fail 'a link without a target'
	has d/class/infiniband/mlx5_3/ports/1/rate '400 Gb/sec (4X NDR)' ||
		fail 'wrong rate'
	has d/class/infiniband_mad/umad3/ibdev mlx5_3 || fail 'wrong umad3'
	has d/class/net/ib3/address \
		80:00:00:4b:fe:80:00:00:00:00:00:00:b8:3f:d2:03:00:01:03:01 ||
		fail 'wrong address'
	[ "$(realpath d/class/net/ib3/device)" = \
		"$(realpath d/class/infiniband/mlx5_3/device)" ] ||
		fail 'ib3 is of another adapter'
	own_reader_finds_the_same
	stop "$tree" 0
	[ ! -e d ] || fail 'the directory stays'
	stop "$server" 0
}

own_reader_finds_the_same() {
	local args
	for args in devices gids; do
		run 0 "$args" -j
		jq 'map(del(.note))' out >at-server
		what="$args -j"
		IBSA_FABRIC='' SYSFS_PATH=$tmp/d "$ibsa" "$args" -j 2>err |
			jq 'map(del(.note))' >at-sysfs
		[ "$(jq length at-sysfs)" -ge 4 ] || fail 'too few rows'
		cmp -s at-server at-sysfs || fail 'differs at SYSFS_PATH'
	done
}

changes_are_written() {
	local port=d/class/infiniband/mlx5_2/ports/1
	serve
	mkdir d
	sysfs dgx1 d
	run 2 fabric sysfs dgx2 d; err_has 'another ibsa fabric sysfs uses'
	run 0 fabric link down 'dgx1 mlx5_2/1'
	wait_for 5 has $port/state '1: DOWN'
	wait_for 5 has $port/phys_state '2: Polling'
	wait_for 5 has $port/counters/link_downed 1
	run 0 fabric errors 'dgx1 mlx5_2/1' SymbolErrorCounter +3
	wait_for 5 has $port/counters/symbol_error 3
	run 0 fabric errors 'dgx1 mlx5_2/1' LocalLinkIntegrityErrors +99/s
	wait_for 5 has $port/counters/local_link_integrity_errors 15
	wait_for 5 has d/class/net/ib2/operstate down
	run 0 fabric link up 'dgx1 mlx5_2/1'
	wait_for 5 has $port/state '4: ACTIVE'
	run 0 fabric link speed 'dgx1 mlx5_2/1' 4xEDR
	wait_for 5 has $port/rate '100 Gb/sec (4X EDR)'
	run 0 query get NR lid=1 -C mlx5_1
	wait_for 5 has d/class/infiniband/mlx5_1/ports/1/counters/port_xmit_packets 1
	stop "$tree" 0
	rmdir d || fail 'the directory that was there is not empty, or gone'
	stop "$server" 0
}

the_end_of_the_server_ends_it() {
	serve
	sysfs dgx1 d
	stop "$server" 0
	ended "$tree"
	[ $? -eq 4 ] || fail 'exit status is not 4'
	err_has 'fabric server'
	[ ! -e d ] || fail 'the directory stays'
}

# The next server at the socket has other adapters of the host.
another_server_has_other_files() {
	printf 'Ca 1 "a" # "dgx1 mlx5_1"\n[1] "b"[1]\nCa 1 "b" # "x mlx5_9"\n' \
		>other.net
	serve
	sysfs dgx1 d
	kill -STOP "$tree"
	stop "$server" 0
	serve other.net
	kill -CONT "$tree"
	wait_for 5 test ! -e d/class/infiniband/mlx5_3
	wait_for 5 has d/class/infiniband/mlx5_1/node_desc 'dgx1 mlx5_1'
	wait_for 5 has d/class/infiniband_verbs/uverbs0/ibdev mlx5_1
	[ "$(ls d/class/infiniband d/devices/*)" = "$(printf '%s\n' \
		d/class/infiniband: mlx5_1 '' d/devices/pci1b5a:00: \
		1b5a:01:00.0)" ] || fail "other adapters: $(ls d/*/*)"
	stop "$tree" 0
	stop "$server" 0
}

wrong_arguments() {
	serve
	run 4 fabric sysfs nobody d; err_has 'no node nobody'
	[ ! -e d ] || fail 'a directory of no host'
	mkdir full && touch full/x
	run 2 fabric sysfs dgx1 full; err_has 'not empty'
	ln -s . link
	run 4 fabric sysfs dgx1 link; err_has 'Not a directory'
	run 4 fabric sysfs dgx1 missing/d; err_has 'No such file'
	run 2 fabric sysfs dgx1; err_has 'needs HOST DIR'
	run 4 fabric sysfs "$(printf 'h%.0s' {1..600})" d; err_has 'no node hhh'
	run 2 fabric sysfs dgx1 d -C mlx5_0
	[ -z "$(find . -name d -o -name missing)" ] || fail 'a directory stays'
	sysfs '' d
	grep -q 'of the default host$' said || fail "no host: $(cat said)"
	stop "$tree" 0
	stop "$server" 0
}

# The slots that the file gives, and the IDs; of one adapter, its name.
slots_of_the_file() {
	local pci=d/devices/pci0000:17/0000:18:00.0
	cat >slots.net <<-'END'
		devid=0x101b
		Ca 2 "a" # "gpu1 mlx5_7" pci=0000:18:00.0 numa=1
		[1] "b"[1] # 4xHDR
		Ca 1 "b" # "gpu1 mlx5_8"
		Ca 1 "c" # "gpu1 mlx5_9" pci=00c1:00:1f.1
	END
	serve slots.net
	sysfs gpu1 d
	has $pci/numa_node 1 || fail 'wrong NUMA node'
	has $pci/device 0x101b || fail 'wrong device ID'
	has $pci/infiniband/mlx5_7/hca_type MT4123 || fail 'wrong type'
	grep -qx PCI_SLOT_NAME=0000:18:00.0 $pci/uevent || fail 'wrong uevent'
	has $pci/infiniband/mlx5_7/ports/2/state '1: DOWN' || fail 'no port 2'
	has $pci/infiniband_mad/umad1/port 2 || fail 'umad1 is not of port 2'
	has $pci/net/ib1/dev_port 1 || fail 'ib1 is not of port 2'
	has d/devices/pci1b5a:00/1b5a:02:00.0/numa_node -1 ||
		fail 'wrong place of an adapter without an address'
	has d/devices/pci00c1:00/00c1:00:1f.1/infiniband_mad/umad3/ibdev \
		mlx5_9 || fail 'wrong place on bus 0'
	stop "$tree" 0
	sysfs 'gpu1 mlx5_8' d
	[ "$(ls d/class/infiniband)" = mlx5_8 ] || fail 'not one adapter'
	stop "$tree" 0
	stop "$server" 0
}

# The server sends the files of many adapters in several answers, and refuses
# those of an adapter that do not fit into one.
many_adapters() {
	{
		printf 'Switch 99 "s"\n'
		for i in {1..40}; do
			printf '[%d] "c%d"[1]\n' "$i" "$i"
		done
		for i in {1..40}; do
			printf 'Ca 1 "c%d" # "big mlx5_%d"\n' "$i" "$i"
		done
		echo 'Ca 254 "p" # "ports mlx5_0"'
	} >many.net
	serve many.net
	sysfs big d
	[ "$(find d/class/infiniband -name 'mlx5_*' | wc -l)" -eq 40 ] ||
		fail 'not 40 adapters'
	has d/class/infiniband_mad/umad39/ibdev mlx5_40 || fail 'wrong umad39'
	has d/class/infiniband/mlx5_40/ports/1/state '4: ACTIVE' ||
		fail 'wrong state'
	run 0 fabric link down 'big mlx5_40/1'
	wait_for 5 has d/class/infiniband/mlx5_40/ports/1/state '1: DOWN'
	stop "$tree" 0
	run 4 fabric sysfs ports d; err_has 'too many ports'
	stop "$server" 0
}

# Names in the file cannot leave the directory, nor add files or lines to it.
hostile_names() {
	local name
	mkdir -p outside/in
	echo safe >outside/file
	{
		printf 'Ca 1 "a" # "host ../../../outside/file"\n[1] "b"[1]\n'
		printf 'Ca 1 "b" # "host .."\nCa 1 "c" # "host /etc"\n'
		printf 'Ca 1 "d" # "host a/b"\nCa 1 "e" # "host -rf"\n'
		printf 'Ca 1 "f" # "host x\r/outside"\n'
		printf 'Ca 1 "g" # "host x\033[2J\001\ttail >../../.."\n'
		printf 'Ca 1 "h" # "host %0100d"\n' 0
		printf 'Ca 1 "i" # ".. mlx5_0"\nCa 1 "j" # "/tmp/h mlx5_0"\n'
		printf 'Ca 1 "k" # "host ibsa0"\nCa 1 "l" # "host +1"\n'
		printf 'Ca 1 "m" # "host .new"\nCa 1 "n" # "host mlx5_0>x"\n'
	} >hostile.net
	serve hostile.net
	cd outside/in || exit
	for name in host .. /tmp/h ../ '.. mlx5_0' $'host\n/x' 'x/../..'; do
		"$ibsa" fabric sysfs "$name" d >said 2>said.err &
		tree=$!
		wait_for 30 grep -qs . said said.err
		what="sysfs '$name'"
		checks=$((checks + 1))
		! grep -v -E 'has the device files|no node' said said.err ||
			fail 'another message'
		if [ -d d ]; then
			[ "$name" != host ] ||
				hostile_tree_is_valid
			kill "$tree"
		fi
		ended "$tree"
		rm said said.err
		[ -z "$(ls -A)" ] || fail "files stay: $(ls -A)"
	done
	cd "$tmp" || exit
	[ "$(find outside | sort | xargs)" = \
		'outside outside/file outside/in' ] ||
		fail 'files outside of the directory'
	has outside/file safe || fail 'a file outside was changed'
	stop "$server" 0
}

hostile_tree_is_valid() {
	[ "$(cd d/class/infiniband && echo *)" = "$(echo ibsa{0,1,10,11} \
		ibsa{2..9})" ] || fail 'a name from the file'
	[ "$(cat d/class/infiniband/*/node_desc | wc -l)" -eq 12 ] ||
		fail 'a description is not a line'
	[ -z "$(find d -xtype l)" ] || fail 'a link without a target'
	[ -z "$(find d -name '.*')" ] || fail 'a hidden file'
}

# Another process puts links into the directory while it is written.
hostile_links() {
	local port=d/class/infiniband/mlx5_2/ports/1
	serve
	rm -rf outside && mkdir outside && echo safe >outside/rate
	sysfs dgx1 d
	ln -sf "$tmp/outside/rate" $port/rate
	ln -s "$tmp/outside/rate" d/.new
	run 0 fabric link speed 'dgx1 mlx5_2/1' 4xEDR
	wait_for 5 has $port/rate '100 Gb/sec (4X EDR)'
	[ ! -L $port/rate ] || fail 'the link stays'
	port=$(realpath $port)
	mv "$port" "$port.old" && ln -s "$tmp/outside" "$port"
	run 0 fabric link speed 'dgx1 mlx5_2/1' 4xSDR
	ended "$tree"
	[ $? -eq 4 ] || fail 'exit status is not 4'
	cp said err
	[ ! -e d ] || fail 'the directory stays'
	has outside/rate safe || fail 'a file outside was changed'
	[ "$(ls outside)" = rate ] || fail 'files outside'
	stop "$server" 0
}

# Replace the directory devices of d by a link to outside, and back, as another
# user if possible, until the file "end" exists.
links_plant() {
	local user=()
	[ "$(id -u)" -ne 0 ] || {
		chmod 755 "$tmp"
		chown 65534:65534 d
		user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	}
	cat >plant <<-'END'
		import contextlib, itertools, os, time
		def attempt(call, *args):
		    with contextlib.suppress(OSError):
		        call(*args)
		for held in map("d/held{}".format, itertools.count()):
		    if os.path.exists("end"):
		        break
		    attempt(os.rename, "d/devices", held)
		    attempt(os.symlink, "../outside", "d/devices")
		    attempt(os.symlink, "../outside/file", "d/.new")
		    time.sleep(0.001)
		    attempt(os.unlink, "d/devices")
		    attempt(os.rename, held, "d/devices")
		    time.sleep(0.001)
	END
	"${user[@]}" /usr/bin/python3 plant &
	planter=$!
}

has_rate_or_ended() {
	local port=pci1b5a:00/1b5a:03:00.0/infiniband/mlx5_2/ports/1
	grep -qsxF "$1" d/*/$port/rate || ! kill -0 "$tree" 2>/dev/null
}

# Links appear in a directory of another user while the files are written and
# removed. The place to which the links lead has files of the same names.
hostile_user() {
	local rate
	serve
	rm -rf d outside && mkdir d
	sysfs dgx1 d
	cp -a d/devices outside && echo safe >outside/file
	cp -a outside wanted
	links_plant
	for rate in 100:4xEDR 400:4xNDR 200:4xHDR; do
		run 0 fabric link speed 'dgx1 mlx5_2/1' "${rate#*:}"
		wait_for 5 has_rate_or_ended "${rate%:*} Gb/sec (4X ${rate#*x})"
	done
	kill "$tree" 2>/dev/null
	ended "$tree"
	touch end
	wait "$planter"
	diff -r --no-dereference outside wanted >differ ||
		fail "files outside were changed: $(head -n 3 differ)"
	rm -rf d wanted
	stop "$server" 0
}

# The command has the files in /sys, beside those of the machine.
exec_has_them_in_sys() {
	cat >inside <<-'END'
		ls /sys/class/infiniband
		cat /sys/class/infiniband/mlx5_2/ports/1/rate
		realpath /sys/class/infiniband/mlx5_2/device
		"$1" fabric link speed 'dgx1 mlx5_2/1' 4xSDR
		for i in $(seq 100); do
			sleep 0.05
			grep -q SDR /sys/class/infiniband/mlx5_2/ports/1/rate && break
		done
		cat /sys/class/net/ib2/operstate
		cat /sys/class/infiniband/mlx5_2/ports/1/rate
		ls /sys/class | grep -vx -f - "$2" || echo all
		ls /sys/class/net | grep -c '^lo$'
		cat /sys/devices/system/cpu/online >/dev/null && id -u
		echo "${SYSFS_PATH-none}"
		exit 7
	END
	(cd $class && printf '%s\n' *) | sed '/^infiniband/d' >classes
	what='fabric exec --sysfs'
	checks=$((checks + 1))
	mkdir -m 1777 folders
	export TMPDIR=$tmp/folders
	"$ibsa" fabric exec --sysfs "$fabric" -- sh inside "$ibsa" classes >out 2>err
	[ $? -eq 7 ] || fail 'exit status is not 7'
	printf '%s\n' mlx5_{0..3} '400 Gb/sec (4X NDR)' \
		/sys/devices/pci1b5a:00/1b5a:03:00.0 up '10 Gb/sec (4X SDR)' \
		all 1 "$(id -u)" none >wanted
	if grep -q 'cannot mount' err; then
		echo 'namespaces are not permitted here'
		unset TMPDIR
		return
	fi
	cmp out wanted || fail "not as wanted: $(diff out wanted)"
	[ ! -e $class/infiniband/mlx5_2/device/numa_node ] ||
		[ "$(realpath $class/infiniband/mlx5_2/device)" != \
			/sys/devices/pci1b5a:00/1b5a:03:00.0 ] ||
		fail 'the /sys of the test has changed'
	what='exec --sysfs as another user'
	chmod 755 "$tmp"
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups \
			"$ibsa" fabric exec --sysfs "$fabric" -- \
			cat $class/infiniband/mlx5_1/ports/1/state >out 2>err
		[ "$(cat out)" = '4: ACTIVE' ] ||
			grep -q 'cannot mount' err || fail 'not in /sys'
	fi
	unset TMPDIR
	rmdir folders || fail "a directory stays: $(ls folders)"
}

# The machine of the inner command is a host with adapters, two of which have the
# PCI bus of an adapter of the fabric. Its adapters and their network interfaces
# are hidden, its PCI devices are not.
exec_hides_the_adapters_of_the_machine() {
	cat >outer.net <<-'END'
		Ca 1 "a" # "host1 mlx5_0" pci=0000:18:00.0
		[1] "b"[1]
		Ca 1 "b" # "host1 mlx5_1" pci=0000:18:00.1
		Ca 1 "c" # "host1 mlx5_2"
	END
	cat >inner.net <<-'END'
		Ca 1 "a" # "host2 mlx5_7" pci=0000:18:00.0 numa=1
		[1] "b"[1]
		Ca 1 "b" # "host3 mlx5_0"
	END
	cat >inside <<-'END'
		ls /sys/class/infiniband
		(cd /sys/class/net && ls -d ib[0-9]*)
		find /sys/class/net /sys/class/infiniband* -maxdepth 1 -xtype l
		cd /sys/devices/pci0000:17 && ls -d 0000:18* && cat 0000:18:00.0/numa_node
	END
	what='exec --sysfs in exec --sysfs'
	checks=$((checks + 1))
	IBSA_NODE=host1 "$ibsa" fabric exec --sysfs outer.net -- \
		env IBSA_NODE=host2 "$ibsa" fabric exec --sysfs inner.net -- \
		sh inside >out 2>err
	if grep -q 'cannot mount' err; then
		echo 'namespaces are not permitted here'
		return
	fi
	printf '%s\n' mlx5_7 ib0 0000:18:00.0 0000:18:00.1 1 >wanted
	cmp out wanted || fail "not as wanted: $(diff out wanted)"
}

# Where namespaces are not permitted, a message tells what remains possible.
exec_without_namespaces() {
	if ! command -v strace >/dev/null; then
		echo 'needs strace' >&2
		exit 77
	fi
	what='exec --sysfs without namespaces'
	checks=$((checks + 1))
	# shellcheck disable=SC2016 # for the shell in the command
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 strace -f -o trace \
		-e trace=unshare -e inject=unshare:error=EPERM \
		"$ibsa" fabric exec --sysfs "$fabric" -- \
		sh -c 'cat "$SYSFS_PATH/class/infiniband/mlx5_1/ports/1/state"' \
		>out 2>err || fail 'the command failed'
	out_has '^4: ACTIVE$'
	err_has 'cannot mount .*: Operation not permitted; .*SYSFS_PATH'
}

run_groups files_are_as_those_of_the_kernel changes_are_written \
	the_end_of_the_server_ends_it another_server_has_other_files \
	wrong_arguments slots_of_the_file many_adapters hostile_names \
	hostile_links hostile_user exec_has_them_in_sys \
	exec_hides_the_adapters_of_the_machine exec_without_namespaces
