# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# OpenSM on the fabric of a server of ours, to be sourced by a bash script that
# runs in "ibsa fabric exec --sa none" and has set drop_in, the folder of the
# library in libibumad's place:
#
#   served_need PROGRAM...   skip the test without them
#   within SECONDS CMD...    until the command succeeds
#   sm_start [OPTION...]     start OpenSM with lines of its option file, until
#                            the subnet is up
#   sm_stop [SIGNAL]         end it, with SIGKILL unless said otherwise
# shellcheck source=test/support/signals.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/signals.sh"
PATH=$PATH:/usr/sbin:/sbin
sm_pid=''

served_need() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
}

within() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# It keeps nothing of an earlier run.
sm_start() {
	rm -f opensm.log opensm-* ./*.dump
	printf '%s\n' 'force_log_flush TRUE' "$@" >opensm.conf
	LD_LIBRARY_PATH=$drop_in OSM_TMP_DIR=. OSM_CACHE_DIR=. \
		opensm -F opensm.conf -f opensm.log >opensm.out 2>&1 &
	sm_pid=$!
	within 60 grep -q 'SUBNET UP' opensm.log
}

sm_stop() {
	[ -n "$sm_pid" ] || return 0
	kill "-${1:-KILL}" "$sm_pid"
	wait "$sm_pid" 2>/dev/null
	sm_pid=''
}
