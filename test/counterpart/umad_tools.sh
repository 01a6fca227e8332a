#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: umad_tools.sh cut|whole DROP-IN UMTAP
#
# Tests that Debian's programs, OpenSM among them, print the same on ibsim's
# fabric with Debian's libibumad and with DROP-IN in its place. Mode whole:
# UMTAP, a preloaded library, keeps MADs whole. Mode cut: ibsim cuts MADs at
# 256 bytes, and the bytes after that are undefined, so the programs send only
# queries with short replies.
# Exit status: 0 passed, 1 failed, 77 a required program is missing.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=test/counterpart/fabric.sh
. "$here/fabric.sh"
# shellcheck source=test/counterpart/dropin.sh
. "$here/dropin.sh"
fabric_need ibstat saquery ibnetdiscover iblinkinfo perfquery smpquery sminfo \
	osmtest

# Meson sets MALLOC_PERTURB_, which changes the content of memory that was not
# set; osmtest reads such memory, with either library.
unset MALLOC_PERTURB_

mode=$1
dropin_find "$2"
[ "$mode" = cut ] || FABRIC_UMTAP=$(realpath "$3")
host='host-r3 mlx5_0'

# Remove times, thread and process ids, and counters that increase by
# themselves.
plain() {
	sed -E 's/^[A-Z][a-z]{2} [0-9 ]+ [0-9:]{8} [0-9]+ \[[0-9A-F]+\]//
		s/generated on .*//; s/^(ibwarn: )?\[[0-9]+\]//
		s/(activity count) [0-9]+/\1/; s/(ActCount[^0-9]*)[0-9]+/\1/
		s/attached as client [0-9]+//'
}

# same TEXT CMD... - check that CMD prints TEXT with both libraries, and the
# rest of the output is equal
same() {
	local words=$1 library
	shift
	for library in theirs ours; do
		dropin_run "$library" "$host" "$@"
		cat "$library.status" "$library.out" "$library.err" | plain \
			>"$library"
		[ "$(cat "$library.status")" -eq 0 ] ||
			wrong "$library: $*: $(tail -n 3 "$library.err")"
		grep -qF -- "$words" "$library" || wrong "$library: $*: no '$words'"
	done
	diff theirs ours || wrong "$* differs"
}

# Compare programs that read the local port, send SMPs or MADs of other classes.
short() {
	same 'Port GUID: 0x0008f10403980031' ibstat
	same 0x0008f10403980031 ibstat -p
	same ibsim0 ibstat -l
	same '"S-0008f10400522b02"[4]' ibnetdiscover
	same 'host-r1 mthca0' iblinkinfo
	same 'PortXmitData' perfquery
	same 'PortXmitData' perfquery -x
	same 'NodeType:........................Switch' smpquery -D nodeinfo 0,1
	same 'LinkState:.......................Active' smpquery -D portinfo 0,1 4
	same 'host-r1 mthca0' smpquery nodedesc 1
	same SMINFO_MASTER sminfo
	same 'Capability mask 2' saquery CPI
}

# Programs with replies of any length, with timeouts, and with many requests at
# once.
long() {
	same 'ISR9024 rack2' saquery NR
	same 'hop_flow_raw' saquery PR
	same 'Mlid' saquery -g
	same 'TEST "Create Inventory" PASS' osmtest -f c -i inventory
	same 'TEST "Validate Inventory" PASS' osmtest -f v -i inventory
}

# manager LIBRARY - store the output of OpenSM, and the state of the fabric that
# it has set up
manager() {
	plain <opensm.out >"manager.$1"
	dropin_run theirs "$host" iblinkinfo
	cat theirs.out >>"manager.$1"
}

fabric_start
cd "$FABRIC_DIR"
manager theirs
short
[ "$mode" = cut ] || long

# OpenSM has used Debian's libibumad so far. Run OpenSM with the drop-in, too,
# and repeat all checks.
fabric_sm_stop TERM
rm opensm.out
dropin_use ours
fabric_sm_start "$FABRIC_SM"
dropin_loaded
manager ours
diff manager.theirs manager.ours || wrong 'OpenSM differs'
short
[ "$mode" = cut ] || long
exit $failed
