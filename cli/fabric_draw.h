/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drawings of a fabric. */
#ifndef CLI_FABRIC_DRAW_H
#define CLI_FABRIC_DRAW_H

#include "cli.h"
#include "fabric_shape.h"

/*
 * The drawing, in the language of Graphviz; @each: every adapter in a box of
 * its own, however many there are. Return: 0 or -ENOMEM.
 */
int fabric_dot(FILE *file, const struct shape *shape, bool each);

/*
 * Whether --dot and --svg write to files of their own, and none to the one that
 * is read. Return: the exit status; what is wrong has been said.
 */
int fabric_draw_check(const struct cli *cli);

/*
 * Write what --dot and --svg ask for. Return: the exit status; what went
 * wrong has been said.
 */
int fabric_draw(struct cli *cli, const struct shape *shape);

#endif
