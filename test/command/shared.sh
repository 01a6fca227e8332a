#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: shared.sh IBSA LIBDIR FABRIC
#
# Tests a fabric that several processes share: "ibsa fabric run" and "exec",
# the commands that change the fabric, and other commands on it.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp
server=
first=$("$ibsa" devices -j --fabric "$fabric" | jq -r '.[0].device')
# An adapter of the topology file other than the first, on which the SA runs.
other=$("$ibsa" devices -j --fabric "$fabric" |
	jq -r '.[0].device as $one | map(.device | select(. != $one)) | .[0]')

third=$("$ibsa" devices -j --fabric "$fabric" | jq -r --arg two "$other" \
	'.[0].device as $one | map(select(.device != $one and
		.device != $two and .state == 4)) | .[0].lid')

# start ARG... - start a server of $fabric at the socket ./s, and wait until the
# server is ready
start() {
	start_as run "$fabric" "$@"
}

# start_as ACTION FILE ARG... - start a server at the socket ./s with ibsa
# fabric ACTION FILE, and wait until the server is ready
start_as() {
	mkfifo ready
	"$ibsa" fabric "$1" "$2" --socket "$tmp/s" "${@:3}" >ready 2>server.err &
	server=$!
	line=
	# Go no further if the server is not ready: a later command that has to
	# fail at this socket would succeed, and run for ever.
	read -t 100 -r line <ready || {
		fail "no line: $(cat server.err)"
		exit 1
	}
	rm ready
	export IBSA_FABRIC=unix:$tmp/s
}

# stop SIGNAL - end the server with this signal, and check that it cleans up
stop() {
	local got=0
	kill "-$1" "$server"
	ended "$server" || got=$?
	what="ibsa fabric run, SIG$1"
	[ "$got" -eq 0 ] || fail "exit status $got"
	[ ! -e s ] || fail 'the socket is still there'
	[ ! -e s.issm ] || fail 'the folder is still there'
	unset IBSA_FABRIC
}

ready_line_is_json_with_j() {
	start -j
	what='ibsa fabric run -j'
	jq -e --arg at "unix:$tmp/s" '.event == "ready" and .fabric == $at and
		.adapters == 5' <<<"$line" >out 2>&1 || fail "says '$line'"
	stop TERM
}

# In the ready line, in JSON, and for clients and commands.
serves_over_tcp() {
	local address
	start --listen tcp:0 --token "$tmp/t" --control-token "$tmp/c"
	what='ibsa fabric run --listen'
	address=$(sed -n "s,^unix:$tmp/s and \\(tcp:127.0.0.1:[0-9]*\\) serves .*,\\1,p" \
		<<<"$line")
	[ -n "$address" ] || fail "says '$line'"
	run 0 --fabric "$address,token=$tmp/t" path self 2
	run 4 --fabric "$address,token=$tmp/t" fabric sm stop
	err_has --control-token
	run 0 --fabric "$address,token=$tmp/c" fabric sm stop
	run 4 --fabric "$address" devices; err_has token=FILE
	stop TERM
	start -j --listen "$address" --token t
	jq -e --arg at "$address" '.listen == $at' <<<"$line" >out 2>&1 ||
		fail "says '$line'"
	stop TERM
	run 2 fabric run "$fabric" --socket s --listen tcp:0; err_has --token
	run 2 fabric run "$fabric" --socket s --listen 127.0.0.1:1 --token t
	err_has 'write tcp:PORT'
}

ends_on_signals() {
	local signal
	for signal in TERM HUP; do
		start
		what='ibsa fabric run'
		[[ $line == "unix:$tmp/s serves "* ]] || fail "says '$line'"
		[ "$(stat -c %a s)" = 600 ] || fail 'others may connect'
		stop "$signal"
	done
}

# A server that cannot write the line that it is ready ends with an error.
says_that_nobody_was_told() {
	local got=0
	what='ibsa fabric run >/dev/full'
	"$ibsa" fabric run "$fabric" --socket "$tmp/s" >/dev/full 2>err &
	server=$!
	until [ -S s ] && IBSA_FABRIC=unix:$tmp/s "$ibsa" fabric stats >out \
		2>&1; do
		kill -0 "$server" || break
	done
	kill "$server"
	ended "$server" || got=$?
	[ "$got" -eq 4 ] || fail "exit status $got"
	err_has 'cannot write to standard output'
}

# Commands print the same at a fabric server as on the embedded fabric.
answers_are_the_same() {
	local args
	start
	while read -r args; do
		# shellcheck disable=SC2086 # several words
		IBSA_FABRIC=$fabric run 0 $args
		mv out want
		# shellcheck disable=SC2086
		run 0 $args
		cmp -s out want || fail 'another answer than of the file'
	done <<-'LINES'
		path self 2
		query get CPI
		query table NR
		query table PIR -j
		path 1 3 -j
	LINES
	stop TERM
}

two_at_once() {
	local pids=()
	start
	what='two at once'
	"$ibsa" query table NR >one & pids+=($!)
	"$ibsa" query table NR >two & pids+=($!)
	wait "${pids[0]}" || fail 'the first failed'
	wait "${pids[1]}" || fail 'the second failed'
	cmp -s one two || fail 'they differ'
	[ -s one ] || fail 'nothing came'
	stop TERM
}

# A command that runs out of file descriptors reports this, both when it
# connects and when it receives a descriptor from the server.
too_few_descriptors_are_called_so() {
	local number
	! is_emulated || return 0
	start
	what='few descriptors'
	: >said
	for number in {4..20}; do
		(ulimit -n "$number" && exec "$ibsa" path self 1) >out 2>>said
	done
	grep -q 'cannot connect to .*: Too many open files$' said ||
		fail 'there were enough to connect'
	grep -q 'too many open files for the port' said ||
		fail 'there were enough for the port'
	grep -E 'sent no socket|has closed the connection' said && fail 'the server is to blame'
	stop TERM
}

sits_where_it_is_told() {
	local args
	start
	run 0 devices -j; json '.[0].device == "ibsa0" and .[0].lid == 1'
	IBSA_NODE=$other run 0 devices -j; json '.[0].lid != 1'
	run 0 -C "$other" devices -j; json '.[0].lid != 1'
	IBSA_NODE=$other/1 run 0 devices -j; json '.[0].lid != 1'
	IBSA_NODE=nobody run 4 path self 2; err_has nobody
	grep -q 'try an example' err && fail 'offers what is there already'
	for args in devices gids; do
		IBSA_NODE=nobody run 4 $args; err_has 'has no node nobody'
		IBSA_FABRIC=unix:/nowhere run 4 $args; err_has 'no fabric server'
	done
	run 0 --record own.pcap path self 2; [ -s own.pcap ] || fail 'no packets'
	run 2 fabric run "$fabric" --sa non; err_has 'also accepts --sa embedded'
	run 4 -C nobody path self 2
	run 0 gids; out_has ibsa0
	unset IBSA_FABRIC
	run 0 --fabric "unix:$tmp/s" path self 2
	run 0 --fabric "unix:$tmp/s" devices; out_has ibsa0
	export IBSA_FABRIC=unix:$tmp/s
	stop TERM
	printf 'Switch 2 "s"\n[1] "t"[1] 4xEDR\nSwitch 2 "t"\n' >switches.net
	run 4 fabric exec switches.net --sa-at s -- "$ibsa" path self 2
	err_has 'the fabric has no channel adapter to send from'
	run 4 --fabric "unix:$tmp/s" path self 2; err_has 'ibsa fabric run'
	run 4 --fabric "unix:$tmp" path self 2; err_has 'is not the socket'
}

changes_are_made() {
	start -v --seed 7 --fault delay=1,1,1
	run 0 fabric link down "$other/1"; out_empty
	run 0 -C "$other" devices -j; json '.[0].state == 1'
	run 0 fabric link up "$other/1"
	run 0 fabric node remove "$other"
	run 0 fabric node add "$other"
	run 0 fabric sm move "$other"
	run 0 -C "$other" path self 1
	run 0 fabric fault lose=100; run 3 path self 2 -t 300
	run 0 fabric fault none; run 0 path self 2
	run 0 fabric sm stop; run 3 path self 2 -t 300
	run 0 fabric sm start; run 0 path self 2
	run 0 fabric stats; out_has '^faults_lose'
	run 0 fabric stats -j; json '.[0].faults_lose > 0'
	printf '# both\n0 link down %s/1\n\n0.1 link up %s/1\n' \
		"$other" "$other" >script
	run 0 fabric script script
	run 2 fabric script nowhere
	echo 'link down x' >script
	run 2 fabric script script; err_has 'script:1'
	printf '0 node remove %s # by name \n0 node add %s \t\n0 sm stop #\n' \
		"$other" "$other" >script
	echo '0 sm start' >>script
	run 0 fabric script script
	run 2 fabric script .; err_has 'cannot read .\..'
	printf '0 sm start\n0 sm start%0600d\n' 0 >script
	run 2 fabric script script; err_has 'script:2: .*longer than 510 '
	printf '%-510s\n%-510s' '0 sm start' '0 sm start' >script
	run 0 fabric script script
	printf '%-511s' '0 sm start' >script
	run 2 fabric script script; err_has 'script:1: .*longer'
	run 2 --fabric "$fabric" fabric stats; err_has 'unix:PATH'
	run 2 fabric link sideways "$other/1"; err_has "'up NODE/PORT', 'down NODE/PORT'"
	run 4 fabric link down nobody/1; err_has nobody
	echo "0 link speed $other/1 1xSDR" >script
	run 0 fabric script script
	run 0 path "$other" "$other"; out_has ' 2.5Gb/s '
	run 0 fabric link speed "$other/1" 4xSDR; out_empty
	run 0 path "$other" "$other"; out_has ' 10Gb/s '
	run 2 fabric link speed "$other/1" 4xGDR; err_has '4xGDR is not a rate'
	run 2 fabric link speed "$other/1" 12xNDR; err_has 'support 12xNDR'
	run 2 fabric link speed x/1; err_has 'needs NODE/PORT and a rate'
	run 4 fabric link speed nobody/1 1xSDR; err_has nobody
	run 2 fabric fault woes=1
	run 0 fabric errors "$other/1" SymbolErrors +3; out_empty
	printf '0 errors %s/1 PortRcvErrors +5/s # each second\n' "$other" >script
	echo "0 errors $other/1 PortRcvErrors 0/s" >>script
	run 0 fabric script script
	run 2 fabric errors "$other/1" Errors +3; err_has "'Errors' is not a counter"
	run 2 fabric errors "$other/1" PortRcvErrors 3; err_has "'3' is not a number"
	run 2 fabric errors "$other/1" PortRcvErrors; err_has 'needs NODE/PORT'
	run 4 fabric errors nobody/1 PortRcvErrors +3; err_has nobody
	echo "0 errors $other/1 PortRcvErrors +x" >script
	run 2 fabric script script; err_has 'script:1: '
	stop TERM
	run 4 fabric stats
}

# --socket PATH does the same as --fabric unix:PATH, and overrides IBSA_FABRIC.
socket_names_the_server() {
	local action
	start
	export IBSA_FABRIC=unix:/nowhere
	run 0 fabric link down "$other/1" --socket "$tmp/s"; out_empty
	run 0 fabric link up "$other/1" --fabric "unix:$tmp/s"
	run 0 fabric node remove "$other" --socket s
	run 0 fabric node add "$other" --socket ./s
	run 0 fabric sm move "$other" --socket s
	run 0 fabric fault lose=1 --socket s
	run 0 fabric fault none --socket s
	run 0 fabric stats --socket s; out_has '^clients'
	echo "0 link up $other/1" >script
	run 0 fabric script script --socket s
	for action in 'link up x/1' 'node add x' 'sm start' 'fault none' stats \
		'script script'; do
		# shellcheck disable=SC2086 # words of a command line
		run 4 fabric $action; err_has 'no fabric server is at /nowhere'
		# shellcheck disable=SC2086
		run 4 fabric $action --socket /proc/x
		err_has 'no fabric server is at /proc/x: start one with'
		# shellcheck disable=SC2086
		run 2 fabric $action --socket s --fabric "unix:$tmp/s"
		err_has 'use one of them'
		# shellcheck disable=SC2086
		run 2 fabric $action --fabric "$fabric"; err_has 'is not a fabric server; .* unix:PATH'
		# shellcheck disable=SC2086
		run 2 fabric $action --device x; err_has 'no option --device'
	done
	run 2 fabric stats --socket "$(printf '%0200d' 0)"; err_has 'longer than'
	run 2 fabric stats --socket ''; err_has 'the value is empty'
	run 2 topology "$fabric" --socket s; err_has 'no option --socket'
	stop TERM
}

one_server_a_socket() {
	start
	run 4 fabric run "$fabric" --socket "$tmp/s"; err_has 'is already running'
	kill -KILL "$server"
	wait "$server" 2>/dev/null
	[ -e s ] || fail 'the socket went with it'
	start
	stop TERM
	touch s
	run 4 fabric run "$fabric" --socket "$tmp/s"; err_has 'the path exists and is not a socket'
	rm s
	run 4 fabric run "$fabric" --socket "$tmp/no/s"
	err_has 'its directory does not exist; create the directory or choose'
	run 4 fabric run "$fabric" --socket "$fabric/s"; err_has 'its parent is not a directory'
	run 4 fabric run "$fabric" --socket /proc/x
	err_has 'cannot create a socket at /proc/x: its file system does not'
	run 4 fabric exec "$fabric" --socket /proc/x -- true
	err_has 'choose a path elsewhere, such as in /tmp$'
	# Without sysfs, /sys is an ordinary directory.
	if [ "$(stat -fc %T /sys)" = sysfs ]; then
		run 4 fabric run "$fabric" --socket /sys/x
		err_has 'a directory that you may write to, such as /tmp$'
	fi
	run 2 fabric run "$fabric" --socket "$(printf '%0200d' 0)"
	run 4 fabric run "$tmp/nowhere"
	run 2 fabric run "$fabric" --socket "$tmp/s" --fault woes=1
	[ ! -e s ] || fail 'a socket is left'
}

# The server checks the user of a connection, regardless of the socket's mode.
# Root may connect.
is_for_its_user_alone() {
	[ "$(id -u)" -eq 0 ] || return 0
	chmod 755 "$tmp"
	setpriv --reuid 65534 --clear-groups "$ibsa" -V >out 2>err || return 0
	start
	what='another user'
	other_user 4
	err_has "this user has no access to the socket or its directory"
	chmod 666 s
	other_user 4
	err_has "belongs to another user"
	other_user_runs "$tmp/s"
	err_has 'the file there belongs to another user; choose another path$'
	mkdir -m 777 open
	(umask 077 && touch open/s.lock)
	other_user_runs "$tmp/open/s"
	err_has 'cannot lock .*/open/s.lock: it is not a regular file that only'
	rm -r open
	stop TERM
}

# Another user may have created a server at the default path: the command does
# not use it. Root uses a server of another user only if the address says so.
default_path_is_trusted_only_if_ours() {
	local nobody=65534
	[ "$(id -u)" -eq 0 ] || return 0
	chmod 755 "$tmp"
	setpriv --reuid "$nobody" --clear-groups "$ibsa" -V >out 2>err ||
		return 0
	mkdir run mine
	chown "$nobody" run
	mkfifo ready
	setpriv --reuid "$nobody" --clear-groups "$ibsa" fabric run "$fabric" \
		--socket "$tmp/run/ibsa-fabric" >ready 2>server.err &
	server=$!
	read -r line <ready
	rm ready
	unset IBSA_FABRIC
	XDG_RUNTIME_DIR=$tmp/run run 4 fabric stats
	err_has "another user"
	run 4 fabric stats --socket "$tmp/run/ibsa-fabric"
	err_has "IBSA_FABRIC=unix-any-user:$tmp/run/ibsa-fabric"
	IBSA_FABRIC=unix-any-user:$tmp/run/ibsa-fabric run 0 fabric stats
	IBSA_FABRIC=unix-any-user:$tmp/run/ibsa-fabric run 0 path self 2
	# A socket at the default path is refused if root owns its directory and
	# another user the socket, or the reverse.
	ln "$tmp/run/ibsa-fabric" mine/ibsa-fabric
	XDG_RUNTIME_DIR=$tmp/mine run 4 fabric stats
	err_has "another user"
	chown 0 run/ibsa-fabric
	XDG_RUNTIME_DIR=$tmp/run run 4 fabric stats
	err_has "another user"
	XDG_RUNTIME_DIR=$tmp/mine run 4 fabric stats
	err_has "unix-any-user:"
	chmod 777 mine
	XDG_RUNTIME_DIR=$tmp/mine run 4 fabric stats
	err_has "another user"
	XDG_RUNTIME_DIR=$tmp/nowhere run 4 fabric stats
	err_has 'no fabric server is at'
	kill "$server"
	ended "$server"
	rm -rf run mine
}

# took MS CMD... - check that CMD ends within MS milliseconds, and set $got to
# its exit status
took() {
	local most=$1 from to
	shift
	got=0
	checks=$((checks + 1))
	what="$*"
	from=$(date +%s%3N)
	"$@" >out 2>err </dev/null || got=$?
	to=$(date +%s%3N)
	[ $((to - from)) -le "$most" ] || fail "it took $((to - from)) ms"
}

# A stopped server process accepts a connection but does not reply: a signal
# ends each command at once, and --timeout limits the wait.
silence_can_be_ended() {
	local args got
	start
	kill -STOP "$server"
	for args in watch 'service register --renew 1 x' 'reach --all' 'path self 1' doctor \
		devices gids; do
		# shellcheck disable=SC2086 # several words
		took 4000 timeout --foreground --preserve-status -s TERM 1 \
			env --default-signal=INT,TERM "$ibsa" $args
		[ "$got" -eq 143 ] || fail "exit status $got"
	done
	for args in watch 'service register --renew 1 x' 'reach --all' 'path self 1' \
		devices 'devices ibsa0' gids; do
		# shellcheck disable=SC2086 # several words
		took 4000 "$ibsa" $args -t 300
		[ "$got" -eq 4 ] || fail "exit status $got"
		err_has 'answer'
	done
	run 4 path self 1 -t 300
	err_has "$tmp/s did not answer within 300 ms; allow more time$"
	for args in devices gids; do
		took 15000 "$ibsa" "$args"
		[ "$got" -eq 4 ] || fail "exit status $got"
		err_has "$tmp/s did not answer within 10000 ms; check whether .* suspended"
		[ "$(wc -l <err)" -eq 1 ] || fail "$(cat err)"
	done
	kill -CONT "$server"
	stop TERM
}

# other_user STATUS - query a path as another user
other_user() {
	local got=0
	checks=$((checks + 1))
	setpriv --reuid 65534 --clear-groups "$ibsa" path self 2 >out 2>err ||
		got=$?
	[ "$got" -eq "$1" ] || fail "exit status $got, not $1"
}

# other_user_runs SOCKET - check that a user without privileges cannot run a
# server at SOCKET
other_user_runs() {
	local got=0
	checks=$((checks + 1))
	setpriv --reuid 65534 --clear-groups "$ibsa" fabric run "$fabric" \
		--socket "$1" >out 2>err || got=$?
	[ "$got" -eq 4 ] || fail "exit status $got, not 4"
}

runs_a_command() {
	run 0 fabric exec "$fabric" -- "$ibsa" path self 2; out_has '^1 '
	run 7 fabric exec "$fabric" -- sh -c 'echo 7 >&2; exit 7'
	run 143 fabric exec "$fabric" -- sh -c 'echo TERM >&2; kill -TERM $$'
	run 127 fabric exec "$fabric" -- ./nothing
	err_has "cannot run './nothing': No such file or directory$"
	run 127 fabric exec "$fabric" -- nothing-at-all
	err_has "'nothing-at-all': No such file or directory in PATH; install it"
	run 139 fabric exec "$fabric" -- sh -c 'kill -SEGV $$'
	err_has "'sh' was ended by a signal"
	run 0 fabric exec "$fabric" -- sh -c 'echo "$IBSA_FABRIC"'
	[ ! -e "$(sed s/unix:// out)" ] || fail 'the socket is still there'
	if compgen -G "$tmp/ibsa-*" >/dev/null; then
		fail 'a folder is left'
	fi
	run 2 fabric exec "$fabric"
	run 2 fabric exec "$fabric" ls -Z; err_has 'after --'
	run 2 fabric exec "$fabric" -Z -- ls; err_has 'see ibsa --help'
}

# The commands of each recorded run: queries, and changes of the fabric between
# them.
history='
	for round in 1 2; do
		"$0" path self 2 -t 4000
		"$0" query table NR
		"$0" fabric link down "$1/1"
		"$0" query table PIR
		"$0" fabric link up "$1/1"
		"$0" reach all
	done'

# recorded FILE SEED - record the packets of the commands in $history, on a
# fabric with faults and this seed
recorded() {
	"$ibsa" fabric exec "$fabric" --seed "$2" --record "$1" \
		--fault lose=4 --fault duplicate=5 --fault reorder=5 \
		--fault busy=5 --fault corrupt=2 \
		-- bash -c "$history" "$ibsa" "$other" >/dev/null 2>&1 || true
}

# Packets pass through rings, or through sockets: the recording is the same.
the_same_seed_makes_the_same_file() {
	what='ibsa fabric exec --seed --record'
	IBSA_RING=1 recorded one 11
	IBSA_RING=0 recorded two 11
	recorded three 12
	[ "$(stat -c %s one)" -gt 5000 ] || fail 'there is little in it'
	cmp one two || fail 'the same seed makes another file'
	! cmp -s one three || fail 'another seed makes the same file'
}

# ibsa fabric exec sends a signal that it receives on to the command, and exits
# with the command's status.
a_signal_reaches_the_command() {
	local got=0
	what='a signal to ibsa fabric exec'
	mkfifo up
	"$ibsa" fabric exec "$fabric" -- sh -c \
		'trap "exit 5" TERM; echo up >up; while :; do sleep 0.05; done' &
	server=$!
	read -r _ <up
	kill -TERM "$server"
	wait "$server" || got=$?
	[ "$got" -eq 5 ] || fail "exit status $got"
	rm up
}

# --record of ibsa fabric exec captures the queries of the command; a replay of
# the capture answers them.
writes_a_record() {
	run 0 fabric exec "$fabric" --record r.pcap -- "$ibsa" path self 2
	mv out want
	run 0 --fabric r.pcap path self 2
	cmp -s out want || fail 'another answer than was recorded'
	start --record s.pcap
	run 0 path self 2
	[ -s s.pcap ] || fail 'a packet is not written at once'
	stop TERM
	run 0 --fabric s.pcap path self 2
	cmp -s out want || fail 'another answer than was recorded'
	run 4 fabric exec "$fabric" --record /dev/full -- "$ibsa" path self 2
	err_has 'cannot write all packets'
	run 4 fabric run "$fabric" --record no/r.pcap; err_has no/r.pcap
	run 2 fabric run "$fabric" --record r.pcap --opa; err_has Omni-Path
}

# Several processes can query one server that replays a capture.
answers_are_replayed() {
	run 0 --fabric "$fabric" --record t.pcap query table NR -j
	mv out want
	start_as replay t.pcap
	[[ $line == "unix:$tmp/s serves "* ]] || fail "says '$line'"
	for _ in 1 2; do
		run 0 query table NR -j
		cmp -s out want || fail 'another answer than was recorded'
	done
	run 0 devices -j; json '.[0].device == "ibsa0" and .[0].lid == 1'
	run 0 -C recorded query table NR -j
	run 5 query get CPI; err_has 'does not hold the answer'
	run 0 fabric fault silence=100; run 3 query table NR -t 300
	stop TERM
	run 0 fabric exec t.pcap -- "$ibsa" query table NR -j
	cmp -s out want || fail 'another answer than was recorded'
	run 2 fabric replay "$fabric"; err_has 'not a pcap file'
	run 4 fabric replay missing.pcap; err_has missing.pcap
	run 2 fabric replay t.pcap --opa; err_has 'no option --opa'
	run 2 fabric run t.pcap --sa-at node1; err_has 'is a capture'
}

# A server without free connections refuses programs, but obeys commands.
full_server_obeys_commands() {
	local watch
	start --connections 1 -v
	what='--connections 1'
	"$ibsa" watch >watched 2>err &
	watch=$!
	within 20 watched subscribed
	run 4 path self 1; err_has 'limit of connections'
	run 0 fabric fault lose=1
	run 0 fabric fault none
	run 0 fabric stats
	within 20 server.err 'refused a client: the limit of connections'
	kill "$watch"
	ended "$watch" || true
	stop TERM
	run 2 fabric run "$fabric" --connections 0; err_has 'from 1 to'
	(ulimit -n 100 && exec "$ibsa" fabric run "$fabric" --connections 13 \
		--socket "$tmp/s") >out 2>err && fail 'too few descriptors'
	err_has '--connections 13 needs 103 open files, and the limit is 100'
}

is_as_the_options_say() {
	start --sa none
	run 4 fabric sm start; err_has 'no embedded SM'
	run 4 fabric sm move "$other"; err_has 'no embedded SM'
	run 0 devices -j; json '.[0] | .lid == 0 and .state == 2'
	stop TERM
	start --first-lid 100
	run 0 devices -j; json '.[0].lid == 100 and .[0].sm_lid == 100'
	stop TERM
	start --opa
	run 0 path self 2
	run 0 query get CPI
	stop TERM
	# Limited members of a partition reach the node of the SA, but not each
	# other.
	echo 'Default=0x7fff, ipoib : ALL=limited, SELF=full ;' >p.conf
	start --partitions p.conf
	run 0 -C "$other" path self 1
	run 1 -C "$other" path self "$third"
	stop TERM
	start --sm-profile silent
	run 3 --sm-key 5 query get CPI -t 300
	stop TERM
	run 2 fabric run "$fabric" --sm-profile that; err_has "SM profile 'that'"
	run 4 fabric run "$fabric" --partitions missing.conf
	err_has missing.conf
	run 2 fabric run "$fabric" --partitions "$fabric"; err_has "$fabric"
	run 2 fabric run "$fabric" --first-lid 0
	run 2 fabric run "$fabric" --first-lid 49152; err_has 'first LID cannot be'
	run 2 fabric run "$fabric" --fault lose=101; err_has 'is not a fault'
	run 2 fabric serve "$fabric" --umad nothing --fault lose=101
	err_has 'is not a fault'
	run 2 fabric serve "$fabric" --umad nothing --sa none; err_has 'no SA'
	run 2 fabric run "$fabric" --sa 5; err_has 'embedded or none'
	run 2 topology "$fabric" --opa; err_has 'no option --opa'
	run 2 fabric stats --first-lid 5; err_has 'no option --first-lid'
}

# A typed Ctrl-C reaches the command once, and ends nothing else.
ctrl_c_is_the_commands() {
	local got=0
	what='Ctrl-C at ibsa fabric exec'
	cat >typed.py <<-'END'
		import os, pty, sys
		pid, terminal = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		while True:
		    try:
		        said = os.read(terminal, 4096)
		    except OSError:
		        break
		    os.write(terminal, b"\x03" * said.count(b"press"))
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	cat >presses.py <<-'END'
		import signal, sys, time
		got = []
		signal.signal(signal.SIGINT, lambda *_: got.append(1))
		for times in 1, 2:
		    print("press", flush=True)
		    while len(got) < times:
		        time.sleep(0.01)
		    time.sleep(0.6)
		    if len(got) != times:
		        sys.exit(8)
		sys.exit(7)
	END
	timeout 60 python3 typed.py "$ibsa" fabric exec "$fabric" -- \
		python3 presses.py || got=$?
	[ "$got" -eq 7 ] || fail "exit status $got"
}

# within SECONDS FILE TEXT - wait until FILE matches TEXT, at most SECONDS
within() {
	local end=$((SECONDS + $1))
	until grep -q "$3" "$2"; do
		[ "$SECONDS" -lt "$end" ] || {
			fail "no '$3' in $2: $(cat "$2")"
			return
		}
		sleep 0.05
	done
}

# ibsa watch reports a port that is down and a server that has stopped
# differently.
a_watch_says_that_the_server_has_stopped() {
	local watch
	start
	what='ibsa watch'
	: >watched
	"$ibsa" watch >>watched 2>err &
	watch=$!
	within 20 watched subscribed
	: >watched # the port may have been down when the watch began
	"$ibsa" fabric link down "$first/1" || fail 'link down'
	within 20 watched 'lost .*the port is not active'
	"$ibsa" fabric link up "$first/1" || fail 'link up'
	within 20 watched 'gap '
	stop TERM
	within 20 watched 'lost .*the fabric server has stopped'
	what='ibsa watch'
	kill "$watch"
	wait "$watch"
	grep -q 'cannot end the subscription: the fabric server has stopped' err ||
		fail 'does not say that the server has stopped'
}

# ibsa service register --renew prints at once that the server is gone.
a_renewal_says_that_the_server_is_gone() {
	local renewal
	start
	what='ibsa service register --renew'
	"$ibsa" service register --renew 7 disk >renewed 2>err &
	renewal=$!
	within 20 renewed 'registered '
	stop TERM
	what='ibsa service register --renew'
	within 20 err 'fabric server is gone'
	start
	within 30 renewed 'registered again  0x'
	kill "$renewal"
	wait "$renewal" || fail 'not ended with success'
	[ "$(grep -c 'is gone' err)" -eq 1 ] || fail 'not one message'
	stop TERM
}

# sleeps PID - wait until a process has not run for two seconds
sleeps() {
	local end=$((SECONDS + 60)) before=-1 now=0
	while [ "$now" -ne "$before" ] && [ "$SECONDS" -lt "$end" ]; do
		before=$now
		sleep 2
		now=$(awk '/^voluntary_ctxt_switches/ { print $2 }' \
			"/proc/$1/status")
	done
	[ "$now" -eq "$before" ]
}

# A command that waits does not run while nothing happens, and ends when the
# reader of its output has closed it.
waiting_commands_sleep() {
	local args pid line got
	start
	for args in watch 'service register --renew 7 disk'; do
		what="ibsa $args"
		mkfifo lines
		# shellcheck disable=SC2086 # several words
		"$ibsa" $args >lines 2>err &
		pid=$!
		exec 5<lines
		read -t 60 -r line <&5 || fail "no line: $(cat err)"
		is_emulated || sleeps "$pid" || fail 'does not sleep'
		exec 5<&-
		got=0
		ended "$pid" || got=$?
		[ "$got" -ne 137 ] || fail 'does not end'
		rm lines
	done
	stop TERM
}

# The message of the second watch names the process that receives the Reports. A
# program chooses this name itself, so control characters in it are escaped.
a_second_watch_names_the_first() {
	local first
	start
	what='ibsa watch'
	ln -s "$ibsa" $'wa\e[1mtch'
	: >watched # an earlier watch has subscribed in it
	$'./wa\e[1mtch' watch >watched 2>err &
	first=$!
	within 20 watched subscribed
	run 4 watch
	err_has "cannot receive the SA's reports: another client, .*; pid $first "
	is_emulated || err_has "; pid $first \(wa.x1b.1mtch\) already receives MADs of this class and method at the port\$"
	kill "$first"
	wait "$first"
	stop TERM
}

run_groups ready_line_is_json_with_j serves_over_tcp ends_on_signals \
	says_that_nobody_was_told answers_are_the_same two_at_once \
	sits_where_it_is_told changes_are_made socket_names_the_server \
	one_server_a_socket too_few_descriptors_are_called_so \
	is_for_its_user_alone default_path_is_trusted_only_if_ours \
	silence_can_be_ended runs_a_command a_signal_reaches_the_command \
	ctrl_c_is_the_commands \
	writes_a_record the_same_seed_makes_the_same_file answers_are_replayed \
	is_as_the_options_say full_server_obeys_commands \
	a_watch_says_that_the_server_has_stopped \
	a_renewal_says_that_the_server_is_gone \
	waiting_commands_sleep \
	a_second_watch_names_the_first
