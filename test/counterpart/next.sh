# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that run the diagnostics of the next Debian release. A bash script
# sources this file:
#
#   next_is_complete        whether the packages are in the cache
#   next_get                download them if they are not; exit with 77 if that
#                           fails
#   next_programs DIR LIB   write a program of each name into the directory DIR,
#                           for PATH and IBPATH; each uses the loader and the
#                           libraries of that release, after those in LIB
#
# apt downloads the packages and all libraries that they need, with the machine's
# own package sources and the name of the newer release, $IBSA_NEXT_RELEASE
# (default trixie). They are unpacked in $IBSA_NEXT_CACHE; default: ibsa-next in
# $XDG_CACHE_HOME. Nothing is installed.
# shellcheck source=test/counterpart/release.sh
. "$(dirname "${BASH_SOURCE[0]}")/release.sh"
next_release=${IBSA_NEXT_RELEASE:-trixie}
next_root=${IBSA_NEXT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-next}
next_root=$next_root/$next_release

next_is_complete() {
	[ -e "$next_root/usr/sbin/iblinkinfo" ] &&
		[ -e "$next_root/usr/bin/ibv_devinfo" ]
}

next_get() {
	[ "$(uname -m)" = x86_64 ] || skip 'the packages are those of amd64'
	next_is_complete && return
	rm -rf "$next_root"
	release_unpack "$next_release" "$next_root" infiniband-diags ibverbs-utils
}

next_programs() {
	local file libraries=$next_root/usr/lib/x86_64-linux-gnu
	for file in "$next_root"/usr/sbin/{ib,sm,dump_,check_lft}* \
		"$next_root"/usr/sbin/{perfquery,saquery,vendstat} \
		"$next_root"/usr/bin/ibv_*; do
		if [ "$(head -c 2 "$file")" = '#!' ]; then
			ln -s "$file" "$1"
			continue
		fi
		printf '#!/bin/sh\nexec %q --library-path %q %q "$@"\n' \
			"$libraries/ld-linux-x86-64.so.2" "$2:$libraries" \
			"$file" >"$1/${file##*/}"
		chmod +x "$1/${file##*/}"
	done
}
