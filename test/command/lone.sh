#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: lone.sh IBSA LIBDIR FABRIC [PYTHON]
#
# Tests the command, and the Python module in the folder PYTHON of a build, in a
# copy of the build in which libibsa-fabric.so.1 is missing or is of another
# version. The fabric server is that of the build.
python=${4:+$(realpath "$4")}
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

unset IBSA_NODE
export TMPDIR=$tmp
missing='a topology file or capture needs libibsa-fabric.so.1, which cannot be'
missing+=' loaded: .*; install the package libibsa-fabric1$'

# As in a build: each finds the library from its own place.
mkdir -p lone/command
cp "$libdir/libibsa.so.1" lone/
cp "$ibsa" lone/command/
[ -z "$python" ] || { mkdir lone/python && cp -r "$python/ibsa" lone/python/; }
export LD_LIBRARY_PATH=$tmp/lone PYTHONDONTWRITEBYTECODE=1

start() {
	mkfifo ready
	LD_LIBRARY_PATH=$libdir "$ibsa" fabric run "$fabric" --socket "$tmp/s" \
		>ready 2>server.err &
	server=$!
	read -t 100 -r _ <ready || { cat server.err; exit 1; }
}

# python_open - open a client in Python, and print the number of nodes
python_open() {
	local got=0
	what='a client in Python'
	checks=$((checks + 1))
	PYTHONPATH=$tmp/lone/python python3 -W error -c 'if True:
		import ibsa
		with ibsa.open() as client:
			print(len(client.query("NodeRecord")))' >out 2>err || got=$?
	[ "$got" -eq "$1" ] || fail "exit status $got, not $1"
}

works_at_a_server() {
	export IBSA_FABRIC=unix:$tmp/s
	run 0 devices; out_has '^ibsa0 '
	run 0 path node1 node2; out_has '^mlx5_0 '
	run 0 check --expect "$fabric"; err_empty
	run 0 doctor; out_has '^[0-9]+ ok'
	run 0 fabric stats; out_has '^accepted '
	[ -z "$python" ] || { python_open 0; out_has '^[1-9]'; }
	unset IBSA_FABRIC
	kill -TERM "$server"
	ended "$server"
}

names_the_package_for_a_file() {
	local args
	for args in devices 'path node1 node2' doctor check; do
		# shellcheck disable=SC2086 # each word is an argument
		IBSA_FABRIC=$fabric run 4 $args; err_has "$missing"; out_empty
	done
	run 0 check "$fabric"; out_empty; err_empty
	run 4 fabric exec "$fabric" -- true; err_has "$missing"; out_empty
	run 4 fabric run "$fabric" --socket "$tmp/other"; err_has "$missing"
	[ ! -e other ] || fail 'the socket exists'
	[ -n "$python" ] || return 0
	IBSA_FABRIC=$fabric python_open 1; err_has "$missing"
}

refuses_another_version() {
	[ -n "$python" ] || return 0
	echo 'const struct { unsigned int version; } ibsa__fabric_ops = { 0 };' |
		"${CC:-cc}" -x c -shared -fPIC - -Wl,-soname,libibsa-fabric.so.1 \
			-o lone/libibsa-fabric.so.1
	IBSA_FABRIC=$fabric python_open 1
	err_has 'libibsa-fabric.so.1 belongs to another version of libibsa.so.1; install the package libibsa-fabric1 of the same version'
	rm lone/libibsa-fabric.so.1
}

start
ibsa=$tmp/lone/command/ibsa
run_groups works_at_a_server names_the_package_for_a_file \
	refuses_another_version
