/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Node descriptions in the formats that are written. A description is from the
 * wire and may contain any bytes; each format has one function that makes it
 * valid there.
 */
#ifndef CLI_NAME_TEXT_H
#define CLI_NAME_TEXT_H

#include <stdbool.h>
#include <stdio.h>

enum { NAME_TEXT = 512 }; /* bytes that are enough for each description */

/*
 * In a topology file between quotes: ibsa_text_clean() and without quotes.
 * Return: @out.
 */
const char *name_net(const char *name, char out[NAME_TEXT]);

/*
 * A switch in topology.conf of Slurm: letters, digits, dots, underscores and
 * hyphens; other bytes become underscores, because they have a meaning in a list of
 * hosts. Return: @out, which may be "".
 */
const char *name_slurm_switch(const char *name, char out[NAME_TEXT]);

/*
 * A host in topology.conf of Slurm: the first word of the description, which must
 * be the NodeName of slurm.conf. Return: false: Slurm has no such host names.
 */
bool name_slurm_host(const char *name, char out[NAME_TEXT]);

/*
 * Write a name in a label of Graphviz input, at most 40 characters, and escape
 * characters with a meaning there.
 */
void name_dot_put(FILE *file, const char *name);

#endif
