/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes node descriptions in the formats of several programs. A description
 * comes from the wire and may contain any bytes; for each format, one function
 * makes it valid.
 */
#ifndef COMMAND_TOPOLOGY_NAME_TEXT_H
#define COMMAND_TOPOLOGY_NAME_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Size of a buffer for a node description as text. It is enough for one from
 * the SA, which has at most 64 bytes. A longer one from a file may be
 * truncated.
 */
enum { NAME_TEXT = 512 };

/*
 * Write a description for the quotes of a topology file: cleaned by
 * ibsa__text_clean() and without quotes. Return: @out.
 */
const char *name_net(const char *name, char out[NAME_TEXT]);

/*
 * Write a description as the name of a switch in Slurm's topology.conf:
 * letters, digits, dots, underscores and hyphens. Other bytes become
 * underscores, because Slurm gives them a meaning in a list of hosts. Return:
 * @out, which may be "".
 */
const char *name_slurm_switch(const char *name, char out[NAME_TEXT]);

/*
 * Write a host's name for Slurm's topology.conf: the first word of the
 * description, which must be the NodeName in slurm.conf. Return: false: Slurm
 * does not accept the first word as a name.
 */
bool name_slurm_host(const char *name, char out[NAME_TEXT]);

/*
 * Write at most 40 characters of a name into a label of Graphviz input.
 * Characters that have a meaning there are escaped.
 */
void name_dot_put(FILE *file, const char *name);

#endif
