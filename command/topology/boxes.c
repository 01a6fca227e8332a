/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes the boxes in the drawing of a topology. Each node gets a key; all
 * nodes with the same key are in one box.
 */
#include <errno.h>
#include <stdlib.h>

#include "topology/boxes.h"
#include "topology/topology.h"

/* Which nodes can be in one box. */
enum key_class { KEY_NODE, KEY_SWITCHES, KEY_TOP, KEY_HOSTS };

struct key {
	enum key_class class;
	uint64_t value;
	size_t node;
};

struct box_builder {
	const struct topology_view *view;
	struct ibsa_topology_node *nodes;
	struct key *keys;
	/*
	 * Parent of each switch in the tree of its set (union-find). A set
	 * contains switches that are connected with each other without the
	 * switches of the highest level.
	 */
	size_t *parent;
	unsigned int *tops; /* for each island: its highest level */
};

typedef void (*link_fn)(struct box_builder *builder, size_t node, size_t far,
			void *arg);

/* Call @done for each link of a node that leads to a node which is drawn. */
static void links_each(struct box_builder *builder, size_t node, link_fn done,
		       void *arg)
{
	const unsigned int count = builder->nodes[node].port_count;

	for (unsigned int number = 1; number <= count; number++) {
		const struct ibsa_topology_port port =
			topology_view_port(builder->view, node, number);

		if (port.has_link && !builder->view->is_hidden[port.far_node])
			done(builder, node, port.far_node, arg);
	}
}

static bool is_switch(const struct box_builder *builder, size_t node)
{
	return builder->nodes[node].type == IBSA_NODE_SWITCH;
}

static void each_key(struct box_builder *builder)
{
	for (size_t i = 0; i < builder->view->info.nodes; i++)
		builder->keys[i] = (struct key){ KEY_NODE, i, i };
}

/*
 * If @node has exactly one neighbour, store it in the index @arg. @arg is
 * SIZE_MAX before the first call, and SIZE_MAX - 1 if @node has several
 * neighbours.
 */
static void only_note(struct box_builder *builder, size_t node, size_t far,
		      void *arg)
{
	size_t *only = arg;

	(void)builder;
	(void)node;
	if (*only == SIZE_MAX)
		*only = far;
	else if (*only != far)
		*only = SIZE_MAX - 1;
}

/*
 * Set the keys of adapters: all adapters that are connected to the same
 * switch, and to no other node, are in one box.
 */
static void leaf_keys(struct box_builder *builder)
{
	for (size_t i = 0; i < builder->view->info.nodes; i++) {
		size_t only = SIZE_MAX;

		if (is_switch(builder, i))
			continue;
		links_each(builder, i, only_note, &only);
		if (only < SIZE_MAX - 1 && is_switch(builder, only))
			builder->keys[i] = (struct key){ KEY_HOSTS, only, i };
	}
}

static bool is_top(const struct box_builder *builder, size_t node)
{
	return builder->nodes[node].level ==
	       builder->tops[builder->nodes[node].island];
}

static void join(struct box_builder *builder, size_t node, size_t far,
		 void *arg)
{
	(void)arg;
	if (is_switch(builder, far) && !is_top(builder, far))
		builder->parent[set_root(builder->parent, far)] =
			set_root(builder->parent, node);
}

static uint64_t mix(uint64_t value)
{
	value = (value + 1) * UINT64_C(0x9e3779b97f4a7c15);
	value ^= value >> 29;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	return value ^ value >> 32;
}

/*
 * If the neighbour is a switch below the highest level, add a value for its
 * box to the sum @arg. The sum does not depend on the order of links.
 */
static void below_note(struct box_builder *builder, size_t node, size_t far,
		       void *arg)
{
	uint64_t *sum = arg;

	(void)node;
	if (is_switch(builder, far) && !is_top(builder, far))
		*sum += mix(set_root(builder->parent, far));
}

static void switches_note(struct box_builder *builder, size_t node, size_t far,
			  void *arg)
{
	uint64_t *sum = arg;
	const struct key *key = &builder->keys[far];

	(void)node;
	if (is_switch(builder, far))
		*sum += mix(mix(key->value) + key->class);
}

/*
 * Set the keys of adapters: adapters that are connected to the same boxes of
 * switches are in one box.
 */
static void host_keys(struct box_builder *builder)
{
	for (size_t i = 0; i < builder->view->info.nodes; i++) {
		uint64_t sum = 0;

		if (is_switch(builder, i))
			continue;
		links_each(builder, i, switches_note, &sum);
		builder->keys[i] = (struct key){ KEY_HOSTS, sum, i };
	}
}

/*
 * Set the keys of switches: switches that stay connected without the switches
 * of the highest level are in one box, such as a pod of a fat tree. Switches
 * of the highest level that are connected to the same boxes are in one box,
 * too.
 */
static void pod_keys(struct box_builder *builder)
{
	const size_t count = builder->view->info.nodes;

	for (size_t i = 0; i < count; i++) {
		unsigned int *top = &builder->tops[builder->nodes[i].island];

		builder->parent[i] = i;
		if (builder->nodes[i].level > *top)
			*top = builder->nodes[i].level;
	}
	for (size_t i = 0; i < count; i++)
		if (is_switch(builder, i) && !is_top(builder, i))
			links_each(builder, i, join, NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t sum = mix(builder->nodes[i].island);

		if (!is_switch(builder, i))
			continue;
		if (is_top(builder, i))
			links_each(builder, i, below_note, &sum);
		builder->keys[i] =
			is_top(builder, i)
				? (struct key){ KEY_TOP, sum, i }
				: (struct key){ KEY_SWITCHES,
						set_root(builder->parent, i),
						i };
	}
	host_keys(builder);
}

/*
 * Set the keys of switches: all switches of one level and one island are in
 * one box.
 */
static void level_keys(struct box_builder *builder)
{
	for (size_t i = 0; i < builder->view->info.nodes; i++) {
		const struct ibsa_topology_node *node = &builder->nodes[i];

		if (is_switch(builder, i))
			builder->keys[i] = (struct key){
				KEY_SWITCHES,
				(uint64_t)node->island << 16 | node->level,
				i,
			};
	}
	host_keys(builder);
}

static int by_key(const void *a, const void *b)
{
	const struct key *x = a;
	const struct key *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static void box_add_node(struct box *box, const struct ibsa_topology_node *node,
			 size_t index)
{
	if (node->type == IBSA_NODE_SWITCH)
		box->switches++;
	else
		box->adapters++;
	if (node->level > box->level)
		box->level = node->level;
	box->last = index;
}

/*
 * Make a box for each group of nodes with the same key, without hidden nodes.
 * Only a copy of the keys is sorted, because they are needed in the order of
 * nodes afterwards.
 */
static int keys_use(const struct box_builder *builder, struct boxes *out)
{
	const size_t count = builder->view->info.nodes;
	struct key *keys = calloc(count + 1, sizeof(*keys));
	const struct key *before = NULL;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = builder->keys[i];
	qsort(keys, count, sizeof(*keys), by_key);
	out->count = 0;
	for (size_t i = 0; i < count; i++) {
		const size_t node = keys[i].node;

		out->of[node] = SIZE_MAX;
		if (builder->view->is_hidden[node])
			continue;
		if (!before || before->class != keys[i].class ||
		    before->value != keys[i].value)
			out->all[out->count++] = (struct box){ .first = node };
		before = &keys[i];
		out->of[node] = out->count - 1;
		box_add_node(&out->all[out->count - 1], &builder->nodes[node],
			     node);
	}
	free(keys);
	return 0;
}

/*
 * Begin with a box for each node, and combine nodes in steps until there are
 * few enough boxes.
 */
static int boxes_find(struct box_builder *builder, bool each, struct boxes *out)
{
	size_t adapters = 0;
	int err;

	for (size_t i = 0; i < builder->view->info.nodes; i++) {
		builder->nodes[i] = topology_view_node(builder->view, i);
		adapters += builder->nodes[i].type == IBSA_NODE_CA &&
			    !builder->view->is_hidden[i];
	}
	each_key(builder);
	if (!each && adapters > ADAPTERS_EACH_MAX)
		leaf_keys(builder);
	err = keys_use(builder, out);
	if (err || each || out->count <= BOXES_MAX)
		return err;
	pod_keys(builder);
	err = keys_use(builder, out);
	if (err || out->count <= BOXES_MAX)
		return err;
	level_keys(builder);
	return keys_use(builder, out);
}

int boxes_make(const struct topology_view *view, bool each, struct boxes *out)
{
	const size_t count = view->info.nodes + 1;
	struct box_builder builder = {
		.view = view,
		.nodes = calloc(count, sizeof(*builder.nodes)),
		.keys = calloc(count, sizeof(*builder.keys)),
		.parent = calloc(count, sizeof(*builder.parent)),
		.tops = calloc(count, sizeof(*builder.tops)),
	};
	int err = -ENOMEM;

	*out = (struct boxes){
		.of = calloc(count, sizeof(*out->of)),
		.all = calloc(count, sizeof(*out->all)),
	};
	if (builder.nodes && builder.keys && builder.parent && builder.tops &&
	    out->of && out->all)
		err = boxes_find(&builder, each, out);
	free(builder.nodes);
	free(builder.keys);
	free(builder.parent);
	free(builder.tops);
	return err;
}

void boxes_free(struct boxes *boxes)
{
	free(boxes->of);
	free(boxes->all);
}
