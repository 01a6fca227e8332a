/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that loads the library in libibumad's place, opens and closes a
 * port, and unloads the library, again and again: its memory does not grow.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>

enum { CYCLES = 500, FIRST = 50 };

/* Return: whether a port was opened and closed. */
static int use_once(const char *library)
{
	void *dropin = dlopen(library, RTLD_NOW);
	int (*open_port)(const char *, int);
	int (*close_port)(int);
	int portid;

	if (!dropin)
		return 0;
	*(void **)&open_port = dlsym(dropin, "umad_open_port");
	*(void **)&close_port = dlsym(dropin, "umad_close_port");
	portid = open_port(NULL, 0);
	if (portid >= 0)
		close_port(portid);
	return !dlclose(dropin) && portid >= 0;
}

int main(int count, char **arguments)
{
	size_t first = 0;

	for (int i = 0; count > 1 && i < CYCLES; i++) {
		if (i == FIRST)
			first = mallinfo2().uordblks;
		if (!use_once(arguments[1])) {
			fprintf(stderr, "WRONG: cycle %d failed\n", i);
			return 1;
		}
	}
	if (mallinfo2().uordblks <= first)
		return 0;
	fprintf(stderr, "WRONG: %zu bytes of %d cycles are left\n",
		mallinfo2().uordblks - first, CYCLES - FIRST);
	return 1;
}
