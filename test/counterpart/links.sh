#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: links.sh IBSA DROP-IN TOPOLOGY...
#
# Tests the rates of links with Debian's iblinkinfo and saquery on a fabric
# server, for each TOPOLOGY, with the embedded SA and with OpenSM: iblinkinfo
# does not note "could be" (a link that could be faster or wider) at any link,
# and libibmad does not warn of an unknown value. Then one link is set to
# 1xSDR: exactly that link gets the note.
# IBSA is the command ibsa as it was built, DROP-IN the library that replaces
# libibumad. Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
PATH=$PATH:/usr/sbin:/sbin
here=$(realpath "$0")
status=0

wrong() {
	echo "WRONG: $file, SA $LINKS_SA: $*"
	status=1
}

outside() {
	local tool topology
	for tool in iblinkinfo saquery opensm jq; do
		command -v "$tool" >/dev/null && continue
		echo "skipped: $tool is not installed" >&2
		exit 77
	done
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC IBSA_NODE LD_LIBRARY_PATH
	for topology in "${@:3}"; do
		for sa in embedded none; do
			LINKS_SA=$sa LINKS_FOLDER=$folder "$1" fabric exec \
				"$topology" --sa "$sa" -- "$here" inside \
				"$1" "$2" "$topology" || status=1
		done
	done
	exit "$status"
}

# Print the links of which iblinkinfo reports that they could be faster or
# wider. iblinkinfo shows each link twice, from each end with the node and port
# of the other end.
could_be() {
	iblinkinfo -l >links 2>errors || wrong "iblinkinfo: exit status $?"
	[ ! -s errors ] || wrong "iblinkinfo: $(head -n 2 errors)"
	[ "$(grep -c LinkUp links)" -gt 0 ] || wrong 'iblinkinfo shows no link'
	grep 'Could be' links
}

# same_link FILE - whether the two lines of FILE are the two ends of one link
same_link() {
	sed -E 's/^(0x[0-9a-f]+) +".*" +[0-9]+ +([0-9]+)\[.*==> +(0x[0-9a-f]+) +[0-9]+ +([0-9]+)\[.*/\1 \2 \3 \4/' \
		"$1" | awk 'NR == 1 { other = $3 " " $4 " " $1 " " $2 }
			NR == 2 { exit !($0 == other) }'
}

no_warning() {
	saquery PIR >records 2>errors || wrong "saquery: exit status $?"
	[ -s records ] || wrong 'saquery shows no port'
	[ ! -s errors ] || wrong "saquery PIR: $(sort errors | uniq -c | head -n 2)"
}

# Wait until OpenSM has set up the ports again after a link has trained.
settled() {
	local end=$((SECONDS + 30))
	until ! iblinkinfo -l 2>/dev/null | grep -qE ' (Initialize|Armed)/'; do
		[ "$SECONDS" -lt "$end" ] || {
			wrong 'links do not become active'
			return
		}
		sleep 0.1
	done
}

inside() {
	local end=$((SECONDS + 60)) node port place opensm=''
	cd "$LINKS_FOLDER" || exit 1
	LD_LIBRARY_PATH=$(dirname "$2")
	export LD_LIBRARY_PATH
	if [ "$LINKS_SA" = none ]; then
		rm -f opensm.log
		echo 'force_log_flush TRUE' >opensm.conf
		OSM_TMP_DIR=. OSM_CACHE_DIR=. opensm -F opensm.conf \
			-f opensm.log >opensm.out 2>&1 &
		opensm=$!
		until grep -qs 'SUBNET UP' opensm.log; do
			[ "$SECONDS" -lt "$end" ] || {
				wrong "OpenSM: $(tail -n 3 opensm.out)"
				exit 1
			}
			sleep 0.1
		done
	fi
	could_be && wrong 'links could be more'
	no_warning
	# An adapter of this SM: a topology may have parts with other SMs.
	IFS=$'\t' read -r node port < <("$1" query table NR node_type=CA -j |
		jq -r 'last | [.node_description, .local_port_num] | @tsv')
	place=$node/$port
	"$1" fabric link speed "$place" 1xSDR || wrong "link speed $place"
	settled
	could_be >slow
	if [ "$(wc -l <slow)" -ne 2 ] || ! same_link slow ||
		! grep -q "\"$node\"" slow; then
		wrong "what could be more is not $place: $(cat slow)"
	fi
	no_warning
	[ -z "$opensm" ] || {
		kill "$opensm"
		wait "$opensm"
	}
	exit "$status"
}

if [ "${1-}" = inside ]; then
	file=$4
	inside "$2" "$3" "$4"
fi
args=()
for arg; do
	args+=("$(realpath "$arg")")
done
outside "${args[@]}"
