#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: bench/up.sh [-b BUILD] HOSTS [ours|ibsim]...
#
# Measures how long a simulator takes to load a fat tree of HOSTS hosts, and how
# long OpenSM then takes until it logs SUBNET UP. The simulators are "ibsa
# fabric run", with the library that replaces libibumad, and ibsim, one after
# the other with the same topology file; arguments select one of them. Prints
# for each simulator NAME ("ours" or "ibsim") the lines "NAME load SECONDS",
# "NAME up SECONDS", "NAME memory MB" (of the simulator, once the subnet is up),
# "NAME opensm MB" and "NAME cpu SECONDS" (of OpenSM until then). With "ours",
# also prints "ours read SECONDS", the time in which cat reads the topology
# file. All programs run on the first core, except for this script, which only
# reads their output.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
LOAD_S=300
UP_S=900

die() {
	echo "up.sh: $1" >&2
	exit 1
}

build=$root/build
if [ "${1-}" = -b ]; then
	build=$2
	shift 2
fi
[ $# -ge 1 ] || die 'usage: bench/up.sh [-b BUILD] HOSTS [ours|ibsim]...'
hosts=$1
shift
[ $# -gt 0 ] || set -- ours ibsim

# The directory is in memory, because clients of ibsim write a small sysfs each.
memory=/dev/shm
[ -w $memory ] || memory=${TMPDIR:-/tmp}
folder=$(mktemp -d "$memory/ibsa-up-XXXXXXXX")
pids=()

# Stop OpenSM before the simulator: OpenSM uses all processor time when its
# device has disappeared.
stop() {
	local i pid
	for ((i = ${#pids[@]} - 1; i >= 0; i--)); do
		pid=${pids[i]}
		kill "$pid" 2>/dev/null || true
		for _ in {1..100}; do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.05
		done
		kill -KILL "$pid" 2>/dev/null || true
	done
	pids=()
}
trap 'stop; rm -rf "$folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# start LABEL TEXT SECONDS COMMAND... - run COMMAND until it prints TEXT, and
# print how long that took. Its output is read as it arrives, without polling.
# A background job reads and discards the rest.
start() {
	local label=$1 text=$2 limit=$3 begin=$EPOCHREALTIME out line
	shift 3
	exec {out}< <(exec taskset -c 0 "$@" 2>&1 </dev/null)
	pids+=($!)
	while IFS= read -r -t "$limit" -u "$out" line; do
		[[ $line == *"$text"* ]] || continue
		awk -v label="$label" -v begin="$begin" -v end="$EPOCHREALTIME" \
			'BEGIN { printf "%s %.4f\n", label, end - begin }'
		cat <&"$out" >/dev/null &
		exec {out}<&-
		return
	done
	die "$1 does not say '$text'; its last words: ${line-}"
}

cpu_of() {
	awk -v label="$1" -v ticks="$(getconf CLK_TCK)" \
		'{ sub(/.*\) /, ""); printf "%s %.2f\n", label, ($12 + $13) / ticks }' \
		"/proc/$2/stat"
}

memory_of() {
	awk -v label="$1" '/^VmRSS:/ { printf "%s %.1f\n", label, $2 / 1024 }' \
		"/proc/$2/status"
}

# manage LABEL NAME=VALUE... - run OpenSM with these environment variables until
# the subnet is up
manage() {
	local label=$1
	shift
	# Without force_log_flush, OpenSM keeps its log, with the line SUBNET
	# UP, in memory.
	echo 'force_log_flush TRUE' >opensm.conf
	start "$label up" 'SUBNET UP' $UP_S env "$@" OSM_TMP_DIR=. \
		OSM_CACHE_DIR=. opensm -F opensm.conf -e -f stdout
	cpu_of "$label cpu" "${pids[1]}"
	memory_of "$label memory" "${pids[0]}"
	memory_of "$label opensm" "${pids[1]}"
	stop
}

ours() {
	local begin=$EPOCHREALTIME
	taskset -c 0 cat topology.net >/dev/null
	awk -v begin="$begin" -v end="$EPOCHREALTIME" \
		'BEGIN { printf "ours read %.4f\n", end - begin }'
	start 'ours load' ' serves ' $LOAD_S "$build/command/ibsa" \
		fabric run topology.net --sa none --socket "$folder/s"
	manage ours LD_LIBRARY_PATH="$build/libibumad/dropin" \
		IBSA_FABRIC="unix:$folder/s" IBSA_NODE=Hca1
}

ibsim() {
	local flags preload
	preload=${UMAD2SIM:-$(find /usr/lib -name libumad2sim.so | head -n 1)}
	[ -e "$preload" ] || die 'no libumad2sim.so; install ibsim-utils'
	# Its limits are for some 2,000 nodes.
	read -ra flags < <(sed -n 's/.*"ibsim_flags": "\([^"]*\)".*/\1/p' \
		info.json)
	# ibsim ends at the end of file of its console. The FIFO is opened for
	# reading and writing, so it never has an end of file.
	[ -p console ] || mkfifo console
	start 'ibsim load' 'Network simulator ready' $LOAD_S \
		env IBSIM_SOCKNAME="${folder##*/}" \
		bash -c 'exec ibsim -s "$@" <>console' ibsim "${flags[@]}" \
		topology.net
	manage ibsim LD_PRELOAD="$preload" IBSIM_SOCKNAME="${folder##*/}" \
		SIM_HOST=Hca1
}

cd "$folder"
unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
"$root/scripts/gen-fabric" "$hosts" --info -o topology.net 2>info.json ||
	die 'no topology'
for which; do
	case $which in
	ours | ibsim) "$which" ;;
	*) die "no fabric $which" ;;
	esac
done
