#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: verbs.sh IBSA DROP-IN PRELOAD DGX.NET
#
# Runs Debian's programs that use libibverbs, unmodified, at the host dgx1 on a
# fabric server with OpenSM: ibv_devices, ibv_devinfo, ibv_asyncwatch, ibacm,
# ibsrpdm, and pyverbs with the tests of devices of rdma-core. Their output is
# compared with what smpquery and the rendered /sys tell. IBSA is the command ibsa
# as it was built, DROP-IN the library that replaces libibumad, PRELOAD the one in
# front of libibverbs. Exit status: 0 passed, 1 failed, 77 a program is missing.
set -uo pipefail
# shellcheck source=test/counterpart/server.sh
. "$(dirname "$(realpath "$0")")/server.sh"
pyverbs_tests=/usr/share/doc/rdma-core/tests

if [ -z "${VERBS_FOLDER-}" ]; then
	served_need ibv_devices ibv_devinfo ibv_asyncwatch ibacm ibsrpdm \
		smpquery opensm
	[ -e "$pyverbs_tests/run_tests.py" ] || {
		echo "skipped: $pyverbs_tests is not installed" >&2
		exit 77
	}
	folder=$(mktemp -d)
	trap 'rm -rf "$folder"' EXIT
	unset IBSA_FABRIC LD_LIBRARY_PATH LD_PRELOAD
	IBSA_NODE=dgx1 VERBS_FOLDER=$folder "$1" fabric exec --verbs --sysfs \
		--sa none "$4" -- "$0" "$@"
	exit
fi

ibsa=$(realpath "$1")
drop_in=$(dirname "$(realpath "$2")")
preload=$(realpath "$3")
libibverbs=$(ldconfig -p | awk '/libibverbs.so.1 .*x86-64/ { print $NF; exit }')
cd "$VERBS_FOLDER" || exit 1
sys=${SYSFS_PATH-/sys}
status=0

wrong() {
	echo "WRONG: $*"
	status=1
}

# same WHAT WANTED GOT - compare a result with the wanted one
same() {
	[ "$2" = "$3" ] || wrong "$1 is '$3', not '$2'"
}

# The library in front of libibverbs has only what libibverbs has, at the same
# versions.
names() {
	nm -D --defined-only "$1" | awk '{ print $3 }' | grep ibv_ |
		sed 's/@@/@/' | sort
}
names "$preload" >ours
names "$libibverbs" >theirs
[ -s ours ] || wrong "no names in $preload"
same 'names that libibverbs lacks' '' "$(comm -23 ours theirs)"

# Devices, by libibverbs and in /sys.
same 'ibv_devices' "$(for i in {0..9}; do
	echo "mlx5_$i b83fd20300010${i}00"
done)" "$(ibv_devices | awk '/mlx5/ { print $1, $2 }')"
paths() {
	/usr/bin/python3 - <<-'END'
		import ctypes
		class Device(ctypes.Structure):
		    _fields_ = [("ops", ctypes.c_void_p * 2), ("types", ctypes.c_int * 2),
		                ("name", ctypes.c_char * 64), ("dev_name", ctypes.c_char * 64),
		                ("dev_path", ctypes.c_char * 256), ("ibdev_path", ctypes.c_char * 256)]
		verbs = ctypes.CDLL(None)
		ctypes.CDLL("libibverbs.so.1")
		get = verbs.ibv_get_device_list
		get.restype = ctypes.POINTER(ctypes.POINTER(Device))
		count = ctypes.c_int()
		devices = get(ctypes.byref(count))
		for i in range(count.value):
		    device = devices[i].contents
		    print(device.name.decode(), device.dev_path.decode(), device.ibdev_path.decode())
	END
}
paths >paths
same 'devices with paths' 10 "$(wc -l <paths)"
while read -r name verbs device; do
	same "ibdev of $verbs" "$name" "$(cat "$verbs/ibdev")"
	same "directory of $device" "$sys/class/infiniband/$name" "$device"
	[ -d "$device/ports/1" ] || wrong "no port in $device"
done <paths

# manager NUMBER HOST PRIORITY PORT-GUID - start OpenSM, with a file of partitions that
# changes later
manager() {
	mkdir "sm$1"
	printf '%s\n' 'force_log_flush TRUE' "sm_priority $3" "${sm_polling[@]}" \
		>"sm$1/conf"
	IBSA_NODE=$2 OSM_TMP_DIR=sm$1 OSM_CACHE_DIR=sm$1 opensm -g "$4" \
		-F "sm$1/conf" -P partitions -f "sm$1/log" >"sm$1/out" 2>&1 &
	managers+=("$!")
}

# logged NUMBER TEXT - wait for a line in the log of an OpenSM
logged() {
	within 60 grep -q "$2" "sm$1/log" ||
		wrong "OpenSM $1: no '$2': $(tail -n 3 "sm$1/log")"
}

# watched EVENT - whether ibv_asyncwatch has printed an event of port 1
# shellcheck disable=SC2317 # within() calls it
watched() {
	grep -q "IBV_EVENT_$1 (.*), port 1" events
}

# expect WHAT EVENT... - wait for events, and forget them
expect() {
	local what=$1 event
	shift
	for event; do
		within 20 watched "$event" ||
			wrong "$what: no $event: $(cat events)"
	done
	: >events
}

stdbuf -oL ibv_asyncwatch -d mlx5_2 >>events &
watch=$!
within 20 grep -q 'async event FD' events || wrong 'ibv_asyncwatch has not begun'
managers=()
echo 'Default=0x7fff, ipoib: ALL=full;' >partitions
manager 0 dgx1 4 0xb83fd20300010001
logged 0 'SUBNET UP'
expect 'an SM begins' LID_CHANGE SM_CHANGE CLIENT_REREGISTER PORT_ACTIVE

# value NAME FILE - print the value after NAME in the output of ibv_devinfo
value() {
	sed -nE "s/^[[:space:]]*$1:[[:space:]]*//p" "$2"
}

# of_port NAME - print a value in the PortInfo that smpquery has printed
of_port() {
	sed -nE "s/^$1:\.*//p" portinfo
}

port_agrees() {
	local ca=mlx5_$1
	ibv_devinfo -v -d "$ca" >info 2>err || wrong "ibv_devinfo: $(cat err)"
	smpquery -C "$ca" -P 1 portinfo -D 0 >portinfo 2>err ||
		wrong "smpquery: $(cat err)"
	same "$ca: state" 'PORT_ACTIVE (4)' "$(value state info)"
	same "$ca: LID" "$(of_port Lid)" "$(value port_lid info)"
	same "$ca: SM" "$(of_port SMLid)" "$(value sm_lid info)"
	same "$ca: MTU" "$(of_port MtuCap)" "$(value max_mtu info | cut -d ' ' -f 1)"
	same "$ca: active MTU" "$(of_port NeighborMTU)" \
		"$(value active_mtu info | cut -d ' ' -f 1)"
	same "$ca: capabilities" "$(of_port CapMask)" \
		"$(value port_cap_flags info | sed 's/0x0*/0x/')"
	same "$ca: timeout" "$(of_port SubnetTimeout)" "$(value subnet_timeout info)"
	same "$ca: speed" '100.0 Gbps (128)' "$(value active_speed info)"
	same "$ca: width" "$(of_port LinkWidthActive)" \
		"$(value active_width info | cut -d ' ' -f 1)"
	same "$ca: GID" "fe80:0000:0000:0000:b83f:d203:0001:0${1}01" \
		"$(value 'GID\[ *0\]' info)"
	same "$ca: PCI device" "$(($(cat "$sys/class/infiniband/$ca/device/device")))" \
		"$(value vendor_part_id info)"
}
for i in {0..7}; do
	port_agrees "$i"
done

"$ibsa" fabric link down 'dgx1 mlx5_2/1'
expect 'a cable is cut' PORT_ERR
same 'a port without a cable' 'PORT_DOWN (1)' \
	"$(ibv_devinfo -d mlx5_2 | sed -nE 's/^\s*state:\s*//p')"
"$ibsa" fabric link up 'dgx1 mlx5_2/1'
expect 'the cable is connected' PORT_ACTIVE
echo 'storage=0x8001: ALL=full;' >>partitions
kill -HUP "${managers[0]}"
expect 'a P_Key is added' PKEY_CHANGE
manager 1 dgx2 14 0xb83fd20300020101
logged 1 'SUBNET UP'
expect 'the SM moves' SM_CHANGE CLIENT_REREGISTER
kill "$watch"
wait "$watch" 2>/dev/null

# pyverbs, by rdma-core's tests of devices: all that do not need device memory.
mkdir tests
cp "$pyverbs_tests"/* tests
gunzip tests/*.gz
PYTHONPATH=tests /usr/bin/python3 tests/run_tests.py -v -k tests.test_device \
	>pyverbs 2>&1 || wrong "pyverbs: $(grep -A 12 '^FAIL\|^ERROR' pyverbs)"
same 'tests of pyverbs' 13 "$(grep -c ' ok$' pyverbs)"
same 'tests of pyverbs that need more' \
	"$(grep -c ' skipped ' pyverbs)" \
	"$(grep -c " skipped 'Device memory is not supported'" pyverbs)"

# ibacm opens each device, and reads the GIDs of the ports with an SM. It has no
# endpoints: each needs a PD and a QP.
cat >acm.conf <<-END
	log_file $PWD/acm.log
	log_level 2
	lock_file $PWD/acm.pid
	server_mode unix
	acme_plus_kernel_only no
	provider ibacmp default
	provider_lib_path $(dirname "$libibverbs")/ibacm
END
: >acm.addr
ibacm -P -O acm.conf -A acm.addr >acm.out 2>&1 &
acm=$!
# shellcheck disable=SC2317 # within() calls it
has_gids() {
	[ "$(grep -c 'acm_port_get_gid_tbl: guid 0: 0xfe80.* b83f' acm.log)" = 8 ]
}
within 20 has_gids || wrong "ibacm: $(tail -n 2 acm.log acm.out)"
for i in {0..9}; do
	grep -q "acm_open_dev: mlx5_$i opened" acm.log ||
		wrong "ibacm has not opened mlx5_$i"
done
kill -KILL "$acm"
wait "$acm" 2>/dev/null

# ibsrpdm finds the device of a MAD device, and ends at its first queue.
ibsrpdm -v -d /dev/infiniband/umad3 >srp 2>&1
grep -q 'mlx5_3 was found' srp || wrong "ibsrpdm: $(cat srp)"
grep -q 'failed to create completion channel' srp || wrong "ibsrpdm: $(cat srp)"

kill "${managers[@]}"
wait "${managers[@]}" 2>/dev/null
exit "$status"
