# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and variables for the scripts that run in virtual machines, which
# source this file.
set -uo pipefail
export LC_ALL=C
# Meson sets these for a test, so that it finds its libraries. Programs of the
# system must run in a guest with the system's own.
unset LD_LIBRARY_PATH
# depmod and modinfo are in sbin, which need not be in a plain user's path.
PATH=$PATH:/usr/sbin:/sbin

# shellcheck disable=SC2034 # used by scripts that source this
vm_here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
vm_cache=${IBSA_VM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-vm}

# vm_skip WHY... - end the script with status 77, because no guest can run on
# this machine
vm_skip() {
	echo "skipped: $*" >&2
	exit 77
}

# vm_fail WHY... - end the script with status 125, because something that should
# work did not
vm_fail() {
	echo "vm: $*" >&2
	exit 125
}

# vm_need PROGRAM...
vm_need() {
	local program
	for program; do
		command -v "$program" >/dev/null ||
			vm_skip "$program is not installed; run scripts/setup --tests"
	done
}

# vm_lock - lock the cache until the script ends, so that no other script writes
# to it
vm_lock() {
	mkdir -p "$vm_cache" 2>/dev/null
	[ -w "$vm_cache" ] || vm_skip "$vm_cache cannot be written"
	exec {vm_lock_fd}>"$vm_cache/lock"
	flock "$vm_lock_fd"
}

# vm_put FILE ROOT [AS] - copy a file, with the libraries that it needs, into
# the directory ROOT for a guest
vm_put() {
	local file=$1 root=$2 as=${3:-$1} library
	[ ! -e "$root$as" ] || return 0
	mkdir -p "$root$(dirname "$as")"
	cp -L --preserve=mode "$file" "$root$as" || vm_fail "cannot copy $file"
	[ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || return 0
	while read -r library; do
		vm_put "$library" "$root"
	done < <(ldd "$file" 2>/dev/null |
		sed -nE 's/^(.*=>)?[[:space:]]*(\/[^ ]*) \(.*$/\2/p')
}

# vm_pack ROOT - write the directory ROOT to standard output, as an archive that
# the kernel unpacks as its root
vm_pack() {
	(cd "$1" && find . -mindepth 1 -print0 | sort -z |
		cpio -o -0 -H newc -R 0:0 --quiet)
}
