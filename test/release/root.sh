# shellcheck shell=bash disable=SC2016 # many scripts are for another shell
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and variables for the scripts that work in Debian 12 roots, which source
# this file after lib.sh, as root. The roots are made by debootstrap from the mirror
# that apt is configured with here, and kept in $IBSA_ROOT_CACHE, else ibsa-root in
# $XDG_CACHE_HOME; one script at a time uses the cache. They start no daemon.

cache=${IBSA_ROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-root}
release=bookworm

# step TEXT - what follows; printed with the time
step() {
	printf '%5d s  %s\n' $SECONDS "$*"
}

# mounted ROOT COMMAND... - in a name space with the file systems of ROOT
mounted() {
	unshare --mount sh -ec '
		mount -t proc proc "$1/proc"
		mount -t sysfs -o ro sysfs "$1/sys"
		mount -t devpts -o newinstance,ptmxmode=0666 devpts "$1/dev/pts"
		ln -sf pts/ptmx "$1/dev/ptmx"
		mount -t tmpfs tmpfs "$1/dev/shm"
		shift
		exec "$@"' sh "$@"
}

# inside ROOT COMMAND... - as root, with a network
inside() {
	mounted "$1" chroot "$1" env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
		PATH=/usr/sbin:/usr/bin DEBIAN_FRONTEND=noninteractive "${@:2}" \
		</dev/null
}

# Sources of Debian 12 that apt has here: address, name, component.
sources() {
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' \
		'Created-By: Packages' | grep -E " $release(-updates|-security)? " |
		sort -u
}

# A root in which apt works as here, and no package starts a daemon.
configure_root() {
	sources | sed 's/^/deb /' >"$1/etc/apt/sources.list"
	apt-config dump |
		grep -E '^Acquire::(Check-|Retries|https?::|ftp::)' \
			>"$1/etc/apt/apt.conf.d/50machine"
	echo 'Acquire::Languages "none";' >>"$1/etc/apt/apt.conf.d/50machine"
	printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
	chmod 755 "$1/usr/sbin/policy-rc.d"
	cp /etc/resolv.conf /etc/hosts "$1/etc/"
	inside "$1" apt-get -q update
	inside "$1" useradd --create-home --shell /bin/bash user
}

make_base() {
	local mirror
	mirror=$(sources | awk -v of=$release '$2 == of { print $1; exit }')
	[ -n "$mirror" ] || release_fail "apt has no source of Debian 12 here"
	debootstrap --variant=minbase $release "$1" "$mirror" && configure_root "$1"
}

# add_packages ROOT PACKAGE...
add_packages() {
	inside "$1" apt-get -q -y --no-install-recommends install "${@:2}"
}

# cached NAME CONTENT COMMAND... - unpack a root to $work/NAME, which COMMAND
# makes there if the cache has none for this CONTENT
cached() {
	local name=$1 content=$2 archive=$cache/$1.tar
	shift 2
	if [ "$(cat "$archive.content" 2>/dev/null)" != "$content" ]; then
		step "make the root $name"
		rm -rf "${work:?}/$name" "$archive.content"
		"$@" "$work/$name" >"$work/log" 2>&1 ||
			{ tail -n 20 "$work/log"; return 1; }
		tar -C "$work/$name" -cf "$archive" . &&
			echo "$content" >"$archive.content"
		return
	fi
	mkdir -p "$work/$name" && tar -C "$work/$name" -xpf "$archive"
}

# root_open - make the directory $work in the cache
root_open() {
	mkdir -p "$cache" || release_fail "$cache cannot be written"
	exec {lock}>"$cache/lock"
	flock "$lock"
	work=$(mktemp -d "$cache/run.XXXXXX") ||
		release_fail "$cache cannot be written"
}
