/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of a fabric. */
#ifndef CLI_FABRIC_DRAW_H
#define CLI_FABRIC_DRAW_H

#include "cli.h"
#include "fabric_shape.h"

/*
 * Write the drawing as Graphviz input. @each: draw a box for every adapter, however
 * many there are. Return: 0 or -ENOMEM.
 */
int fabric_dot(FILE *file, const struct shape *shape, bool each);

/*
 * Check that --dot and --svg write to different files, and not to the topology
 * file. Return: the exit status; a failure is printed.
 */
int fabric_draw_check(const struct cli *cli);

/*
 * Write the files of --dot and --svg. Return: the exit status; a failure is
 * printed.
 */
int fabric_draw(struct cli *cli, const struct shape *shape);

#endif
