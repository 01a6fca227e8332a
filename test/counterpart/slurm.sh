#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: slurm.sh IBSA FABRICS
#        slurm.sh --check | --fetch
#
# Slurm's controller reads the topology.conf of ibsa topology --slurm, and scontrol
# shows each leaf with its hosts. The controller is never installed, because its
# package makes a user and a service: the packages are downloaded by apt into
# $IBSA_SLURM_CACHE, else ibsa-slurm in $XDG_CACHE_HOME, and unpacked there. Exit
# status 77: the packages cannot be had. --fetch only gets them, if they are not
# there; --check only says by its exit status whether they are. The controller
# listens on 127.0.0.1 only.
set -uo pipefail
export LC_ALL=C
here=$(realpath "$0")
cache=${IBSA_SLURM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-slurm}
root=$cache/root
status=0
controller=''

skip() {
	echo "skipped: $*" >&2
	exit 77
}

wrong() {
	echo "WRONG: $*"
	status=1
}

packages=(slurmctld slurm-client slurm-wlm-basic-plugins)

fetch() {
	local libraries package
	command -v apt-get >/dev/null || skip 'apt-get is not installed'
	mkdir -p "$cache" || skip "$cache cannot be written"
	work=$(mktemp -d "$cache/apt.XXXXXX") || skip "no room in $cache"
	trap 'rm -rf "$work"' EXIT
	libraries=$(apt-cache depends "${packages[@]}" 2>/dev/null |
		sed -nE 's/^ *Depends: (lib[^ ]*)$/\1/p' | grep -v '^libc6$' |
		sort -u)
	[ -n "$libraries" ] || skip 'apt has no Slurm'
	# shellcheck disable=SC2086 # one word a package
	(cd "$work" && apt-get -q download "${packages[@]}" $libraries) \
		>"$work/log" 2>&1 || skip "apt: $(tail -n 1 "$work/log")"
	for package in "$work"/*.deb; do
		dpkg -x "$package" "$work/root" || skip "cannot unpack $package"
	done
	mv "$work/root" "$root" || [ -d "$root" ] || skip "cannot write $root"
}

case "${1-}" in
--check)
	[ -d "$root" ]
	exit
	;;
--fetch)
	[ -d "$root" ] || fetch
	exit
	;;
esac

ibsa=$(realpath "$1")
fabrics=$(realpath "$2")
[ -d "$root" ] || "$here" --fetch || exit
command -v jq >/dev/null || skip 'jq is not installed'
plugins=$(dirname "$(find "$root" -name topology_tree.so | head -n 1)")
libraries=$(dirname "$plugins")
folder=$(mktemp -d)
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$controller" ] || kill -KILL "$controller" 2>/dev/null
	rm -rf "$folder"
}
trap clean_up EXIT
cd "$folder" || exit 1
unset IBSA_FABRIC IBSA_NODE SYSFS_PATH SLURM_CONF

slurm() {
	SLURM_CONF=$folder/slurm.conf LD_LIBRARY_PATH=$plugins:$libraries "$@"
}

# configure HOST... - slurm.conf with these hosts
configure() {
	local host port=$((20000 + RANDOM % 10000))
	rm -rf state
	mkdir state
	cat >slurm.conf <<-END
		ClusterName=test
		SlurmctldHost=localhost(127.0.0.1)
		CommunicationParameters=NoCtldInAddrAny
		SlurmctldPort=$port
		SlurmUser=$(id -un)
		AuthType=auth/none
		CredType=cred/none
		PluginDir=$plugins
		StateSaveLocation=$folder/state
		SlurmctldPidFile=$folder/state/pid
		ProctrackType=proctrack/linuxproc
		SwitchType=switch/none
		TaskPlugin=task/none
		SelectType=select/linear
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SchedulerType=sched/builtin
		PriorityType=priority/basic
		TopologyPlugin=topology/tree
		PartitionName=all Nodes=ALL Default=YES
	END
	for host; do
		echo "NodeName=$host NodeAddr=127.0.0.1 Port=$((++port)) State=DOWN"
	done >>slurm.conf
}

# expand LIST - the names in a list of hosts, each on a line
expand() {
	slurm "$root/usr/bin/scontrol" show hostnames "$1"
}

# control - start the controller; write what scontrol shows into shown: for each
# switch "NAME nodes HOST..." or "NAME switches NAME...", in order
control() {
	local end=$((SECONDS + 30)) line name list
	slurm "$root/usr/sbin/slurmctld-wlm" -D -f "$folder/slurm.conf" \
		>log 2>&1 </dev/null &
	controller=$!
	until slurm "$root/usr/bin/scontrol" ping 2>/dev/null |
		grep -q 'is UP'; do
		if ! kill -0 "$controller" 2>/dev/null ||
			[ "$SECONDS" -ge "$end" ]; then
			wrong "slurmctld: $(tail -n 3 log)"
			break
		fi
		sleep 0.1
	done
	slurm "$root/usr/bin/scontrol" show topology >topology.shown 2>errors ||
		wrong "scontrol: $(cat errors)"
	while read -r line; do
		name=${line#SwitchName=}
		name=${name%% *}
		case "$line" in
		*' Switches='*) list="switches $(expand "${line##* Switches=}" |
			sort -V | paste -sd ' ')" ;;
		*' Nodes='*) list="nodes $(expand "${line##* Nodes=}" |
			sort -V | paste -sd ' ')" ;;
		*) list=nothing ;;
		esac
		echo "$name $list"
	done <topology.shown | sort -V >shown
	slurm "$root/usr/bin/scontrol" shutdown >/dev/null 2>&1
	wait "$controller"
	controller=''
	! grep -iE '(error|warning).*(switch|topolog|hostname)' log ||
		wrong "slurmctld complains"
}

# scontrol needs a file to read even to expand names.
configure none

# reads WHAT HOSTS ARG... - the controller reads the file for these hosts, and
# scontrol shows the lines of standard input
reads() {
	local what=$1 hosts=$2
	shift 2
	sort -V >expected
	"$ibsa" topology --slurm "$@" >topology.conf 2>errors || {
		wrong "$what: ibsa: $(cat errors)"
		return
	}
	# shellcheck disable=SC2046 # one word a host
	configure $(expand "$hosts")
	control
	diff expected shown ||
		wrong "$what: scontrol shows something else"
	echo "$what: $(wc -l <shown) switches"
}

# Each leaf and its hosts, from the list of links of the same fabric.
leaves() {
	"$ibsa" topology -j "$@" | jq -r '[.[] |
		select(.node_type == 2 and .peer_node_type == 1) |
		{leaf: .node, host: (.peer | split(" ")[0])}] |
		group_by(.leaf)[] | "\(.[0].leaf) nodes " +
			([.[].host] | unique | join(" "))' |
		while read -r leaf kind hosts; do
			# shellcheck disable=SC2086 # one word a host
			echo "$leaf $kind $(printf '%s\n' $hosts | sort -V |
				paste -sd ' ')"
		done
}

reads 'two spines' 'node[1-16]' --fabric "$fabrics/fat-tree-16.net" < <(
	leaves --fabric "$fabrics/fat-tree-16.net"
	echo 'spine1 switches leaf1 leaf2 leaf3 leaf4'
)

# Three levels: two pods, each with two spines, below one core.
{
	for pod in 1 2; do
		for leaf in 1 2; do
			echo "Switch 8 \"p$pod-leaf$leaf\""
			echo "[1] \"p${pod}n$leaf\"[1]"
			echo "[3] \"p$pod-spine1\"[$leaf]"
			echo "[4] \"p$pod-spine2\"[$leaf]"
		done
		for spine in 1 2; do
			echo "Switch 8 \"p$pod-spine$spine\""
			echo "[8] \"core\"[$((2 * pod + spine))]"
		done
	done
	echo 'Switch 8 "core"'
	for pod in 1 2; do
		printf 'Ca 1 "p%sn%s"\n' "$pod" 1 "$pod" 2
	done
} >pods.net
reads 'three levels' 'p1n[1-2],p2n[1-2]' --fabric pods.net <<-'END'
	core switches p1-spine1 p2-spine1
	p1-leaf1 nodes p1n1
	p1-leaf2 nodes p1n2
	p1-spine1 switches p1-leaf1 p1-leaf2
	p2-leaf1 nodes p2n1
	p2-leaf2 nodes p2n2
	p2-spine1 switches p2-leaf1 p2-leaf2
END

# Two islands are two roots: no switch is above both.
cat >islands.net <<-'END'
	Switch 4 "a1"
	[1] "n1"[1]
	[2] "n2"[1]
	[3] "a2"[3]
	Switch 4 "a2"
	[1] "n3"[1]
	Switch 2 "b1"
	[1] "m1"[1]
	[2] "m2"[1]
	Ca 1 "n1"
	Ca 1 "n2"
	Ca 1 "n3"
	Ca 1 "m1"
	Ca 1 "m2"
END
reads 'two islands' 'n[1-3],m[1-2]' islands.net <<-'END'
	a1 nodes n1 n2
	a2 nodes n3
	b1 nodes m1 m2
	root-3 switches a1 a2
END
# Every switch of the file that no other has below it.
cut -d ' ' -f 1 shown >names
while read -r switch; do
	grep -q " switches .*\b$switch\b" shown || echo "$switch"
done <names >roots
[ "$(sort roots | paste -sd ' ')" = 'b1 root-3' ] ||
	wrong "the roots are $(paste -sd ' ' roots)"

# The compute rail is mlx5_0, the storage rail mlx5_1, where a server is, too.
cat >rails.net <<-'END'
	Switch 4 "compute"
	[1] "n1 mlx5_0"[1]
	[2] "n2 mlx5_0"[1]
	[4] "storage"[4]
	Switch 4 "storage"
	[1] "n1 mlx5_1"[1]
	[2] "n2 mlx5_1"[1]
	[3] "oss1 mlx5_1"[1]
	Ca 1 "n1 mlx5_0"
	Ca 1 "n2 mlx5_0"
	Ca 1 "n1 mlx5_1"
	Ca 1 "n2 mlx5_1"
	Ca 1 "oss1 mlx5_1"
END
reads 'compute rail' 'n[1-2]' --fabric rails.net --device 'mlx5_[0]' <<-'END'
	compute nodes n1 n2
END
reads 'storage rail' 'n[1-2],oss1' --fabric rails.net --device 'mlx5_[1]' \
	<<-'END'
		storage nodes n1 n2 oss1
	END

# Names of switches are made valid, and stay different.
printf 'Switch 4 "A" # "sw[1-3],x=\033y"\n[1] "n1"[1]\n[3] "B"[3]\n' >odd.net
printf 'Switch 4 "B" # "sw[1-3],x=\033y"\n[1] "n2"[1]\n' >>odd.net
printf 'Ca 1 "n1"\nCa 1 "n2"\n' >>odd.net
reads 'odd names' 'n[1-2]' --fabric odd.net <<-'END'
	sw_1-3__x__y nodes n1
	sw_1-3__x__y-0000000000200005 nodes n2
	root-2 switches sw_1-3__x__y sw_1-3__x__y-0000000000200005
END
exit "$status"
