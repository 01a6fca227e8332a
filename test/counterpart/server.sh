# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that run OpenSM at a fabric server of ibsa. A bash script sources this
# file. It runs in "ibsa fabric exec --sa none", and has set drop_in to the
# directory of the library that replaces libibumad:
#
#   served_need PROGRAM...   exit with 77 if a program is missing
#   within SECONDS CMD...    repeat the command until it succeeds, or time is up
#   sm_start [OPTION...]     start OpenSM with these lines in its option file, and
#                            wait until the subnet is up
#   sm_stop [SIGNAL]         end OpenSM; default: SIGKILL
#   sm_polling               lines for the option files of several OpenSMs
# shellcheck source=test/support/signals.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/signals.sh"
PATH=$PATH:/usr/sbin:/sbin
sm_pid=''

# An OpenSM that receives a handover while it discovers the subnet, after it has
# found the other as master, becomes standby, as the other is then. It becomes
# master when the other has not been master in several polls: by default after 50 s.
# shellcheck disable=SC2034 # scripts that source this file use it
sm_polling=('sminfo_polling_timeout 500' 'polling_retry_number 2')

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

# Start OpenSM without any file of an earlier run.
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
