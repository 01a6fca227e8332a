# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A test script sources this file first: it runs the script anew with the default
# disposition for the signals that tests send, also if the script was started with
# some of them ignored, as nohup(1) does with SIGHUP. A shell cannot change the
# disposition of a signal that was ignored when it started. In background
# commands, bash ignores SIGINT and SIGQUIT all the same: they need env
# --default-signal.
if [ -z "${TEST_SIGNALS-}" ]; then
	TEST_SIGNALS=default exec env \
		--default-signal=HUP,INT,QUIT,PIPE,TERM "$0" "$@"
fi
unset TEST_SIGNALS
