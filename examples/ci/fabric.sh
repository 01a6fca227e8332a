# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: fabric.sh start FOLDER FILE
#        fabric.sh stop FOLDER
#
# Starts a fabric server in the background, with its socket FOLDER/fabric and a
# capture FOLDER/fabric.pcap, and waits until it is ready; or ends it.
set -e
cd "$2"
case $1 in
start)
	ibsa fabric run --socket fabric --record fabric.pcap "$3" \
		>fabric.log 2>&1 &
	echo $! >fabric.pid
	for _ in $(seq 300); do
		! grep -q '^unix:' fabric.log || exit 0
		kill -0 "$(cat fabric.pid)" || break
		sleep 0.1
	done
	cat fabric.log
	exit 1
	;;
stop)
	kill "$(cat fabric.pid)"
	for _ in $(seq 300); do
		[ -e fabric ] || exit 0
		sleep 0.1
	done
	exit 1
	;;
esac
