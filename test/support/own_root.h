/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A user name space, for tests that need root's rights in a name space of their
 * own.
 */
#ifndef TEST_OWN_ROOT_H
#define TEST_OWN_ROOT_H

#include <stdbool.h>

/*
 * Become root of a new user name space, which does not need root's rights.
 * Return: false: the system forbids that.
 */
bool own_root(void);

#endif
