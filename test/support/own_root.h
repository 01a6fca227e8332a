/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A user name space for tests that need rights over a world of their own. */
#ifndef TEST_OWN_ROOT_H
#define TEST_OWN_ROOT_H

#include <stdbool.h>

/*
 * This user as root of a user name space, without being root. False where the
 * system forbids that.
 */
bool own_root(void);

#endif
