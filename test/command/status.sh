#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: status.sh IBSA LIBDIR FABRIC LARGE
#
# Tests "ibsa status", and ibsa without a command. FABRIC is dgx.net, LARGE a
# fabric of 10,000 hosts, LIBDIR the directory of libibsa.so.1.
# shellcheck source=test/command/support.sh
large=$(realpath "$4")
. "$(dirname "$0")/support.sh"
unset IBSA_NODE XDG_RUNTIME_DIR
export TMPDIR=$tmp

on_dgx1() { IBSA_NODE=dgx1 IBSA_FABRIC=unix:$tmp/s "$@"; }

change() {
	"$ibsa" fabric --socket "$tmp/s" "$@" || fail "fabric $*"
}

# server_start - serve the fabric until server_stop
server_start() {
	rm -f server.out
	"$ibsa" fabric run "$fabric" --socket "$tmp/s" >server.out &
	server=$!
	timeout 20 bash -c 'until [ -s server.out ]; do sleep 0.02; done'
}

server_stop() {
	kill "$server"
	ended "$server"
}

a_healthy_fabric() {
	on 0 status; err_empty; lines 8
	out_has '^host       dgx1$'
	out_has '^compute    8 of 8 active: 8 at 400 Gb/s$'
	out_has '^storage    2 of 2 active: 1 at 200 Gb/s, 1 at 100 Gb/s$'
	out_has '^SM         dgx1 mlx5_0, LID 1, answers in [0-9.]+ ms; no standby SM$'
	out_has '^fabric     8 hosts, 64 adapters, 12 switches in 2 levels: 8 \+ 4$'
	out_has '^links      128 at 400 Gb/s$'
	out_has '^findings   none$'
	out_has "^next       ibsa check node --fabric '$fabric'\$"
	on 0 status -j
	json '.[0] | .hosts == 8 and .levels == 2 and .critical == 0 and
		.finding == null and .active == 10 and .compute == 8 and
		.storage_active == 2 and .standby == 0'
	on 0 status -C nas1
	out_has '^fabric     10 hosts, 10 adapters, 1 switch$'
	out_has '^links      .*10 at '
	on 0 status -C 'mlx5_[2-5]'; err_empty
	out_has '^compute    4 of 4 active: 4 at 400 Gb/s$'
	on 0 -C mlx5_2,mlx5_3; out_has '^compute    2 of 2 active'
	on 4 status -C 'mlx5_?' -P 2; err_has "device 'mlx5_\\?' has no port 2"
	on 2 --watch -C mlx5_2,mlx5_3; err_has 'ibsa status sends from one'
	run 0 --fabric "$fabric" topology --format net; cp out healthy.net
	on 0 status --expect healthy.net; err_empty; out_has '^findings   none$'
	on 2 -j status --expect none.net; out_empty; err_has -- '--expect: .*none.net'
	on 0 status -C dgx1/mlx5_8; out_has '^storage    1 of 1 active'
	printf 'gpu mlx5_*\n' >"$tmp/roles.conf"
	IBSA_ROLES=$tmp/roles.conf on 2; out_empty; err_has "'gpu' is not a role"
	: >"$tmp/empty.net"
	run 2 --fabric "$tmp/empty.net" status; err_has 'no channel adapter'
	on 2 status dgx1; err_has "no argument; remove 'dgx1'"
	on 2 status --watch --expect none.net; out_empty; err_has "none.net"
	on 2 status --watch -j; err_has 'status --watch has no option --json'
}

# Without a command, ibsa is ibsa status, but not without a fabric.
without_a_command() {
	on 0; err_empty; lines 8; out_has '^host       dgx1$'
	on 0 -j; json 'length == 1 and .[0].host == "dgx1"'
	IBSA_FABRIC=$fabric run 0; lines 8
	on 2 --nope; err_has "unknown option '--nope'"
	on 2 --peers x; err_has 'status has no option --peers'
	mkdir -p sys/class/infiniband
	SYSFS_PATH=$tmp/sys run 2; err_has 'usage: ibsa'
	SYSFS_PATH=$tmp/sys run 2 --watch; err_has 'usage: ibsa'
	SYSFS_PATH=$tmp/sys run 4 status; err_has 'no InfiniBand device'
	out_empty
	on 0 --help; out_has '^commands:'; [ "$(wc -l <out)" -le 30 ] ||
		fail 'more than a screen'
}

faults_and_their_findings() {
	server_start
	change link down 'dgx1 mlx5_3/1'
	change link speed 'dgx2 mlx5_5/1' 4xHDR
	on_dgx1 run 0 status; err_empty; lines 10
	out_has '^compute    7 of 8 active: 7 at 400 Gb/s; mlx5_3/1 Down \(Polling\)$'
	out_has '^links      126 at 400 Gb/s, 1 at 200 Gb/s$'
	out_has '^critical   1: rail-missing$'
	out_has '^warnings   1: link-degraded$'
	out_has '^such as    dgx1 has no mlx5_3, but 7 of 8 hosts like it have$'
	out_has '^next       ibsa check$'
	on_dgx1 run 0 status --expect healthy.net
	out_has '^critical   1: missing$'; out_has '^warnings   1: slower$'
	out_has "^next       ibsa check --expect 'healthy.net'\$"
	# The numbers are those of ibsa check.
	on_dgx1 try 1 check -j
	jq -c '[map(select(.severity == "critical")), map(select(.severity ==
		"warning")) | length]' out >want
	on_dgx1 run 0 status -j
	[ "$(jq -c '[.[0].critical, .[0].warnings]' out)" = "$(cat want)" ] ||
		fail 'other numbers than check'
	json '.[0] | .finding == "rail-missing" and .active == 9 and
		.inactive == "mlx5_3/1 Down (Polling)"'
	server_stop
}

# A rail whose port was never up is not an unused port.
a_rail_without_a_cable() {
	awk '/^Ca.*"dgx2-3"/ { cut = 1; print; next } cut && /^\[/ { next }
		/^\[.*"dgx2-3"/ { next } { cut = 0; print }' "$fabric" >cut.net
	IBSA_NODE=dgx2 run 0 --fabric cut.net status
	out_has '^compute    7 of 8 active: 7 at 400 Gb/s; mlx5_3/1 Down \(Polling\)$'
	out_has '^such as|^  .* dgx2 has no mlx5_3, '
	[ "$(wc -l <out)" -eq 9 ] || fail 'a line of another role'
}

# A failure shows all that was read before it, and has the cause on standard error.
causes() {
	server_start
	change link down 'dgx1 mlx5_3/1'
	on_dgx1 run 3 status -C mlx5_3; err_has 'this port is down'
	out_has 'mlx5_3/1 Down'; out_has '^next       ibsa doctor$'
	out_has '^SM         none$'
	on_dgx1 run 4 status -C mlx5_99; err_has 'mlx5_99'; out_empty
	on_dgx1 run 4 -j status -C mlx5_99; json '. == []'
	on_dgx1 run 3 status --sa 40000 -t 300; err_has 'did not answer'
	out_has 'no answer$'
	change sm stop
	on_dgx1 run 3 status; err_has 'no subnet manager'
	out_has '^SM         none$'; out_has '^compute    7 of 8 active'
	on_dgx1 run 3 -j
	json '.[0] | .sm_lid == null and .hosts == null and .next == "ibsa doctor"'
	server_stop
}

# watched COUNT - wait until the watch has written its lines COUNT times
watched() {
	local end=$((SECONDS + 20))
	until [ "$(grep -c '^next' watch.out)" -ge "$1" ]; do
		[ $SECONDS -lt $end ] || { cp watch.out out; fail "not $1 times"; break; }
		sleep 0.05
	done
}

watches() {
	local first
	server_start
	: >watch.out
	IBSA_NODE=dgx1 IBSA_FABRIC=unix:$tmp/s \
		env --default-signal=INT "$ibsa" status --watch \
		>watch.out 2>err &
	what='ibsa status --watch'
	checks=$((checks + 1))
	local watcher=$!
	watched 1
	grep -q '8 of 8' watch.out || fail 'not all ports'
	first=${EPOCHREALTIME/./}
	# Several changes are shown together, a second after the first lines.
	change link down 'dgx1 mlx5_3/1'
	change link down 'dgx1 mlx5_4/1'
	change link down 'dgx1 mlx5_5/1'
	watched 2
	[ $((${EPOCHREALTIME/./} - first)) -ge 500000 ] || fail 'too soon'
	sed '1,/^next/d' watch.out >out
	out_has '^compute    5 of 8 active'
	change sm move 'dgx2 mlx5_0'
	watched 3
	grep -Eq '^SM         dgx2 mlx5_0, LID 21 since 20[0-9TZ:-]{18}, ' watch.out ||
		{ cp watch.out out; fail 'no new SM'; }
	kill -INT "$watcher"
	ended "$watcher"
	[ $? -eq 0 ] || fail 'exit status is not 0'
	! grep -q $'\033' watch.out || fail 'a terminal is cleared, but this is none'
	server_stop
}

watches_on_a_terminal() {
	what='ibsa status --watch on a terminal'
	checks=$((checks + 1))
	timeout -s INT 3 script -qec "timeout --foreground -s INT 2 '$ibsa' \
		--fabric '$fabric' status --watch" /dev/null >out 2>err </dev/null
	grep -q $'^\033\[H\033\[Jtime ' out || fail 'not cleared'
}

# cpu_ms ARG... - run ibsa, and print the milliseconds that it computed
cpu_ms() {
	local TIMEFORMAT='%U %S'
	{ time "$ibsa" "$@" >of-cpu 2>&1; } 2>&1 |
		awk '{ print int(1000 * ($1 + $2)) }'
}

# The work is about that of ibsa check, in any build on any machine.
ten_thousand_hosts() {
	local check status
	run 0 --fabric "$large" status
	out_has '^fabric     10000 hosts, 10000 adapters, 1438 switches in 3 levels: '
	check=$(cpu_ms --fabric "$large" check)
	status=$(cpu_ms --fabric "$large" status)
	[ "$status" -le $((4 * check + 100)) ] ||
		fail "$status ms, but check only $check ms"
}

run_groups a_healthy_fabric without_a_command faults_and_their_findings \
	a_rail_without_a_cable causes watches watches_on_a_terminal ten_thousand_hosts
