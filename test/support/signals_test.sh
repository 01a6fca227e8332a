#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that no signal is ignored in a test script and in the programs that it
# starts, even if the script itself was started with signals ignored; and that
# each script that sends signals sources signals.sh.
set -u
here=$(realpath "$(dirname "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

cat >"$folder/script" <<EOF
#!/usr/bin/env bash
. "$here/signals.sh"
grep SigIgn /proc/self/status
echo "\$# \${2-} \${TEST_SIGNALS-none}"
EOF
chmod +x "$folder/script"
got=$(env --ignore-signal=HUP,INT,QUIT,PIPE,TERM "$folder/script" one 'two words')
ignored=$((0x$(sed -n 's/^SigIgn:\s*//p' <<<"$got")))
# Signals 1, 2, 3, 13 and 15.
if [ $((ignored & 0x5007)) -ne 0 ]; then
	echo "FAILED: signals are ignored: $got"
	failed=1
fi
if [ "$(tail -n 1 <<<"$got")" != '2 two words none' ]; then
	echo "FAILED: other arguments or variables: $got"
	failed=1
fi

# A script that sends signals must source signals.sh, or a file that sources it.
by='signals\.sh|support\.sh|fabric\.sh|server\.sh'
for script in $(grep -rlE '\bkill\b' "$here/.." --include='*.sh'); do
	case $script in
	*/signals.sh | */signals_test.sh | */vm/*) continue ;;
	esac
	grep -qE "^\. .*($by)\"?$" "$script" && continue
	echo "FAILED: $script sends signals and does not source signals.sh"
	failed=1
done
exit "$failed"
