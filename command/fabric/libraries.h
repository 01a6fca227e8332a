/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The libraries with which the command of ibsa fabric exec uses the fabric. */
#ifndef COMMAND_FABRIC_LIBRARIES_H
#define COMMAND_FABRIC_LIBRARIES_H

#include <limits.h>
#include <stdbool.h>

/* Paths; "": the library does not exist, or the command does not use it. */
struct libraries {
	char umad_folder[PATH_MAX]; /* of the drop-in libibumad */
	char verbs[PATH_MAX];	    /* the library loaded before libibverbs */
};

/*
 * Find the drop-in libibumad and, if @has_verbs is set, the library that is
 * loaded before libibverbs. If a library does not exist, a message is printed;
 * only for the latter library is this a failure. Return: the exit status.
 */
int libraries_find(struct libraries *out, bool has_verbs);

/*
 * Set the environment so that @command uses the libraries. Return: false: out of
 * memory.
 */
bool libraries_export(const struct libraries *libraries, const char *command);

#endif
