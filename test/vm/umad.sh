#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad.sh DROP-IN UMAD-IO IBSTAT
#
# Runs in a virtual machine, on the real kernel: the program UMAD-IO and ibstat
# (IBSTAT) must print the same with Debian's libibumad and with DROP-IN in its
# place, except for lines that name the library.
folder=$(dirname "$1")
io=$2
ibstat=$3
# The link-local address of rxe1's interface, which pair.sh has made.
gid=fe80::ff:fe00:b
failed=0

# with LIBRARY FILE CMD...
with() {
	library=$1
	to=$2
	shift 2
	path=
	[ "$library" = theirs ] || path=$folder
	LD_LIBRARY_PATH=$path LD_DEBUG=libs LD_DEBUG_OUTPUT=loader "$@" \
		>"$to" 2>"$to.err"
	echo "exit status $?" >>"$to"
	sed -n 's/.*calling init: \(.*\)\/libibumad\.so\.3$/\1/p' loader.* |
		sort -u >loaded
	rm loader.*
	case $library:$(cat loaded) in
	"ours:$folder" | theirs:/lib/* | theirs:/usr/*) ;;
	*)
		echo "FAILED: $library: it was the one in '$(cat loaded)'" >&2
		failed=1
		;;
	esac
}

# same TEXT CMD... - check that CMD prints TEXT with Debian's libibumad, and the
# same with the drop-in
same() {
	words=$1
	shift
	with theirs theirs "$@"
	with ours ours "$@"
	if ! grep -qF "$words" theirs; then
		echo "FAILED: $*: no '$words' with theirs:" >&2
		cat theirs theirs.err >&2
		failed=1
	fi
	cat theirs
	diff theirs ours >&2 || failed=1
}

same 'answer: 1' "$io" rxe0 gmp rxe1 "$gid"
same "CA 'rxe1'" "$ibstat"
same 'exit status 0' "$ibstat" -p
exit $failed
