# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Functions that run programs with the installed libibumad, and with the library
# of ibsa that replaces it (the drop-in). A bash script sources this file after
# fabric.sh. LIBRARY is "theirs" (libibumad) or "ours" (the drop-in):
#
#   dropin_find FILE        set the path of the drop-in
#   dropin_use LIBRARY      select the library of programs that fabric_* start next
#   dropin_run LIBRARY HOST CMD...
#                           run a command with the library; its output goes to
#                           $FABRIC_DIR/LIBRARY.out and .err, its exit status to
#                           .status
#   dropin_loaded           fail if no program ran since the last call, or one
#                           has loaded another libibumad than the selected one

dropin_folder=
dropin_library=

dropin_find() {
	dropin_folder=$(dirname "$(realpath "$1")")
	# Meson sets LD_LIBRARY_PATH for tests to the directories of the
	# libraries that they use.
	unset LD_LIBRARY_PATH
}

dropin_use() {
	dropin_library=$1
	FABRIC_ENV=(LD_DEBUG=libs "LD_DEBUG_OUTPUT=$FABRIC_DIR/loader")
	[ "$1" = theirs ] || FABRIC_ENV+=("LD_LIBRARY_PATH=$dropin_folder")
}

# The loader writes one file for each process, which may have run several
# programs with execve().
dropin_loaded() {
	local file from count=0
	for file in "$FABRIC_DIR"/loader.*; do
		[ -e "$file" ] || continue
		count=$((count + 1))
		from=$(sed -n 's/.*calling init: \(.*\)\/libibumad\.so\.3$/\1/p' \
			"$file" | sort -u)
		case $dropin_library:$from in
		ours:"$dropin_folder" | theirs:/lib/* | theirs:/usr/*) ;;
		*) wrong "$dropin_library: it was the one in '$from'" ;;
		esac
		rm "$file"
	done
	[ "$count" -gt 0 ] || wrong "$dropin_library: no program was seen"
}

dropin_run() {
	local to=$FABRIC_DIR/$1 status=0
	dropin_use "$1"
	shift
	fabric_run "$@" </dev/null >"$to.out" 2>"$to.err" || status=$?
	echo "$status" >"$to.status"
	dropin_loaded
}
