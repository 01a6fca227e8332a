#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: unit.sh FOLDER SOURCES
#
# The units of ibsad: FOLDER has the service as it was built, SOURCES the socket
# and the file of its user. systemd finds no mistake in them, and an exposure of
# at most 1.5. Exit status: 0 passed, 1 failed, 77 systemd is missing.
set -euo pipefail

for tool in systemd-analyze systemd-sysusers; do
	command -v "$tool" >/dev/null && continue
	echo "skipped: $tool is not installed" >&2
	exit 77
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$2/ibsad@.socket" "$folder/ibsad@x.socket"
# The user and the program need not exist on this machine.
sed 's,^ExecStart=.*,ExecStart=/bin/true,; s,^User=.*,User=root,' \
	"$1/ibsad@.service" >"$folder/ibsad@x.service"
systemd-analyze verify --man=no "$folder"/ibsad@x.* 2>&1 |
	(! grep 'ibsad') || exit 1
sed -i 's,^User=root,User=ibsad,' "$folder/ibsad@x.service"
systemd-analyze security --no-pager --offline=true --threshold=15 \
	"$folder/ibsad@x.service" | tail -n 1
mkdir -p "$folder/root/etc"
systemd-sysusers --root="$folder/root" "$(realpath "$2/ibsad.conf")"
grep '^ibsad:' "$folder/root/etc/passwd"
