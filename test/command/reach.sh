#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# usage: reach.sh IBSA LIBDIR FABRIC LARGE-FABRIC
#
# Tests "ibsa reach" on the embedded fabric: each exit status, each kind of
# target, and each output format. LARGE-FABRIC is a topology file of 10,000
# hosts.
large=$(realpath "$4")
# shellcheck source=test/command/support.sh
. "$(dirname "$0")/support.sh"

one=fe80::2:c903:0:11
two=fe80::2:c903:0:21
nobody=fe80::dead:beef

# asked STATUS ARG... - run ibsa reach on the fabric with the caller's standard
# input
asked() {
	local want=$1 got=0
	shift
	what="ibsa reach $*"
	checks=$((checks + 1))
	"$ibsa" --fabric "$fabric" reach "$@" >out 2>err || got=$?
	[ "$got" -eq "$want" ] || fail "exit status $got, not $want"
	if grep -Eq 'Sanitizer|runtime error' err; then
		fail 'a sanitizer speaks'
	fi
}

help_says_how() {
	run 0 reach --help; err_empty; out_has '^usage: ibsa reach TARGET'
	out_has '--matrix'; out_has '--format NAME .*svg'; out_has '^  - '
	run 0 --help; out_has '^  reach +check'
	if [ "$(awk 'length > 80' out | wc -l)" -ne 0 ]; then
		fail 'help wider than 80 columns'
	fi
}

wrong_command_lines() {
	local line
	while read -r line; do
		[ -n "$line" ] || continue
		# shellcheck disable=SC2086 # words of a command line
		on 2 $line
		out_empty
		sentences 1
	done <<-'LINES'
		reach
		reach ::
		reach gid:0::0
		reach fe80:::1
		reach 0x
		reach lid:0
		reach 65535
		reach guid:12g
		reach name:
		reach self fe80:::1
		reach 12345678901234567890123456789012345678901234567890123456789012345x
		reach - -
		reach --all self
		reach --all -
		reach --format svg self
		reach --format
		reach --format dot --matrix
		reach --matrix --format svg -j
		reach --matrix=yes
		reach --lease 4 self
		path --matrix self node2
		path --format svg self node2
		devices --matrix
	LINES
	on 2 reach --matrix --format ''; err_has 'no format'
	on 2 reach ''; err_has name
	on 2 reach; err_has 'TARGET.*--all'
	on 2 reach 'leaf'; err_has 'leaf one.*leaf two'
}

targets_of_every_kind() {
	local lid target
	on 0 -j devices
	lid=$(jq '.[] | select(.guid == "0x0002c90300000021") | .lid' out)
	for target in $two gid:$two 0x2c90300000021 guid:0x2c90300000021 \
		"$lid" "lid:$lid" 'node2 mlx5_0' node2 NODE2 name:node2; do
		on 0 reach "$target"; err_empty; aligned; lines 2
		out_has '^REACH +TARGET +GID +NODE +REASON$'
		out_has "^yes .* $two "
	done
	on 0 reach node2; out_has ' node2 mlx5_0 +-$'
	on 0 reach self; out_has "^yes +self +$one "
	on 0 -C 'node2 mlx5_0' reach self; out_has "^yes +self +$two "
	on 0 reach größe; out_has "^yes +größe .* größe "
	on 0 reach 'leaf two'
	on 0 reach -v $two; out_has '^reach +yes$'; out_has '^node +node2 mlx5_0$'
	out_has '^tries +1$'; out_has '^status +0x0000$'
	on 0 -j reach $two
	json 'length == 1 and (.[0] | .reach == "yes" and .gid == "'$two'")'
	json '.[0] | .target == "'$two'" and .node == null and .reason == null'
	json '.[0] | .status == 0 and .tries == 1 and (.rtt_us | type) == "number"'
}

what_cannot_be_reached() {
	on 1 reach $nobody; sentences 1; err_has "^ibsa: $nobody cannot be reached"
	local unknown='unknown, or in no partition of this port'
	err_has "cannot be reached: $unknown: the SA shows no port with GID"
	out_has "^no +$nobody +$nobody +- +$unknown$"
	on 1 -j reach $nobody
	json 'length == 1 and (.[0] | .reach == "no" and .status == 768)'
	json '.[0] | .reason == "'"$unknown"'" and (.detail | contains("GID"))'
	on 1 reach fe81::1
	on 1 reach ff12:401b:ffff::1 # a group without members
	err_has 'the SA shows no multicast group with GID ff12:401b:ffff::1'
	on 1 reach 2001::1; out_has 'another subnet$'
	on 1 reach nobody; sentences 1; err_has "no node has the name 'nobody'"
	out_has '^no +nobody +- +- +no such name$'
	on 1 reach lid:40000; sentences 1; err_has 'no port has the LID 40000'
	out_has "^no +lid:40000 +- +- +$unknown$"
	on 1 -j reach nobody
	json '.[0] | .reach == "no" and .gid == null and .target == "nobody"'
	on 1 reach $'no\nbody\033'; out_has 'no\\x0abody\\x1b'
}

several_targets() {
	on 0 reach self node2; err_empty; lines 3; aligned
	on 0 -v reach self node2; err_has '^ibsa: 2 of 2 reachable, 0 not, 0 unk'
	on 1 reach node2 $nobody; lines 3; aligned
	err_has '^ibsa: 1 of 2 reachable, 1 not, 0 unknown$'; sentences 1
	# A port that the arguments name three times is queried once, and
	# printed three times.
	on 1 -j reach node2 $two nobody 0x2c90300000021 $nobody
	json 'map(.reach) == ["yes", "yes", "no", "yes", "no"]'
	json '[.[] | select(.gid == "'$two'") | .rtt_us] | unique | length == 1'
	json 'map(.target)[0:2] == ["node2", "'$two'"]'
	on 1 reach node1 node2 größe 'NODE3 mlx5_0' 'leaf one' x 'node3 mlx5_1'
	lines 9; err_has "no node has the name 'x'"; err_has '7 of 8'
	out_has "^yes +NODE3 mlx5_0 .* node3 mlx5_0 "
	# The name of a host stands for all its ports: each has a line, in the
	# place of the name among the arguments.
	on 0 -j reach node3 self node1/mlx5_0
	json 'map(.node) == ["node3 mlx5_0", "node3 mlx5_1", "node1 mlx5_0",
		"node1 mlx5_0", "node1 mlx5_0"]'
	json 'map(.target) == ["node3", "node3", "self", "node1/mlx5_0",
		"node1/mlx5_0"]'
	on 2 reach node1 self leaf; err_has 'leaf one.*leaf two'; out_empty
	sentences 1
}

all_ports() {
	on 0 reach --all; err_empty; lines 7; aligned
	out_has '^REACH +GID +NODE +REASON$'
	out_has "^yes +fe80::2:c903:0:12 +node1 mlx5_0 +-$"
	on 0 -j reach -a
	json 'length == 6 and all(.[]; .reach == "yes" and .target == .gid)'
	json 'map(.node) | index("leaf one") == null and index("größe") != null'
	what='ibsa reach --all of ten thousand'
	run 0 --fabric "$large" -j reach --all
	err_empty
	json 'length == 10000 and all(.[]; .reach == "yes")'
	json 'map(.gid) | unique | length == 10000'
	json '.[0].node == "Hca1" and .[9999].node == "Hca10000"'
}

lines_of_standard_input() {
	printf 'node2\r\n\n# nobody\n  \t  # somebody\n\t größe  \nself' |
		asked 0 -
	err_empty; lines 4; out_has '^yes +größe '; out_has '^yes +self '
	asked 0 - </dev/null; err_empty; out_empty
	asked 0 -j - </dev/null; json '. == []'
	printf 'node2\n' | asked 0 self - node3; lines 5
	# A wrong line is reported with its number, and all others are checked.
	printf 'node2\nfe80:::1\nleaf\n0x\nnobody\n\0\nself\n%s\n::\n' $nobody |
		asked 2 -
	lines 5; err_has "^ibsa: line 2: 'fe80:::1' is not"
	err_has "line 3: 'leaf' is the name of several"
	err_has "line 4: '0x' "; err_has "line 5: no node has the name 'nobody'"
	err_has 'line 6: .*NUL'; err_has "line 9: '::' is not a GID of a port"
	err_has '2 of 4 reachable, 2 not'
	[ "$(grep -o 'line [0-9]' err | tr -dc 0-9)" = 234569 ] ||
		fail 'the messages are not in the order of the lines'
	# An endless line does not fill the memory.
	head -c 5000 /dev/zero | tr '\0' x >long
	(cat long; echo; echo node2; printf '# '; cat long; echo; cat long) |
		asked 2 -
	lines 2; sentences 2
	err_has '^ibsa: line 1: it is too long$'
	err_has '^ibsa: line 4: it is too long$'
	what='many lines'
	for i in {1..3000}; do
		echo "fe80::2:c903:10:$(printf %x $((16 * (i % 1000) + 1)))"
	done >many
	run 0 --fabric "$large" reach --all
	"$ibsa" --fabric "$large" -j reach - <many >out 2>err || fail 'not all'
	err_empty
	json 'length == 3000 and all(.[]; .reach == "yes")'
	jq -r '.[].target' out | cmp -s - many || fail 'not in the order of lines'
	"$ibsa" --fabric "$large" reach - <many >out 2>err || fail 'not all'
	asked 4 - </; err_has 'standard input: Is a directory'
	on 2 reach - fe80:::1 # without waiting for lines
}

nobody_answers() {
	local i limit=16
	on 3 --sa 40000 -t 200 reach $two; sentences 1
	err_has 'did not answer \(1 try\)'
	out_has "^unknown +$two .* the SA did not answer$"
	on 3 --sa 40000 -t 200 -j reach $one $two
	json 'map(.reach) == ["unknown", "unknown"]'
	json '.[0] | .reason == "the SA did not answer" and .tries == 1'
	# It waits for the reply to the first, and may be sent at the deadline.
	json '.[1] | .reason == "not sent" and .tries == 0 or
		.reason == "the SA did not answer" and .tries == 1'
	err_has '0 of 2 reachable, 0 not, 2 unknown$'
	for ((i = 1; i <= limit + 24; i++)); do
		echo "fe80::$i"
	done | asked 3 --sa 40000 -t 300 -
	lines $((limit + 1)); err_has "$limit queries in a row"
	err_has "$limit unknown, 24 not asked"
	on 3 --sa 40000 -t 200 reach node2; sentences 1
	out_has '^unknown +node2 +- +- +the SA did not answer$'
	# If the SA does not answer, a target that is a GID keeps this GID in
	# the output, also beside targets whose GIDs are unknown.
	on 3 --sa 40000 -t 200 -j reach node2 $two 4; sentences 2
	json 'map([.reach, .gid]) == [["unknown", null], ["unknown", "'$two'"],
		["unknown", null]]'
	on 3 --sa 40000 -t 200 -v reach $two; out_has '^reach +unknown$'
	on 3 --sa 40000 -t 200 reach --matrix node2 $two; out_empty
	on 3 --sa 40000 -t 200 reach --all; out_empty
	on 4 -C nobody reach self; out_empty; err_has nobody
	run 4 --fabric /nonexistent reach self; out_empty
	run 2 --fabric /dev/null reach self; out_empty
}

# Without an SA, because the local port is down or has no SM, the reason is told.
own_port_without_sa() {
	local down='"$0" fabric link down "node1 mlx5_0/1"; "$0" "$@"'
	local port='this port is down'
	run 3 fabric exec "$fabric" -- bash -c "$down" "$ibsa" -C node1 -P 1 \
		-j reach node2 $two
	json 'length == 2 and all(.[]; .reach == "unknown" and
		.reason == "'"$port"'")'
	err_has "^ibsa: $port; check the cable of port 1 of mlx5_0, or send"
	[ "$(grep -c 'this port is down' err)" -eq 1 ] || fail 'twice'
	run 3 fabric exec "$fabric" -- bash -c "$down" "$ibsa" -C node1 \
		-j path self $two # the first port with a cable
	err_has 'port 1 of mlx5_0'
	json 'length == 1 and .[0].reason == "'"$port"'"'
	run 3 fabric exec --sa none "$fabric" -- "$ibsa" -C node1 -P 1 \
		path self $two
	out_empty; err_has 'no subnet manager has configured the port'
	run 3 fabric exec --sa none "$fabric" -- "$ibsa" -C node1 -P 1 \
		reach $two
	out_has 'no subnet manager$'; err_has 'no subnet manager has configured the port'
	run 3 fabric exec --sa none "$fabric" -- "$ibsa" -C node1 -P 1 -j \
		reach node2 lid:3 $two
	json 'length == 3 and all(.[]; .reason == "no subnet manager")'
	[ "$(grep -c 'no subnet manager' err)" -eq 1 ] || fail 'twice'
}

# ibsa does not cancel threads: pthread_cancel() aborts the program if libgcc_s
# cannot be loaded, as with too few descriptors.
few_descriptors_do_no_harm() {
	local number got
	what='ibsa, its imports'
	nm -D --undefined-only "$ibsa" >out 2>err || fail 'nm'
	! grep -E ' pthread_(cancel|exit)(@|$)' out || fail 'cancels a thread'
	for number in 4 5 6 8; do
		what="ibsa reach --all with $number descriptors"
		got=0
		(ulimit -n "$number"
			exec "$ibsa" --fabric "$fabric" reach --all) \
			>out 2>err || got=$?
		[ "$got" -lt 126 ] || fail "exit status $got"
	done
	out_has '^yes '
}

# A reason takes several queries, so it is searched for the first failures only.
reasons_are_limited() {
	local gids
	mapfile -t gids < <(printf 'fe80::dead:%x\n' {1..40})
	on 1 -j reach "${gids[@]}"
	json 'map(select(.detail)) | length == 32'
	json '.[39] | .reach == "no" and .reason == "no path"'
	err_has 'the reasons are those of the first 32 of 40 failures; name other'
	on 1 -j reach "${gids[@]:0:32}"; json 'all(.detail)'; sentences 1
	on 1 reach --matrix "${gids[@]:0:7}"; lines 43
}

# -v tells of all queries, also of those for reasons.
verbose() {
	on 1 -v reach $one $nobody; err_has '^ibsa: reach: [4-6] queries, [4-6] tries$'
}

signals_end_it() {
	local signal got rows count targets
	while read -r signal rows count targets; do
		what="SIG$signal: $targets"
		checks=$((checks + 1))
		got=0
		# shellcheck disable=SC2086 # several words
		timeout --foreground --preserve-status -s "$signal" 1 env \
			--default-signal=INT "$ibsa" --fabric "$fabric" -j \
			--sa 40000 -t 60000 reach $targets >out 2>err ||
			got=$?
		[ "$got" -eq 3 ] || fail "exit status $got, not 3"
		# A query in flight is unknown; the other waits for its reply.
		json "length == $rows and all(.[]; .reach == \"unknown\" and
			.reason == \"interrupted\" and .tries >= 1)"
		err_has '^ibsa: interrupted$'; err_has " ${count//_/ }\$"
		sentences 2
	done <<-END
		INT 1 1_unknown,_1_not_asked $one $two
		TERM 1 1_unknown,_1_not_asked $one $two
		INT 0 2_not_asked node2 node3
		TERM 0 2_not_asked 4 5
		INT 0 4_not_asked --matrix $one $two
	END
}

matrix() {
	on 0 reach --matrix self node2; err_empty; lines 4
	out_has '^   1 2  GID and node$'
	out_has "^1  \. \.  $one  node1 mlx5_0$"
	out_has "^2  \. \.  $two  node2 mlx5_0$"
	out_has '^rows reach columns: \. yes, X no, \? unknown'
	# In the matrix, the ports of one host are adjacent.
	on 0 reach --matrix; lines 11; out_has '^6  \.  \. \.  \.  \. \.  fe80'
	cp out same
	on 0 reach --all --matrix; cmp -s out same || fail 'not the same'
	on 1 reach --matrix self nobody node2; lines 4
	err_has '^ibsa: 1 of 3 targets is not in the matrix, because no port was'
	on 1 reach --matrix self $nobody; lines 9
	out_has "^1  \. X  $one +"; out_has "^2  X X  $nobody +-$"
	err_has '1 of 4 reachable, 3 not'
	out_has '^FROM  TO  REASON$'
	out_has '^1     2   unknown, or in no partition of this port$'
	out_has '^2     2   '
	on 0 reach --matrix self node2; lines 4
	# A group is a destination only.
	on 1 reach --matrix self ff12:401b:ffff::1; lines 7
	out_has '^2       ff12:401b:ffff::1  -$'; err_has '1 of 2 reachable, 1 not'
	on 1 -j reach --matrix self ff12:401b:ffff::1; json 'length == 2'
	on 2 path ff12:401b:ffff::1 node2; out_empty; sentences 1
	err_has "multicast GID; a group cannot send"
	on 1 reach --matrix self nobody node2 $two; lines 4; sentences 2
	on 0 -j reach --matrix self node2
	json 'length == 4 and all(.[]; .reach == "yes" and .status == 0)'
	json '.[1] | .from == "'$one'" and .to_node == "node2 mlx5_0"'
	on 1 -j reach --matrix self $nobody
	json 'map(.reach) == ["yes", "no", "no", "no"]'
	json '.[3].from_node == null and (.[3].reason |
		startswith("unknown, or in no partition"))'
	json '.[3].from_host == null and .[0].from_host == "node1"'
	printf 'self\nnode2\n' | asked 0 --matrix -; lines 4
	on 0 reach --matrix node3/mlx5_0 node2 node3/mlx5_1; lines 6
	out_has '^   1 2  3  GID'; out_has '^2  \. \.  \.  .* node3 mlx5_1$'
	asked 0 --matrix - </dev/null; out_empty
	run 2 --fabric "$large" reach --matrix; out_empty; sentences 1
	err_has 'have 10000 ports, but a matrix has at most 256'
	head -256 many | "$ibsa" --fabric "$large" reach --matrix - >out 2>err ||
		fail 'not 256 ports'
	lines 260; out_has '^256 ( \.){256}  fe80'
}

# svg FILE CELLS YES - check that FILE is a drawing with CELLS cells, of which
# YES are reachable
svg() {
	python3 - "$@" <<-'CHECK' || fail "not a picture of $2 cells"
		import sys
		import xml.etree.ElementTree as tree
		at = "{http://www.w3.org/2000/svg}"
		root = tree.parse(sys.argv[1]).getroot()
		width, height = (float(root.get(x)) for x in ("width", "height"))
		cells = [use for use in root.iter(at + "use") if len(use)]
		shapes = {g.get("id") for g in root.find(at + "defs")}
		bad = root.tag != at + "svg" or len(cells) != int(sys.argv[2])
		places = set()
		yes = 0
		for use in cells:
		    x, y = float(use.get("x")), float(use.get("y"))
		    shape = use.get("href")[1:]
		    title = use.find(at + "title").text
		    places.add((x, y))
		    bad |= not (0 < x < width and 0 < y < height)
		    bad |= shape not in shapes or " → " not in title
		    bad |= (shape == "y") != title.endswith(": yes")
		    yes += shape == "y"
		bad |= len(places) != len(cells) or yes != int(sys.argv[3])
		sys.exit(bad)
	CHECK
}

pictures() {
	on 0 reach --matrix --format svg; err_empty; svg out 36 36
	on 1 reach --matrix self $nobody --format svg; svg out 4 1
	grep -q 'not reachable: 3' out || fail 'no numbers'
	what='a picture of 200 ports'
	head -200 many | "$ibsa" --fabric "$large" reach --matrix - \
		--format svg >200.svg 2>err || fail 'exit status'
	svg 200.svg 40000 40000
	# Node names with characters that have a meaning in XML or on a terminal
	# are escaped.
	sed -e 's/node2 mlx5_0/a<b\&c>"d'"'"'/' -e 's/größe/x\x01\xff\xef\xbf\xbe/' \
		"$fabric" >odd.net
	run 0 --fabric odd.net reach --matrix --format svg; svg out 36 36
	grep -q 'a&lt;b&amp;c&gt;"d' out || fail 'not escaped'
	what='a picture on a full disk'
	"$ibsa" --fabric "$fabric" reach --matrix --format svg >/dev/full 2>err
	[ $? -eq 4 ] || fail 'exit status'
	err_has 'No space left'
	on 3 --sa 40000 -t 100 reach --matrix $one $two --format svg
	on 0 reach --matrix self --format svg; svg out 1 1
}

on_a_terminal() {
	what='on a terminal'
	script -qec "'$ibsa' --fabric '$fabric' -t 1600 --sa 40000 reach $one $two" \
		/dev/null >out 2>err </dev/null
	[ $? -eq 3 ] || fail 'exit status is not 3'
	out_has '0 of 2\.\.\.'
	tr '\r' '\n' <out | grep -q $'\033\[Kibsa: ' || fail 'not erased'
	script -qec "'$ibsa' --fabric '$fabric' reach $one $two" \
		/dev/null >out 2>err </dev/null || fail 'exit status is not 0'
	out_has '2 of 2 reachable'
}

run_groups help_says_how wrong_command_lines targets_of_every_kind \
	what_cannot_be_reached several_targets all_ports \
	lines_of_standard_input nobody_answers own_port_without_sa \
	few_descriptors_do_no_harm \
	reasons_are_limited verbose signals_end_it matrix pictures \
	on_a_terminal
