#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: device-imports.sh [--imports] LIBRARY
#
# Tests which functions LIBRARY imports and exports. ibsim's preload library
# replaces open(), opendir(), read() and a few more functions. LIBRARY must not
# import any other function that reads files, such as the ones that
# _FILE_OFFSET_BITS=64 or _FORTIFY_SOURCE would select; and it must export the
# two names that the preload library looks up. With --imports, it need not: another
# library of the program exports them. Exit status: 0 passed, 1 failed.
set -euo pipefail

if ! command -v nm >/dev/null; then
	echo 'skipped: nm is not installed' >&2
	exit 77
fi
names=(umad_size umad_get_mad)
if [ "$1" = --imports ]; then
	names=()
	shift
fi
status=0
imports=$(nm -D --undefined-only --format=posix "$1" | sed 's/[@ ].*//')
wrong=$(grep -xE '(open|openat|scandir|readdir|fopen|pread)64|openat|fopen|l?stat|statx|fstatat|[fl]?stat64|fstatat64|__[fl]?xstat.*|f?access(at)?|__(open|openat|open64|openat64)_2|__(read|pread|pread64|poll|ppoll)_chk' <<<"$imports" || true)
if [ -n "$wrong" ]; then
	echo "$1 imports what ibsim does not catch:" "${wrong//$'\n'/ }" >&2
	status=1
fi
exports=$(nm -D --defined-only "$1")
for name in "${names[@]}"; do
	if ! grep -q " $name@@IBUMAD_1.0$" <<<"$exports"; then
		echo "$1 does not export $name at IBUMAD_1.0" >&2
		status=1
	fi
done
exit $status
