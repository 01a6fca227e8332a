# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Sourced first by a test script: the signals that tests send have their default
# disposition in it and in what it starts, whatever it was started with. A shell
# cannot change that of a signal that was ignored when it started, as SIGHUP is
# under nohup(1), so the script starts anew. In the background, bash has programs
# ignore SIGINT and SIGQUIT all the same: they need env --default-signal.
if [ -z "${TEST_SIGNALS-}" ]; then
	TEST_SIGNALS=default exec env \
		--default-signal=HUP,INT,QUIT,PIPE,TERM "$0" "$@"
fi
unset TEST_SIGNALS
