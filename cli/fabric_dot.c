/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes a fabric as input of Graphviz: switches by level, the highest on top,
 * and cables between the same two nodes as one line. If there are too many
 * adapters to draw each, the adapters of a leaf switch are one box.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibsa/sa.h>

#include "fabric_draw.h"
#include "name_text.h"

enum {
	EACH_MAX =
		32, /* above this number, adapters are drawn by leaf switch */
	FEW_BOXES = 64, /* above this number, lines are straight */
	RATE_TEXT = 16,
	RATES = 64, /* more than the number of existing rates */
	PORTS_MAX = 256,
};

/* A line between two boxes: cables of the same rate. */
struct line {
	size_t to;
	unsigned int lanes;
	const char *speed;
	size_t count;
};

struct drawing {
	FILE *file;
	const struct shape *shape;
	bool by_leaf;
	size_t *leaf; /* per adapter: 1 + index of its only neighbour; else 0 */
	size_t *hosts; /* per node: number of adapters with no other neighbour */
	struct line usual; /* the most frequent rate */
};

static bool is_adapter(const struct drawing *drawing, size_t node)
{
	return drawing->shape->nodes[node].is.type == IBSA_NODE_CA;
}

/* Whether the adapter is drawn as part of its leaf switch's box. */
static bool is_folded(const struct drawing *drawing, size_t node)
{
	return drawing->by_leaf && drawing->leaf[node];
}

/* 1 + index of the only neighbour; 0: the node has none or several. */
static size_t only_neighbour(const struct shape *shape, size_t node)
{
	const unsigned int ports = shape->nodes[node].is.port_count;
	struct ibsa_fabric_end end;
	size_t found = 0;

	for (unsigned int port = 1; port <= ports; port++) {
		if (!shape_cable(shape, node, port, &end))
			continue;
		if (found && found != end.far_node + 1)
			return 0;
		found = end.far_node + 1;
	}
	return found;
}

static void find_leaves(struct drawing *drawing)
{
	const struct shape *shape = drawing->shape;
	size_t adapters = 0;

	for (size_t i = 0; i < shape->count; i++) {
		if (!is_adapter(drawing, i))
			continue;
		adapters++;
		drawing->leaf[i] = only_neighbour(shape, i);
		if (drawing->leaf[i] &&
		    is_adapter(drawing, drawing->leaf[i] - 1))
			drawing->leaf[i] = 0;
		if (drawing->leaf[i])
			drawing->hosts[drawing->leaf[i] - 1]++;
	}
	if (adapters <= EACH_MAX)
		drawing->by_leaf = false;
}

static bool is_same_rate(const struct line *a, const struct line *b)
{
	return a->lanes == b->lanes && strcmp(a->speed, b->speed) == 0;
}

/* Count a cable with its rate. */
static size_t rate_count(struct line *rates, size_t count,
			 const struct ibsa_fabric_end *end)
{
	const struct line line = { .lanes = end->lanes, .speed = end->speed };
	size_t i = 0;

	while (i < count && !is_same_rate(&rates[i], &line))
		i++;
	if (i == RATES)
		return count;
	if (i == count)
		rates[count++] = line;
	rates[i].count++;
	return count;
}

static void find_usual_rate(struct drawing *drawing)
{
	const struct shape *shape = drawing->shape;
	struct line rates[RATES] = { { .speed = "" } };
	struct ibsa_fabric_end end;
	size_t count = 0;

	for (size_t i = 0; i < shape->count; i++)
		for (unsigned int port = 1;
		     port <= shape->nodes[i].is.port_count; port++)
			if (shape_cable(shape, i, port, &end))
				count = rate_count(rates, count, &end);
	drawing->usual = rates[0];
	for (size_t i = 1; i < count; i++)
		if (rates[i].count > drawing->usual.count)
			drawing->usual = rates[i];
}

static int by_end_and_rate(const void *a, const void *b)
{
	const struct line *one = a;
	const struct line *two = b;

	if (one->to != two->to)
		return one->to < two->to ? -1 : 1;
	if (one->lanes != two->lanes)
		return one->lanes < two->lanes ? -1 : 1;
	return strcmp(one->speed, two->speed);
}

/* Whether a line is drawn from @from: the upper node of the two. */
static bool is_upper(const struct shape *shape, size_t from, size_t to)
{
	const size_t a = shape->nodes[from].level;
	const size_t b = shape->nodes[to].level;

	return a != b ? a > b : from <= to;
}

/* The cables of a node that lead down, as one line for each box and rate. */
static size_t find_lines(const struct drawing *drawing, size_t node,
			 struct line lines[PORTS_MAX])
{
	const struct shape *shape = drawing->shape;
	struct ibsa_fabric_end end;
	size_t count = 0;
	size_t kinds = 0;

	for (unsigned int port = 1; port <= shape->nodes[node].is.port_count;
	     port++)
		if (shape_cable(shape, node, port, &end) &&
		    is_upper(shape, node, end.far_node) &&
		    (end.far_node != node || end.far_port > port))
			lines[count++] = (struct line){
				/* All folded adapters have one destination. */
				.to = is_folded(drawing, end.far_node)
					      ? SIZE_MAX
					      : end.far_node,
				.lanes = end.lanes,
				.speed = end.speed,
			};
	qsort(lines, count, sizeof(*lines), by_end_and_rate);
	for (size_t i = 0; i < count; i++) {
		if (kinds == 0 ||
		    by_end_and_rate(&lines[kinds - 1], &lines[i]) != 0)
			lines[kinds++] = lines[i];
		lines[kinds - 1].count++;
	}
	return kinds;
}

/*
 * A line, labelled with its number of cables if not 1 and with its rate if not
 * the most frequent one.
 */
static void line_put(const struct drawing *drawing, size_t from,
		     const struct line *line)
{
	const bool is_box = line->to == SIZE_MAX;
	const bool is_usual = is_same_rate(line, &drawing->usual);
	const bool has_count = line->count !=
			       (is_box ? drawing->hosts[from] : 1);
	FILE *file = drawing->file;

	if (is_box)
		fprintf(file, "\tn%zu -- h%zu", from, from);
	else
		fprintf(file, "\tn%zu -- n%zu", from, line->to);
	if (has_count || !is_usual)
		fputs(" [label=\"", file);
	if (has_count)
		fprintf(file, "%zu×%s", line->count, is_usual ? "" : " ");
	if (!is_usual)
		fprintf(file, "%ux%s", line->lanes, line->speed);
	if (has_count || !is_usual)
		fprintf(file, "\"%s]", is_usual ? "" : ", color=\"#c0392b\"");
	fputs(";\n", file);
}

static void put_lines(const struct drawing *drawing)
{
	struct line lines[PORTS_MAX];

	for (size_t i = 0; i < drawing->shape->count; i++) {
		const size_t count = is_folded(drawing, i)
					     ? 0
					     : find_lines(drawing, i, lines);

		for (size_t n = 0; n < count; n++)
			line_put(drawing, i, &lines[n]);
	}
}

static void put_node(const struct drawing *drawing, size_t node)
{
	const struct ibsa_fabric_node *is = &drawing->shape->nodes[node].is;
	FILE *file = drawing->file;

	fprintf(file, "\t\tn%zu [label=\"", node);
	name_dot_put(file, is->name);
	fprintf(file, "\"%s];\n",
		is->type == IBSA_NODE_SWITCH   ? ", fillcolor=\"#d6e6f5\""
		: is->type == IBSA_NODE_ROUTER ? ", fillcolor=\"#f5e6d6\""
					       : "");
}

/* The box of a leaf switch's adapters: their number and names. */
static void leaf_box_put(const struct drawing *drawing, size_t leaf)
{
	const struct shape *shape = drawing->shape;
	FILE *file = drawing->file;
	struct ibsa_fabric_end end;
	size_t last = 0;
	size_t first = SIZE_MAX;

	for (unsigned int port = 1; port <= shape->nodes[leaf].is.port_count;
	     port++) {
		if (!shape_cable(shape, leaf, port, &end) ||
		    drawing->leaf[end.far_node] != leaf + 1)
			continue;
		if (first == SIZE_MAX || end.far_node < first)
			first = end.far_node;
		if (end.far_node > last)
			last = end.far_node;
	}
	fprintf(file, "\t\th%zu [label=\"%zu %s\\n", leaf, drawing->hosts[leaf],
		drawing->hosts[leaf] == 1 ? "adapter" : "adapters");
	name_dot_put(file, shape->nodes[first].is.name);
	if (last != first) {
		fputs("\\n… ", file);
		name_dot_put(file, shape->nodes[last].is.name);
	}
	fputs("\"];\n", file);
}

/* Order nodes by level; within a level, keep the file's order. */
static int by_level(const void *a, const void *b)
{
	const struct shape_node *one = *(const struct shape_node *const *)a;
	const struct shape_node *two = *(const struct shape_node *const *)b;

	if (one->level != two->level)
		return one->level > two->level ? -1 : 1;
	return one < two ? -1 : 1;
}

static void put_boxes(const struct drawing *drawing)
{
	for (size_t i = 0; drawing->by_leaf && i < drawing->shape->count; i++)
		if (drawing->hosts[i])
			leaf_box_put(drawing, i);
}

/* The nodes of one level; the lowest level has the adapters. */
static void level_put(const struct drawing *drawing,
		      const struct shape_node **row, size_t count)
{
	fputs("\t{\n\t\trank=same;\n", drawing->file);
	for (size_t i = 0; i < count; i++) {
		const size_t node = (size_t)(row[i] - drawing->shape->nodes);

		if (!is_folded(drawing, node))
			put_node(drawing, node);
	}
	if (row[0]->level == 0)
		put_boxes(drawing);
	fputs("\t}\n", drawing->file);
}

static void put_rows(const struct drawing *drawing,
		     const struct shape_node **order)
{
	const struct shape *shape = drawing->shape;
	size_t first = 0;

	for (size_t i = 0; i < shape->count; i++)
		order[i] = &shape->nodes[i];
	qsort(order, shape->count, sizeof(const struct shape_node *), by_level);
	for (size_t i = 1; i <= shape->count; i++) {
		if (i < shape->count && order[i]->level == order[first]->level)
			continue;
		level_put(drawing, &order[first], i - first);
		first = i;
	}
}

static size_t count_boxes(const struct drawing *drawing)
{
	size_t count = 0;

	for (size_t i = 0; i < drawing->shape->count; i++)
		count += (drawing->by_leaf && drawing->hosts[i]) ||
			 !is_folded(drawing, i);
	return count;
}

static void put_all(const struct drawing *drawing,
		    const struct shape_node **order)
{
	const bool is_few = count_boxes(drawing) <= FEW_BOXES;
	FILE *file = drawing->file;

	fprintf(file,
		"graph fabric {\n"
		"\tgraph [ranksep=%s, nodesep=0.15, splines=%s, labelloc=t,\n"
		"\t\tfontname=\"sans-serif\"",
		is_few ? "1" : "4", is_few ? "true" : "line");
	if (drawing->usual.count)
		fprintf(file,
			",\n\t\tlabel=\"cables are %ux%s if not labelled\"",
			drawing->usual.lanes, drawing->usual.speed);
	fputs("];\n"
	      "\tnode [shape=box, style=\"rounded,filled\", "
	      "fillcolor=\"#f4f4f4\",\n"
	      "\t\tfontname=\"sans-serif\", fontsize=11];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9, "
	      "color=\"#66666699\"];\n",
	      file);
	put_rows(drawing, order);
	put_lines(drawing);
	fputs("}\n", file);
}

int fabric_dot(FILE *file, const struct shape *shape, bool each)
{
	const struct shape_node **order = calloc(shape->count + 1,
						 sizeof(*order));
	struct drawing drawing = {
		.file = file,
		.shape = shape,
		.by_leaf = !each,
		.leaf = calloc(shape->count + 1, sizeof(*drawing.leaf)),
		.hosts = calloc(shape->count + 1, sizeof(*drawing.hosts)),
	};
	int err = order && drawing.leaf && drawing.hosts ? 0 : -ENOMEM;

	if (!err) {
		find_leaves(&drawing);
		find_usual_rate(&drawing);
		put_all(&drawing, order);
	}
	free(order);
	free(drawing.leaf);
	free(drawing.hosts);
	return err;
}
