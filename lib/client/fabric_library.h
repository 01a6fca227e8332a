/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the functions of libibsa-fabric. */
#ifndef CLIENT_FABRIC_LIBRARY_H
#define CLIENT_FABRIC_LIBRARY_H

#include "umad/fabric_ops.h"

/*
 * Find the functions that open a topology file or capture. Three files define
 * this function: the shared libibsa loads libibsa-fabric, the static libibsa
 * has no embedded fabric, and a program that contains both libraries, as tests
 * do, has the functions.
 *
 * Return: 0; -EOPNOTSUPP: the library is missing, or belongs to another version
 * of libibsa. *@error is then set.
 */
int ibsa__fabric_library(struct ibsa_error *error,
			 const struct fabric_ops **out) IBSA_MUST_USE;

/*
 * Check that @ops, the table of a library or of a fabric that the program has
 * loaded, is that of this version. Return: 0; -EOPNOTSUPP, with *@error set.
 */
int ibsa__fabric_ops_check(const struct fabric_ops *ops,
			   struct ibsa_error *error) IBSA_MUST_USE;

#endif
