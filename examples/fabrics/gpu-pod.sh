#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: gpu-pod.sh PAGE
#
# The questions of ibsa demo, which runs this script on the fabric of gpu-pod.net.
# Breaks the fabric, prints each question, and a command that answers it with its
# output. Fails if a command ends with another exit status than the expected one.
set -u
page=$1
export IBSA_NODE=gpu1
failed=0

question() { printf '\n# %s\n' "$*" || exit; }

# expect STATUS COMMAND - print a command, run it, and check its exit status
expect() {
	want=$1 got=0
	printf '$ %s\n' "$2" || exit
	sh -c "$2" </dev/null 2>&1 || got=$?
	[ "$got" -eq "$want" ] && return
	printf 'demo: exit status %s instead of %s\n' "$got" "$want" >&2
	failed=1
}

cat <<'END'
A simulated pod of eight hosts, gpu1 to gpu8, with eight GPU rails each. Four faults:
a dead rail, a slow cable, two crossed cables, and a host in the wrong partition.
These commands are typed on gpu1.
END
ibsa fabric link down 'gpu3 mlx5_3/1' || exit
ibsa fabric link speed 'gpu2 mlx5_5/1' 4xHDR || exit

question 'What is the state of this host and of the fabric?'
expect 0 'ibsa status'

question 'What is wrong?'
expect 1 'ibsa check --fields severity,finding,what'

question 'The slow cable: where does the path become narrow?'
expect 0 'ibsa trace gpu1/mlx5_5 gpu2/mlx5_5'

question 'The dead rail: which paths are left between two hosts?'
expect 0 'ibsa path gpu1 gpu3 --fields src_device,dst_device,rate,reason'

question 'The crossed cables: which way do packets of rail 1 take?'
expect 0 'ibsa trace gpu1/mlx5_1 gpu5/mlx5_1'

question 'The wrong partition: gpu6 is up, so why does a job on gpu2 not reach it?'
expect 0 'ibsa reach gpu6/mlx5_0'
expect 1 'ibsa path gpu2/mlx5_0 gpu6/mlx5_0 --sm-key 1 --fields src_device,dst_device,rate,reason'

question 'All of it as a page for the browser'
printf '$ ibsa page -o %s --sm-key 1\n' "$page"
ibsa page -o "$page" --sm-key 1 || exit
[ "$failed" -eq 0 ] || exit 1
case $page in
/*) printf 'The page is %s\n' "$page" ;;
*) printf 'The page is %s/%s\n' "$PWD" "$page" ;;
esac

if [ -t 0 ] && [ -t 1 ]; then
	printf '\nTo try more on this fabric, type in another terminal:\n'
	printf '  export IBSA_FABRIC=%s IBSA_NODE=gpu1\n' "$IBSA_FABRIC"
	printf 'The fabric ends with Enter here. '
	read -r _
fi
