#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: sa.sh IBSA VM-MULTI CASE...
#
# Runs in a virtual machine. "ibsa fabric serve" answers as the SA at rxe1, and
# ibsa queries it from rxe0 with --sa. All MADs, with RMPP, pass through the
# kernel. Each CASE is the name of a function in this file.
ibsa=$1
multi=$2
shift 2
gid=fe80::ff:fe00:b # of rxe1, from the address of eth1
own_gid=fe80::ff:fe00:a
fabric=/tmp/fabric.net
limit=120 # seconds that nothing may take longer than

fail() {
	echo "FAILED: $case: $*" >&2
	tail -n 5 /tmp/err /tmp/server >&2
	exit 1
}

# topology SWITCHES PORTS ADAPTERS - a row of switches with adapters. The first
# adapter has the GUID of rxe0, for requests that contain the requester's GID.
topology() {
	awk -v switches="$1" -v ports="$2" -v adapters="$3" 'BEGIN {
		for (s = 0; s < switches; s++) {
			printf "Switch %d \"switch%d\"\n", ports, s
			if (s)
				printf "[%d] \"switch%d\"[%d]\n", ports, s - 1,
				       ports - 1
			for (a = s; a < adapters; a += switches)
				printf "[%d] \"node%d\"[1] # 4xEDR\n",
				       a / switches + 1, a
		}
		print "Ca 1 \"node0\"\n[1](fffe00000a) \"switch0\"[1]"
		for (a = 1; a < adapters; a++)
			printf "Ca 1 \"node%d\"\n", a
	}'
}

# serve [ARGUMENT...] - start ibsa fabric serve as process $server, and wait
# until it is ready
serve() {
	: >/tmp/ready
	"$ibsa" fabric serve "$fabric" --umad rxe1 -v "$@" >/tmp/ready \
		2>/tmp/server &
	server=$!
	until grep -q '^ready *rxe1 *1 *'$gid /tmp/ready; do
		kill -0 $server || fail 'no server'
		usleep 20000
	done
}

# ended STATUS - wait until the server ends, and check its exit status
ended() {
	wait "$server"
	[ $? = "$1" ] || fail "the server has not ended with $1"
}

stop() {
	kill "$server"
	ended 0
}

# client STATUS ARGUMENT... - run ibsa as a client at rxe0, and check its exit
# status; its output is in /tmp/got and /tmp/err
client() {
	want=$1
	shift
	timeout $limit "$ibsa" -C rxe0 --sa $gid "$@" >/tmp/got 2>/tmp/err
	status=$?
	[ $status = "$want" ] || fail "$* ends with $status, not $want"
}

# says TEXT - check that the client has printed TEXT on standard error
says() {
	grep -q "$1" /tmp/err || fail "does not say: $1"
}

# same ARGUMENT... - check that the client at rxe0 prints the same as the
# command on the embedded fabric
same() {
	"$ibsa" --fabric "$fabric" "$@" >/tmp/wanted 2>/dev/null
	cmp /tmp/got /tmp/wanted || fail "$* is another"
}

# table RECORDS RECORD [ARGUMENT...] - check that the client prints a title line
# and RECORDS records, the same as on the embedded fabric
table() {
	records=$1
	shift
	client 0 -t 90000 query table "$@"
	[ "$(wc -l </tmp/got)" = $((records + 1)) ] || fail "not $records: $*"
	same query table "$@"
}

packets() {
	cat /sys/class/net/eth1/statistics/tx_packets
}

# begin_table MS - wait until process $client, whose query times out after MS, has
# received the beginning of a table of 4 MB
begin_table() {
	before=$(packets)
	timeout $limit "$ibsa" -C rxe0 --sa $gid -t "$1" query table PR \
		>/tmp/got 2>/tmp/err &
	client=$!
	until [ "$(packets)" -gt $((before + 500)) ]; do
		kill -0 $client || fail 'the table has come at once'
		usleep 10000
	done
}

# client_ended STATUS
client_ended() {
	wait "$client"
	status=$?
	[ $status = "$1" ] || fail "the client has ended with $status, not $1"
}

get() {
	serve
	client 0 query get ClassPortInfo
	same query get ClassPortInfo
	client 0 query get NR lid=5
	same query get NR lid=5
	client 1 query get NR lid=999
	client 5 query get NR
	says 'too many records'
	stop
}

# Tables of 112 bytes, 2 KB, 205 KB and 4 MB are answered.
tables() {
	serve
	table 1 NR lid=1
	table 18 NR node_type=switch
	table 2848 PIR
	table 65536 PR
	client 1 query table NR lid=999
	stop
	grep -q ' 0 not processed' /tmp/server || fail 'something was not processed'
}

# gid_of NODE - print the GID of a node of the fabric
gid_of() {
	"$ibsa" --fabric "$fabric" devices | awk -v node="$1" \
		'$1 == node { print $NF }'
}

# A MultiPathRecord query between two pairs of ports returns four paths of 64
# bytes each; RMPP is used in both directions.
get_multi() {
	serve
	client 0 query get ClassPortInfo
	"$multi" rxe0 $gid $own_gid "$(gid_of node1)" "$(gid_of node2)" \
		"$(gid_of node3)" >/tmp/got 2>/tmp/err || fail 'no paths'
	[ "$(cat /tmp/got)" = 256 ] || fail "$(cat /tmp/got) bytes"
	client 0 -v query multi MPR numb_path=4 reversible=1 sgid=$own_gid \
		sgid="$(gid_of node1)" dgid="$(gid_of node2)" \
		dgid="$(gid_of node3)"
	[ "$(grep -c '^dgid ' /tmp/got)" = 4 ] || fail 'not four paths'
	grep -q 'GetMulti: 1 try' /tmp/err || fail 'more than one try'
	stop
}

set_and_delete() {
	serve
	service="service_id=7 service_gid=$own_gid service_name=here"
	client 1 query get SR service_id=7
	# shellcheck disable=SC2086 # several
	client 0 query set SR $service
	client 0 -j query get SR service_id=7
	grep -q '"service_name": *"here"' /tmp/got || fail 'another service'
	# shellcheck disable=SC2086 # several
	client 0 query delete SR $service
	client 1 query get SR service_id=7
	client 1 query delete SR service_id=7
	stop
}

# A requester whose GUID is in the fabric queries as that node.
requester_of_the_fabric() {
	serve -C node0
	client 0 path self node5
	client 0 service register 8 mine
	client 0 query get SR service_id=8 service_gid=$own_gid
	client 0 reach node7
	stop
}

# ibsa watch reports a new group; when it ends, so does its subscription.
reports() {
	group=ff15:1234::77
	serve
	: >/tmp/watched
	"$ibsa" -C rxe0 --sa $gid watch group >/tmp/watched 2>/tmp/err &
	watch=$!
	until grep -q subscribed /tmp/watched; do
		kill -0 $watch || fail 'nobody watches'
		usleep 20000
	done
	timeout $limit "$ibsa" -C rxe0 --sa $gid watch 2>/tmp/err
	[ $? = 4 ] || fail 'two programs have the reports of a port'
	says "; pid $watch (ibsa) has /dev/infiniband/umad0 open"
	client 0 query set MCMR mgid=$group port_gid=$own_gid join_state=1 \
		qkey=1 pkey=0xffff sl=0 flow_label=0 tclass=0
	until grep -q "group-created.*$group" /tmp/watched; do
		kill -0 $watch || fail 'nobody watches'
		usleep 20000
	done
	kill $watch
	wait $watch || fail 'the subscription was not ended'
	client 1 query table IIR
	stop
}

refusals() {
	serve
	timeout $limit "$ibsa" fabric serve "$fabric" --umad rxe1/1 2>/tmp/err
	[ $? = 4 ] || fail 'two SAs at a port'
	says 'another program receives requests'
	timeout $limit "$ibsa" fabric serve "$fabric" --umad rxe1/2 2>/tmp/err
	[ $? = 4 ] || fail 'an SA at no port'
	says 'has no port 2'
	echo 'nobody:x:99:99::/:/bin/sh' >/etc/passwd
	su nobody -c "$ibsa fabric serve $fabric --umad rxe0" 2>/tmp/err
	[ $? = 4 ] || fail 'an SA of anybody'
	says 'not permitted to open'
	client 0 query get ClassPortInfo
	stop
	# A shell script's background processes ignore SIGINT.
	for signal in HUP TERM; do
		serve
		kill -$signal $server
		ended 0
	done
}

# Drop packets that arrive at rxe0: requests arrive, replies are lost.
lose() {
	tc qdisc add dev eth0 clsact || fail 'no place for a filter'
	tc filter add dev eth0 ingress matchall action gact ok \
		random determ drop 40 || fail 'no loss'
}

lost() {
	tc -s filter show dev eth0 ingress |
		sed -n 's/.*dropped \([0-9]*\),.*/\1/p' | head -n 1
}

# right_or_late RECORD MS - a table arrives unchanged, or the query times out
right_or_late() {
	timeout $limit "$ibsa" -C rxe0 --sa $gid -t "$2" query table "$1" \
		>/tmp/got 2>/tmp/err
	status=$?
	case $status in
	0) same query table "$1" ;;
	3) says 'did not answer' ;;
	*) fail "$1 with loss ends with $status" ;;
	esac
}

# Small requests are repeated. Of large replies, the kernel repeats the lost
# segments after 2 seconds; if that is too late, the command reports a timeout.
loss() {
	serve
	client 0 query get ClassPortInfo
	lose
	for i in $(seq 60); do
		client 0 query get NR lid="$i"
	done
	for i in 1 2 3 4 5; do
		table 18 NR node_type=switch
	done
	[ "$(lost)" -ge 2 ] || fail "only $(lost) lost"
	right_or_late PIR 60000
	right_or_late PR 8000
	tc qdisc del dev eth0 clsact
	client 0 query get ClassPortInfo
	stop
}

silence() {
	serve
	client 0 query get ClassPortInfo
	kill -STOP $server
	start=$(cut -d. -f1 /proc/uptime)
	client 3 -t 3000 query get NR lid=1
	says 'did not answer'
	passed=$(($(cut -d. -f1 /proc/uptime) - start))
	if [ $passed -lt 2 ] || [ $passed -gt 10 ]; then
		fail "silence is told after $passed s"
	fi
	kill -CONT $server
	client 0 query get NR lid=1
	stop
}

server_loses_its_device() {
	serve
	begin_table 8000
	rdma link delete rxe1
	ended 4
	grep -q 'rxe1 was removed' /tmp/server || fail 'nothing said of rxe1'
	client_ended 3
	says 'did not answer'
	rdma link add rxe1 type rxe netdev eth1
	serve
	client 0 query get ClassPortInfo
	stop
}

client_loses_its_device() {
	serve
	begin_table 90000
	rdma link delete rxe0
	client_ended 3
	says 'the query failed: No such device'
	rdma link add rxe0 type rxe netdev eth0
	until grep -q ACTIVE /sys/class/infiniband/rxe0/ports/1/state; do
		usleep 20000
	done
	client 0 query get ClassPortInfo
	stop
}

topology 18 144 238 >$fabric
for case; do
	start=$(cut -d. -f1 /proc/uptime)
	$case
	echo "ok $case ($(($(cut -d. -f1 /proc/uptime) - start)) s)"
done
