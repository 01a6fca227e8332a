#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that the installed headers compile without a warning, by gcc and by clang,
# in C11, C17, C++17 and C++20: each header first, twice and before those of
# rdma-core, and all of them after those; and the programs of FOLDER, which use macros of all headers,
# and those of ib_sa.h and verbs.h beside other descriptions of the same. Prints
# the number of compilations. Also tests that a wrong struct does not compile, that
# no struct has padding at its end, that no name is both a type and a function, which
# hides the type in C++, and that members keep their enumerations.
#
# usage: headers.sh INCLUDE-DIR FOLDER
set -u

include=$1
folder=$2
others=/usr/include/infiniband
failed=0

for tool in gcc g++ clang clang++; do
	command -v "$tool" >/dev/null || {
		echo "no $tool; run scripts/setup --tests"
		exit 77
	}
done
for header in mad.h umad.h umad_sa.h verbs.h iba/ib_types.h; do
	[ -e "$others/$header" ] || {
		echo "no infiniband/$header; run scripts/setup --tests"
		exit 77
	}
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The headers of OpenSM include each other without their folder.
flags="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsyntax-only
	-isystem $others -I$include"
flags_c="$flags -x c"
flags_cxx="$flags -Wold-style-cast -x c++"

# Compile the text of the input. A file that it includes is not the compiler's
# main file, in which clang warns of unused inline functions.
# usage: compile [FLAG...]
units=0
compile() {
	units=$((units + 1))
	cat >"$work/$units"
	for language in 'gcc -std=c11' 'gcc -std=c17' 'clang -std=c11' \
		'clang -std=c17'; do
		echo $language "$@" $flags_c "$work/$units"
	done >>"$work/commands"
	for language in 'g++ -std=c++17' 'g++ -std=c++20' 'clang++ -std=c++17' \
		'clang++ -std=c++20'; do
		echo $language "$@" $flags_cxx "$work/$units"
	done >>"$work/commands"
}

# Check that the text of the input compiles in neither language.
refuse() {
	cat >"$work/refused"
	if gcc -std=c11 $flags_c "$work/refused" 2>/dev/null ||
		g++ -std=c++17 $flags_cxx "$work/refused" 2>/dev/null; then
		echo "compiles: $(cat "$work/refused")"
		failed=1
	fi
}

# usage: included HEADER...
included() {
	printf '#include <%s>\n' "$@"
}

rdma_core='infiniband/verbs.h infiniband/umad.h infiniband/mad.h'
compat=-I$include/ibsa/compat
cd "$include" || exit 1
for header in ibsa/*.h ibsa/compat/*/*.h; do
	case "$header" in
	ibsa/compat/*) header=${header#ibsa/compat/} option=$compat ;;
	*) option= ;;
	esac
	included "$header" "$header" $rdma_core | compile $option
done
included $rdma_core ibsa/*.h | compile
included $rdma_core $(cd ibsa/compat && echo */*.h) | compile $compat

# usage: program NAME [FLAG...]
program() {
	echo "#include \"$folder/$1\"" >"$work/program"
	shift
	compile "$@" <"$work/program"
}

program headers_user.c
for first in '' -DIB_SA_FIRST; do
	program headers_ib_sa.c $first
	program headers_ib_sa.c -DIBSA_KERNEL_TYPES $first
done
for first in '' -DVERBS_FIRST; do
	program headers_verbs.c $first
	program headers_verbs.c -DIBSA_VERBS_NAMES $first
	program headers_verbs.c $compat $first
done
program headers_verbs.c $compat -DVERBS_COMPAT

# A macro with the struct of another record.
macros() {
	cat <<-END
		#include <ibsa/ibsa.h>
		struct ibsa_query query_make(struct ibsa_path *path,
					     struct ibsa_node *node);
		int reply_read(const struct ibsa_reply *reply,
			       struct ibsa_path *path, struct ibsa_node *node);
		struct ibsa_query query_make(struct ibsa_path *path,
					     struct ibsa_node *node)
		{
			(void)path, (void)node;
			return IBSA_QUERY($1);
		}
		int reply_read(const struct ibsa_reply *reply,
			       struct ibsa_path *path, struct ibsa_node *node)
		{
			(void)path, (void)node;
			return IBSA_DECODE($2);
		}
	END
}
macros 'path, path, 0' 'node, reply, 0, node' | compile
macros 'path, NULL, 0' 'node, reply, 0, node' | compile
macros 'path, node, 0' 'node, reply, 0, node' | refuse
macros 'path, path, 0' 'node, reply, 0, path' | refuse

processors=$(nproc 2>/dev/null || echo 2)
xargs -P "$processors" -L 1 env <"$work/commands" || failed=1
compilations=$(wc -l <"$work/commands")
if [ "$compilations" -lt 200 ]; then
	echo "the headers were not found"
	failed=1
fi

# Bytes of padding at the end of a struct, which no program sets to zero, would
# become those of the next member. clang warns of structs whose size is used. The
# tables of records make no members for padding.
{
	included ibsa/*.h
	echo 'struct ibsa_control { long first; char last; };'
	sed -n 's/^struct \(ibsa_\w*\) {$/\1/p' ibsa/*.h
	echo ibsa_control
} | sed 's/^ibsa_.*/extern char &_bytes[sizeof(struct &)];/' >"$work/structs"
padded=$(clang -std=c11 -Wpadded $flags_c -Wno-error "$work/structs" 2>&1 |
	grep -v '/records.h:' |
	sed -n "s/.*padding size of 'struct \(ibsa_.*\)' .*/\1/p")
if [ "$padded" != ibsa_control ]; then
	echo "structs with padding at their end, and ibsa_control:" $padded
	failed=1
fi

# All headers, and an alias of each struct and enum without the keyword.
aliases() {
	included ibsa/*.h
	sed -nE 's/^(struct|enum) (\w+)( \{|;)$/using alias_\2 = \2;/p' \
		ibsa/*.h | sort -u
}

aliases >"$work/aliases"
if [ "$(grep -c ibsa_ "$work/aliases")" -lt 50 ]; then
	echo "the headers' types were not found"
	failed=1
fi
g++ -std=c++17 $flags_cxx "$work/aliases" || failed=1

# A member with a value of an enumeration has its type: the compiler warns of a
# switch that leaves a value out. usage: switched HEADER STRUCT MEMBER CONSTANT
switched() {
	gcc -std=c11 $flags_c - 2>&1 <<-END | grep -q 'switch\]'
		#include <ibsa/$1.h>
		int use(const struct $2 *it);
		int use(const struct $2 *it)
		{
			switch (it->$3) { case $4: return 1; }
			return 0;
		}
	END
}

while read -r header type member constant; do
	switched "$header" "$type" "$member" "$constant" || {
		echo "struct $type: $member has no enumeration"
		failed=1
	}
done <<-END
	event ibsa_event kind IBSA_EVENT_GID_IN
	ibsa ibsa_query method IBSA_METHOD_GET
	ibsa ibsa_sa_access grh IBSA_GRH_AUTO
	reach ibsa_reach_answer reach IBSA_REACH_YES
	reach ibsa_reach_answer reason IBSA_REASON_NONE
	reach ibsa_reach_options why IBSA_WHY_NEVER
	reach ibsa_reason code IBSA_REASON_NONE
	service ibsa_registration_report event IBSA_REGISTRATION_LOST
	topology ibsa_topology_node type IBSA_NODE_SWITCH
	topology ibsa_topology_port state IBSA_PORT_ACTIVE
	topology ibsa_trace end IBSA_TRACE_LOOP
	transport ibsa_port_state link IBSA_LINK_OPA
	transport ibsa_port_state port_state IBSA_PORT_ACTIVE
END

echo "$compilations compilations"
exit $failed
