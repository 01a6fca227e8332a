# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that run ibsim and OpenSM for a test. A bash script sources this
# file:
#
#   . fabric.sh
#   fabric_start            start ibsim and OpenSM, and wait until the subnet is up
#   fabric_run HOST CMD...  run a command as a client of ibsim at a host
#   fabric_spawn HOST CMD... start a command in the background; sets $fabric_pid
#   fabric_wait PID         wait until the process ends; return its exit status
#   fabric_sm_stop [SIGNAL] end OpenSM; default: SIGKILL
#   fabric_sm_start HOST    start OpenSM at the host, without its earlier state
#   fabric_console LINE     send ibsim's console a command, as 'Unlink "x"[1]'
#   fabric_stop             end ibsim and OpenSM; also called when the script ends
#   wrong TEXT...           print that a check has failed, and set failed to 1
#
# All files are in a temporary directory, and the sockets have names of their own,
# so that many fabrics can run at once. Variables that the script may set before:
#
#   FABRIC_UMTAP       library to preload before ibsim's: with it, MADs are not cut
#                      at 256 bytes, as with a kernel
#   FABRIC_DATA        directory of topologies and partition files
#   FABRIC_NET         topology file; default: b.net in FABRIC_DATA
#   FABRIC_PARTITIONS  name of OpenSM's partition file in FABRIC_DATA
#   FABRIC_SM          host of OpenSM
#   FABRIC_WAIT_S      seconds to wait until the subnet is up
#   FABRIC_ENV         array of NAME=VALUE, the environment of OpenSM and commands
#   FABRIC_SM_OPTIONS  array of lines for OpenSM's configuration
#
# If a program is missing, the script prints its name and exits with 77.

# shellcheck source=test/support/signals.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/signals.sh"
FABRIC_DATA=${FABRIC_DATA:-$(dirname "${BASH_SOURCE[0]}")/../data/fabrics}
FABRIC_PARTITIONS=${FABRIC_PARTITIONS:-b.partitions.conf}
FABRIC_NET=${FABRIC_NET:-$FABRIC_DATA/b.net}
FABRIC_SM=${FABRIC_SM:-host-r1 mthca0}
FABRIC_WAIT_S=${FABRIC_WAIT_S:-60}
FABRIC_ENV=()
FABRIC_SM_OPTIONS=()
FABRIC_DIR=
fabric_pids=() # of programs in the fabric, each at its own index
fabric_pid=
fabric_sm_pid=
fabric_ibsim_pid=
fabric_console_fd=
# OpenSM is in sbin, which need not be in the path of a plain user.
PATH=$PATH:/usr/sbin:/sbin

# Exit status of the script.
failed=0
wrong() {
	echo "FAILED: $*" >&2
	failed=1
}

fabric_skip() {
	echo "skipped: $*" >&2
	exit 77
}

fabric_fail() {
	echo "fabric: $*" >&2
	exit 1
}

# fabric_need PROGRAM...
fabric_need() {
	local program
	for program; do
		command -v "$program" >/dev/null ||
			fabric_skip "$program is not installed"
	done
}

# Print the path of ibsim's preload library: $UMAD2SIM, or a path of a
# distribution.
fabric_preload() {
	local file
	for file in "${UMAD2SIM:-}" /usr/lib/*/umad2sim/libumad2sim.so \
		/usr/lib64/umad2sim/libumad2sim.so \
		/usr/lib/umad2sim/libumad2sim.so; do
		if [ -f "$file" ]; then
			echo "$file"
			return
		fi
	done
}

# Wait until FILE contains TEXT; fail if the process PID ends before, or after
# FABRIC_WAIT_S.
fabric_await() {
	local file=$1 text=$2 pid=$3 end=$((SECONDS + FABRIC_WAIT_S))
	until grep -qs -- "$text" "$file"; do
		kill -0 "$pid" 2>/dev/null ||
			fabric_fail "it ended before \"$text\":" \
				"$(tail -n 5 "$file" 2>/dev/null)"
		[ "$SECONDS" -lt "$end" ] ||
			fabric_fail "no \"$text\" in $FABRIC_WAIT_S s"
		sleep 0.05
	done
}

# Run a program that sees the simulated devices, in the directory where ibsim's
# preload library keeps its copy of sysfs.
fabric_exec() {
	local host=$1
	shift
	cd "$FABRIC_DIR" || exit
	exec env IBSIM_SOCKNAME="$(basename "$FABRIC_DIR")" \
		SIM_HOST="$host" UMTAP_DIR="$FABRIC_DIR/whole" \
		LD_PRELOAD="${FABRIC_UMTAP:+$FABRIC_UMTAP:}$fabric_umad2sim" \
		"${FABRIC_ENV[@]}" "$@"
}

fabric_ibsim() {
	mkfifo "$FABRIC_DIR/console"
	# Open the FIFO for reading and writing: otherwise ibsim or this script
	# would wait until the other end is opened.
	exec {fabric_console_fd}<>"$FABRIC_DIR/console"
	IBSIM_SOCKNAME=$(basename "$FABRIC_DIR") \
		ibsim -s "$FABRIC_NET" <"$FABRIC_DIR/console" \
		>"$FABRIC_DIR/ibsim.log" 2>&1 {fabric_console_fd}>&- &
	fabric_ibsim_pid=$!
	fabric_await "$FABRIC_DIR/ibsim.log" 'Network simulator ready' $!
}

# Start OpenSM on HOST without the services, groups and log of its previous run.
fabric_sm_start() {
	local host=$1
	[ -z "$fabric_sm_pid" ] || fabric_fail 'there is an OpenSM by now'
	rm -rf "$FABRIC_DIR/opensm"
	mkdir "$FABRIC_DIR/opensm"
	# Without force_log_flush, OpenSM keeps its log, with the line SUBNET
	# UP, in memory.
	cat >"$FABRIC_DIR/opensm.conf" <<-END
		force_log_flush TRUE
		subnet_prefix 0xfec0000000001234
		partition_config_file $(realpath "$FABRIC_DATA")/$FABRIC_PARTITIONS
	END
	printf '%s\n' "${FABRIC_SM_OPTIONS[@]}" >>"$FABRIC_DIR/opensm.conf"
	(OSM_TMP_DIR=$FABRIC_DIR/opensm OSM_CACHE_DIR=$FABRIC_DIR/opensm \
		fabric_exec "$host" opensm -F opensm.conf -e \
		-f "$FABRIC_DIR/opensm/log") \
		>>"$FABRIC_DIR/opensm.out" 2>&1 </dev/null \
		{fabric_console_fd}>&- &
	fabric_sm_pid=$!
	fabric_await "$FABRIC_DIR/opensm/log" 'SUBNET UP' $!
}

fabric_sm_stop() {
	[ -n "$fabric_sm_pid" ] || fabric_fail 'there is no OpenSM to end'
	kill -"${1:-KILL}" "$fabric_sm_pid"
	wait "$fabric_sm_pid" 2>/dev/null || true
	fabric_sm_pid=
}

fabric_start() {
	fabric_need ibsim opensm
	fabric_umad2sim=$(fabric_preload)
	[ -n "$fabric_umad2sim" ] ||
		fabric_skip "ibsim's libumad2sim.so is not installed"
	FABRIC_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ibsa-fabric-XXXXXXXX")
	mkdir "$FABRIC_DIR/whole"
	trap fabric_stop EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	fabric_ibsim
	fabric_sm_start "$FABRIC_SM"
}

# Start the program in a subshell, so that its environment does not change that
# of the script, and with SIGINT and SIGHUP at their defaults: bash ignores
# SIGINT in background commands, and nohup ignores SIGHUP.
fabric_spawn() {
	local host=$1
	shift
	(fabric_exec "$host" env --default-signal=INT,HUP "$@") <&0 \
		{fabric_console_fd}>&- &
	fabric_pid=$!
	fabric_pids[fabric_pid]=$!
}

fabric_wait() {
	local status=0
	wait "$1" || status=$?
	unset "fabric_pids[$1]"
	return $status
}

# Run the command in the background and wait for it: bash then handles a signal
# to the script at once.
fabric_run() {
	fabric_spawn "$@"
	fabric_wait "$fabric_pid"
}

fabric_console() {
	echo "$*" >&"$fabric_console_fd"
}

# fabric_soon COUNT WHAT COMMAND... - wait until COMMAND prints a number of at
# least COUNT, and count the check in $checked; the script must define the
# function wrong
fabric_soon() {
	local count=$1 what=$2 end=$((SECONDS + FABRIC_WAIT_S))
	shift 2
	until [ "$("$@")" -ge "$count" ]; do
		if [ "$SECONDS" -ge "$end" ]; then
			wrong "no $count of '$what' in $FABRIC_WAIT_S s"
			exit 1
		fi
		sleep 0.1
	done
	checked=$((checked + 1))
	echo "checked: $what"
}

# End one process with SIGTERM; kill it after two seconds.
fabric_end() {
	kill "$1" 2>/dev/null || true
	for _ in {1..40}; do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

fabric_stop() {
	local pid
	# ibsim ends last, because all other programs are connected to it.
	for pid in "${fabric_pids[@]}" $fabric_sm_pid $fabric_ibsim_pid; do
		fabric_end "$pid"
	done
	fabric_pids=()
	fabric_sm_pid=
	fabric_ibsim_pid=
	if [ -n "$fabric_console_fd" ]; then
		exec {fabric_console_fd}>&-
		fabric_console_fd=
	fi
	if [ -n "$FABRIC_DIR" ] && [ -z "${FABRIC_KEEP:-}" ]; then
		rm -rf "$FABRIC_DIR"
	fi
	FABRIC_DIR=
}
