#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: prometheus.sh IBSA EXAMPLES
#        prometheus.sh --check | --fetch
#
# Tests the metrics of ibsa with Debian's programs. Prometheus scrapes "ibsa
# metrics --listen" of a fabric server, and the alert in EXAMPLES/monitoring
# fires when a link becomes slow. The node exporter reads the file of "ibsa
# metrics -o", and the device files of ibsa fabric sysfs. promtool accepts the
# alerts and all values. A client that keeps a connection idle loses it in time.
# The steps are in prometheus.py.
#
# The programs are not installed, because their packages create users and
# services. apt downloads the packages, and they are unpacked in
# $IBSA_PROMETHEUS_CACHE; default: ibsa-prometheus in $XDG_CACHE_HOME. The
# programs listen on 127.0.0.1 only.
#
# --fetch downloads the packages if they are not in the cache, and ends.
# --check exits with 0 if they are in the cache, otherwise with 1. Exit status
# of the test: 0 passed, 1 failed, 77 the packages cannot be downloaded.
set -uo pipefail
here=$(realpath "$(dirname "$0")")
cache=${IBSA_PROMETHEUS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-prometheus}
# shellcheck source=test/counterpart/release.sh
. "$here/release.sh"
own=$(. /etc/os-release && echo "$VERSION_CODENAME")

case "${1-}" in
--check)
	[ -d "$cache/$own" ]
	exit
	;;
--fetch)
	[ -d "$cache/$own" ] || release_unpack "$own" "$cache/$own" \
		prometheus prometheus-node-exporter
	exit
	;;
esac
"$0" --fetch || exit
exec /usr/bin/python3 "$here/prometheus.py" "$1" "$2" "$cache/$own/usr/bin"
