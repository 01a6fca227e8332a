#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: procfs.sh IBSA
#
# The tests of procfs, the library of Prometheus' node exporter, for InfiniBand.
# They read a recorded /sys with two hosts' adapters and compare each value. Here
# the recorded files are those of "ibsa fabric sysfs", of adapters with these names,
# rates and counters:
#
# - With the files of ports replaced, the tests must pass.
# - With whole adapters replaced, the test TestInfiniBandClass must fail, and only
#   because of the lines in "differences" below: firmware and board are those of
#   ibsa, and an adapter has counters of unicast and multicast packets, which the
#   drivers of the recorded hosts did not have.
#
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/../counterpart/server.sh"
here=$(realpath "$0")

if [ "${2-}" != inside ]; then
	PROCFS_CACHE=$("$(dirname "$here")/sources")
	[ -d "$PROCFS_CACHE/go" ] || {
		echo "skipped: no $PROCFS_CACHE/go; run scripts/setup --release" >&2
		exit 77
	}
	PROCFS_FOLDER=$(mktemp -d)
	export PROCFS_CACHE PROCFS_FOLDER
	trap 'rm -rf "$PROCFS_FOLDER"' EXIT
	unset IBSA_FABRIC IBSA_NODE SYSFS_PATH
	cat >"$PROCFS_FOLDER/two.net" <<-'END'
		devid=0x24f0
		Ca 1 "hfi1_0" # "node hfi1_0"
		[1] "switch"[1] # 4xEDR
		devid=0x1003
		Ca 2 "mlx4_0" # "node mlx4_0"
		[1] "switch"[2] # 4xQDR
		[2] "switch"[3] # 4xQDR
		Switch 8 "switch"
	END
	"$1" fabric exec "$PROCFS_FOLDER/two.net" -- "$here" \
		"$(realpath "$1")" inside
	exit
fi

ibsa=$1
cd "$PROCFS_FOLDER" || exit 1
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# Go finds packages in the directories src of GOPATH, not by the network.
export GOROOT GOPATH=$PWD/go:$PROCFS_CACHE/go/usr/share/gocode
export GO111MODULE=off GOCACHE=$PWD/cache GOFLAGS=-vet=off
GOROOT=$(echo "$PROCFS_CACHE"/go/usr/lib/go-*)
source=$PWD/go/src/github.com/prometheus/procfs
sys=$source/testdata/fixtures/sys/class/infiniband

# suite - run the tests
suite() {
	(cd "$source" && "$GOROOT/bin/go" test -count=1 -v ./sysfs \
		-run 'InfiniBand|SlowRate') >output 2>&1
}

# count PORT COUNTER VALUE... - let a port count
count() {
	local port=$1
	shift
	while [ $# -gt 0 ]; do
		"$ibsa" fabric errors "$port" "$1" "+$2" || wrong "$port $1"
		shift 2
	done
}

# How often the value of a field differs: of an adapter, and of a port. hfi1_0 had
# no type.
differences() {
	cat <<-'END'
		2 BoardID
		2 FirmwareVersion
		1 HCAType
		3 MulticastRcvPackets
		3 MulticastXmitPackets
		3 UnicastRcvPackets
		3 UnicastXmitPackets
	END
}

mkdir -p "$source"
cp -r "$PROCFS_CACHE/procfs/." "$source"
(cd "$source" && ./ttar -C testdata -x -f testdata/fixtures.ttar) >unpack.log 2>&1 ||
	wrong "$(tail -n 3 unpack.log)"
suite || wrong "procfs with its own files: $(cat output)"
count 'node hfi1_0/1' PortRcvData 345091702026 PortRcvPkts 638036947 \
	PortXmitData 273558326543 PortXmitPkts 568318856
count 'node mlx4_0/1' PortRcvData 2221223609 PortRcvPkts 87169372 \
	PortXmitData 26509113295 PortXmitPkts 85734114 PortXmitWait 3599
count 'node mlx4_0/2' PortRcvData 2460436784 PortRcvPkts 89332064 \
	PortXmitData 26540356890 PortXmitPkts 88622850 PortXmitWait 3846
"$ibsa" fabric sysfs node rendered >sysfs.log &
files=$!
within 30 grep -q 'has the device files' sysfs.log || wrong "$(cat sysfs.log)"
rendered=$PWD/rendered/class/infiniband

# The recorded files of ports.
replaced=0
while read -r file; do
	cp "$rendered/$file" "$sys/$file" || wrong "no $file"
	replaced=$((replaced + 1))
done < <(cd "$sys" && find . -path '*/ports/*' -type f)
[ "$replaced" -ge 60 ] || wrong "only $replaced files"
suite || wrong "with the files of ports: $(cat output)"

# All files.
rm -rf "$sys" && mkdir "$sys"
for adapter in hfi1_0 mlx4_0; do
	cp -r "$rendered/$adapter/." "$sys/$adapter"
done
suite && wrong 'whole adapters have no differences'
grep -q -- '--- PASS: TestParseSlowRate' output || wrong "$(cat output)"
LC_ALL=C sed -nE 's/^ *\+[^A-Z]*([A-Za-z]+): .*/\1/p' output | sort | uniq -c |
	sed 's/^ *//' >differences
differences | diff - differences || wrong 'whole adapters have other differences'

kill "$files" && wait "$files"
[ "$status" -eq 0 ] && echo "procfs: 2 of 2 pass with $replaced files of ports;" \
	"1 of 2 with all files, for $(wc -l <differences) reasons"
exit "$status"
