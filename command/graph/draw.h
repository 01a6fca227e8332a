/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of a topology. */
#ifndef COMMAND_DRAW_H
#define COMMAND_DRAW_H

#include "output/cli.h"
#include "graph/topology.h"

/**
 * struct picture_options - options of the commands that draw
 * @dot: file for Graphviz input, or NULL
 * @svg: file for a picture, or NULL
 * @all: draw each adapter by itself
 */
struct picture_options {
	const char *dot;
	const char *svg;
	bool all;
};

/*
 * Write the drawing as Graphviz input. @each: draw a box for every node,
 * however many there are. Return: 0 or -ENOMEM.
 */
int topology_dot(FILE *file, const struct topology_view *view, bool each);

/*
 * Check --all, --dot and --svg: --all needs a drawing, and at most one format
 * can be written to standard output. Return: the exit status; a failure is
 * printed.
 */
int draw_check(const struct cli *cli, const struct picture_options *options);

/* Whether the options write a drawing to standard output. */
bool draw_is_output(const struct picture_options *options);

/*
 * Write the files of --dot and --svg. Return: the exit status; a failure is
 * printed.
 */
int draw(struct cli *cli, const struct picture_options *options,
	 const struct topology_view *view);

#endif
