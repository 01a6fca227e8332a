/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of a topology. */
#ifndef COMMAND_DRAW_H
#define COMMAND_DRAW_H

#include "output/cli.h"
#include "graph/topology.h"

/* Whether the output is a drawing: the format dot or svg. */
static inline bool draw_is_output(const struct cli *cli)
{
	return cli->out.shape == OUT_DOT || cli->out.shape == OUT_SVG;
}

/*
 * Check --all: it needs a drawing. Return: the exit status; a failure is
 * printed.
 */
int draw_check(const struct cli *cli, bool all);

/*
 * Write the drawing to standard output; @each: draw a box for every
 * node, however many there are. Return: the
 * exit status; a failure is printed.
 */
int draw(struct cli *cli, bool each, const struct topology_view *view);

#endif
