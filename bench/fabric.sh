#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: bench/fabric.sh up DIR HOSTS       start ibsim and OpenSM on a fat tree
#        bench/fabric.sh run DIR COMMAND... run a command at the second host
#        bench/fabric.sh down DIR           end ibsim and OpenSM
#
# Simulates a fabric for benchmarks; ibsim and OpenSM run on the first core. DIR
# should be on tmpfs, because each client of ibsim writes a small copy of sysfs
# there. The sockets are named after DIR, so several fabrics can run at once. All
# clients together must have at most 256 MADs in flight: with more, ibsim and its
# clients block forever.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)

die() {
	echo "fabric.sh: $1" >&2
	exit 1
}

[ $# -ge 2 ] || die "usage: up DIR HOSTS | run DIR COMMAND... | down DIR"
action=$1 dir=$2
shift 2

preload=${UMAD2SIM:-$(find /usr/lib -name libumad2sim.so 2>/dev/null | head -1)}
[ -e "$preload" ] || die "no libumad2sim.so; install ibsim-utils"

# client HOST COMMAND... - run a command attached to a host of the fabric
client() {
	local host=$1
	shift
	cd "$dir" || die "no $dir; start with: up $dir HOSTS"
	exec env IBSIM_SOCKNAME="ibsa$(cksum <<<"$dir" | cut -d' ' -f1)" \
		SIM_HOST="$host" LD_PRELOAD="$preload" taskset -c 0 "$@"
}

# await FILE TEXT PID SECONDS - wait until FILE contains TEXT; fail if the
# process PID ends before, or after SECONDS
await() {
	local end=$((SECONDS + $4))
	until grep -q "$2" "$1" 2>/dev/null; do
		kill -0 "$3" 2>/dev/null && [ "$SECONDS" -lt "$end" ] ||
			return 1
		sleep 0.05
	done
}

start() {
	local flags
	cd "$dir" || die "cannot make $dir"
	"$here/../scripts/gen-fabric" "$1" --info -o topology.net 2>info.json ||
		die "no topology"
	read -ra flags < <(sed -n 's/.*"ibsim_flags": "\([^"]*\)".*/\1/p' \
		info.json)
	mkfifo console
	# ibsim ends when its console does.
	sleep 1000000 >console 2>/dev/null &
	echo $! >hold.pid
	IBSIM_SOCKNAME="ibsa$(cksum <<<"$dir" | cut -d' ' -f1)" taskset -c 0 \
		ibsim -s "${flags[@]}" topology.net <console >ibsim.log 2>&1 &
	echo $! >ibsim.pid
	await ibsim.log 'Network simulator ready' $! 60 || return 1
	# Without this option, OpenSM writes SUBNET UP to its log long after the
	# subnet is up.
	echo 'force_log_flush TRUE' >opensm.conf
	(OSM_TMP_DIR=. OSM_CACHE_DIR=./ client Hca1 \
		opensm -F opensm.conf -e -f opensm.log) >opensm.out 2>&1 &
	echo $! >opensm.pid
	await opensm.log 'SUBNET UP' $! 120
}

# has_ended PID - whether the process has ended, even if its exit status has not
# been read
has_ended() {
	local stat
	{ stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 0
	[[ $stat == *') Z '* ]]
}

stop() {
	local name pid
	for name in opensm ibsim hold; do
		[ -f "$dir/$name.pid" ] || continue
		pid=$(cat "$dir/$name.pid")
		kill "$pid" 2>/dev/null
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			has_ended "$pid" && break
			sleep 0.2
		done
		kill -9 "$pid" 2>/dev/null
		rm -f "$dir/$name.pid"
	done
	return 0
}

case $action in
up)
	mkdir -p "$dir" && dir=$(cd "$dir" && pwd -P)
	start "$@" && exit 0
	stop
	tail -n 3 "$dir"/*.log >&2
	die "the fabric did not come up; its logs are in $dir"
	;;
run)
	dir=$(cd "$dir" && pwd -P) || exit 1
	client Hca2 "$@"
	;;
down) stop ;;
*) die "no action $action" ;;
esac
