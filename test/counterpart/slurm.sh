#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: slurm.sh IBSA FABRICS
#        slurm.sh --check | --fetch
#
# Tests that Slurm's controller accepts what "ibsa topology --format slurm" writes for
# the topologies FABRICS, and that scontrol shows each leaf switch with its
# hosts. The controller of this Debian release reads topology.conf; that of the
# newer release $IBSA_SLURM_RELEASE (default forky) reads topology.yaml as
# well.
#
# The controllers are not installed, because their package creates a user and a
# service. apt downloads the packages, and they are unpacked in
# $IBSA_SLURM_CACHE; default: ibsa-slurm in $XDG_CACHE_HOME. A controller
# starts itself again, so it runs with the directory of its release as root of
# the file system. It listens on 127.0.0.1 only.
#
# --fetch downloads the packages if they are not in the cache, and ends.
# --check exits with 0 if they are in the cache, otherwise with 1. Exit status
# of the test: 0 passed, 1 failed, 77 the packages cannot be downloaded.
set -uo pipefail
# shellcheck source=test/support/signals.sh
. "$(dirname "$(realpath "$0")")/../support/signals.sh"
export LC_ALL=C
here=$(realpath "$0")
cache=${IBSA_SLURM_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ibsa-slurm}
own=$(. /etc/os-release && echo "$VERSION_CODENAME")
newer=${IBSA_SLURM_RELEASE:-forky}
packages=(slurmctld slurm-client slurm-wlm-basic-plugins)
status=0
controller=''
# shellcheck source=test/counterpart/release.sh
. "$(dirname "$here")/release.sh"

wrong() {
	echo "WRONG: $release, $format: $*"
	status=1
}

case "${1-}" in
--check)
	[ -d "$cache/$own" ] && [ -d "$cache/$newer" ]
	exit
	;;
--fetch)
	for release in "$own" "$newer"; do
		[ -d "$cache/$release" ] ||
			release_unpack "$release" "$cache/$release" \
				"${packages[@]}"
	done
	exit
	;;
esac

if [ "${3-}" != inside ]; then
	for tool in jq unshare chroot; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
	"$here" --fetch || exit
	space=(unshare -m)
	[ "$(id -u)" -eq 0 ] || space=(unshare -m --map-current-user --keep-caps)
	"${space[@]}" true 2>/dev/null || skip 'no mount namespace can be made'
	unset IBSA_FABRIC IBSA_NODE SYSFS_PATH SLURM_CONF
	SLURM_FOLDER=$(mktemp -d)
	trap 'rm -rf "$SLURM_FOLDER"' EXIT
	export SLURM_FOLDER
	"${space[@]}" "$here" "$1" "$2" inside
	exit
fi

ibsa=$(realpath "$1")
fabrics=$(realpath "$2")
# shellcheck disable=SC2317 # the trap calls it
clean_up() {
	[ -z "$controller" ] || kill -KILL "$controller" 2>/dev/null
}
trap clean_up EXIT
cd "$SLURM_FOLDER" || exit 1

# prepare RELEASE - prepare the directory of a release, so that programs can
# run with it as their root
prepare() {
	local root=$cache/$1 name
	for name in bin lib lib64 sbin; do
		[ -e "$root/$name" ] || ln -s "usr/$name" "$root/$name"
	done
	mkdir -p "$root"/{dev,etc,proc,tmp,ibsa}
	cp /etc/passwd /etc/group /etc/hosts "$root/etc/"
	mount --rbind /dev "$root/dev" && mount --rbind /proc "$root/proc" &&
		mount --bind "$SLURM_FOLDER" "$root/ibsa"
}

# slurm PROGRAM ARG... - run a Slurm program of the release
slurm() {
	SLURM_CONF=/ibsa/slurm.conf chroot "$cache/$release" "$@"
}

# configure HOST... - write a slurm.conf with these hosts
configure() {
	local host port=$((20000 + RANDOM % 10000)) select=linear
	[ "$release" = "$own" ] || select=cons_tres
	rm -rf state
	mkdir state
	cat >slurm.conf <<-END
		ClusterName=test
		SlurmctldHost=localhost(127.0.0.1)
		CommunicationParameters=NoCtldInAddrAny
		SlurmctldPort=$port
		SlurmUser=$(id -u)
		AuthType=auth/none
		CredType=cred/none
		StateSaveLocation=/ibsa/state
		SlurmctldPidFile=/ibsa/state/pid
		ProctrackType=proctrack/linuxproc
		SwitchType=switch/none
		TaskPlugin=task/none
		SelectType=select/$select
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

# expand LIST - print the names in a list of hosts, one in each line
expand() {
	slurm scontrol show hostnames "$1"
}

# control - start the controller; write what scontrol shows into shown: for each
# switch "NAME nodes HOST..." or "NAME switches NAME...", in order
control() {
	local end=$((SECONDS + 30)) line name list
	slurm /usr/sbin/slurmctld-wlm -D -f /ibsa/slurm.conf \
		>log 2>&1 </dev/null &
	controller=$!
	until slurm scontrol ping 2>/dev/null |
		grep -q 'is UP'; do
		if ! kill -0 "$controller" 2>/dev/null ||
			[ "$SECONDS" -ge "$end" ]; then
			wrong "slurmctld: $(tail -n 3 log)"
			break
		fi
		sleep 0.1
	done
	slurm scontrol show topology >topology.shown 2>errors ||
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
	slurm scontrol shutdown >/dev/null 2>&1
	wait "$controller"
	controller=''
	# The controller warns that no switch can reach all nodes: in some of
	# these topologies, two root switches are intended.
	! grep -iE '(error|warning).*(switch|topolog|hostname)' log |
		grep -v 'no switch can reach all nodes' ||
		wrong "slurmctld complains"
}

# check WHAT HOSTS ARG... - let the controller read what ibsa topology writes
# with ARG..., with these hosts, and check that scontrol shows the lines of the
# file "expected"
check() {
	local what=$1 hosts=$2
	shift 2
	rm -f topology.conf topology.yaml
	if [ "$format" = conf ]; then
		"$ibsa" topology --format slurm "$@" >topology.conf 2>errors
	else
		"$ibsa" topology --format slurm-yaml "$@" >topology.yaml 2>errors
	fi || {
		wrong "$what: ibsa: $(cat errors)"
		return
	}
	# shellcheck disable=SC2086 # one word a host
	configure $hosts
	control
	diff expected shown || wrong "$what: scontrol shows something else"
	echo "$release, $format, $what: $(wc -l <shown) switches"
}

# reads WHAT "HOST..." ARG... - do what check does for each controller and
# format; the lines on standard input are expected
reads() {
	sort -V >expected
	release=$own format=conf
	check "$@"
	release=$newer
	check "$@"
	format=yaml
	check "$@"
}

release=$own format=conf
for release in "$own" "$newer"; do
	prepare "$release" || skip "cannot mount into $cache/$release"
done

# leaves - print each leaf switch and its hosts, from ibsa's list of links of
# the same fabric
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

reads 'two spines' "$(echo node{1..16})" --fabric "$fabrics/fat-tree-16.net" < <(
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
reads 'three levels' 'p1n1 p1n2 p2n1 p2n2' --fabric pods.net <<-'END'
	core switches p1-spine1 p2-spine1
	p1-leaf1 nodes p1n1
	p1-leaf2 nodes p1n2
	p1-spine1 switches p1-leaf1 p1-leaf2
	p2-leaf1 nodes p2n1
	p2-leaf2 nodes p2n2
	p2-spine1 switches p2-leaf1 p2-leaf2
END

# Two islands have two root switches: no switch is above both.
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
reads 'two islands' 'n1 n2 n3 m1 m2' islands.net <<-'END'
	a1 nodes n1 n2
	a2 nodes n3
	b1 nodes m1 m2
	root-3 switches a1 a2
END
# The root switches: every switch of the file that is below no other switch.
cut -d ' ' -f 1 shown >names
while read -r switch; do
	grep -q " switches .*\b$switch\b" shown || echo "$switch"
done <names >roots
[ "$(sort roots | paste -sd ' ')" = 'b1 root-3' ] ||
	wrong "the roots are $(paste -sd ' ' roots)"

# The adapters mlx5_0 are on the compute rail, mlx5_1 on the storage rail, which
# also has the file server oss1.
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
reads 'compute rail' 'n1 n2' --fabric rails.net --device 'mlx5_[0]' <<-'END'
	compute nodes n1 n2
END
reads 'storage rail' 'n1 n2 oss1' --fabric rails.net --device 'mlx5_[1]' \
	<<-'END'
		storage nodes n1 n2 oss1
	END

# Names of switches are made valid, and stay different.
printf 'Switch 4 "A" # "sw[1-3],x=\033y"\n[1] "n1"[1]\n[3] "B"[3]\n' >odd.net
printf 'Switch 4 "B" # "sw[1-3],x=\033y"\n[1] "n2"[1]\n' >>odd.net
printf 'Ca 1 "n1"\nCa 1 "n2"\n' >>odd.net
reads 'odd names' 'n1 n2' --fabric odd.net <<-'END'
	sw_1-3__x__y nodes n1
	sw_1-3__x__y-0000000000200001 nodes n2
	root-2 switches sw_1-3__x__y sw_1-3__x__y-0000000000200001
END
exit "$status"
