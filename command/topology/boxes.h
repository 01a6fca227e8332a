/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The boxes of a drawing of a topology: a box is a node, or many nodes if there
 * are too many to draw each.
 */
#ifndef COMMAND_TOPOLOGY_BOXES_H
#define COMMAND_TOPOLOGY_BOXES_H

#include "graph/topology.h"

enum {
	/*
	 * If there are more than this number of adapters, those of one leaf
	 * switch are drawn as one box.
	 */
	ADAPTERS_EACH_MAX = 32,
	/*
	 * If there are more than this number of boxes, switches are drawn in
	 * groups.
	 */
	BOXES_MAX = 128,
};

/**
 * struct box - nodes that are drawn as one box
 * @level:    highest level of its switches; 0: it has none
 * @adapters, @switches: number of nodes of this kind in the box; a router
 *                       counts as an adapter
 * @first, @last: indexes of the first and the last node of the box
 */
struct box {
	unsigned int level;
	size_t adapters;
	size_t switches;
	size_t first;
	size_t last;
};

/**
 * struct boxes - all boxes
 * @of:  for each node, the index of the box that contains the node; SIZE_MAX:
 *       the node is hidden
 * @all: @count boxes
 */
struct boxes {
	size_t *of;
	struct box *all;
	size_t count;
};

/*
 * Make the boxes; @each: one for each node, however many there are. Return: 0
 * or -ENOMEM. The caller frees @out in any case.
 */
int boxes_make(const struct topology_view *view, bool each, struct boxes *out);
void boxes_free(struct boxes *boxes);

#endif
