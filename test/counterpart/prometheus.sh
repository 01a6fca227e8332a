#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: prometheus.sh IBSA EXAMPLES
#        prometheus.sh --check | --fetch
#
# Debian's Prometheus scrapes ibsa metrics --listen of a fabric server, and the alert of
# EXAMPLES/monitoring fires when a link becomes slow; Debian's node exporter reads the
# file of ibsa metrics -o; promtool accepts the alerts and all values. Clients that
# occupy connections lose them in time; prometheus.py has the steps.
#
# The programs are never installed, because their packages make users and services:
# apt downloads the packages into $IBSA_PROMETHEUS_CACHE, else ibsa-prometheus in
# $XDG_CACHE_HOME, and they are unpacked there. Exit status 77: the packages cannot be
# had. --fetch only gets them, if they are not there; --check only says by its exit
# status whether they are. The programs listen on 127.0.0.1 only.
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
