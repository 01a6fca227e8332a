/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a program finds its shared libraries. */
#ifndef COMMAND_PROGRAM_H
#define COMMAND_PROGRAM_H

enum program_kind {
	/*
	 * The program searches its libraries in LD_LIBRARY_PATH first, as far
	 * as its ELF file tells.
	 */
	PROGRAM_USUAL,
	/* The program is linked statically and loads no libraries. */
	PROGRAM_STATIC,
	/*
	 * The program searches its libraries by DT_RPATH, which has precedence
	 * over LD_LIBRARY_PATH.
	 */
	PROGRAM_RPATH,
};

/*
 * Return: the kind of the program that execvp() would run for @name.
 * PROGRAM_USUAL also for a script, for a program of another architecture, and
 * if there is no such program.
 */
enum program_kind program_kind(const char *name);

#endif
