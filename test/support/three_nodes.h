/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fabric for tests of the functions with names of the kernel and of
 * libibverbs.
 */
#ifndef TEST_THREE_NODES_H
#define TEST_THREE_NODES_H

/*
 * node1, with two ports, and node2 on a switch: LIDs 1, 2 and 3. node3 has two
 * ports, the first without a cable: LID 4. The SA is at node1.
 */
static const char three_nodes[] = "Switch 8 \"switch1\"\n"
				  "[1] \"node1\"[1]\n"
				  "[2] \"node1\"[2]\n"
				  "[3] \"node2\"[1]\n"
				  "[4] \"node3\"[2]\n"
				  "Ca 2 \"node1\"\n"
				  "Ca 1 \"node2\"\n"
				  "Ca 2 \"node3\"\n";

#endif
