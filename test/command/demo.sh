#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: demo.sh IBSA LIBDIR FABRIC
#
# Tests "ibsa demo" in a copy of an installed tree. FABRIC is gpu-pod.net, whose
# directory has the other files of the demo. LIBDIR is the directory of
# libibsa.so.1.
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"
unset XDG_RUNTIME_DIR
export TMPDIR=$tmp LD_LIBRARY_PATH=$libdir

if is_emulated; then
	echo 'needs an executable that can be copied' >&2
	exit 77
fi
examples=$(dirname "$fabric")
folder=$tmp/moved/share/ibsa/fabrics
mkdir -p moved/bin "$folder"
cp "$ibsa" moved/bin/ibsa
ibsa=$tmp/moved/bin/ibsa

files_copy() { cp "$examples"/gpu-pod.* "$folder"; }

files_are_missing() {
	run 4 demo; out_empty; err_has 'the demo is not installed: .*gpu-pod.net'
	files_copy
	run 2 demo now; out_empty; err_has "no argument; remove 'now'"
	run 2 demo --fabric x; err_has 'demo has no option --fabric'
}

# The demo finds each fault, whatever fabric the environment names.
each_fault_is_found() {
	IBSA_FABRIC=unix:/nonexistent IBSA_NODE=nobody run 0 demo; err_empty
	out_has '^critical +rail-missing +gpu3 has no mlx5_3, but 7 of 8 '
	out_has '^warning +link-degraded +leaf6 port 2 to gpu2 mlx5_5 port 1 runs at 4xHDR'
	out_has '^warning +rail-crossed +gpu5 mlx5_1 port 1 .* to leaf3, '
	out_has '^warning +rail-crossed +gpu5 mlx5_2 port 1 .* to leaf2, '
	[ "$(grep -c '^[a-z]* *[a-z]*-[a-z]* .*\(gpu\|leaf\)' out)" -eq 4 ] ||
		fail 'not four findings'
	out_has '^compute    8 of 8 active'
	out_has ' 4x +HDR +2048 +narrowest$'
	out_has 'no P_Key in common: P_Keys of the source: 0x7fff, 0x8001; of the destination: 0x7fff, 0x8002'
	out_has "^The page is $PWD/ibsa-demo.html\$"
	grep -q rail-crossed ibsa-demo.html || fail 'no page'
	run 0 demo -o "it's a page.html"; out_has "^The page is $PWD/it's a page.html\$"
	grep -q rail-missing "it's a page.html" || fail 'no page of this name'
	run 0 demo --output "$tmp/all.html"; out_has "^The page is $tmp/all.html\$"
	run 4 demo -o "$tmp/nowhere/page.html"; err_has 'nowhere/page.html'
}

# The output is that of the commands: without a fault, it does not have the
# finding, and the demo fails.
nothing_is_canned() {
	sed -i '/^ibsa fabric link down/d' "$folder/gpu-pod.sh"
	run 0 demo; ! grep -q 'rail-missing' out || fail 'a fault that is not there'
	sed -i '/^ibsa fabric link speed/d' "$folder/gpu-pod.sh"
	run 0 demo; ! grep -Eq 'link-degraded|narrowest' out ||
		fail 'a fault that is not there'
	grep -v '^train\|^test\|^	' "$examples/gpu-pod.partitions.conf" \
		>"$folder/gpu-pod.partitions.conf"
	echo 'all=0x1 : ALL=full ;' >>"$folder/gpu-pod.partitions.conf"
	run 1 demo; err_has '^demo: exit status 0 instead of 1'
	files_copy
}

# On a terminal, the fabric lives until Enter, and other processes can use it.
fabric_can_be_used() {
	local lines end=$((SECONDS + 30))
	what='ibsa demo on a terminal'
	checks=$((checks + 1))
	mkfifo keys
	script -qec "'$ibsa' demo" /dev/null <keys >out 2>err &
	exec 7>keys
	until grep -q 'ends with Enter' out || [ $SECONDS -gt $end ]; do
		sleep 0.05
	done
	lines=$(tr -d '\r' <out | sed -n 's/^  \(export IBSA_FABRIC=unix:.*\)/\1/p')
	(eval "$lines"; try 1 check; cp out of-check; exit $((failed > 0))) ||
		failed=$((failed + 1))
	grep -q 'gpu3 has no mlx5_3' of-check || fail 'not the fabric of the demo'
	echo >&7
	ended $! || fail "exit status $?"
	exec 7>&-
}

run_groups files_are_missing each_fault_is_found nothing_is_canned \
	fabric_can_be_used
