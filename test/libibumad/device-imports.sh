#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: device-imports.sh LIBRARY
#
# ibsim's preload catches open(), opendir(), read() and their like under just
# these names. The library must not import another that reads files, which is
# what _FILE_OFFSET_BITS=64 or _FORTIFY_SOURCE would make of them; and it must
# export the two names that the preload looks for.
set -euo pipefail

if ! command -v nm >/dev/null; then
	echo 'skipped: nm is not installed' >&2
	exit 77
fi
status=0
imports=$(nm -D --undefined-only --format=posix "$1" | sed 's/[@ ].*//')
wrong=$(grep -xE '(open|openat|scandir|readdir|fopen|pread)64|openat|fopen|l?stat|statx|fstatat|[fl]?stat64|fstatat64|__[fl]?xstat.*|f?access(at)?|__(open|openat|open64|openat64)_2|__(read|pread|pread64|poll|ppoll)_chk' <<<"$imports" || true)
if [ -n "$wrong" ]; then
	echo "$1 imports what ibsim does not catch:" "${wrong//$'\n'/ }" >&2
	status=1
fi
exports=$(nm -D --defined-only "$1")
for name in umad_size umad_get_mad; do
	if ! grep -q " $name@@IBUMAD_1.0$" <<<"$exports"; then
		echo "$1 does not export $name at IBUMAD_1.0" >&2
		status=1
	fi
done
exit $status
