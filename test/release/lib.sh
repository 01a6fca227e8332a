# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and variables for the scripts that test other architectures, which
# source this file.
set -uo pipefail
export LC_ALL=C

# shellcheck disable=SC2034 # used by the scripts that source this file
release_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
release_cache=${IBSA_SYSROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-sysroot}

# release_skip WHY... - end the script with status 77, because something is not
# installed
release_skip() {
	echo "skipped: $*" >&2
	exit 77
}

# release_fail WHY... - end the script with status 1, because something that
# should work did not
release_fail() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# release_need PROGRAM...
release_need() {
	local program
	for program; do
		command -v "$program" >/dev/null || release_skip \
			"$program is not installed; run scripts/setup --release"
	done
}

# release_arch ARCH - set the names that an architecture has in Debian, in
# GNU triplets, in qemu-user and in Meson
release_arch() {
	case "$1" in
	i686) set -- i386 i686-linux-gnu i386-linux-gnu i386 x86 little ;;
	arm64) set -- arm64 aarch64-linux-gnu aarch64-linux-gnu aarch64 \
		aarch64 little ;;
	s390x) set -- s390x s390x-linux-gnu s390x-linux-gnu s390x s390x big ;;
	*) release_fail "unknown architecture $1; known: i686 arm64 s390x" ;;
	esac
	# shellcheck disable=SC2034 # used by the scripts that source this file
	arch_debian=$1 arch_tool=$2 arch_lib=$3 arch_qemu=qemu-$4 \
		arch_meson=$5 arch_endian=$6
}
