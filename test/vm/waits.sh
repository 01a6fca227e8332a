#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: waits.sh LIBRARY PROGRAM EXPECTED ROUNDS
#
# Runs in a virtual machine: PROGRAM must print the same with libibverbs alone,
# with LIBRARY preloaded, and on contexts that LIBRARY has attached. Its first
# lines, which need no device, must be those of the file EXPECTED, with ROUNDS in
# place of 100.
export LC_ALL=C
"$2" rxe0 >/tmp/stock
status=$?
cat /tmp/stock
[ $status = 0 ] || exit $status
LD_PRELOAD=$1 "$2" rxe0 >/tmp/front
LD_PRELOAD=$1 "$2" rxe0 attach >/tmp/attached
sed "s/ 100\>/ $4/g" "$3" >/tmp/expected
head -n "$(wc -l </tmp/expected)" /tmp/stock >/tmp/common
failed=0
for file in front attached; do
	diff /tmp/stock /tmp/$file >/tmp/difference || {
		echo "FAILED: $file:" >&2
		cat /tmp/difference >&2
		failed=1
	}
done
diff /tmp/expected /tmp/common >&2 || failed=1
exit $failed
