# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions and variables for the tests of the command ibsa, which source this
# file. It reads the first three arguments of the test: IBSA is the path of the
# command, LIBDIR the directory of libibsa.so.1, and FABRIC a topology file. It
# creates a temporary directory, in which the test works, and removes it at the
# end.
set -u
# shellcheck source=test/support/signals.sh
. "$(dirname "${BASH_SOURCE[0]}")/../support/signals.sh"
support=$(realpath "$(dirname "${BASH_SOURCE[0]}")")

ibsa=$(realpath "$1")
# shellcheck disable=SC2034 # for the scripts that source this
libdir=$(realpath "$2")
fabric=$(realpath "$3")
timeout=$(command -v timeout) # some tests change PATH
tmp=$(mktemp -d)
# End all background processes of the test, and remove its directory.
clean_up() {
	local pid
	for pid in $(jobs -p); do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap clean_up EXIT
mkdir "$tmp/json"
cd "$tmp" || exit 1
unset IBSA_FABRIC SYSFS_PATH POSIXLY_CORRECT

for tool in jq python3 script setpriv; do
	command -v "$tool" >/dev/null && continue
	echo "needs $tool" >&2
	exit 77
done

python3 -c 'import jsonschema' 2>/dev/null || {
	echo 'needs python3-jsonschema' >&2
	exit 77
}

failed=0
checks=0
what=

# default NAME - print the value of IBSA_DEFAULT_NAME
default() {
	sed -n "s/^#define IBSA_DEFAULT_$1 \([0-9]*\).*/\1/p" \
		"$support/../../include/ibsa/types.h"
}

# fail WHY - print a failed check, with the command under test and its output
fail() {
	failed=$((failed + 1))
	echo "FAIL: $what: $*"
	sed 's/^/  out: /' out
	sed 's/^/  err: /' err
}

# is_emulated - ibsa is a script that runs a program of another architecture:
# it cannot be copied elsewhere, and the emulator needs descriptors too
is_emulated() { [ "$(head -c 2 "$ibsa")" = '#!' ]; }

# save ARG... - store the output of ibsa ARG... for schema.py if it is JSON
save() {
	local arg is_json=no
	# Of ibsa fabric exec, the output is that of the command after it.
	if [[ " $* " = *' exec '* ]]; then
		while [ $# -gt 0 ] && [ "$1" != "$ibsa" ]; do
			shift
		done
	fi
	for arg; do
		case $arg in
		-j | --json | json | ndjson | --format=*json | -[av]j | -j[av]) is_json=yes ;;
		--fields | -h | --help | -V) return ;;
		esac
	done
	[ $is_json = yes ] && [ -s out ] || return 0
	printf '%s\0' "$@" >"$tmp/json/$checks-$BASHPID.args"
	cp out "$tmp/json/$checks-$BASHPID.out"
}

# run STATUS ARG... - run ibsa, write its output to the files out and err, and
# check its exit status
run() {
	local want=$1 got=0
	shift
	what="ibsa $*"
	checks=$((checks + 1))
	"$timeout" --foreground -k 10 100 "$ibsa" "$@" >out 2>err </dev/null ||
		got=$?
	case "$got" in
	"$want") ;;
	124 | 137) fail "has not ended after 100 s" ;;
	*) fail "exit status $got, not $want" ;;
	esac
	# A command that fails must write a message to standard error.
	case "$want" in
	0) ;;
	*) [ -s err ] || fail 'says nothing on standard error' ;;
	esac
	if [ -s err ] && grep -Eq 'Sanitizer|runtime error' err; then
		fail 'a sanitizer speaks'
	fi
	save "$@"
}

# try STATUS ARG... - as run, but standard error may be empty
try() {
	local want=$1 got=0
	shift
	what="ibsa $*"
	checks=$((checks + 1))
	"$ibsa" "$@" >out 2>err </dev/null || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want"
	! grep -Eq 'Sanitizer|runtime error' err || fail 'a sanitizer speaks'
	save "$@"
}

# on STATUS ARG... - do what run does, with the option --fabric $fabric
on() {
	local want=$1
	shift
	run "$want" --fabric "$fabric" "$@"
}

out_has() { grep -Eq -- "$1" out || fail "output without '$1'"; }
err_has() { grep -Eq -- "$1" err || fail "no '$1' on standard error"; }
out_empty() { [ ! -s out ] || fail 'output where none is due'; }
err_empty() { [ ! -s err ] || fail 'words on standard error'; }
json() { jq -e "$1" out >jq.out 2>&1 || fail "JSON without $1"; }
lines() { [ "$(wc -l <out)" -eq "$1" ] || fail "not $1 lines"; }
sentences() { [ "$(wc -l <err)" -eq "$1" ] || fail "not $1 sentences"; }

# Check that each column begins where its title begins, in every line. Columns
# are counted in characters; mawk would count bytes.
aligned() {
	python3 - out <<-'CHECK' || fail 'a column is not aligned'
		import re, sys
		lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
		at = [m.start() for m in re.finditer(r"\S+", lines[0])]
		bad = len(lines) < 2
		for line in lines:
		    bad |= line != line.rstrip()
		    for i in at:
		        bad |= line[i:i + 1] in ("", " ") or (i and line[i - 1] != " ")
		sys.exit(bad)
	CHECK
}

# ended PID - wait for the process, kill it after 30 s, and return its exit
# status
ended() {
	local end=$((SECONDS + 30))
	while kill -0 "$1" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do
		sleep 0.02
	done
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

# run_groups GROUP... - run the named functions, each of which is a group of
# checks, and exit with the result of the test
run_groups() {
	local group
	for group; do
		: >out
		: >err
		"$group"
	done
	"$support/schema.py" "$libdir/command" "$tmp/json" ||
		failed=$((failed + 1))
	echo "$checks commands, $failed failed checks"
	[ "$failed" -eq 0 ]
}
