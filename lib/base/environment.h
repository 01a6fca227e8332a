/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment variables of the library, which select a fabric and the
 * device files. The variables are read when an object is opened, or a function
 * without a handle is called, in the calling thread. The variables are not read
 * at other times, because another thread may call setenv().
 */
#ifndef BASE_ENVIRONMENT_H
#define BASE_ENVIRONMENT_H

#include <stdbool.h>

#include <ibsa/types.h>

/*
 * Values of the library's environment variables. NULL: the variable is unset
 * or must be ignored.
 */
struct ibsa__environment {
	const char *fabric;	 /* IBSA_FABRIC */
	const char *node;	 /* IBSA_NODE */
	const char *sysfs;	 /* SYSFS_PATH */
	const char *seed;	 /* IBSA_SEED */
	const char *umad_reopen; /* IBSA_UMAD_REOPEN; a copy does not have it */
	bool has_rings;		 /* IBSA_RING is not 0 */
};

/*
 * Read the environment variables, unless @is_ignored is true or
 * ibsa__environment_is_ignored() returns true: the result is then that of
 * variables that are all unset. The strings belong to the process's environment:
 * they are valid until the program changes it.
 */
struct ibsa__environment ibsa__environment_read(bool is_ignored);

/*
 * Copy @environment, for an object that opens other objects later. *@out is
 * one block of memory; the caller frees it with ibsa__free(). Return: 0;
 * -ENOMEM.
 */
int ibsa__environment_copy(const struct ibsa__environment *environment,
			   struct ibsa__environment **out) IBSA_MUST_USE;

#endif
