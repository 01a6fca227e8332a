#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: help.sh IBSA LIBDIR FABRIC MAN-DIR
#
# Tests what "ibsa help COMMAND" shows: the command in an installed tree, with
# the pages of MAN-DIR.
pages=$(realpath "$4")
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

mkdir -p tree/bin tree/share/man/man8 tools empty
cp "$ibsa" tree/bin/
cp "$pages"/ibsa-*.8 tree/share/man/man8/
ibsa=$tmp/tree/bin/ibsa
export LD_LIBRARY_PATH=$libdir
cat >tools/man <<'END'
#!/bin/sh
echo "man: $*"
exit 16
END
chmod +x tools/man

# on_terminal STATUS PATH ARG... - run ibsa ARG... on a terminal
on_terminal() {
	local want=$1 path=$2 got=0
	shift 2
	what="ibsa $* on a terminal"
	checks=$((checks + 1))
	script -qec "PATH='$path' '$ibsa' $*" /dev/null >out 2>err || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want"
	sed -i 's/\r$//' out
}

page_on_a_terminal() {
	local command
	for command in $("$ibsa" --help | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
		on_terminal 16 "$tmp/tools" help "$command"
		out_has "^man: .*/tree/share/man/man8/ibsa-$command\\.8\$"; lines 1
	done
	[ "$checks" -ge 15 ] || fail 'commands are missing'
	gzip tree/share/man/man8/ibsa-path.8
	on_terminal 16 "$tmp/tools" help path
	out_has '^man: .*/ibsa-path\.8\.gz$'
}

help_without_a_terminal() {
	run 0 path --help; cp out help
	PATH=$tmp/tools run 0 help path
	cmp -s out help || fail 'another help'; err_empty
}

help_of_part_of_a_command() {
	on_terminal 0 "$tmp/tools" help fabric run; out_has '^usage: ibsa fabric run'
	on_terminal 0 "$tmp/tools" help; out_has '^usage: ibsa \[OPTION'
	on_terminal 2 "$tmp/tools" help pth; out_has "did you mean 'path'"
	on_terminal 0 "$tmp/tools" path --help; out_has '^usage: ibsa path'
}

help_without_man() {
	on_terminal 0 "$tmp/empty" help path
	out_has '^ibsa: cannot run man: No such file.*; this is ibsa path --help$'
	out_has '^usage: ibsa path'
}

help_without_page() {
	rm -r tree/share/man/man8/*
	on_terminal 0 "$tmp/tools" help path
	out_has '^ibsa: the manual page ibsa-path\(8\) is not installed in .*/tree/share/man/man8; this'
	out_has '^usage: ibsa path'
}

page_is_read_by_man() {
	command -v man >/dev/null || return
	export MANPAGER=cat MANWIDTH=80
	on_terminal 0 "$PATH" help trace
	out_has '^IBSA-TRACE\(8\)'
}

run_groups page_is_read_by_man page_on_a_terminal help_without_a_terminal \
	help_of_part_of_a_command help_without_man help_without_page
