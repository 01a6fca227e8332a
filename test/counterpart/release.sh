# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that unpack packages of a Debian release without installing them, and
# sources. A bash script sources this file:
#
#   skip WORD...            print the reason, and exit with 77
#   release_unpack RELEASE ROOT PACKAGE...
#                           download the packages and all libraries that they need,
#                           and unpack them in the directory ROOT
#   release_source ROOT PACKAGE RELEASE...
#                           download the upstream archive of the source package
#                           from the first of these releases that has it, and
#                           unpack it in the directory ROOT
#
# apt downloads the packages from the machine's package sources, with the name of
# the release in place of the machine's own.

skip() {
	echo "skipped: $*" >&2
	exit 77
}

# release_sources RELEASE FOLDER - write the apt sources of this machine for
# another release into the folder
release_sources() {
	local own file
	own=$(. /etc/os-release && echo "$VERSION_CODENAME")
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
		/etc/apt/sources.list.d/*.sources; do
		[ -e "$file" ] && grep -qw "$own" "$file" || continue
		sed "s/\b$own\b/$1/g" "$file" \
			>"$2/$(basename "$file" | sed 's/^sources.list$/own.list/')"
	done
	ls "$2"/* >/dev/null 2>&1
}

# release_apt APT-COMMAND... - run an apt command with a configuration and a state
# directory of this script
release_apt() {
	APT_CONFIG=$work/apt.conf "$@" >>"$work/log" 2>&1
}

# release_open RELEASE ROOT [deb-src] - make the directory $work beside ROOT, with
# apt's lists of packages, or of sources
release_open() {
	local release=$1 root=$2 kind=${3-deb}
	command -v apt-get >/dev/null || skip 'apt-get is not installed'
	mkdir -p "$(dirname "$root")" || skip "$root cannot be written"
	work=$(mktemp -d "$root.XXXXXX") || skip "no room for $root"
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work"/{sources,lists/partial,archives/partial,root}
	: >"$work/status"
	cat >"$work/apt.conf" <<-END
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$work/sources";
		Dir::State "$work";
		Dir::State::lists "$work/lists";
		Dir::State::status "$work/status";
		Dir::Cache "$work";
		Dir::Cache::archives "$work/archives";
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
	END
	release_sources "$release" "$work/sources" ||
		skip 'apt has no source of Debian packages'
	sed -i "s/^deb /$kind /; s/^Types: deb\$/Types: $kind/" \
		"$work"/sources/*
	release_apt apt-get -q update ||
		skip "apt cannot read $release: $(tail -n 1 "$work/log")"
}

# release_close ROOT - let ROOT be what has been unpacked
release_close() {
	mv "$work/root" "$1" || [ -d "$1" ] || skip "cannot write $1"
	rm -rf "$work"
	trap - EXIT
}

release_unpack() {
	local release=$1 root=$2 libraries package
	shift 2
	release_open "$release" "$root"
	libraries=$(APT_CONFIG=$work/apt.conf apt-cache depends "$@" |
		sed -nE 's/^ *Depends: (lib[^ ]*)$/\1/p' | grep -v perl | sort -u)
	[ -n "$libraries" ] || skip "$release has no $*"
	# shellcheck disable=SC2086 # one word a package
	release_apt apt-get -q -y --download-only install $libraries &&
		(cd "$work/archives" && release_apt apt-get -q download "$@") ||
		skip "apt: $(tail -n 1 "$work/log")"
	for package in "$work"/archives/*.deb; do
		dpkg -x "$package" "$work/root" || skip "cannot unpack $package"
	done
	release_close "$root"
}

# release_source_one ROOT PACKAGE RELEASE - do it for one release
release_source_one() {
	local root=$1 package=$2 release=$3
	release_open "$release" "$root" deb-src
	(cd "$work/archives" && release_apt apt-get -q --download-only \
		--tar-only source "$package") ||
		skip "$package of $release: $(tail -n 1 "$work/log")"
	tar -xf "$work"/archives/*.orig.tar.* -C "$work/root" \
		--strip-components=1 || skip "cannot unpack $package"
	release_close "$root"
}

release_source() {
	local root=$1 package=$2 release
	shift 2
	for release; do
		(release_source_one "$root" "$package" "$release") && return
	done
	exit 77
}
