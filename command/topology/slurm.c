/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ibsa topology --format slurm: topology.conf or topology.yaml for Slurm's plugin
 * topology/tree.
 *
 * A fabric may have several spines above each leaf, but in a tree each switch
 * has one parent. All switches of one level that are connected by switches up
 * to this level become one switch of the file.
 *
 * Source: topology.conf(5) of Slurm 22.05, topology.yaml(5) of Slurm 26.05.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/file_write.h"
#include "topology/name_text.h"
#include "topology/topology.h"

#define NONE SIZE_MAX

/* A host, and the leaf switch of one of its ports. */
struct host {
	char name[sizeof(((struct ibsa_node *)0)->node_description)];
	size_t leaf; /* node, or NONE */
	const char *leaf_name;
};

/* A switch of the file. */
struct branch {
	char name[NAME_TEXT + 24];
	/*
	 * Index of the switch that gives the branch its name; NONE: no switch
	 * of the branch has its level.
	 */
	size_t named;
	size_t node;   /* a switch of the branch */
	size_t parent; /* branch, or NONE */
	/* Number of other switches that the branch stands for. */
	size_t merged;
	unsigned int level;
	bool is_leaf;
};

struct tree {
	const struct topology_view *view;
	struct host *hosts;
	size_t host_count;
	struct branch *branches;
	size_t branch_count;
	/*
	 * For each node: another node of the same set, on the way to the node
	 * that represents the set; or the node itself, if it represents the
	 * set.
	 */
	size_t *joined;
	/* for each set: the number of branches without a parent */
	size_t *top_count;
};

/*
 * Whether a node is a host. A channel adapter inside a switch, whose
 * description contains "Aggregation Node", is not a host.
 */
static bool is_host(const struct topology_view *view, size_t index,
		    const struct ibsa_topology_node *node)
{
	return node->type == IBSA_NODE_CA && !view->is_hidden[index] &&
	       !strstr(node->name, "Aggregation Node");
}

static int host_wrong(const struct ibsa_topology_node *node)
{
	char name[NAME_TEXT];

	return fail_no(
		"topology --format slurm: the node with GUID 0x%016" PRIx64
		" has "
		"the description '%s', whose first word is not a host name "
		"of Slurm; give the node another name with --node-name-map, "
		"or leave it out with --device and a pattern of other "
		"adapters, such as 'mlx5_[0]'",
		node->guid, name_net(node->name, name));
}

static int host_add(struct tree *tree, const char *name, size_t leaf)
{
	struct host *host = list_add(&tree->hosts, &tree->host_count,
				     sizeof(*host));

	if (!host)
		return no_memory();
	*host = (struct host){ .leaf = leaf, .leaf_name = "" };
	if (leaf != NONE)
		host->leaf_name = topology_view_node(tree->view, leaf).name;
	snprintf(host->name, sizeof(host->name), "%.64s", name);
	return CLI_DONE;
}

/*
 * Add the host of an adapter once for each switch to which the adapter is
 * connected.
 */
static int adapter_take(struct tree *tree, size_t index,
			const struct ibsa_topology_node *node)
{
	const struct topology_view *view = tree->view;
	char name[NAME_TEXT];
	bool has_switch = false;
	int status = CLI_DONE;

	if (!name_slurm_host(node->name, name))
		return host_wrong(node);
	for (unsigned int i = 1; i <= node->port_count && !status; i++) {
		const struct ibsa_topology_port port =
			topology_view_port(view, index, i);

		if (!port.has_link ||
		    topology_view_node(view, port.far_node).type !=
			    IBSA_NODE_SWITCH)
			continue;
		has_switch = true;
		status = host_add(tree, name, port.far_node);
	}
	return status || has_switch ? status : host_add(tree, name, NONE);
}

static int by_host(const void *a, const void *b)
{
	const struct host *x = a;
	const struct host *y = b;
	const int order = strverscmp(x->name, y->name);

	return order ? order : (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/*
 * Print that a host has adapters on several leaf switches: it has no place in
 * a tree.
 */
static int two_leaves(const struct tree *tree, const struct host *host)
{
	const struct topology_view *view = tree->view;
	char one[NAME_TEXT], other[NAME_TEXT];

	return fail_no(
		"topology --format slurm: host '%s' is connected to the "
		"switches '%s' and '%s', but can be on one only; select "
		"a rail with --device, such as 'mlx5_[0]'",
		host[0].name,
		name_net(topology_view_node(view, host[0].leaf).name, one),
		name_net(topology_view_node(view, host[1].leaf).name, other));
}

/*
 * Remove duplicate hosts: a host with several ports on a leaf switch was added
 * several times.
 */
static int hosts_unite(struct tree *tree)
{
	struct host *hosts = tree->hosts;
	size_t count = 0;

	if (tree->host_count)
		qsort(hosts, tree->host_count, sizeof(*hosts), by_host);
	for (size_t i = 0; i < tree->host_count; i++) {
		if (count && !strcmp(hosts[count - 1].name, hosts[i].name)) {
			/* NONE is the largest number. */
			if (hosts[i].leaf == NONE ||
			    hosts[i].leaf == hosts[count - 1].leaf)
				continue;
			hosts[count] = hosts[i];
			return two_leaves(tree, &hosts[count - 1]);
		}
		hosts[count++] = hosts[i];
	}
	tree->host_count = count;
	return CLI_DONE;
}

static int hosts_find(struct tree *tree)
{
	int status = CLI_DONE;

	for (size_t i = 0; i < tree->view->info.nodes && !status; i++) {
		const struct ibsa_topology_node node =
			topology_view_node(tree->view, i);

		if (is_host(tree->view, i, &node))
			status = adapter_take(tree, i, &node);
	}
	return status ? status : hosts_unite(tree);
}

/*
 * Whether a branch already has this name, or a name that is made later may be
 * equal to it.
 */
static bool is_taken(const struct tree *tree, const char *name)
{
	if (strncmp(name, "root-", strlen("root-")) == 0)
		return true;
	for (size_t i = 0; i < tree->branch_count; i++)
		if (strcmp(tree->branches[i].name, name) == 0)
			return true;
	return false;
}

static struct branch *branch_add(struct tree *tree, size_t named, size_t node,
				 unsigned int level)
{
	struct branch *added = &tree->branches[tree->branch_count];
	struct ibsa_topology_node by;
	char name[NAME_TEXT];

	*added = (struct branch){
		.named = named, .node = node, .parent = NONE, .level = level
	};
	if (named == NONE) {
		snprintf(added->name, sizeof(added->name), "root-%zu",
			 tree->branch_count);
	} else {
		by = topology_view_node(tree->view, named);
		name_slurm_switch(by.name, name);
		snprintf(added->name, sizeof(added->name), "%s", name);
		if (!*name || is_taken(tree, name))
			snprintf(added->name, sizeof(added->name),
				 "%s%s%016" PRIx64, name, *name ? "-" : "S-",
				 by.guid);
	}
	tree->branch_count++;
	return added;
}

static bool is_switch_up_to(const struct tree *tree, size_t node,
			    unsigned int level)
{
	const struct ibsa_topology_node at = topology_view_node(tree->view,
								node);

	return at.type == IBSA_NODE_SWITCH && at.level <= level &&
	       !tree->view->is_hidden[node];
}

/*
 * Join those switches into sets that are connected by switches up to this
 * level.
 */
static void sets_join(struct tree *tree, unsigned int level)
{
	const struct topology_view *view = tree->view;

	for (size_t i = 0; i < view->info.nodes; i++) {
		const unsigned int ports =
			topology_view_node(view, i).port_count;

		if (!is_switch_up_to(tree, i, level))
			continue;
		for (unsigned int number = 1; number <= ports; number++) {
			const struct ibsa_topology_port port =
				topology_view_port(view, i, number);

			if (port.has_link &&
			    is_switch_up_to(tree, port.far_node, level))
				tree->joined[set_root(tree->joined, i)] =
					set_root(tree->joined, port.far_node);
		}
	}
}

/*
 * Return: the first switch of a set, in the order of names, that has the
 * level.
 */
static size_t first_named(struct tree *tree, size_t set, unsigned int level,
			  size_t *out_count)
{
	const char *least = NULL;
	size_t first = NONE;

	*out_count = 0;
	for (size_t i = 0; i < tree->view->info.nodes; i++) {
		const struct ibsa_topology_node node =
			topology_view_node(tree->view, i);

		if (node.type != IBSA_NODE_SWITCH || node.level != level ||
		    set_root(tree->joined, i) != set)
			continue;
		++*out_count;
		if (least && strverscmp(node.name, least) >= 0)
			continue;
		least = node.name;
		first = i;
	}
	return first;
}

/* Give the branches of a set a common parent branch. */
static void set_branch(struct tree *tree, size_t set, unsigned int level)
{
	const size_t count = tree->branch_count;
	size_t switches;
	const size_t node = first_named(tree, set, level, &switches);
	struct branch *parent = branch_add(tree, level > 1 ? node : NONE, set,
					   level);

	if (parent->named != NONE)
		parent->merged = switches - 1;
	for (size_t i = 0; i < count; i++)
		if (tree->branches[i].parent == NONE &&
		    set_root(tree->joined, tree->branches[i].node) == set)
			tree->branches[i].parent = count;
}

/*
 * For each set with several branches that have no parent, give them a common
 * parent.
 */
static void level_connect(struct tree *tree, unsigned int level)
{
	const size_t nodes = tree->view->info.nodes;

	sets_join(tree, level);
	memset(tree->top_count, 0, nodes * sizeof(*tree->top_count));
	for (size_t i = 0; i < tree->branch_count; i++)
		if (tree->branches[i].parent == NONE)
			tree->top_count[set_root(tree->joined,
						 tree->branches[i].node)]++;
	for (size_t i = 0; i < nodes; i++)
		if (tree->top_count[i] > 1)
			set_branch(tree, i, level);
}

static int by_leaf(const void *a, const void *b)
{
	const struct host *x = a;
	const struct host *y = b;
	const int order = strverscmp(x->leaf_name, y->leaf_name);

	if (order)
		return order;
	return x->leaf != y->leaf ? (x->leaf > y->leaf) - (x->leaf < y->leaf)
				  : strverscmp(x->name, y->name);
}

/*
 * Make the branches of the tree. Each leaf has at least one host, and each
 * other branch at least two children.
 */
static int branches_find(struct tree *tree)
{
	const size_t nodes = tree->view->info.nodes;

	tree->branches = calloc(2 * tree->host_count + 1,
				sizeof(*tree->branches));
	tree->joined = calloc(nodes + 1, sizeof(*tree->joined));
	tree->top_count = calloc(nodes + 1, sizeof(*tree->top_count));
	if (!tree->branches || !tree->joined || !tree->top_count)
		return no_memory();
	for (size_t i = 0; i < nodes; i++)
		tree->joined[i] = i;
	if (tree->host_count)
		qsort(tree->hosts, tree->host_count, sizeof(*tree->hosts),
		      by_leaf);
	for (size_t i = 0; i < tree->host_count; i++) {
		const size_t leaf = tree->hosts[i].leaf;

		if (leaf != NONE && (!i || tree->hosts[i - 1].leaf != leaf))
			branch_add(tree, leaf, leaf, 1)->is_leaf = true;
	}
	/*
	 * Level 1 is included only if there is no higher one: two leaves may
	 * be connected without a switch between them.
	 */
	for (unsigned int level = 1; level <= tree->view->info.levels; level++)
		if (level > 1 || tree->view->info.levels == 1)
			level_connect(tree, level);
	return CLI_DONE;
}

/*
 * Write the names of the hosts that are connected to the switch @leaf; NONE: of
 * the hosts without a switch.
 */
static void hosts_write(const struct tree *tree, size_t leaf, FILE *file)
{
	const char *between = "";

	for (size_t i = 0; i < tree->host_count; i++) {
		if (tree->hosts[i].leaf != leaf)
			continue;
		fprintf(file, "%s%s", between, tree->hosts[i].name);
		between = ",";
	}
}

/* Write the names of a branch's children, or of a leaf switch's hosts. */
static void children_write(const struct tree *tree, size_t index, FILE *file)
{
	const char *between = "";

	if (tree->branches[index].is_leaf)
		hosts_write(tree, tree->branches[index].node, file);
	for (size_t i = 0; i < index; i++) {
		if (tree->branches[i].parent != index)
			continue;
		fprintf(file, "%s%s", between, tree->branches[i].name);
		between = ",";
	}
}

/* Write a comment about a branch that is not a single switch of the fabric. */
static void comment_write(const struct branch *branch, FILE *file)
{
	if (branch->named == NONE)
		fprintf(file, "# %s stands for links between switches\n",
			branch->name);
	else if (branch->merged)
		fprintf(file, "# %s stands for %zu switches of level %u\n",
			branch->name, branch->merged + 1, branch->level);
}

/*
 * Write a branch. In YAML, names are quoted, so that YAML does not read one as
 * a number or a truth value.
 */
static void branch_write(const struct tree *tree, size_t index, bool is_yaml,
			 FILE *file)
{
	const struct branch *branch = &tree->branches[index];

	comment_write(branch, file);
	if (is_yaml)
		fprintf(file, "      - switch: \"%s\"\n        %s: \"",
			branch->name, branch->is_leaf ? "nodes" : "children");
	else
		fprintf(file, "SwitchName=%s %s=", branch->name,
			branch->is_leaf ? "Nodes" : "Switches");
	children_write(tree, index, file);
	fputs(is_yaml ? "\"\n" : "\n", file);
}

static void tree_write(const struct tree *tree, bool is_yaml, FILE *file)
{
	fputs(is_yaml ? "- topology: default\n  cluster_default: true\n"
			"  tree:\n    switches:\n"
		      : "# For TopologyPlugin=topology/tree\n",
	      file);
	for (size_t i = 0; i < tree->branch_count; i++)
		branch_write(tree, i, is_yaml, file);
	for (size_t i = 0; i < tree->host_count; i++) {
		if (tree->hosts[i].leaf != NONE)
			continue;
		fputs("# Without a switch: ", file);
		hosts_write(tree, NONE, file);
		putc('\n', file);
		break;
	}
}

static int tree_print(struct cli *cli, const struct tree *tree)
{
	struct memory_text memory;
	int status = memory_text_open(&memory);

	if (status == CLI_DONE) {
		tree_write(tree, cli->out.shape == OUT_SLURM_YAML, memory.file);
		status = memory_text_close(&memory);
	}
	if (status == CLI_DONE)
		out_line(&cli->out, "%.*s", (int)memory.len - 1, memory.text);
	free(memory.text);
	return status;
}

/* topology_read() has printed which ends or records are missing. */
static int links_check(const struct topology_view *view)
{
	if (!view->info.hidden && !view->info.unmatched)
		return CLI_DONE;
	return fail_no("topology --format slurm: the tree would lack links "
		       "that the SA does not show; write it from a port to "
		       "which the SA shows all links, or from a file of "
		       "ibnetdiscover");
}

int topology_slurm(struct cli *cli, const struct topology_view *view)
{
	struct tree tree = { .view = view };
	int status = links_check(view);

	if (status == CLI_DONE)
		status = hosts_find(&tree);
	if (status == CLI_DONE)
		status = branches_find(&tree);
	if (status == CLI_DONE)
		status = tree_print(cli, &tree);
	free(tree.hosts);
	free(tree.branches);
	free(tree.joined);
	free(tree.top_count);
	return status;
}
