#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: completion.sh IBSA COMPLETION FABRIC
#
# Tests the completions that the bash script COMPLETION offers for command
# lines, with names of the embedded fabric FABRIC.
set -u
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
export LC_ALL=C
ibsa=$(realpath "$1")
completion=$(realpath "$2")
fabric=$(realpath "$3")
shared=/usr/share/bash-completion/bash_completion
status=0

[ -r "$shared" ] || { echo 'skipped: bash-completion is not installed' >&2; exit 77; }
# shellcheck source=/dev/null
. "$shared"
# shellcheck source=command/completion/ibsa
. "$completion"
export IBSA_FABRIC=$fabric
# Outside of a completion the builtin compopt fails, so it is replaced.
compopt() { :; }

# complete_line LINE - call the completion as bash does, which splits the words
# at = and : too, and print what it offers in one line
complete_line() {
	COMP_LINE="ibsa $1" COMP_POINT=${#COMP_LINE} COMPREPLY=()
	mapfile -t COMP_WORDS < <(grep -oE '[^ =:]+|[=:]+' <<<"$COMP_LINE")
	[[ $COMP_LINE != *[\ =:] ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_ibsa "$ibsa" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	printf '%s\n' "${COMPREPLY[@]}" | sort | paste -sd ' '
}

# offers LINE WORD... - check that the completion after "ibsa LINE" offers
# exactly these words
offers() {
	local line=$1 got want
	shift
	got=$(complete_line "$line")
	want=$(printf '%s\n' "$@" | sort | paste -sd ' ')
	[ "$got" != "$want" ] || return
	printf 'WRONG: ibsa %s<TAB>\n  offers  %s\n  instead %s\n' \
		"$line" "$got" "$want"
	status=1
}

# has LINE WORD - check that the completion of LINE offers this word among
# others
has() {
	[[ " $(complete_line "$1") " == *" $2 "* ]] && return
	printf 'WRONG: ibsa %s<TAB> does not offer %s\n' "$1" "$2"
	status=1
}

# The words that the completion must offer, read from the help by awk programs
# of this test, not by those of the completion.
mapfile -t commands < <("$ibsa" --help |
	awk '/^commands:/ { on = 1; next } !NF { on = 0 } on { print $1 }')
mapfile -t records < <("$ibsa" query --help |
	awk '$1 == "RECORD" { on = 1; next } !NF { on = 0 } on { print $1 }')
if [ ${#commands[@]} -lt 9 ] || [ ${#records[@]} -lt 20 ]; then
	echo 'WRONG: the help has no commands or no records'
	status=1
fi

cd "$(dirname "$fabric")" || exit 1
nodes=(node1 node2 node3 node4 rack)
offers '' "${commands[@]}"
offers 'pa' page path
offers 'nonsense ' ''
offers 'path ' "${nodes[@]}"
offers 'path node1 node' node1 node2 node3 node4
has 'path node1 node4 ' pkey=
has 'check node ' node2
offers 'query ' get table multi set delete
offers 'query get ' "${records[@]}"
offers 'query get Nod' NodeRecord
offers 'query table NodeRecord num' num_ports=
offers 'query table NodeRecord node_type=' CA switch router
offers 'query get NoSuchRecord ' ''
has 'query get --' --timeout
offers 'query get --mat' ''
offers 'reach --mat' --matrix
offers 'env ' nccl ucx
has 'check ' node
has 'check ' four-hosts.net
offers 'check node node1' node1
offers 'fabric li' link
offers 'fabric link ' up down speed
offers 'fabric link up ' "${nodes[@]/%//}"
offers 'fabric node add no' node1 node2 node3 node4
offers 'query table NodeRecord --fields num' num_ports
offers 'query table NodeRecord --fields lid,num' lid,num_ports
has 'path node1 node2 --fields ' mtu
offers 'fabric run four' four-hosts.net
offers 'check four' four-hosts.net
offers 'check no' node
offers 'topology four' four-hosts.net
offers 'fabric exec --fir' --first-lid
offers 'fabric exec four-hosts.net -- true four' four-hosts.net
offers 'service ' list lookup register unregister
has 'service list ' service_name=
has 'watch ' gid-in
offers 'doctor node3' node3
offers '-C node' node1 node2 node3 node4
offers 'reach --format ' table json ndjson csv svg
offers 'topology --format=sv' svg
offers '--fabric four' four-hosts.net
offers '--fabric=four' four-hosts.net
offers '--fabric two-hosts.net -t 900 path node' node1 node2

# A host's name comes from the host: the shell must not run it as a command.
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
number=0
for name in '$(touch${IFS}ran)' '`touch${IFS}ran`' '${x:=$(touch${IFS}ran)}' \
	';touch' '&touch' '|touch' '<(touch)' '*' '?' '[a]' '{a,b}' '~' '#' '!!' \
	"'" "it's" '-x' '--help' '$HOME' 'a=b' 'plain' 'größe' 'a:b'; do
	printf 'Ca 1 "h%s" # "%s"\n[1] "s"[%s]\n' $((++number)) "$name" $number
done >"$folder/ports"
{ echo "Switch $number \"s\" # \"sw\""; cat "$folder/ports"; } >"$folder/evil.net"
cd "$folder" || exit 1
for line in 'path ' 'devices ' '-C ' 'reach $(touch'; do
	IBSA_FABRIC=$folder/evil.net complete_line "$line" >words
	[ ! -e ran ] || { echo "WRONG: ibsa $line<TAB> runs a name"; status=1; rm ran; }
done
IBSA_FABRIC=$folder/evil.net offers 'path ' a=b plain größe a:b sw
IBSA_FABRIC=$folder/evil.net offers 'devices ' a=b plain größe a:b
cd - >/dev/null || exit 1

# A command's name may have a hyphen.
cat >"$folder/hyphen" <<EOF
#!/bin/sh
"$ibsa" "\$@" | sed 's/^  doctor  /  do-ctor /'
EOF
chmod +x "$folder/hyphen"
ibsa=$folder/hyphen offers 'do' do-ctor

# Without an SA, the completion offers no names, and ends within 3 seconds.
socket=$(mktemp -u)
"$ibsa" fabric run --sa none --socket "$socket" two-hosts.net >/dev/null &
server=$!
trap 'kill "$server"; wait "$server" 2>/dev/null; rm -r "$folder"' EXIT
until [ -S "$socket" ]; do
	kill -0 "$server" || exit 1
done
start=$SECONDS
IBSA_FABRIC=unix:$socket offers 'path ' ''
[ $((SECONDS - start)) -le 3 ] || {
	echo 'WRONG: it waited for longer than its bound'
	status=1
}
exit $status
