/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a program finds its shared libraries. */
#ifndef COMMAND_PROGRAM_H
#define COMMAND_PROGRAM_H

enum program_kind {
	/* By LD_LIBRARY_PATH first, as far as its file tells. */
	PROGRAM_USUAL,
	/* It is linked statically and loads none. */
	PROGRAM_STATIC,
	/* By DT_RPATH, which comes before LD_LIBRARY_PATH. */
	PROGRAM_RPATH,
};

/*
 * Return: the kind of the program that execvp() would run for @name.
 * PROGRAM_USUAL also for a script, for a program of another architecture, and
 * if there is no such program.
 */
enum program_kind program_kind(const char *name);

#endif
