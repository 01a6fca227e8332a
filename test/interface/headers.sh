#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Tests that each installed header compiles by itself, as C11 and as C++17,
# without a warning, and that the program USER.c, which uses the macros of all
# headers, does so, too; and that no name is both a type and a function, which
# hides the type in C++. Exit status: 0 passed, otherwise failed.
#
# usage: headers.sh INCLUDE-DIR USER.c   (CC and CXX name the compilers)
set -u

include=$1
user=$2
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only -I$include"
failed=0

# The program is included by another file, because clang warns of unused inline
# functions of a main file.
compile() {
	"${CC:-cc}" -std=c11 $flags -x c - <<-END || failed=1
		$1
	END
	"${CXX:-c++}" -std=c++17 $flags -x c++ - <<-END || failed=1
		$1
	END
}

# Neither language compiles the text.
refuse() {
	if "${CC:-cc}" -std=c11 $flags -x c - 2>/dev/null <<-END ||
		$1
	END
		"${CXX:-c++}" -std=c++17 $flags -x c++ - 2>/dev/null <<-END; then
		$1
	END
		echo "compiles: $1"
		failed=1
	fi
}

for file in "$include"/ibsa/*.h; do
	compile "#include <ibsa/${file##*/}>"
done
compile "#include \"$user\""

# A macro with the struct of another record.
start="#include <ibsa/ibsa.h>
	struct ibsa_query query_make(struct ibsa_path *path, struct ibsa_node *node);
	int reply_read(const struct ibsa_reply *reply, struct ibsa_path *path,
		       struct ibsa_node *node);"
query="$start
	struct ibsa_query query_make(struct ibsa_path *path, struct ibsa_node *node)
	{
		(void)path, (void)node;
		return IBSA_QUERY"
decode="$start
	int reply_read(const struct ibsa_reply *reply, struct ibsa_path *path,
		       struct ibsa_node *node)
	{
		(void)path, (void)node;
		return IBSA_DECODE"
compile "$query(path, path, 0); }"
compile "$query(path, NULL, 0); }"
refuse "$query(path, node, 0); }"
compile "$decode(node, reply, 0, node); }"
refuse "$decode(node, reply, 0, path); }"

# All headers, and an alias of each struct and enum without the keyword.
aliases() {
	sed 's/.*/#include <ibsa\/&>/' <<-END
		$(cd "$include/ibsa" && ls -- *.h)
	END
	sed -nE 's/^(struct|enum) (\w+)( \{|;)$/using alias_\2 = \2;/p' \
		"$include"/ibsa/*.h | sort -u
}

if [ "$(aliases | grep -c ibsa_)" -lt 50 ]; then
	echo "the headers' types were not found"
	failed=1
fi
aliases | "${CXX:-c++}" -std=c++17 $flags -Wshadow -x c++ - || failed=1

# A member with a value of an enumeration has its type: the compiler warns of a
# switch that leaves a value out. usage: switched HEADER STRUCT MEMBER CONSTANT
switched() {
	"${CC:-cc}" -std=c11 $flags -x c - 2>&1 <<-END | grep -q 'switch\]'
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

flags="$flags -I$include/ibsa/compat"
compile "#include <rdma/ib_sa.h>"
exit $failed
